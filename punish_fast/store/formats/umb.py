"""Processes in the Unified Markov Binary format (UMB), version 1, which Storm, PRISM and Modest support.

A UMB file is a tar archive of ``index.json`` and plain little-endian arrays. In UMB, each state has *choices*, and each
choice has *branches* to other states. Pointer arrays contain the first choice of each state and the first branch of
each choice. Rows are written as choices and entries as branches, in the same order. Win and loss are the last two
states. Each has one choice (rest) and one branch to itself.

::

    state-to-choices, choice-to-branches                uint64    pointers
    branch-to-target, branch-to-probability             uint64, float64
    state-is-initial                                    bits      every opening with full HP on both sides
    actions/choices                                     uint32    with names: rush, feint_with_rush, ..., rest
    annotations/aps/win, annotations/aps/loss           bits      the two terminals
    annotations/rewards/reward                          float64   of each choice (terminals pay at every step)
    valuations/states                                   19 x 8 bits

The valuation of a state has a variable for each digit of its 18-digit decimal code (``punish/codes.py``), followed by
the variable ``outcome``: 0 for positions, 1 for win and 2 for loss. The digits of win and loss are 0. The file must not
contain a proposition ``init``, because Storm creates a label ``init`` from the initial states and rejects duplicates.

The arrays are written in pieces to save memory.
"""

import io
import json
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.mdp.model.mdp import MDP
from punish_fast.punish.codes import ACTIONS, FIELDS, CodedStates, action_name
from punish_fast.punish.rules import name_of, to_mapping
from punish_fast.runtime import __version__
from punish_fast.runtime.files import replacing
from punish_fast.runtime.parallel import cumulated
from punish_fast.store.formats.labeled_process import TERMINALS, LabeledProcess, process_of

VERSION, REVISION = 1, 0
OUTCOME = "outcome"

_ACTION_NAMES = tuple(action_name(action).replace(" ", "_") for action in ACTIONS)
_REST = len(ACTIONS) - 1
_BITS_TOGETHER = 64
_PIECE = 1 << 17

_BIT = {"type": "bool", "size": 1}
_DOUBLE = {"type": "double", "size": 64}


def export_umb(path: str | Path, states: CodedStates, mdp: MDP, enemy: dict[str, Any] | None = None) -> None:
    """Write a process of Punish in the Unified Markov Binary format.

    Args:
        path: Output file.
        states: States of the process: a memoryless `StateSpace` or a `SolutionFile`.
        mdp: Process to write.
        enemy: Description of the enemy, a JSON object with a ``kind``. By default, the enemy is recorded as unknown.

    Raises:
        ValueError: If the states, terminals or actions of the process do not match.
        OutputError: If the path is not writable.
        WriteError: If writing fails.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from punish_fast import StateSpace, build, export_umb, import_umb, load_rules
        >>> space = StateSpace(load_rules("tiny"))
        >>> with TemporaryDirectory() as folder:
        ...     export_umb(f"{folder}/tiny.umb", space, build(space))
        ...     process = import_umb(f"{folder}/tiny.umb")
        >>> process.mdp.n_states, list(process.labels), list(process.rewards)
        (560, ['init', 'win', 'loss'], ['reward'])
    """
    process = process_of(states, mdp, enemy)
    with replacing(Path(path)) as temporary, tarfile.open(temporary, "w") as archive:
        for name, stream in _members(process):
            member = tarfile.TarInfo(name)
            member.size = stream.size
            archive.addfile(member, io.BufferedReader(stream, 8 * _PIECE))


class _Stream(io.RawIOBase):
    """Byte stream of concatenated arrays, converted to a single dtype piece by piece."""

    def __init__(self, dtype: str, *arrays: np.ndarray) -> None:
        super().__init__()
        self.size = sum(array.size for array in arrays) * np.dtype(dtype).itemsize
        self._pieces = _pieces(np.dtype(dtype), arrays)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Copy bytes of one piece to ``buffer``, and return their number (0 at the end of the stream)."""
        if not self._rest:
            self._rest = next(self._pieces, self._rest)
        n_bytes = min(len(buffer), len(self._rest))
        buffer[:n_bytes] = self._rest[:n_bytes]
        self._rest = self._rest[n_bytes:]
        return n_bytes


def _pieces(dtype: np.dtype[Any], arrays: tuple[np.ndarray, ...]) -> Iterator[memoryview]:
    for array in arrays:
        for begin in range(0, len(array), _PIECE):
            piece = np.ascontiguousarray(array[begin : begin + _PIECE], dtype=dtype)
            yield piece.reshape(-1).view(np.uint8).data


def _members(process: LabeledProcess) -> Iterator[tuple[str, _Stream]]:
    """Yield the names and contents of the archive's members."""
    mdp = process.mdp
    loops = np.arange(1, len(TERMINALS) + 1)
    ones = np.ones(len(TERMINALS))
    action = np.searchsorted(ACTIONS, np.arange(256)).astype(np.uint8)[mdp.action]
    names = [name.encode() for name in _ACTION_NAMES]
    yield "index.json", _bytes(json.dumps(_index(process), indent=2).encode())
    yield "state-to-choices.bin", _Stream("<u8", mdp.state_ptr, mdp.n_rows + loops)
    yield "state-is-initial.bin", _bits(process.is_initial)
    yield "choice-to-branches.bin", _Stream("<u8", mdp.indptr, mdp.nnz + loops)
    yield "branch-to-target.bin", _Stream("<u8", mdp.indices, np.arange(mdp.n_states, mdp.n_columns))
    yield "branch-to-probability.bin", _Stream("<f8", mdp.data, ones)
    yield "actions/choices/values.bin", _Stream("<u4", action, np.full(len(TERMINALS), _REST))
    yield "actions/choices/string-mapping.bin", _Stream("<u8", cumulated(np.array([len(name) for name in names])))
    yield "actions/choices/strings.bin", _bytes(b"".join(names))
    for k, name in enumerate(TERMINALS):
        is_terminal = np.arange(mdp.n_columns) == mdp.n_states + k
        yield f"annotations/aps/{name}/states/values.bin", _bits(is_terminal)
    yield "annotations/rewards/reward/choices/values.bin", _Stream("<f8", mdp.reward, mdp.terminal_reward)
    yield "valuations/states/valuations.bin", _Stream("u1", *_valuations(process))


def _bytes(content: bytes) -> _Stream:
    return _Stream("u1", np.frombuffer(content, dtype=np.uint8))


def _bits(flags: np.ndarray) -> _Stream:
    """Return a stream of flags packed into bits, lowest bit first, padded with zeros to a multiple of 64 bits."""
    flags = np.pad(flags, (0, -len(flags) % _BITS_TOGETHER))
    return _Stream("u1", np.packbits(flags, bitorder="little"))


def _valuations(process: LabeledProcess) -> tuple[np.ndarray, np.ndarray]:
    """Return the fields and outcomes of all positions, and of win and loss, as two uint8 arrays with 19 columns."""
    positions = np.pad(process.fields, ((0, 0), (0, 1)))
    terminals = np.zeros((len(TERMINALS), positions.shape[1]), dtype=np.uint8)
    terminals[:, -1] = np.arange(1, len(TERMINALS) + 1)
    return positions, terminals


def _index(process: LabeledProcess) -> dict[str, Any]:
    mdp = process.mdp
    n_terminals = len(TERMINALS)
    rules = name_of(process.rules)
    return {
        "format-version": VERSION,
        "format-revision": REVISION,
        "model-data": {
            "name": "Punish",
            "description": f"The card duel Punish under rules {rules}, as one player sees it, against a known "
            f"strategy. The variables of a state are the digits of its code; {OUTCOME} is 1 for win and 2 for loss.",
        },
        "file-data": {
            "tool": "punish-fast",
            "tool-version": __version__,
            "creation-date": int(time.time()),
            "parameters": {
                "rules": to_mapping(process.rules),
                "rules-digest": process.rules.digest,
                "enemy": process.enemy,
            },
        },
        "transition-system": {
            "time": "discrete",
            "#players": 1,
            "#states": mdp.n_columns,
            "#initial-states": int(process.is_initial.sum()),
            "#choices": mdp.n_rows + n_terminals,
            "#choice-actions": len(ACTIONS),
            "#branches": mdp.nnz + n_terminals,
            "#branch-actions": 0,
            "#observations": 0,
            "branch-probability-type": _DOUBLE,
        },
        "annotations": {
            "aps": {name: {"alias": name, "applies-to": ["states"], "type": _BIT} for name in TERMINALS},
            "rewards": {
                "reward": {
                    "alias": "reward",
                    "description": "expected immediate reward; win and loss pay theirs in every step",
                    "applies-to": ["choices"],
                    "type": _DOUBLE,
                }
            },
        },
        "valuations": {
            "states": {
                "unique": True,
                "classes": [
                    {"variables": [{"name": name, "type": {"type": "uint", "size": 8}} for name in (*FIELDS, OUTCOME)]}
                ],
            }
        },
    }

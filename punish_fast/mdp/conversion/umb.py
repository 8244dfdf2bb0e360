"""Export to the Unified Markov Binary format (UMB), version 1, which Storm, PRISM and Modest support.

A UMB file is a tar archive of ``index.json`` and plain little-endian arrays. In UMB, each state has *choices*, and each
choice has *branches* to other states. Pointer arrays contain the first choice of each state and the first branch of
each choice. Rows are written as choices and entries as branches, in the same order. Terminals are the last states. Each
has one choice with one branch to itself, which pays the terminal's reward at every step. If terminals have values,
their choice pays the value and leads to a further state without rewards.

::

    state-to-choices, choice-to-branches                uint64    pointers
    branch-to-target, branch-to-probability             uint64, float64
    state-is-initial                                    bits
    actions/choices                                     uint32    index of the action's name, and the names
    annotations/aps/NAME                                bits      states with the label NAME
    annotations/rewards/NAME                            float64   of each choice

The file must not contain a label ``init``, because Storm creates a label ``init`` from the initial states and rejects
duplicates. Each member is converted in pieces to save memory, and written to a temporary file first, because a tar
archive stores the size of a member before its content.
"""

import json
import re
import tarfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.construction import finite_numbers
from punish_fast.mdp.graph.qualitative import columns_of
from punish_fast.mdp.model.mdp import MDP, check_arrays
from punish_fast.runtime import __version__
from punish_fast.runtime.errors import ArgumentError, shown
from punish_fast.runtime.files import replacing
from punish_fast.runtime.parallel import cumulated

VERSION, REVISION = 1, 0
INITIAL = "init"

_BITS_TOGETHER = 64
_PIECE = 1 << 17
_DOUBLE = {"type": "double", "size": 64}


def export_umb(
    path: str | Path,
    mdp: MDP,
    labels: Mapping[str, Any] | None = None,
    rewards: Mapping[str, Any] | None = None,
    index: Mapping[str, Any] | None = None,
    members: Mapping[str, np.ndarray] | None = None,
) -> None:
    """Write an MDP in the Unified Markov Binary format, for Storm, PRISM and Modest.

    Args:
        path: Output file.
        mdp: The MDP. Its terminals become the last states of the file. Actions keep their names.
        labels: States with each label: bool ``[n_states]``, or ``[n_columns]`` to include terminals, or a list of names
            of states. The label ``init`` marks the initial states, by default state 0.
        rewards: Rewards ``[n_rows]`` by name. Terminals do not pay them. By default, the only reward is ``reward``, the
            reward of the MDP, which includes rewards and values of terminals.
        index: Further entries of ``index.json``. Entries of ``file-data`` are added to this package's entries.
        members: Content of further members of the archive by name, uint8 in any number of dimensions.

    Raises:
        SolveError: If a label has the wrong shape or dtype, or contains an unknown name.
        ArgumentError: If a reward has the wrong shape or dtype, or no state is initial.
        ModelError: If the arrays of ``mdp`` are inconsistent.
        OutputError: If the path is not writable.
        WriteError: If writing fails.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from punish_fast import import_umb
        >>> from punish_fast.mdp import from_rows
        >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})]], terminals=[0])
        >>> with TemporaryDirectory() as folder:
        ...     export_umb(f"{folder}/coin.umb", mdp, labels={"end": np.array([False, True])})
        ...     process = import_umb(f"{folder}/coin.umb")
        >>> process.mdp, list(process.labels), process.rewards["reward"]
        (MDP(2 states, 2 rows, 3 entries), ['init', 'end'], array([1., 0.]))
    """
    check_arrays(mdp)
    mdp = mdp.expanded()
    n_rows, n_ends = mdp.n_rows, len(mdp.terminal_reward)
    values = np.zeros(n_ends) if mdp.terminal_value is None else mdp.terminal_value
    n_states = mdp.n_columns + bool(values.any())
    targets = np.arange(mdp.n_states, n_states)
    targets[:n_ends][values != 0] = n_states - 1
    loops, paid = np.arange(1, len(targets) + 1), np.zeros(len(targets))
    paid[:n_ends] = mdp.terminal_reward + values
    marks = {name: columns_of(mdp, f"labels: {shown(name)}", mask) for name, mask in (labels or {}).items()}
    marks = {name: np.pad(mask, (0, n_states - len(mask))) for name, mask in marks.items()}
    is_initial = marks.pop(INITIAL, np.arange(n_states) == 0)
    if not is_initial.any():
        raise ArgumentError(f"labels: {INITIAL} marks no state; at least one must be initial")
    pays = {"reward": (mdp.reward, paid)} if rewards is None else {}
    for name, given in (rewards or {}).items():
        pays[name] = finite_numbers(f"rewards: {shown(name)}", given, (n_rows,), ArgumentError), 0 * paid
    action = np.searchsorted(used := np.unique(mdp.action), mdp.action)
    names = [str(mdp.names.action(label)).encode() for label in used.tolist()]
    made = {"tool": "punish-fast", "tool-version": __version__, "creation-date": int(time.time())}
    described: dict[str, Any] = {
        "format-version": VERSION,
        "format-revision": REVISION,
        "transition-system": {
            "time": "discrete",
            "#players": 1,
            "#states": n_states,
            "#initial-states": int(is_initial.sum()),
            "#choices": n_rows + len(loops),
            "#choice-actions": len(names),
            "#branches": mdp.nnz + len(loops),
            "#branch-actions": 0,
            "#observations": 0,
            "branch-probability-type": _DOUBLE,
        },
        "annotations": {
            "aps": _described(marks, "states", {"type": "bool", "size": 1}),
            "rewards": _described(pays, "choices", _DOUBLE),
        },
        **(index or {}),
    }
    described["file-data"] = made | described.get("file-data", {})
    arrays: dict[str, tuple[Any, ...]] = {
        "index.json": ("u1", np.frombuffer(json.dumps(described, indent=2).encode(), np.uint8)),
        "state-to-choices.bin": ("<u8", mdp.state_ptr, n_rows + loops),
        "state-is-initial.bin": _bits(is_initial),
        "choice-to-branches.bin": ("<u8", mdp.indptr, mdp.nnz + loops),
        "branch-to-target.bin": ("<u8", mdp.indices, targets),
        "branch-to-probability.bin": ("<f8", mdp.data, np.ones(len(loops))),
        "actions/choices/values.bin": ("<u4", action, np.full(len(loops), len(names) - 1)),
        "actions/choices/string-mapping.bin": ("<u8", cumulated(np.array([len(name) for name in names]))),
        "actions/choices/strings.bin": ("u1", np.frombuffer(b"".join(names), np.uint8)),
    }
    arrays |= {f"annotations/aps/{_key(k, marks)}/states/values.bin": _bits(marks[k]) for k in marks}
    arrays |= {f"annotations/rewards/{_key(k, pays)}/choices/values.bin": ("<f8", *pays[k]) for k in pays}
    arrays |= {name: ("u1", content) for name, content in (members or {}).items()}
    with replacing(Path(path)) as temporary, tarfile.open(temporary, "w") as archive:
        for name, (dtype, *parts) in arrays.items():
            with TemporaryFile(dir=temporary.parent) as file:
                for part in parts:
                    for begin in range(0, len(part), _PIECE):
                        file.write(np.ascontiguousarray(part[begin : begin + _PIECE], dtype).data)
                member = tarfile.TarInfo(name)
                member.size = file.tell()
                file.seek(0)
                archive.addfile(member, file)


def _key(name: str, names: Iterable[str]) -> str:
    """Return the name of a folder: the given name, or its index and a hyphen if it contains special characters."""
    return name if re.fullmatch(r"\w+", name, re.ASCII) else f"{list(names).index(name)}-"


def _described(names: Iterable[str], kind: str, number: dict[str, Any]) -> dict[str, Any]:
    """Describe annotations of states or choices."""
    return {_key(name, names): {"alias": name, "applies-to": [kind], "type": number} for name in names}


def _bits(flags: np.ndarray) -> tuple[str, np.ndarray]:
    """Return flags packed into bits, lowest bit first, padded with zeros to a multiple of 64 bits."""
    flags = np.pad(flags, (0, -len(flags) % _BITS_TOGETHER))
    return "u1", np.packbits(flags, bitorder="little")

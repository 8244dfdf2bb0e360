"""Import of models from Storm, PRISM or Modest in the Unified Markov Binary format, version 1 (``umb.py``).

States, choices and branches are read as states, rows and entries. Labels are the *atomic propositions* of states. A
missing label ``init`` is created from the initial states. The reward of a row is the sum of three rewards: of the
state, of the choice, and the mean over the branches. A state without choices gets a row that leads back to the state.

Probabilities and rewards are doubles, integers or 128-bit rational numbers. The numerator and the denominator of a
rational number are at most 2^53, and the quotient is rounded once. Markov chains have one choice in each state and are
read as processes with one action. If a file uses an unsupported feature of the format, the error message contains its
name.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.construction import divisors, from_scipy
from punish_fast.mdp.arrays.names import UNNAMED, Names
from punish_fast.mdp.arrays.row_sums import ModelError
from punish_fast.mdp.conversion.objective_text import NamedProcess
from punish_fast.mdp.conversion.umb import VERSION
from punish_fast.mdp.model.mdp import process_of
from punish_fast.runtime.errors import ReadError, printable
from punish_fast.store.formats.umb_archive import INDEX, read_index, read_members

# The reference library writes version 0 if it is installed as a package.
_VERSIONS = (VERSION, 0)
_KINDS = ("states", "choices", "branches")
_COUNTS = (*_KINDS, "initial-states", "choice-actions", "observations", "players")
_TIMES = {"stochastic": "a continuous-time model (CTMC)", "urgent-stochastic": "a Markov automaton"}
_MOST_STATES = int(np.iinfo(np.int32).max)
# Names of the members to read, without annotations.
_NEEDED = (
    *("state-to-choices.bin", "state-is-initial.bin", "choice-to-branches.bin", "branch-to-target.bin"),
    *("branch-to-probability.bin", "actions/choices/values.bin"),
    *("actions/choices/string-mapping.bin", "actions/choices/strings.bin"),
)
# Maximum size of a number, and of all action names together, in bytes.
_LARGEST_NUMBER, _LONGEST_NAMES = 16, 1 << 26
# Dtype of rational numbers: numerator and denominator.
_RATIONAL = "<i8,<i8"
# Doubles represent all integers up to this limit exactly.
_EXACT = 1 << 53


class _Content:
    """Members of a file, converted to arrays and checked."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._members: dict[str, bytearray] = {}

    def read(self, index: dict[str, Any], sizes: dict[str, int]) -> None:
        """Read all supported members."""
        needed = set(_NEEDED)
        for group in ("aps", "rewards"):
            for folder, _, each in _annotations(self, index, group):
                needed |= {f"{folder}/{kind}/values.bin" for kind in _KINDS if kind in each["applies-to"]}
        largest = max(_LARGEST_NUMBER * (max(sizes.values()) + 1), _LONGEST_NAMES)
        self._members = read_members(self._path, needed, largest)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def fault(self, what: str) -> ReadError:
        return ReadError(f"{self._path}: {what}")

    def bytes(self, name: str) -> bytearray:
        if name not in self._members:
            raise self.fault(f"{printable(name)} is missing")
        return self._members[name]

    def array(self, name: str, dtype: str, n: int) -> np.ndarray:
        """Return a member as an array. The member must contain ``n`` numbers."""
        content, size = self.bytes(name), np.dtype(dtype).itemsize
        if len(content) != n * size:
            raise self.fault(f"{printable(name)}: {len(content):,} bytes, but must be {n * size:,}: {n:,} of {size}")
        return np.frombuffer(content, dtype=dtype)

    def bits(self, name: str, n: int) -> np.ndarray:
        """Return a member of ``n`` bits, lowest bit first, as a bool array."""
        content = self.bytes(name)
        if not (n + 7) // 8 <= len(content) <= _bytes_of_bits(n):
            size = _bytes_of_bits(n)
            raise self.fault(f"{printable(name)}: {len(content):,} bytes, but must be {size:,}: {n:,} bits")
        return np.unpackbits(np.frombuffer(content, dtype=np.uint8), count=n, bitorder="little").view(bool)

    def pointer(self, name: str, n: int, end: int) -> np.ndarray:
        """Return a pointer array from 0 to ``end``, int64 ``[n + 1]``. If it is missing, each item has one entry."""
        if name not in self and n == end:
            return np.arange(n + 1, dtype=np.int64)
        ptr = self.array(name, "<u8", n + 1)
        if ptr[0] != 0 or ptr[-1] != end or (ptr[1:] < ptr[:-1]).any():
            raise self.fault(f"{name}: must ascend from 0 to {end:,}")
        return ptr.astype(np.int64)

    def numbers(self, name: str, kind: Any, n: int) -> np.ndarray:
        """Return the numbers in a member, float64 ``[n]``. ``kind`` is the description of their type in the index."""
        dtype = self.dtype(name, kind)
        if dtype != _RATIONAL:
            return self.array(name, dtype, n).astype(np.float64)
        parts = self.array(name, "<i8", 2 * n).reshape(n, 2)
        if ((np.abs(parts) > _EXACT) | (parts == np.iinfo(np.int64).min)).any() or (parts[:, 1] <= 0).any():
            raise self.fault(f"{name}: rational numbers with terms above 2^53 are not supported; export doubles")
        return np.asarray(parts[:, 0] / parts[:, 1])

    def dtype(self, name: str, kind: Any) -> str:
        """Return the dtype of the member ``name``. ``kind`` is the description of the type in the index."""
        described, size = _type_of(kind)
        if described == "double" and size == 64:
            return "<f8"
        if described in ("int", "uint") and size in (8, 16, 32, 64):
            return f"<{described[0]}{size // 8}"
        if described == "rational" and size == 128:
            return _RATIONAL
        if "interval" in described:
            raise self.fault(f"{name}: {described}; models with intervals are not supported")
        raise self.fault(f"{name}: {described} of {size} bits is not supported; export doubles")


def import_umb(path: str | Path, normalize: bool = False) -> NamedProcess:
    """Read a model in the Unified Markov Binary format, which Storm, PRISM and Modest write.

    Args:
        path: UMB file, possibly compressed.
        normalize: Whether to divide the probabilities of each choice by their sum. By default, the sum must be 1 within
            1e-12.

    Returns:
        The model with its labels, rewards, initial states and action names.

    Raises:
        ReadError: If the file cannot be read, is damaged, or contains an unsupported kind of model.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from punish_fast import StateSpace, build, export_punish_umb, import_umb, load_rules, reach_probability
        >>> space = StateSpace(load_rules("tiny"))
        >>> with TemporaryDirectory() as folder:
        ...     export_punish_umb(f"{folder}/tiny.umb", space, build(space))
        ...     process = import_umb(f"{folder}/tiny.umb")
        >>> process.mdp.names.actions[:3]
        ('guard', 'feint_with_guard', 'rush')
        >>> values = reach_probability(process.mdp, process.labeled("win"))
        >>> round(float(values.v[0]), 4)
        0.9829
    """
    from scipy.sparse import csr_array

    path = Path(path)
    content = _Content(path)
    index = _index(content, read_index(path))
    sizes, system = _sizes(content, index), index["transition-system"]
    content.read(index, sizes)
    # Read members in this order, so that the size of a member confirms each count before its use.
    n_states, n_choices, n_branches = (sizes[kind] for kind in _KINDS)
    target = content.array("branch-to-target.bin", "<u8", n_branches)
    indptr = content.pointer("choice-to-branches.bin", n_choices, n_branches)
    state_ptr = content.pointer("state-to-choices.bin", n_states, n_choices)
    if n_branches and target.max() >= n_states:
        raise content.fault(f"branch-to-target.bin: state {target.max():,}, but there are {n_states:,}")
    p = _probabilities(content, system, indptr)
    rewards = _rewards(content, index, sizes, (state_ptr, indptr, p))
    action, names = _actions(content, sizes)
    ends = np.flatnonzero(np.diff(state_ptr) == 0)
    if len(ends):
        # Insert a row for each state without choices, before the first choice of the next state.
        places, entries = state_ptr[ends], indptr[state_ptr[ends]]
        p, target = np.insert(p, entries, 1.0), np.insert(target, entries, ends.astype(np.uint64))
        lengths = np.insert(np.diff(indptr), places, 1)
        indptr = np.append(0, np.cumsum(lengths))
        state_ptr = state_ptr + np.append(0, np.cumsum(np.diff(state_ptr) == 0))
        action = None if action is None else np.insert(action, places, 0)
    labels = _labels(content, index, sizes)
    is_initial = np.zeros(n_states, dtype=bool)
    if sizes["initial-states"]:
        is_initial = content.bits("state-is-initial.bin", n_states)
    dtype = np.int32 if len(p) <= np.iinfo(np.int32).max else np.int64
    shape = len(indptr) - 1, n_states
    try:
        matrix = csr_array((p, target.astype(dtype), indptr.astype(dtype)), shape=shape)
        mdp = process_of(from_scipy(matrix, np.zeros(shape[0]), state_ptr, ((), ()), action, normalize, names))
    except ModelError as error:
        raise content.fault(f"is not a Markov decision process: {error}") from None
    return NamedProcess(
        mdp=mdp,
        labels={"init": is_initial} | labels,
        rewards=rewards,
        initial=np.flatnonzero(is_initial),
    )


def _bytes_of_bits(n: int) -> int:
    return (n + 63) // 64 * 8


def _index(content: _Content, text: bytearray) -> dict[str, Any]:
    """Parse the index and check its version."""
    try:
        index = json.loads(text)
    except (ValueError, RecursionError):
        raise content.fault(f"{INDEX} is not valid JSON") from None
    if not isinstance(index, dict) or not isinstance(index.get("transition-system"), dict):
        raise content.fault(f"{INDEX} has no transition-system")
    version = index.get("format-version")
    if version not in _VERSIONS:
        raise content.fault(f"{INDEX}: format-version {printable(str(version), 20)}; it must be {VERSION}")
    return index


def _sizes(content: _Content, index: dict[str, Any]) -> dict[str, int]:
    """Return the counts in `_COUNTS`. The model must have discrete time, at most one player and no observations."""
    system = index["transition-system"]
    counts = {name: system.get(f"#{name}") for name in _COUNTS}
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count < 1 << 62:
            raise content.fault(f"{INDEX}: #{name} is {printable(str(count), 40)}; it must be a count")
    time = system.get("time")
    if time != "discrete":
        what = _TIMES.get(time) if isinstance(time, str) else None
        raise content.fault(f"is {what or 'a model in time ' + printable(repr(time), 40)}; time must be discrete")
    if counts["players"] > 1:
        raise content.fault(f"is a game of {counts['players']:,} players; only one is possible")
    if counts["observations"]:
        raise content.fault("is partially observable (POMDP), which is not supported")
    if not 1 <= counts["states"] <= _MOST_STATES:
        raise content.fault(f"{counts['states']:,} states; there must be 1 to {_MOST_STATES:,}")
    if counts["players"] == 0 and counts["choices"] != counts["states"]:
        raise content.fault(f"is a chain, but has {counts['choices']:,} choices in {counts['states']:,} states")
    return counts


def _type_of(kind: Any) -> tuple[str, int]:
    """Return the name of a type in the index, and its number of bits."""
    described = kind.get("type") if isinstance(kind, dict) else None
    described = described if isinstance(described, str) else "unknown type"
    usual = {"double": 64, "int": 64, "uint": 64, "bool": 1, "rational": 128}.get(described, 0)
    size = kind.get("size", usual) if isinstance(kind, dict) else 0
    return printable(described, 40), size if isinstance(size, int) else 0


def _probabilities(content: _Content, system: dict[str, Any], indptr: np.ndarray) -> np.ndarray:
    """Read the probabilities of branches, float64 ``[n_branches]``."""
    lengths = np.diff(indptr)
    if (lengths == 0).any():
        raise content.fault(f"choice-to-branches.bin: choice {lengths.argmin():,} has no branch")
    if system.get("branch-probability-type") is not None:
        return content.numbers("branch-to-probability.bin", system["branch-probability-type"], int(indptr[-1]))
    if (lengths != 1).any():
        raise content.fault("has choices with several branches, but no probabilities")
    return np.ones(len(lengths))


def _annotations(content: _Content, index: dict[str, Any], group: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the folder, name and description of each annotation in a group."""
    groups = index.get("annotations", {})
    described = groups.get(group, {}) if isinstance(groups, dict) else None
    if not isinstance(described, dict) or not all(isinstance(each, dict) for each in described.values()):
        raise content.fault(f"{INDEX}: annotations are not objects")
    found = []
    for key, each in described.items():
        alias, applies = each.get("alias"), each.get("applies-to")
        if not isinstance(applies, list) or not all(isinstance(kind, str) for kind in applies):
            raise content.fault(f"{INDEX}: {group} {printable(key, 60)} has no valid applies-to")
        found.append((f"annotations/{group}/{key}", alias if isinstance(alias, str) and alias else key, each))
    names = [name for _, name, _ in found]
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise content.fault(f"{INDEX}: {group} has {printable(twice, 60)} twice")
    return found


def _labels(content: _Content, index: dict[str, Any], sizes: dict[str, int]) -> dict[str, np.ndarray]:
    found = {}
    for folder, name, each in _annotations(content, index, "aps"):
        if "states" in each["applies-to"]:
            if _type_of(each.get("type")) != ("bool", 1):
                raise content.fault(f"label {printable(name, 60)} is not one bit for each state")
            found[name] = content.bits(f"{folder}/states/values.bin", sizes["states"])
    return found


def _rewards(
    content: _Content, index: dict[str, Any], sizes: dict[str, int], rows: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the rewards of rows by name: state reward plus choice reward plus mean reward of branches."""
    state_ptr, indptr, p = rows
    counts = np.maximum(np.diff(state_ptr), 1)
    places = state_ptr[:-1][np.diff(state_ptr) == 0]
    found = {}
    for folder, name, each in _annotations(content, index, "rewards"):
        if each.get("probability-type") is not None:
            raise content.fault(f"reward {printable(name, 60)} is random, which is not supported")
        paid = np.zeros(sizes["choices"])
        by_state = None
        for kind in each["applies-to"]:
            if kind not in _KINDS:
                raise content.fault(f"reward {printable(name, 60)} is of {printable(kind, 40)}, which is not supported")
            values = content.numbers(f"{folder}/{kind}/values.bin", each.get("type"), sizes[kind])
            if not np.isfinite(values).all():
                raise content.fault(f"reward {printable(name, 60)} is not finite")
            if kind == "branches":
                paid += np.add.reduceat(p * values, indptr[:-1]) / divisors(indptr, p)
            elif kind == "choices":
                paid += values
            else:
                by_state = values
        paid = np.insert(paid, places, 0.0) if len(places) else paid
        found[name] = paid if by_state is None else paid + np.repeat(by_state, counts)
    return found


def _actions(content: _Content, sizes: dict[str, int]) -> tuple[np.ndarray | None, Names]:
    """Return the index of each choice's action (None if the file has no actions) and the names of the actions."""
    folder, n_actions = "actions/choices", sizes["choice-actions"]
    if n_actions == 0 or f"{folder}/values.bin" not in content:
        return None, UNNAMED
    action = content.array(f"{folder}/values.bin", "<u4", sizes["choices"])
    if action.max(initial=0) >= n_actions:
        raise content.fault(f"{folder}/values.bin: action {action.max():,}, but there are {n_actions:,}")
    if f"{folder}/string-mapping.bin" not in content:
        return action, UNNAMED
    text = bytes(content.bytes(f"{folder}/strings.bin"))
    ends = content.pointer(f"{folder}/string-mapping.bin", n_actions, len(text)).tolist()
    names = tuple(text[ends[k] : ends[k + 1]].decode(errors="replace") for k in range(n_actions))
    return action, Names(actions=names)

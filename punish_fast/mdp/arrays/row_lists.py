"""Construction of MDPs from lists of rows and from the tables of Gymnasium.

Error messages contain the state, the action or row, and the value. A row whose exact sum differs from 1 by more than
rounding is divided by that sum.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.construction import ModelArrays, from_scipy
from punish_fast.mdp.arrays.names import Names, action_name, entry_name, state_name
from punish_fast.mdp.arrays.policy import refuse_mask
from punish_fast.mdp.arrays.row_sums import ROUNDING, ModelError, largest_entry, refused_entry
from punish_fast.runtime.errors import as_float, shown
from punish_fast.runtime.parallel import cumulated


def from_rows(
    states: Sequence[Sequence[tuple[float, dict[int, float]]]],
    layers: Sequence[int] | None = None,
    terminals: tuple[Sequence[float], Sequence[float]] = ((), ()),
    normalize: bool = False,
    names: Names | None = None,
) -> ModelArrays:
    """Implement `from_rows` of `punish_fast.mdp`. ``terminals`` are the rewards and the values of terminals."""
    given = _listed("states", states)
    ends = [
        [_number(f"{name}: entry {k}", paid) for k, paid in enumerate(_listed(name, given_ends))]
        for name, given_ends in zip(("terminals", "terminal_value"), terminals, strict=True)
    ]
    n_terminals = len(ends[0] or ends[1])
    rows, n_columns = _Rows(), len(given) + n_terminals
    for state, choices in enumerate(given):
        name = f"state {state_name(names, state)}"
        for k, row in enumerate(_listed(name, choices)):
            place = f"{name}, row {k}"
            if not isinstance(row, Sequence) or len(row) != 2 or not isinstance(row[1], Mapping):
                raise ModelError(f"{place}: {shown(row)} is not a pair (reward, {{successor: probability}})")
            columns = [_whole_number(f"{place}: successor", column) for column in row[1]]
            wrong = next((column for column in columns if not 0 <= column < n_columns), None)
            if wrong is not None:
                told = f"{len(given)} states and {n_terminals} terminals"
                raise ModelError(f"{place}: successor {shown(wrong)} is not from 0 to {n_columns - 1} ({told})")
            rows.add(place, columns, row[1].values(), k)
            rows.reward.append(_number(f"{place}: reward", row[0]))
        rows.end_state(name)
    arrays = rows.arrays((ends[0] or [0.0] * n_terminals, ends[1]), normalize, names)
    if layers is None:
        return arrays
    sizes = [_whole_number(f"layers: entry {k}", size) for k, size in enumerate(_listed("layers", layers))]
    if min(sizes, default=-1) < 0 or sum(sizes) != len(given):
        raise ModelError(f"layers: {shown(sizes)} is not allowed; sizes must add up to {len(given)} states")
    return arrays._replace(layer_ptr=cumulated(np.array(sizes, dtype=np.int64)))


def from_gymnasium(env: Any, normalize: bool = False, names: Names | None = None) -> ModelArrays:
    """Implement `MDP.from_gymnasium`."""
    table = getattr(getattr(env, "unwrapped", env), "P", None)
    try:
        n_states = len(table)  # type: ignore[arg-type]
    except TypeError:
        told = f"{type(env).__name__} has no transition table P, unlike toy text environments"
        raise ModelError(f"env: {told}") from None
    rows = _Rows()
    for state in range(n_states):
        for action, outcomes in _actions_of(table, state):
            place = f"P[{state}][{action}]"
            if names is not None:
                place += f" (action {action_name(names, action)} of state {state_name(names, state)})"
            columns = [_whole_number(f"{place}: successor", successor) for _, successor, _, _ in outcomes]
            for k, (column, outcome) in enumerate(zip(columns, outcomes, strict=True)):
                if outcome[3]:
                    columns[k] = n_states
                elif not 0 <= column < n_states:
                    told = f"successor {shown(column)} is not a state; it must be from 0 to {n_states - 1}"
                    raise ModelError(f"{place}: {told}, or any if terminated")
            paid = [_number(f"{place}: reward", reward) for _, _, reward, _ in outcomes]
            p = rows.add(place, columns, [p for p, _, _, _ in outcomes], action)
            for column, chance in zip(columns, p, strict=True):
                if not 0 <= chance <= largest_entry(normalize):
                    raise ModelError(
                        f"transitions: {refused_entry(place, entry_name(names, column), chance, normalize)}"
                    )
            total, deviation = math.fsum(p), math.fsum([*p, -1.0])
            # Normalizing a row also scales its expected reward.
            share = total if abs(deviation) > ROUNDING and total > 0 else 1.0
            expected = sum(chance / share * reward for chance, reward in zip(p, paid, strict=True))
            rows.reward.append(_number(f"{place}: expected reward", expected))
        rows.end_state(f"P[{state}]")
    return rows.arrays(([0.0], []), normalize, names)


class _Rows:
    """Builder that collects the rows of an MDP."""

    def __init__(self) -> None:
        self.reward: list[float] = []  # reward of each row
        self._names: list[str] = []
        self._action: list[int] = []
        self._state_ptr, self._indptr = [0], [0]
        self._indices: list[int] = []
        self._data: list[float] = []

    def add(self, name: str, columns: list[int], p: Iterable[Any], action: int) -> list[float]:
        """Add a row and return its probabilities as floats. The caller must append its reward to `reward`."""
        columned = zip(columns, p, strict=True)
        data = [_number(f"{name}: probability of successor {column}", value) for column, value in columned]
        self._indices += columns
        self._data += data
        self._indptr.append(len(self._data))
        self._names.append(name)
        self._action.append(action)
        return data

    def end_state(self, place: str) -> None:
        if len(self._names) == self._state_ptr[-1]:
            raise ModelError(f"{place}: there are no rows; every state must have at least one")
        self._state_ptr.append(len(self._names))

    def arrays(self, ends: tuple[list[float], list[float]], normalize: bool, names: Names | None) -> ModelArrays:
        """Return the arrays of an MDP with all rows and a single layer."""
        from scipy.sparse import csr_array

        n_states = len(self._state_ptr) - 1
        if n_states == 0:
            raise ModelError("states: there are none; at least one state is needed")
        shape = (len(self._names), n_states + len(ends[0]))
        matrix = csr_array((np.array(self._data), np.array(self._indices, dtype=np.int32), self._indptr), shape=shape)
        labels = np.array(self._action)
        name_of = self._names.__getitem__
        return from_scipy(matrix, self.reward, self._state_ptr, ends, labels, normalize, name_of, names)


def _actions_of(table: Any, state: int) -> list[tuple[int, list[tuple[Any, Any, Any, bool]]]]:
    """Return the actions of a state and their outcomes from a transition table. Actions of a dictionary are sorted."""
    try:
        actions = table[state]
        pairs = sorted(actions.items()) if hasattr(actions, "items") else list(enumerate(actions))
        return [(int(label), [(p, s, r, bool(over)) for p, s, r, over in outcomes]) for label, outcomes in pairs]
    except (LookupError, TypeError, ValueError) as error:
        raise ModelError(
            f"env: P[{state}] is not a table of actions and their outcomes (probability, successor, reward, terminated)"
        ) from error


def _listed(name: str, given: Any) -> list[Any]:
    if not isinstance(given, Iterable):
        raise ModelError(f"{name}: {shown(given)} is not a list")
    refuse_mask(name, given, ModelError)
    return list(given)


def _number(name: str, value: Any) -> float:
    """Convert a finite number to float."""
    number = float(value) if isinstance(value, bool | np.bool_) else as_float(value)
    if not math.isfinite(number):
        raise ModelError(f"{name} is {shown(value)}; it must be a finite number")
    return number


def _whole_number(name: str, value: Any) -> int:
    """Convert a whole number to int; 1.0 is valid, True is not."""
    try:
        whole = None if isinstance(value, bool | str) else int(value)
    except (OverflowError, TypeError, ValueError):
        whole = None
    if whole is None or whole != value:
        raise ModelError(f"{name} is {shown(value)}; it must be a whole number")
    return whole

"""Construction of MDPs from lists of rows and from the tables of Gymnasium.

Error messages contain the state, the action or row, and the value. A row whose exact sum differs from 1 by more than
rounding is divided by that sum.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import mul
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.construction import ModelArrays, divisors, from_scipy
from punish_fast.mdp.arrays.names import Names, pair_name, state_name
from punish_fast.mdp.arrays.policy import refuse_mask
from punish_fast.mdp.arrays.row_sums import ModelError
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
            place = pair_name(names, state, k)
            if not isinstance(row, Sequence) or len(row) != 2 or not isinstance(row[1], Mapping):
                raise ModelError(f"{place}: {shown(row)} is not a pair (reward, {{successor: probability}})")
            columns = [_whole_number(f"{place}: successor", column) for column in row[1]]
            wrong = next((column for column in columns if not 0 <= column < n_columns), None)
            if wrong is not None:
                told = f"{len(given)} states and {n_terminals} terminals"
                raise ModelError(f"{place}: successor {shown(wrong)} is not from 0 to {n_columns - 1} ({told})")
            rows.add(place, k, columns, row[1].values(), row[0])
        rows.end_state(name)
    arrays = rows.arrays((ends[0] or [0.0] * n_terminals, ends[1]), normalize, names)
    if layers is None:
        return arrays
    sizes = [_whole_number(f"layers: entry {k}", size) for k, size in enumerate(_listed("layers", layers))]
    if min(sizes, default=-1) < 0 or sum(sizes) != len(given):
        raise ModelError(f"layers: {shown(sizes)} is not allowed; sizes must add up to {len(given)} states")
    return arrays | {"layer_ptr": cumulated(np.array(sizes, dtype=np.int64))}


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
            place = pair_name(names, state, action)
            columns = [_whole_number(f"{place}: successor", successor) for _, successor, _, _ in outcomes]
            for k, (column, outcome) in enumerate(zip(columns, outcomes, strict=True)):
                if outcome[3]:
                    columns[k] = n_states
                elif not 0 <= column < n_states:
                    told = f"successor {shown(column)} is not a state; it must be from 0 to {n_states - 1}"
                    raise ModelError(f"{place}: {told}, or any if terminated")
            p, rewards = [p for p, _, _, _ in outcomes], [reward for _, _, reward, _ in outcomes]
            rows.add(place, action, columns, p, 0.0, rewards)
        rows.end_state(f"state {state_name(names, state)}")
    return rows.arrays(([0.0], []), normalize, names)


class _Rows:
    """Builder that collects the rows of an MDP."""

    def __init__(self) -> None:
        self._reward: list[float] = []
        self._expected: list[float] = []  # expected rewards of transitions, not divided by the sum of the row
        self._action: list[int] = []
        self._state_ptr, self._indptr = [0], [0]
        self._indices: list[int] = []
        self._data: list[float] = []

    def add(
        self, name: str, action: int, columns: list[int], p: Iterable[Any], reward: Any, rewards: Iterable[Any] = ()
    ) -> None:
        """Add a row. ``rewards`` are the rewards of its transitions, in addition to ``reward``."""
        columned = zip(columns, p, strict=True)
        data = [_number(f"{name}: probability of successor {column}", value) for column, value in columned]
        self._indices += columns
        self._data += data
        self._indptr.append(len(self._data))
        self._reward.append(_number(f"{name}: reward", reward))
        self._expected.append(sum(map(mul, data, (_number(f"{name}: reward", x) for x in rewards))))
        self._action.append(action)

    def end_state(self, place: str) -> None:
        if len(self._action) == self._state_ptr[-1]:
            raise ModelError(f"{place}: there are no rows; every state must have at least one")
        self._state_ptr.append(len(self._action))

    def arrays(self, ends: tuple[list[float], list[float]], normalize: bool, names: Names | None) -> ModelArrays:
        """Return the arrays of an MDP with all rows and a single layer."""
        from scipy.sparse import csr_array

        n_states = len(self._state_ptr) - 1
        if n_states == 0:
            raise ModelError("states: there are none; at least one state is needed")
        data, indptr = np.array(self._data), np.array(self._indptr)
        shape = (len(self._action), n_states + len(ends[0]))
        matrix = csr_array((data, np.array(self._indices, dtype=np.int32), indptr), shape=shape)
        reward = self._reward + np.array(self._expected) / divisors(indptr, data)
        return from_scipy(matrix, reward, self._state_ptr, ends, np.array(self._action), normalize, names)


def _actions_of(table: Any, state: int) -> list[tuple[int, list[tuple[Any, Any, Any, bool]]]]:
    """Return the actions of a state and their outcomes from a transition table. Actions of a dictionary are sorted."""
    try:
        actions = table[state]
        pairs = sorted(actions.items()) if hasattr(actions, "items") else list(enumerate(actions))
        return [(int(label), [(p, s, r, bool(over)) for p, s, r, over in outcomes]) for label, outcomes in pairs]
    except (LookupError, TypeError, ValueError) as error:
        told = "a table of actions and their outcomes (probability, successor, reward, terminated)"
        raise ModelError(f"env: P[{state}] is not {told}") from error


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
    """Convert a whole number to int. Accept 1.0, but not True."""
    try:
        whole = None if isinstance(value, bool | str) else int(value)
    except (OverflowError, TypeError, ValueError):
        whole = None
    if whole is None or whole != value:
        raise ModelError(f"{name} is {shown(value)}; it must be a whole number")
    return whole

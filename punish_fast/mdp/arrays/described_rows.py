"""Construction of MDPs from descriptions of states: functions, lists of rows, and the tables of Gymnasium.

If a function describes the states, they are found by breadth-first search. Error messages contain the state, the action
and the row. A row whose exact sum differs from 1 by more than rounding is divided by that sum.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from math import isfinite
from operator import mul
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.construction import ModelArrays, divisors, from_scipy, vector, whole_numbers
from punish_fast.mdp.arrays.names import UNNAMED, Names, pair_name, state_name
from punish_fast.mdp.arrays.policy import refuse_mask
from punish_fast.mdp.arrays.row_sums import ModelError
from punish_fast.runtime.errors import as_float, check_allowed, is_whole, shown
from punish_fast.runtime.parallel import cumulated

_MAPPING = dict, Mapping
_FORM = (
    "a pair (reward, successors), where successors are {successor: probability}, pairs (successor, "
    "probability) or triples (successor, probability, reward)"
)
# Number of states between two calls of `progress`.
_INTERVAL = 2**14
_MOST_STATES = 2**31 - 1
# Successor of transitions that terminate.
_END = "end"


class _Numbers(dict[Any, int]):
    """Mapping that numbers keys in the order of their first look-up."""

    def __init__(self) -> None:
        self.ordered: list[Any] = []

    def __missing__(self, key: Any) -> int:
        self[key] = number = len(self.ordered)
        self.ordered.append(key)
        return number


class DescribedRows:
    """Rows of the states described so far, with successors in the order of their discovery."""

    def __init__(self, origin: str = "model", columns: Iterable[Hashable] = (), names: Names = UNNAMED) -> None:
        """If given, ``columns`` are all states and terminals in order. Error messages begin with ``origin``."""
        self.states, self.actions = _Numbers(), _Numbers()
        self._origin, self._names = origin, names
        self._form = _FORM if origin == "model" else "a pair (reward, {successor: probability})"
        self._most_states = len(list(map(self.states.__getitem__, columns))) or np.inf
        self.values: dict[int, float] = {}  # values of terminals by number
        self.state_ptr, self.indptr = array("q", [0]), array("q", [0])
        self.indices, self.action = array("i"), array("I")
        self.data, self.reward = array("d"), array("d")
        self.earned = array("d")  # expected rewards of transitions

    def add_state(self, state: Any, actions: Mapping[Any, Any]) -> None:
        """Add the rows of a state."""
        indices, data, reward, earned = self.indices, self.data, self.reward, self.earned
        number_of = self.states.__getitem__
        for action, choice in actions.items():
            try:
                paid, outcomes = choice
                pairs = (outcomes, outcomes.values()) if isinstance(outcomes, _MAPPING) else zip(*outcomes, strict=True)
                successors, p, *rewards = pairs
                # Successors of probability 0 are not explored.
                if self._most_states == np.inf and 0 in p:
                    kept = [each for each in zip(successors, p, *rewards, strict=True) if each[1] != 0]
                    successors, p, *rewards = zip(*kept, strict=True) if kept else ((), ())
                indices.extend(map(number_of, successors))
                data.extend(p)
                reward.append(paid)
                earned.append(sum(map(mul, array("d", p), array("d", *rewards))) if rewards else 0.0)
                if not isfinite(reward[-1] + earned[-1]):
                    raise ValueError("the reward is not finite")
                if len(self.states) > self._most_states:
                    raise ValueError(f"unknown successor {shown(self.states.ordered[-1])[:30]}")
            except (TypeError, ValueError, OverflowError) as error:
                place = f"action {shown(action)} of state {shown(state)}"
                place = place if self._origin == "model" else pair_name(self._names, state, action)
                told = f"is {shown(choice)} ({error}); it must be {self._form}"
                raise ModelError(f"{self._origin}: {place} {told}") from error
            self.indptr.append(len(data))
            self.action.append(self.actions[action])
        if len(reward) == self.state_ptr[-1]:
            raise ModelError(
                f"{self._origin}: state {state_name(self._names, state)} has no rows; at least one is needed"
            )
        self.state_ptr.append(len(reward))

    def arrays(self, normalize: bool, ends: tuple[Any, Any] | None = None) -> ModelArrays:
        """Return the arrays of an MDP whose columns of terminals follow the columns of states.

        ``ends`` are the rewards and the values of terminals. If they are given, actions are labels.
        """
        from scipy.sparse import csr_array

        n = len(self.states)
        order = np.argsort(np.isin(np.arange(n), list(self.values)), kind="stable")
        column = np.empty(n, dtype=np.int32)
        column[order] = np.arange(n, dtype=np.int32)
        indptr, data = np.frombuffer(self.indptr, np.int64), np.frombuffer(self.data)
        # Normalizing a row also scales the rewards of its transitions.
        earned = np.frombuffer(self.earned) / divisors(indptr, data)
        columns = column[np.frombuffer(self.indices, np.int32)]
        matrix = csr_array((data, columns, indptr), shape=(len(self.reward), n))
        state_ptr, labels = np.frombuffer(self.state_ptr, np.int64), np.frombuffer(self.action, np.uint32)
        reward = np.frombuffer(self.reward) + earned
        if ends is None:
            names = Names([self.states.ordered[k] for k in order.tolist()], self.actions.ordered)
            return from_scipy(matrix, reward, state_ptr, ((), list(self.values.values())), labels, normalize, names)
        action = np.array(self.actions.ordered, dtype=np.int64)[labels]
        return from_scipy(matrix, reward, state_ptr, ends, action, normalize, self._names)


def from_function(
    model: Callable[[Any], Any],
    initial: Iterable[Hashable],
    normalize: bool,
    max_states: int,
    progress: Callable[[int, int], None] | None,
) -> ModelArrays:
    """Implement `MDP.from_function`."""
    allowed = f"a whole number from 1 to {_MOST_STATES:,}"
    check_allowed(is_whole(max_states, 1, _MOST_STATES), ModelError, "max_states", max_states, allowed)
    rows = DescribedRows()
    states = rows.states.ordered
    try:
        if isinstance(initial, str):
            raise TypeError("a text")
        _ = list(map(rows.states.__getitem__, initial))
    except TypeError as error:
        raise ModelError(f"initial: {shown(initial)} is not a list of hashable states ({error})") from None
    # The list of states grows during the loop.
    for k, state in enumerate(states):
        try:
            given = model(state)
            if isinstance(given, _MAPPING) and given:
                rows.add_state(state, given)
            else:
                rows.values[k] = _value(state, given)
        except Exception as error:
            if not isinstance(error, ModelError):
                error.add_note(f"The model raised this error for the state {shown(state)}.")
            raise
        if len(states) > max_states:
            found = f"more than {max_states:,} states, the last of which is {shown(states[-1])}"
            raise ModelError(f"max_states: the model leads to {found}; raise the limit if the model is finite")
        if progress is not None and (k % _INTERVAL == 0 or k + 1 == len(states)):
            progress(k + 1, len(states))
    if len(rows.values) == len(states):
        raise ModelError("initial: there are no states with actions; at least one initial state must have actions")
    return rows.arrays(normalize)


def _value(state: Any, given: Any) -> float:
    """Return the value of a terminal."""
    value = float(given) if isinstance(given, bool | np.bool_) else as_float(given)
    if not isfinite(value):
        ways = "a finite number if the episode ends there, or a mapping {action: (reward, successors)}"
        raise ModelError(f"model: returns {shown(given)} for state {shown(state)}; it must return {ways}")
    return value


def from_rows(
    states: Sequence[Sequence[tuple[float, dict[int, float]]]],
    layers: Sequence[int] | None = None,
    terminals: tuple[Sequence[float], Sequence[float]] = ((), ()),
    normalize: bool = False,
    *,
    names: Names,
) -> ModelArrays:
    """Implement `from_rows` of `punish_fast.mdp`. ``terminals`` are the rewards and the values of terminals."""
    given = _listed("states", states)
    ends = vector("terminals", terminals[0]), vector("terminal_value", terminals[1])
    rows = DescribedRows("states", range(len(given) + (len(ends[0]) or len(ends[1]))), names)
    for state, choices in enumerate(given):
        rows.add_state(state, dict(enumerate(_listed(f"state {state_name(names, state)}", choices))))
    arrays = rows.arrays(normalize, ends)
    if layers is None:
        return arrays
    sizes = whole_numbers("layers", _listed("layers", layers))
    if min(sizes, default=-1) < 0 or sum(sizes) != len(given):
        raise ModelError(f"layers: {shown(sizes.tolist())} is not allowed; sizes must add up to {len(given)} states")
    return arrays | {"layer_ptr": cumulated(sizes)}


def from_gymnasium(env: Any, normalize: bool, names: Names) -> ModelArrays:
    """Implement `MDP.from_gymnasium`."""
    table = getattr(getattr(env, "unwrapped", env), "P", None)
    try:
        n_states = len(table)  # type: ignore[arg-type]
    except TypeError:
        told = f"{type(env).__name__} has no transition table P, unlike toy text environments"
        raise ModelError(f"env: {told}") from None
    rows = DescribedRows("env", [*range(n_states), _END], names)
    for state in range(n_states):
        rows.add_state(state, _actions_of(table, state))
    return rows.arrays(normalize, ([0.0], []))


def _actions_of(table: Any, state: int) -> dict[int, tuple[float, list[tuple[Any, Any, Any]]]]:
    """Return the actions of a state in a transition table. Actions of a dictionary are sorted."""
    try:
        actions = table[state]
        pairs = sorted(actions.items()) if hasattr(actions, "items") else enumerate(actions)
        return {int(a): (0.0, [(_END if over else t, p, r) for p, t, r, over in outcomes]) for a, outcomes in pairs}
    except (LookupError, TypeError, ValueError) as error:
        told = "a table of actions and their outcomes (probability, successor, reward, terminated)"
        raise ModelError(f"env: P[{state}] is not {told}") from error


def _listed(name: str, given: Any) -> list[Any]:
    if not isinstance(given, Iterable):
        raise ModelError(f"{name}: {shown(given)} is not a list")
    refuse_mask(name, given, ModelError)
    return list(given)

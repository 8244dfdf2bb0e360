"""Construction of an MDP from a function that describes one state, by breadth-first search."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from operator import mul
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.construction import ModelArrays, divisors, from_scipy
from punish_fast.mdp.arrays.names import Names, row_name
from punish_fast.mdp.arrays.row_sums import ModelError
from punish_fast.runtime.errors import as_float, check_allowed, is_whole, shown

_FORMS = "{successor: probability}, pairs (successor, probability), or triples (successor, probability, reward)"
# Number of states between two calls of `progress`.
_INTERVAL = 2**14
_MOST_STATES = 2**31 - 1
_MAPPING = dict, Mapping


class _Numbers(dict[Any, int]):
    """Numbers of keys, in the order of the first look-up."""

    def __init__(self) -> None:
        self.ordered: list[Any] = []

    def __missing__(self, key: Any) -> int:
        self[key] = number = len(self.ordered)
        self.ordered.append(key)
        return number


def from_function(
    model: Callable[[Any], Any],
    initial: Iterable[Hashable],
    normalize: bool,
    max_states: int,
    progress: Callable[[int, int], None] | None,
) -> ModelArrays:
    """Implement `MDP.from_function`."""
    from scipy.sparse import csr_array

    allowed = f"a whole number from 1 to {_MOST_STATES:,}"
    check_allowed(is_whole(max_states, 1, _MOST_STATES), ModelError, "max_states", max_states, allowed)
    numbers, labels = _Numbers(), _Numbers()
    number_of, states = numbers.__getitem__, numbers.ordered
    _add_initial(numbers, initial)
    values: dict[int, float] = {}  # values of terminals by number
    state_ptr, indptr, indices, action = array("q", [0]), array("q", [0]), array("i"), array("I")
    data, reward, earned = array("d"), array("d"), array("d")
    # The list of states grows during the loop.
    for k, state in enumerate(states):
        given = model(state)
        if not isinstance(given, _MAPPING):
            values[k] = _value(state, given)
        elif not given:
            raise ModelError(f"model: state {shown(state)} has no actions; return a number if the episode ends there")
        else:
            for name, choice in given.items():
                paid, successors, p, rewards = _parts(state, name, choice)
                try:
                    indices.extend(map(number_of, successors))
                    data.extend(p)
                    reward.append(paid)
                    earned.append(sum(map(mul, array("d", p), array("d", rewards))) if rewards else 0.0)
                except (TypeError, ValueError, OverflowError):
                    raise _fault(_place(state, name), paid, successors, {"probability": p, "reward": rewards}) from None
                indptr.append(len(data))
                action.append(labels[name])
            state_ptr.append(len(reward))
        if len(states) > max_states:
            found = f"more than {max_states:,} states, the last of which is {shown(states[-1])}"
            raise ModelError(f"max_states: the model leads to {found}; raise the limit if the model is finite")
        if progress is not None and k % _INTERVAL == 0:
            progress(k, len(states))
    if progress is not None:
        progress(len(states), len(states))
    if len(values) == len(states):
        raise ModelError("initial: there are no states with actions; at least one initial state must have actions")
    is_end = np.zeros(len(states), dtype=bool)
    is_end[list(values)] = True
    # Columns of terminals follow those of states.
    order = np.argsort(is_end, kind="stable")
    column = np.empty(len(states), dtype=np.int32)
    column[order] = np.arange(len(states), dtype=np.int32)
    pointers, probabilities = np.frombuffer(indptr, np.int64), np.frombuffer(data)
    rewards = np.frombuffer(reward) + np.frombuffer(earned) / (divisors(pointers, probabilities) if normalize else 1.0)
    names = Names([states[k] for k in order.tolist()], labels.ordered)
    begins, used = np.frombuffer(state_ptr, np.int64), np.frombuffer(action, np.uint32)
    if not np.isfinite(rewards).all():
        row = int(np.isfinite(rewards).argmin())
        told = f"the reward of {row_name(names, begins, used, row)} is {rewards[row]}; it must be a finite number"
        raise ModelError(f"model: {told}")
    columns, shape = column[np.frombuffer(indices, np.int32)], (len(reward), len(states))
    return from_scipy(
        csr_array((probabilities, columns, pointers), shape=shape),
        rewards,
        begins,
        ((), list(values.values())),
        action=used,
        normalize=normalize,
        names=names,
    )


def _add_initial(numbers: _Numbers, initial: Any) -> None:
    if isinstance(initial, str) or not isinstance(initial, Iterable):
        raise ModelError(f"initial: {shown(initial)} is not allowed; it must be a list of states")
    for state in initial:
        try:
            numbers[state]
        except TypeError:
            raise ModelError(f"initial: state {shown(state)} is not hashable") from None


def _value(state: Any, given: Any) -> float:
    """Return the value of a terminal."""
    value = float(given) if isinstance(given, bool | np.bool_) else as_float(given)
    if not np.isfinite(value):
        ways = "a finite number if the episode ends there, or a mapping {action: (reward, successors)}"
        raise ModelError(f"model: returns {shown(given)} for state {shown(state)}; it must return {ways}")
    return value


def _parts(state: Any, action: Any, choice: Any) -> tuple[Any, Collection[Any], Collection[Any], Collection[Any]]:
    """Return the reward of an action, and the successors with their probabilities and, if given, rewards."""
    try:
        paid, outcomes = choice
    except (TypeError, ValueError):
        told = f"{_place(state, action)} is {shown(choice)}; it must be a pair (reward, successors)"
        raise ModelError(f"model: {told}") from None
    if isinstance(outcomes, _MAPPING):
        return paid, outcomes, outcomes.values(), ()
    # An error in the iterator of a model is not an error of the form.
    given = list(outcomes) if isinstance(outcomes, Iterable) else []
    try:
        fields = list(zip(*given, strict=True))
    except (TypeError, ValueError):
        fields = []
    if len(fields) not in (2, 3):
        told = f"successors of {_place(state, action)} are {shown(outcomes)}; they must be {_FORMS}"
        raise ModelError(f"model: {told}")
    return paid, fields[0], fields[1], fields[2] if len(fields) == 3 else ()


def _place(state: Any, action: Any) -> str:
    return f"action {shown(action)} of state {shown(state)}"


def _fault(place: str, paid: Any, successors: Collection[Any], numbers: dict[str, Collection[Any]]) -> ModelError:
    """Return the error for a successor that is not hashable, or for the first value that is not a number."""
    for successor in successors:
        try:
            hash(successor)
        except TypeError:
            return ModelError(f"model: {place} leads to {shown(successor)}, which is not hashable")
    given = [("reward of", paid)]
    for kind, values in numbers.items():
        given += [(f"{kind} of successor {shown(s)} of", x) for s, x in zip(successors, values, strict=False)]
    for name, number in given:
        try:
            array("d", [number])
        except (TypeError, OverflowError):
            return ModelError(f"model: the {name} {place} is {shown(number)}; it must be a number")
    return ModelError(f"model: {place} has invalid successors {shown(successors)}")

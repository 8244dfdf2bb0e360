"""Construction of MDPs from lists of rows and from the tables of Gymnasium.

Messages name state, action or row, and value. Rows whose exact sum differs from 1 by more than rounding are divided by
it, as in ``construction.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from punish_fast.mdp.conversion.construction import narrowed
from punish_fast.mdp.conversion.row_sums import ROUNDING, is_accepted, largest_entry, refused_entry, refused_sum
from punish_fast.mdp.model import MDP, ModelError, check_arrays
from punish_fast.runtime.parallel import cumulated
from punish_fast.runtime.printable import printable


def from_rows(states: Any, layers: Any = None, terminals: Any = (), normalize: bool = False) -> MDP:
    """Implement `punish_fast.mdp.model.from_rows`."""
    given = _listed("states", states)
    ends = [_number(f"terminals: entry {k}", paid) for k, paid in enumerate(_listed("terminals", terminals))]
    rows, n_columns = _Rows(normalize), len(given) + len(ends)
    for state, choices in enumerate(given):
        for k, row in enumerate(_listed(f"state {state}", choices)):
            place = f"state {state}, row {k}"
            if not isinstance(row, Sequence) or len(row) != 2 or not isinstance(row[1], Mapping):
                raise ModelError(f"{place}: {_shown(row)} is not a pair (reward, {{successor: probability}})")
            columns = [_whole_number(f"{place}: successor", column) for column in row[1]]
            wrong = next((column for column in columns if not 0 <= column < n_columns), None)
            if wrong is not None:
                told = f"{len(given)} states and {len(ends)} terminals"
                raise ModelError(f"{place}: successor {_shown(wrong)} is not from 0 to {n_columns - 1} ({told})")
            p = rows.distribution(place, columns, row[1].values())
            rows.add(_number(f"{place}: reward", row[0]), dict(zip(columns, p, strict=True)), k)
        rows.end_state(f"state {state}")
    mdp = rows.process(ends)
    if layers is None:
        return mdp
    sizes = [_whole_number(f"layers: entry {k}", size) for k, size in enumerate(_listed("layers", layers))]
    if min(sizes, default=-1) < 0 or sum(sizes) != len(given):
        raise ModelError(f"layers: {_shown(sizes)} is not allowed, sizes must add up to {len(given)} states")
    return replace(mdp, layer_ptr=cumulated(np.array(sizes, dtype=np.int64)))


def from_gymnasium(env: Any, normalize: bool = False) -> MDP:
    """Implement `MDP.from_gymnasium`."""
    table = getattr(getattr(env, "unwrapped", env), "P", None)
    try:
        n_states = len(table)  # type: ignore[arg-type]
    except TypeError:
        told = f"{type(env).__name__} has no table P of its transitions, as toy text environments have"
        raise ModelError(f"env: {told}") from None
    rows = _Rows(normalize)
    for state in range(n_states):
        for action, outcomes in _actions_of(table, state):
            place = f"P[{state}][{action}]"
            columns = [_whole_number(f"{place}: successor", successor) for _, successor, _, _ in outcomes]
            for k, (column, outcome) in enumerate(zip(columns, outcomes, strict=True)):
                if outcome[3]:
                    columns[k] = n_states
                elif not 0 <= column < n_states:
                    told = f"successor {_shown(column)} is not a state, allowed are 0 to {n_states - 1}"
                    raise ModelError(f"{place}: {told}, or any if terminated")
            paid = [_number(f"{place}: reward", reward) for _, _, reward, _ in outcomes]
            p = rows.distribution(place, columns, [p for p, _, _, _ in outcomes])
            merged: dict[int, list[float]] = {}
            for column, share in zip(columns, p, strict=True):
                merged.setdefault(column, []).append(share)
            expected = _number(f"{place}: expected reward", sum(map(float.__mul__, p, paid)))
            rows.add(expected, {column: math.fsum(shares) for column, shares in merged.items()}, action)
        rows.end_state(f"P[{state}]")
    return rows.process([0.0])


class _Rows:
    """Builder that collects the rows of an MDP."""

    def __init__(self, normalize: bool) -> None:
        self._normalize = normalize
        self._state_ptr, self._indptr = [0], [0]
        self._indices: list[int] = []
        self._data: list[float] = []
        self._reward: list[float] = []
        self._action: list[int] = []

    def distribution(self, place: str, columns: list[int], p: Iterable[Any]) -> list[float]:
        """Check the probabilities of columns; return them divided by their sum unless it is 1 up to rounding."""
        given = []
        for column, value in zip(columns, p, strict=True):
            given.append(_number(f"{place}: probability of successor {column}", value))
            if not 0 <= given[-1] <= largest_entry(self._normalize):
                raise ModelError(refused_entry(place, column, given[-1], self._normalize))
        total, deviation = math.fsum(given), math.fsum([*given, -1.0])
        if not is_accepted(total, deviation, self._normalize):
            raise ModelError(refused_sum(place, total, deviation, self._normalize))
        return given if abs(deviation) <= ROUNDING else [share / total for share in given]

    def add(self, reward: float, successors: dict[int, float], action: int) -> None:
        entries = sorted((column, p) for column, p in successors.items() if p)
        self._indices += [column for column, _ in entries]
        # The only entry of a row may exceed 1 by rounding.
        self._data += [min(p, 1.0) for _, p in entries]
        self._indptr.append(len(self._data))
        self._reward.append(reward)
        self._action.append(action)

    def end_state(self, place: str) -> None:
        if len(self._reward) == self._state_ptr[-1]:
            raise ModelError(f"{place}: there are no rows, every state must have at least one")
        self._state_ptr.append(len(self._reward))

    def process(self, terminals: list[float]) -> MDP:
        """Build an MDP of all rows, in one layer."""
        if len(self._state_ptr) == 1:
            raise ModelError("states: there are none, at least one state is needed")
        mdp = MDP(
            state_ptr=np.array(self._state_ptr, dtype=np.int64),
            indptr=np.array(self._indptr, dtype=np.int64),
            indices=np.array(self._indices, dtype=np.int32),
            data=np.array(self._data, dtype=np.float64),
            reward=np.array(self._reward, dtype=np.float64),
            terminal_reward=np.array(terminals, dtype=np.float64),
            layer_ptr=np.array([0, len(self._state_ptr) - 1], dtype=np.int64),
            action=narrowed(np.array(self._action)),
        )
        check_arrays(mdp)
        return mdp


def _actions_of(table: Any, state: int) -> list[tuple[int, list[tuple[Any, Any, Any, bool]]]]:
    """Return the actions of a state of an environment and their outcomes, in ascending order of actions."""
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
        raise ModelError(f"{name}: {_shown(given)} is not a list")
    return list(given)


def _number(name: str, value: Any) -> float:
    """Convert a finite number to float."""
    try:
        number = float(value) if isinstance(value, Real | Decimal | np.bool_) else math.nan
    except (OverflowError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ModelError(f"{name} is {_shown(value)}, allowed are finite numbers")
    return number


def _whole_number(name: str, value: Any) -> int:
    """Convert a whole number to int; 1.0 is valid, but True is not."""
    try:
        whole = None if isinstance(value, bool | str) else int(value)
    except (OverflowError, TypeError, ValueError):
        whole = None
    if whole is None or whole != value:
        raise ModelError(f"{name} is {_shown(value)}, allowed are whole numbers")
    return whole


def _shown(value: Any) -> str:
    try:
        return printable(repr(value), 60)
    except Exception:  # repr of a number with too many digits, or of any object
        return type(value).__name__

"""Parsers of notebook files, which contain a number for each state-action pair, or the weights of a network.

**Weights of networks** are a JSON list of arrays, alternately the weights and biases of each layer. Flux writes a
weight matrix column by column, so a matrix is stored as a list of arrays, one per input, with one number per output.
The stored matrix is the transpose of Flux's matrix: for a row vector ``x`` of inputs, the outputs before activation are
``x @ weights + biases``.
"""

import json
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish._clash import LOSS, WIN
from punish_fast.punish.codes import ACTIONS, N_DIGITS, decimals_of, rows_of
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import COLUMN, StrategyError, policy_of_table
from punish_fast.runtime.errors import ReadError
from punish_fast.runtime.files import fault_of_input
from punish_fast.store.reader import final_values

TERMINALS = (str(WIN), str(LOSS))

_COLUMN_OF_KEY = {str(action): column for column, action in enumerate(ACTIONS)}


# Maximum mean length of a state and its numbers, in bytes; far more than any formatting needs.
_LONGEST_STATE = 1000


class Cells:
    """Content of a notebook file: a number for each pair of a state and an action."""

    def __init__(self, path: Path, space: StateSpace) -> None:
        self._path, self._space = path, space
        members = self._members()
        self._terminals: dict[str, float] = {}
        for key, actions in members:
            if key in TERMINALS:
                self._take_terminal(key, actions)
            elif len(key) != N_DIGITS or not (key.isascii() and key.isdecimal()):
                raise self._error(f"state {_brief(key)}: must be {N_DIGITS} digits, or {' or '.join(TERMINALS)}")
            elif not isinstance(actions, tuple):
                raise self._error(f"state {key}: {_brief(actions)} is not an object of actions")
        states = [member for member in members if member[0] not in TERMINALS]
        if len(states) > space.n_states:
            raise self._error(f"{len(states)} states, but the game has only {space.n_states}")
        lengths = [len(actions) for _, actions in states]
        self._decimals = np.array([int(key) for key, _ in states], dtype=np.int64)
        self._lengths = np.array(lengths, dtype=np.int64)
        pairs = list(chain.from_iterable(actions for _, actions in states))
        self._columns, self._numbers = self._checked_pairs([key for key, _ in states], lengths, pairs)

    def _error(self, problem: str) -> ReadError:
        return ReadError(f"{self._path}: {problem}")

    def _members(self) -> Any:
        """Parse the file; return its object, and every inner object, as a tuple of key-value pairs."""
        # float() accepts integers with thousands of digits, and tuples of pairs keep duplicate keys.
        decoder = json.JSONDecoder(object_pairs_hook=tuple, parse_int=float, parse_constant=_refuse_constant)
        most = _LONGEST_STATE * (self._space.n_states + len(TERMINALS))
        try:
            too_large = f"larger than {most:,} bytes, which is too much for the states of the game"
            members = decoder.decode(_read(self._path, most, too_large))
        except (ValueError, RecursionError) as error:
            raise self._error(f"not JSON, {str(error)[:80]}") from None
        if not isinstance(members, tuple):
            raise self._error("must be one object of states")
        return members

    def _take_terminal(self, key: str, actions: Any) -> None:
        if key in self._terminals:
            raise self._error(f"state {key} appears twice")
        if not isinstance(actions, tuple) or [name for name, _ in actions] != [str(REST_ACTION)]:
            raise self._error(f"state {key}: must be an object with only the action {REST_ACTION}")
        self._checked_pairs([key], [1], actions)
        self._terminals[key] = actions[0][1]

    def _checked_pairs(self, keys: list[str], lengths: list[int], pairs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Check pairs of an action and a number; return the columns of the actions, and the numbers."""
        columns = np.array([_COLUMN_OF_KEY.get(name, -1) for name, _ in pairs], dtype=np.int64)
        values = [number for _, number in pairs]
        if not set(map(type, values)) <= {float}:
            values = [number if isinstance(number, float) else np.nan for number in values]
        numbers = np.array(values, dtype=np.float64)
        wrong = np.flatnonzero((columns < 0) | ~np.isfinite(numbers))
        if len(wrong):
            state = keys[int(np.searchsorted(np.cumsum(lengths), wrong[0], side="right"))]
            name, number = pairs[int(wrong[0])]
            if name not in _COLUMN_OF_KEY:
                raise self._error(f"state {state}: action {_brief(name)}; actions are {', '.join(_COLUMN_OF_KEY)}")
            raise self._error(f"state {state}: action {name}: {_brief(number)} is not a finite number")
        return columns, numbers

    def kind(self) -> str:
        """Return ``"agent"`` if the numbers are values, or ``"strategy"`` if they are probabilities."""
        return "agent" if self._terminals.get(str(LOSS), 0.0) < 0 else "strategy"

    def _cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the indices of the states; and for all numbers, the state indices, action columns and values."""
        decimals = self._decimals
        rows = rows_of(self._space, decimals)
        unknown = np.flatnonzero(rows < 0)
        if len(unknown):
            raise self._error(f"state {decimals[unknown[0]]}: no game under these rules reaches it")
        self._check_once(rows, lambda i: f"state {decimals[i]}")
        cell_rows = np.repeat(rows, self._lengths)
        columns, numbers = self._columns, self._numbers
        self._check_once(cell_rows * len(ACTIONS) + columns, lambda i: self._name(cell_rows[i], columns[i]))
        return rows, cell_rows, columns, numbers

    def _check_once(self, items: np.ndarray, name: Callable[[int], str]) -> None:
        order = np.argsort(items, kind="stable")
        twice = np.flatnonzero(np.diff(items[order]) == 0)
        if len(twice):
            raise self._error(f"{name(int(order[twice[0]]))} appears twice")

    def _name(self, row: int, column: int) -> str:
        return f"state {self._decimal(row)}: action {ACTIONS[column]}"

    def _decimal(self, row: int) -> int:
        return int(decimals_of(self._space, np.array([row]))[0])

    def values(self, discount: float) -> tuple[np.ndarray, tuple[float, float]]:
        """Return the values of state-action pairs, float64 ``[n_rows]``, and the values of win and loss."""
        for key in TERMINALS:
            if key not in self._terminals:
                raise self._error(f"state {key}: missing")
        _, cell_rows, columns, numbers = self._cells()
        place = np.full((self._space.n_states, len(ACTIONS)), -1, dtype=np.int64)
        ptr, action = self._space.state_ptr, self._space.action
        place[np.repeat(np.arange(len(ptr) - 1), np.diff(ptr)), COLUMN[action]] = np.arange(len(action))
        places = place[cell_rows, columns]
        illegal = np.flatnonzero(places < 0)
        if len(illegal):
            raise self._error(f"{self._name(cell_rows[illegal[0]], columns[illegal[0]])} is not legal there")
        q = np.full(len(action), np.nan)
        q[places] = numbers
        missing = np.flatnonzero(np.isnan(q))
        if len(missing):
            row = int(np.searchsorted(ptr, missing[0], side="right")) - 1
            raise self._error(f"state {self._decimal(row)}: action {action[missing[0]]}: missing")
        self._check_size(q, discount)
        return q, (self._terminals[TERMINALS[0]], self._terminals[TERMINALS[1]])

    def _check_size(self, q: np.ndarray, discount: float) -> None:
        """Check that all values are between the values of a loss and a win at this discount."""
        most = float(np.abs(final_values(discount)).max()) * (1 + 1e-9)
        largest = int(np.argmax(np.abs(q)))
        row = int(np.searchsorted(self._space.state_ptr, largest, side="right")) - 1
        found = [(self._decimal(row), int(self._space.action[largest]), float(q[largest]))]
        found += [(int(key), REST_ACTION, value) for key, value in self._terminals.items()]
        for state, action, value in found:
            if abs(value) > most:
                text = f"it must be from {-most:g} to {most:g} at discount {discount:g}"
                raise self._error(f"state {state}: action {action}: {value!r}; {text}")

    def strategy(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the policy, float64 ``[n_rows]``, and a mask of the states in the file, bool ``[n_states]``."""
        for key, number in self._terminals.items():
            if number != 1:
                text = "it must be 1 in a strategy, or missing; in a file of values, -2 has a negative value"
                raise self._error(f"state {key}: action {REST_ACTION}: {number!r}; {text}")
        rows, cell_rows, columns, numbers = self._cells()
        p = np.zeros((len(rows), len(ACTIONS)))
        order = np.argsort(rows)
        p[order[np.searchsorted(rows, cell_rows, sorter=order)], columns] = numbers
        covered = np.zeros(self._space.n_states, dtype=np.bool_)
        covered[rows] = True
        try:
            return policy_of_table(self._space, rows, p), covered
        except StrategyError as error:
            raise self._error(str(error)) from None


def _read(path: Path, most: int, too_large: str) -> str:
    """Return the text of a file; raise `ReadError` with the text ``too_large`` if it has more than ``most`` bytes."""
    try:
        fault = fault_of_input(path) or (too_large if path.stat().st_size > most else None)
        if fault:
            raise ReadError(f"{path}: {fault}")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ReadError(f"{path}: cannot be read ({error.strerror})") from None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not allowed")


def _brief(value: Any) -> str:
    text = "an object" if isinstance(value, tuple) else repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


_MOST_BYTES = 1 << 28


def read_flux(path: str | Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """Read the weights, float64 ``[n_in, n_out]``, and biases, float64 ``[n_out]``, of each layer."""
    path = Path(path)
    arrays = _parse(path)
    if not isinstance(arrays, list) or not arrays or len(arrays) % 2:
        raise ReadError(f"{path}: not a list of alternating weights and biases, as the notebook writes them")
    return [
        (_array(path, arrays, number, 2), _array(path, arrays, number + 1, 1)) for number in range(0, len(arrays), 2)
    ]


def _parse(path: Path) -> Any:
    try:
        return json.loads(_read(path, _MOST_BYTES, f"larger than {_MOST_BYTES:,} bytes"))
    except (ValueError, RecursionError):
        raise ReadError(f"{path}: not a JSON file") from None


def _array(path: Path, arrays: list[Any], number: int, dimensions: int) -> np.ndarray:
    try:
        array = np.asarray(arrays[number])
    except (ValueError, OverflowError):  # lists of unequal lengths, or nested too deeply
        array = np.zeros(0)
    if array.ndim != dimensions or array.size == 0 or array.dtype.kind not in "if":
        what = "a list of lists of numbers, all of one length" if dimensions == 2 else "a list of numbers"
        raise ReadError(f"{path}: array {number + 1} of {len(arrays)}: must be {what}")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise ReadError(f"{path}: array {number + 1} of {len(arrays)}: a number is not finite")
    return array

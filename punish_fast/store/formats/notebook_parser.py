"""Parsers of notebook files. A file contains a number for each state-action pair, or the weights of a network.

**Weights of networks** are a JSON list of arrays, alternately weights and biases, for each layer. Flux writes a weight
matrix column by column, so a matrix is stored as a list of arrays: one array per input, with one number per output. The
stored matrix is the transpose of Flux's matrix. Given a row vector ``x`` of inputs, the outputs before activation are
``x @ weights + biases``.
"""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish.clash import LOSS, WIN
from punish_fast.punish.codes import ACTIONS, N_DIGITS, decimals_of, indices_of
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import StrategyError, legal_mask, policy_of_table
from punish_fast.punish.transitions.tensor import final_values
from punish_fast.runtime.errors import ReadError
from punish_fast.runtime.files import fault_of_input

TERMINALS = (str(WIN), str(LOSS))

_COLUMN_OF_KEY = {str(action): column for column, action in enumerate(ACTIONS)}


# Maximum mean length of a state and its numbers, in bytes. Real files are far below this limit.
_LONGEST_STATE = 1000


class Cells:
    """Content of a notebook file: a number for each state-action pair."""

    def __init__(self, path: Path, space: StateSpace) -> None:
        self._path, self._space = path, space
        members = self._members()
        self._terminals = {key: self._terminal(key, members.pop(key)) for key in TERMINALS if key in members}
        for key in members:
            if len(key) != N_DIGITS or not (key.isascii() and key.isdecimal()):
                raise self._error(f"state {_brief(key)}: must be {N_DIGITS} digits, or {' or '.join(TERMINALS)}")
        if len(members) > space.n_states:
            raise self._error(f"{len(members)} states, but the game has only {space.n_states}")
        numbers = [self._numbers(key, actions) for key, actions in members.items()]
        # float64 [k, 11], NaN for actions outside the file
        self._table = np.array(numbers, dtype=np.float64).reshape(-1, len(ACTIONS))
        self._indices = indices_of(space, np.array(list(members), dtype=np.int64))
        for key, index in zip(members, self._indices.tolist(), strict=True):
            if index < 0:
                raise self._error(f"state {key}: no game under these rules reaches it")

    def _error(self, problem: str) -> ReadError:
        return ReadError(f"{self._path}: {problem}")

    def _members(self) -> dict[str, Any]:
        # Parse integers by float(), which accepts thousands of digits.
        decoder = json.JSONDecoder(
            object_pairs_hook=_without_duplicates, parse_int=float, parse_constant=_refuse_constant
        )
        most = _LONGEST_STATE * (self._space.n_states + len(TERMINALS))
        try:
            too_large = f"larger than {most:,} bytes, which is too much for the states of the game"
            members = decoder.decode(_read(self._path, most, too_large))
        except (ValueError, RecursionError) as error:
            raise self._error(f"not JSON, {str(error)[:80]}") from None
        if not isinstance(members, dict):
            raise self._error("must be one object of states")
        return members

    def _terminal(self, key: str, actions: Any) -> float:
        if not isinstance(actions, dict) or list(actions) != [str(REST_ACTION)]:
            raise self._error(f"state {key}: must be an object with only the action {REST_ACTION}")
        return self._numbers(key, actions)[ACTIONS.index(REST_ACTION)]

    def _numbers(self, state: str, actions: Any) -> list[float]:
        """Return the number of each action in ``ACTIONS`` in a state, or NaN for actions outside the file."""
        if not isinstance(actions, dict):
            raise self._error(f"state {state}: {_brief(actions)} is not an object of actions")
        numbers = [math.nan] * len(ACTIONS)
        for name, number in actions.items():
            if name not in _COLUMN_OF_KEY:
                raise self._error(f"state {state}: action {_brief(name)}; actions are {', '.join(_COLUMN_OF_KEY)}")
            if not isinstance(number, float) or not math.isfinite(number):
                raise self._error(f"state {state}: action {name}: {_brief(number)} is not a finite number")
            numbers[_COLUMN_OF_KEY[name]] = number
        return numbers

    def kind(self) -> str:
        """Return ``"agent"`` if the numbers are values, or ``"strategy"`` if they are probabilities."""
        return "agent" if self._terminals.get(str(LOSS), 0.0) < 0 else "strategy"

    def values(self, discount: float) -> tuple[np.ndarray, tuple[float, float]]:
        """Return the values of state-action pairs, float64 ``[n_rows]``, and the values of win and loss.

        All values must lie between the values of a loss and a win at this discount.
        """
        most = float(np.abs(final_values(discount)).max()) * (1 + 1e-9)
        limit = f"it must be from {-most:g} to {most:g} at discount {discount:g}"
        for key in TERMINALS:
            if key not in self._terminals:
                raise self._error(f"state {key}: missing")
            if abs(value := self._terminals[key]) > most:
                raise self._error(f"state {key}: action {REST_ACTION}: {value!r}; {limit}")
        is_legal = legal_mask(self._space)
        table = np.full(is_legal.shape, np.nan)
        table[self._indices] = self._table
        for is_wrong, text in (
            (np.isfinite(table) & ~is_legal, " is not legal there"),
            (np.isnan(table) & is_legal, ": missing"),
            (np.abs(table) > most, ": {!r}; " + limit),
        ):
            for row, column in np.argwhere(is_wrong)[:1].tolist():
                (state,) = decimals_of(self._space, np.array([row])).tolist()
                fault = text.format(float(table[row, column]))
                raise self._error(f"state {state}: action {ACTIONS[column]}{fault}")
        # The actions of a state ascend, so the legal entries of the table are in the order of the rows.
        return table[is_legal], (self._terminals[TERMINALS[0]], self._terminals[TERMINALS[1]])

    def strategy(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the policy, float64 ``[n_rows]``, and a mask of the states in the file, bool ``[n_states]``."""
        for key, number in self._terminals.items():
            if number != 1:
                text = "it must be 1 in a strategy, or missing; in a file of values, -2 has a negative value"
                raise self._error(f"state {key}: action {REST_ACTION}: {number!r}; {text}")
        support = np.zeros(self._space.n_states, dtype=np.bool_)
        support[self._indices] = True
        try:
            return policy_of_table(self._space, self._indices, np.nan_to_num(self._table)), support
        except StrategyError as error:
            raise self._error(str(error)) from None


def _read(path: Path, most: int, too_large: str) -> str:
    """Return the text of a file. Raise `ReadError` with the text ``too_large`` if it has more than ``most`` bytes."""
    try:
        fault = fault_of_input(path) or (too_large if path.stat().st_size > most else None)
        if fault:
            raise ReadError(f"{path}: {fault}")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ReadError(f"{path}: cannot be read ({error.strerror})") from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"{_brief(twice)} appears twice in an object")
    return members


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not allowed")


def _brief(value: Any) -> str:
    text = "an object" if isinstance(value, dict) else repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


_MOST_BYTES = 1 << 28


def read_flux(path: str | Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """Read the weights, float64 ``[n_in, n_out]``, and biases, float64 ``[n_out]``, of each layer."""
    path = Path(path)
    try:
        arrays = json.loads(_read(path, _MOST_BYTES, f"larger than {_MOST_BYTES:,} bytes"))
    except (ValueError, RecursionError):
        raise ReadError(f"{path}: not a JSON file") from None
    if not isinstance(arrays, list) or not arrays or len(arrays) % 2:
        raise ReadError(f"{path}: not a list of alternating weights and biases, as the notebook writes them")
    return [
        (_array(path, arrays, number, 2), _array(path, arrays, number + 1, 1)) for number in range(0, len(arrays), 2)
    ]


def _array(path: Path, arrays: list[Any], number: int, dimensions: int) -> np.ndarray:
    try:
        array = np.asarray(arrays[number])
    except (ValueError, OverflowError):  # lists of unequal lengths, or deeply nested lists
        array = np.zeros(0)
    if array.ndim != dimensions or array.size == 0 or array.dtype.kind not in "if":
        what = "a list of lists of numbers, all of one length" if dimensions == 2 else "a list of numbers"
        raise ReadError(f"{path}: array {number + 1} of {len(arrays)}: must be {what}")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise ReadError(f"{path}: array {number + 1} of {len(arrays)}: a number is not finite")
    return array

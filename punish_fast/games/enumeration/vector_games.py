"""Implementations of `contract.VectorGame`, by kernels on encoded states or by an enumeration of all states."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.contract import Game, GameError, VectorChanceGame
from punish_fast.games.enumeration.positions import enumerate_positions


class GameKernels(NamedTuple):
    """Kernels that implement the rules of a game.

    The first argument of each kernel is an int64 array ``[n, n_words]`` of states. All kernels except ``step`` write
    the result to the second argument.
    """

    players: Callable[..., Any]  # player to move or `CHANCE`, int8 [n]
    moves: Callable[..., Any]  # legal moves, bool [n, n_moves]
    features: Callable[..., Any]  # features, float32 [n, n_features]
    # The arguments after the states are the actions, int64 [n], the elements of `PackedGame.rules`, and three output
    # arrays: the next states, int64 [n, n_words], the returns, float32 [n, n_players], and a mask of games that are
    # over, bool [n].
    step: Callable[..., Any]


class _CheckedGame:
    """Base class of vector games whose public methods check states and actions."""

    def checked(self: Any, states: np.ndarray) -> np.ndarray:
        """Return ``states``. Raise `GameError` if the dtype or shape is wrong, because kernels do not check indices."""
        if np.shape(states)[1:] != (self.n_words,) or np.asarray(states).dtype.kind not in "iu":
            raise GameError(f"states: must be an array uint64 [n, {self.n_words}], as returned by initial and step")
        return states

    def step(self: Any, states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Take a legal action in each state. Raise `GameError` if a state or an action is invalid."""
        allowed = np.zeros((len(self.checked(states)), self.game.n_actions), np.bool_)
        allowed[:, : self.n_moves] = self.legal(states)
        if isinstance(self, VectorChanceGame):
            allowed |= self.probabilities(states) > 0
        return self.advance(states, checked_actions(actions, allowed, "state"))  # type: ignore[no-any-return]


def checked_actions(actions: Any, allowed: np.ndarray, row: str, ignored: np.ndarray | bool = False) -> np.ndarray:
    """Return ``actions`` as an array, integer ``[n]``. Raise `GameError` if an action is not allowed.

    ``allowed``, bool ``[n, n_actions]``, is a mask of the allowed actions. ``row`` names a row in messages, and
    ``ignored``, bool ``[n]``, is True for rows whose actions do not matter.
    """
    (n, n_actions), chosen = allowed.shape, as_array(actions, None if len(allowed) else np.int64)
    if chosen.shape != (n,) or chosen.dtype.kind not in "iu":
        raise GameError(f"actions: must be {n} integers, one for each {row}")
    wrong = ((chosen < 0) | (chosen >= n_actions) | ~allowed[np.arange(n), chosen % n_actions]) & ~np.asarray(ignored)
    if wrong.any():
        first = int(wrong.argmax())
        legal = ", ".join(map(str, np.flatnonzero(allowed[first])))
        told = f"legal: {legal}" if legal else "the game is over"
        raise GameError(f"actions: {chosen[first]} is illegal in {row} {first}; {told}")
    return chosen


def as_array(values: Any, dtype: Any = None) -> np.ndarray:
    """Convert to an array, or return an empty array of dtype float64 if the values have no common shape or dtype."""
    try:
        return np.asarray(values, dtype)
    except (ValueError, TypeError, OverflowError):
        return np.zeros(0)


class PackedGame(_CheckedGame):
    """A `contract.VectorGame` implemented by kernels."""

    def __init__(
        self,
        game: Game,
        first: np.ndarray,
        n_moves: int,
        kernels: GameKernels,
        rules: tuple[Any, ...] = (),
        feature_shape: tuple[int, ...] | None = None,
    ) -> None:
        """Build the game from kernels.

        ``first``, ``[n_words]``, is the initial state. ``rules`` are additional arguments for ``kernels.step``.
        ``feature_shape`` is ``(n_features,)`` by default.
        """
        self.game, self.n_words, self.n_moves = game, len(first), n_moves
        self.feature_shape = feature_shape or (game.n_features,)
        self.kernels, self.rules, self._first = kernels, rules, first.astype(np.uint64)

    def initial(self, n: int) -> np.ndarray:
        """Return ``n`` initial states."""
        return np.tile(self._first, (n, 1))

    def player(self, states: np.ndarray) -> np.ndarray:
        """Return the player to move or `CHANCE`."""
        return filled(self.kernels.players, self.checked(states), np.int8)

    def legal(self, states: np.ndarray) -> np.ndarray:
        """Return a mask of the legal moves, bool ``[n, n_moves]``."""
        return filled(self.kernels.moves, self.checked(states), np.bool_, (self.n_moves,))

    def features(self, states: np.ndarray) -> np.ndarray:
        """Return the features of states, float32 ``[n, n_features]``."""
        return filled(self.kernels.features, self.checked(states), np.float32, (self.game.n_features,))

    def advance(self, states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the result of `step` for actions that are known to be legal."""
        n = len(states)
        after, returns = np.empty((n, self.n_words), np.int64), np.empty((n, self.game.n_players), np.float32)
        ended = np.empty(n, np.bool_)
        words, chosen = signed(self.checked(states)), np.ascontiguousarray(actions, np.int64)
        self.kernels.step(words, chosen, *self.rules, after, returns, ended)
        return after.view(np.uint64), returns, ended


def filled(
    kernel: Callable[..., Any], states: np.ndarray, dtype: Any, shape: tuple[int, ...] = (), rules: tuple[Any, ...] = ()
) -> np.ndarray:
    """Return a new array ``[n, *shape]`` after calling a kernel with states, ``rules`` and the array as arguments."""
    found = np.empty((len(states), *shape), dtype)
    kernel(signed(states), *rules, found)
    return found


def signed(states: np.ndarray) -> np.ndarray:
    """View the uint64 words of states as a contiguous int64 array. No word uses the sign bit.

    Numba converts sums of unsigned and signed integers to floats, so kernels use signed integers.
    """
    return np.ascontiguousarray(states, np.uint64).view(np.int64)


# Row of an illegal action.
_NONE = -1


class VectorPositions(_CheckedGame):
    """A `contract.VectorBoardGame` that encodes a state as its index among all reachable states."""

    n_words = 1

    def __init__(self, game: Game, feature_shape: tuple[int, ...] | None = None) -> None:
        self.game, self.n_moves = game, game.n_actions
        self.feature_shape = feature_shape or (game.n_features,)
        self.positions = positions = enumerate_positions(game, is_folded=False)
        self._row = np.full((len(positions), self.n_moves), _NONE, dtype=np.int32)
        self._row[positions.position_of_row, positions.action] = np.arange(positions.n_rows)
        self._features = np.stack([game.features(state) for state in positions.states])
        self._player = np.array([game.player(state) for state in positions.states], dtype=np.int8)
        self._returns = np.array([game.returns(state) for state in positions.states], dtype=np.float32)

    def initial(self, n: int) -> np.ndarray:
        """Return ``n`` initial states."""
        return np.zeros((n, self.n_words), dtype=np.uint64)

    def _numbers(self, states: np.ndarray) -> np.ndarray:
        """Return the indices of states. Raise `GameError` if a state does not exist."""
        numbers = self.checked(states)[:, 0].astype(np.uint64)
        if (wrong := numbers >= len(self.positions)).any():
            raise GameError(f"states: {states[wrong][0, 0]} is not from 0 to {len(self.positions) - 1}")
        return numbers

    def player(self, states: np.ndarray) -> np.ndarray:
        """Return the player to move."""
        return np.asarray(self._player[self._numbers(states)])

    def legal(self, states: np.ndarray) -> np.ndarray:
        """Return a mask of the legal actions, bool ``[n, n_moves]``."""
        return np.asarray(self._row[self._numbers(states)] != _NONE)

    def features(self, states: np.ndarray) -> np.ndarray:
        """Return the features of states, float32 ``[n, n_features]``."""
        return np.asarray(self._features[self._numbers(states)])

    def advance(self, states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the result of `step` for actions that are known to be legal."""
        number = self.positions.after[self._row[states[:, 0], actions]]
        after = number.astype(np.uint64)[:, np.newaxis]
        return after, self._returns[number], self.positions.is_terminal[number]

    def pack(self, states: Sequence[Any]) -> np.ndarray:
        """Encode states of the game in a uint64 array ``[n, 1]``."""
        numbers = [self.positions.find(state) for state in states]
        return np.array(numbers, dtype=np.uint64).reshape(-1, self.n_words)

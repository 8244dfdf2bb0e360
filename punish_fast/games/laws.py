"""A test of the laws in ``contract.py`` on any game.

States are tested in breadth-first order, so a small game is tested completely and a large one near its initial state;
random walks to the end sample the rest.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np

from punish_fast.games.contract import CHANCE, Game, GameError

# Beyond rounding of probabilities and returns.
_TOLERANCE = 1e-9
_N_WALKS = 50
_MAX_STEPS = 1000


class LawError(ValueError):
    """A game that breaks a law; the message says which one, and in what state."""


def check_game(game: Game, max_states: int = 2000, seed: int = 0) -> int:
    """Test all laws on a game.

    Args:
        game: The game.
        max_states: Number of states to visit breadth first, before the random walks.
        seed: Random seed of the walks.

    Returns:
        The number of different states tested.

    Raises:
        LawError: The game breaks a law or raises an unexpected exception.
    """
    check = _LawCheck(game)
    try:
        first = game.initial()
        if first != game.initial():
            raise LawError("law 1: initial() returns different states")
        for state in (*_breadth_first(game, first, max_states), *_walks(game, first, random.Random(seed))):
            check.state(state)
    except LawError:
        raise
    except Exception as error:
        raise LawError(f"{game.name}: unexpected {type(error).__name__} ({error})") from error
    return len(check.seen)


def _breadth_first(game: Game, first: Any, max_states: int) -> Iterator[Any]:
    found, seen = [first], {first}
    for state in found:
        yield state
        for action in game.actions(state):
            after = game.apply(state, action)
            if after not in seen and len(found) < max_states:
                seen.add(after)
                found.append(after)


def _walks(game: Game, first: Any, generator: random.Random) -> Iterator[Any]:
    for _ in range(_N_WALKS):
        state = first
        for _ in range(_MAX_STEPS):
            yield state
            actions = game.actions(state)
            if not actions:
                break
            state = game.apply(state, generator.choice(list(actions)))


class _LawCheck:
    """The states tested so far, and what must be equal or different between them."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self.seen: dict[Any, str] = {}
        self._texts: dict[str, Any] = {}
        self._positions: dict[Hashable, tuple[Any, ...]] = {}
        self._features: dict[tuple[int, bytes], Hashable] = {}

    def state(self, state: Any) -> None:
        """Test every law on a state that is new."""
        if state in self.seen:
            return
        laws: tuple[Callable[[Any], None], ...] = (
            self._players,
            self._actions,
            self._probabilities,
            self._moves,
            self._illegal,
            self._returns,
            self._words,
            self._numbers,
            self._symmetries,
        )
        self.seen[state] = repr(state)
        for law in laws:
            law(state)
            self._must(repr(state) == self.seen[state], 1, state, "the state has changed")

    def _must(self, holds: bool, law: int, state: Any, problem: str) -> None:
        if not holds:
            raise LawError(f"{self._game.name}: law {law}: in {self.seen.get(state, state)}, {problem}")

    def _players(self, state: Any) -> None:
        player, n_players = self._game.player(state), self._game.n_players
        self._must(player == CHANCE or 0 <= player < n_players, 2, state, f"player {player} is not one of {n_players}")

    def _actions(self, state: Any) -> None:
        actions, n_actions = list(self._game.actions(state)), self._game.n_actions
        self._must(actions == sorted(set(actions)), 3, state, f"actions {actions} are not ascending")
        self._must(
            all(0 <= action < n_actions for action in actions), 3, state, f"actions {actions} are not below {n_actions}"
        )
        ended = self._game.is_terminal(state)
        self._must(bool(actions) != ended, 3, state, f"{len(actions)} actions, but is_terminal is {ended}")

    def _probabilities(self, state: Any) -> None:
        probabilities = list(self._game.probabilities(state))
        if self._game.player(state) != CHANCE or self._game.is_terminal(state):
            self._must(not probabilities, 4, state, "probabilities outside a chance state")
            return
        fits = len(probabilities) == len(self._game.actions(state))
        self._must(fits, 4, state, "not one probability for each action")
        sound = all(each > 0 for each in probabilities) and abs(sum(probabilities) - 1) <= _TOLERANCE
        self._must(sound, 4, state, f"probabilities {probabilities} are not a distribution")

    def _moves(self, state: Any) -> None:
        for action in self._game.actions(state):
            after = self._game.apply(state, action)
            self._must(after == self._game.apply(state, action), 1, state, f"action {action} has different successors")
            self._must(
                hash(after) == hash(self._game.apply(state, action)), 1, state, "equal states have different hashes"
            )

    def _illegal(self, state: Any) -> None:
        legal = set(self._game.actions(state))
        for action in (-1, *range(self._game.n_actions + 1)):
            if action in legal:
                continue
            try:
                self._game.apply(state, action)
            except GameError:
                continue
            self._must(False, 5, state, f"illegal action {action} was accepted")

    def _returns(self, state: Any) -> None:
        returns = list(self._game.returns(state))
        self._must(
            len(returns) == self._game.n_players,
            6,
            state,
            f"returns {returns} do not fit {self._game.n_players} players",
        )
        self._must(all(math.isfinite(x) for x in returns), 6, state, f"returns {returns} are not finite")
        if not self._game.is_terminal(state):
            self._must(not any(returns), 6, state, f"returns {returns} before the end")
        if self._game.is_zero_sum:
            self._must(abs(sum(returns)) <= _TOLERANCE, 6, state, f"returns {returns} do not add up to 0")

    def _words(self, state: Any) -> None:
        text = self._game.text(state)
        self._must(_is_printable(text), 7, state, f"text {text!r} cannot be printed")
        other = self._texts.setdefault(text, state)
        self._must(other == state, 7, state, f"text {text!r} is also the text of {other}")
        words = [self._game.action_text(state, action) for action in self._game.actions(state)]
        self._must(all(map(_is_printable, words)), 7, state, f"texts {words} cannot be printed")
        self._must(len(set(words)) == len(words), 7, state, f"action texts {words} are not all different")

    def _numbers(self, state: Any) -> None:
        features = self._game.features(state)
        sound = features.shape == (self._game.n_features,) and features.dtype == np.float32
        problem = f"features are {features.dtype} {features.shape}, not float32 of length {self._game.n_features}"
        self._must(sound, 8, state, problem)
        self._must(bool(np.isfinite(features).all()), 8, state, "features are not finite")
        position = self._game.position(state)
        other = self._features.setdefault((self._game.player(state), features.tobytes()), position)
        self._must(other == position, 8, state, f"features are also the features of {other}")

    def _symmetries(self, state: Any) -> None:
        game, player = self._game, self._game.player(state)
        actions = tuple(game.actions(state))
        after = [game.apply(state, action) for action in actions]
        payoff = game.returns(state)[player] if player != CHANCE else tuple(game.returns(state))
        turns = tuple(_turn(game, player, game.player(each)) for each in after)
        successors = tuple(game.position(each) for each in after)
        future = (actions, tuple(game.probabilities(state)), successors, turns, payoff, game.is_terminal(state))
        other = self._positions.setdefault(game.position(state), future)
        self._must(other == future, 9, state, f"position {game.position(state)} has states that are not equivalent")


def _turn(game: Game, before: int, after: int) -> int:
    """The number of seats by which the turn passes, or the next player to or from chance."""
    return after if CHANCE in (before, after) else (after - before) % game.n_players


def _is_printable(text: str) -> bool:
    return bool(text) and all(line.isprintable() for line in text.split("\n"))

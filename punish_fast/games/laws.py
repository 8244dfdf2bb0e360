"""The laws of games, tried on the states of a game.

States are taken in the order in which they are found, breadth first, so that a small game is tried wholly and a large
one near its beginning; walks to the end then see to the rest. The numbers are those of the laws in ``contract.py``.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np

from punish_fast.games.contract import CHANCE, Game, GameError

# More than rounding takes from probabilities and returns.
_ROUNDING = 1e-9
_WALKS = 50
_MOST_STEPS = 1000


class LawError(ValueError):
    """A game that breaks a law; the message says which, and where."""


def check_game(game: Game, most_states: int = 2000, seed: int = 0) -> int:
    """Try all laws on a game.

    Args:
        game: The game.
        most_states: So many states breadth first, and after that those of some random walks.
        seed: That of the walks.

    Returns:
        How many different states were tried.

    Raises:
        LawError: a law does not hold, or the game fails in another way.
    """
    trial = _Trial(game)
    try:
        begin = game.initial()
        if begin != game.initial():
            raise LawError("law 1: initial() gives another state every time")
        for state in _breadth_first(game, begin, most_states):
            trial.state(state)
        for state in _walks(game, begin, random.Random(seed)):
            trial.state(state)
    except LawError:
        raise
    except Exception as error:
        raise LawError(f"{game.name}: {type(error).__name__} where the laws allow none ({error})") from error
    return len(trial.seen)


def _breadth_first(game: Game, begin: Any, most_states: int) -> Iterator[Any]:
    found, seen = [begin], {begin}
    for state in found:
        yield state
        for action in game.actions(state):
            after = game.apply(state, action)
            if after not in seen and len(found) < most_states:
                seen.add(after)
                found.append(after)


def _walks(game: Game, begin: Any, generator: random.Random) -> Iterator[Any]:
    for _ in range(_WALKS):
        state = begin
        for _ in range(_MOST_STEPS):
            yield state
            actions = game.actions(state)
            if not actions:
                break
            state = game.apply(state, generator.choice(list(actions)))


class _Trial:
    """A game on trial: what was seen so far of states and positions."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self.seen: dict[Any, str] = {}
        self._texts: dict[str, Any] = {}
        self._positions: dict[Hashable, tuple[Any, ...]] = {}
        self._features: dict[tuple[int, bytes], Hashable] = {}

    def state(self, state: Any) -> None:
        """Try every law on a state that was not seen before."""
        if state in self.seen:
            return
        laws: tuple[Callable[[Any], None], ...] = (
            self._players,
            self._actions,
            self._chances,
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
            self._must(repr(state) == self.seen[state], 1, state, "is no longer what it was")

    def _must(self, holds: bool, law: int, state: Any, problem: str) -> None:
        if not holds:
            raise LawError(f"{self._game.name}: law {law}: in {self.seen.get(state, state)}, {problem}")

    def _players(self, state: Any) -> None:
        player, n_players = self._game.player(state), self._game.n_players
        self._must(player == CHANCE or 0 <= player < n_players, 2, state, f"player {player} is none of {n_players}")

    def _actions(self, state: Any) -> None:
        actions, n_actions = list(self._game.actions(state)), self._game.n_actions
        self._must(actions == sorted(set(actions)), 3, state, f"actions {actions} do not ascend")
        self._must(
            all(0 <= action < n_actions for action in actions), 3, state, f"actions {actions} are not below {n_actions}"
        )
        ended = self._game.is_terminal(state)
        self._must(bool(actions) != ended, 3, state, "play has ended, but goes on" if ended else "nothing can be done")

    def _chances(self, state: Any) -> None:
        chances = list(self._game.chances(state))
        if self._game.player(state) != CHANCE or self._game.is_terminal(state):
            self._must(not chances, 4, state, "there are chances, but a player decides")
            return
        self._must(len(chances) == len(self._game.actions(state)), 4, state, "chances are not as many as actions")
        sound = all(chance > 0 for chance in chances) and abs(sum(chances) - 1) <= _ROUNDING
        self._must(sound, 4, state, f"chances {chances} are no distribution")

    def _moves(self, state: Any) -> None:
        for action in self._game.actions(state):
            after = self._game.apply(state, action)
            self._must(after == self._game.apply(state, action), 1, state, f"action {action} leads here and there")
            self._must(hash(after) == hash(self._game.apply(state, action)), 1, state, "equal states differ in hash")

    def _illegal(self, state: Any) -> None:
        legal = set(self._game.actions(state))
        for action in (-1, *range(self._game.n_actions + 1)):
            if action in legal:
                continue
            try:
                self._game.apply(state, action)
            except GameError:
                continue
            self._must(False, 5, state, f"action {action} is not legal, but was not refused")

    def _returns(self, state: Any) -> None:
        returns = list(self._game.returns(state))
        self._must(len(returns) == self._game.n_players, 6, state, f"returns {returns} are not one for each player")
        self._must(all(math.isfinite(x) for x in returns), 6, state, f"returns {returns} are not finite")
        if not self._game.is_terminal(state):
            self._must(not any(returns), 6, state, f"returns are {returns} before the end")
        if self._game.is_zero_sum:
            self._must(abs(sum(returns)) <= _ROUNDING, 6, state, f"returns {returns} do not add up to 0")

    def _words(self, state: Any) -> None:
        text = self._game.text(state)
        self._must(_is_printable(text), 7, state, f"text {text!r} cannot be printed")
        other = self._texts.setdefault(text, state)
        self._must(other == state, 7, state, f"text {text!r} is also that of {other}")
        words = [self._game.action_text(state, action) for action in self._game.actions(state)]
        self._must(all(map(_is_printable, words)), 7, state, f"texts {words} cannot be printed")
        self._must(len(set(words)) == len(words), 7, state, f"texts {words} of actions are not all different")

    def _numbers(self, state: Any) -> None:
        features = self._game.features(state)
        sound = features.shape == (self._game.n_features,) and features.dtype == np.float32
        wanted = f"features are {features.dtype} {features.shape}, not float32 of length {self._game.n_features}"
        self._must(sound, 8, state, wanted)
        self._must(bool(np.isfinite(features).all()), 8, state, "features are not all finite")
        position = self._game.position(state)
        other = self._features.setdefault((self._game.player(state), features.tobytes()), position)
        self._must(other == position, 8, state, f"features are also those of {other}")

    def _symmetries(self, state: Any) -> None:
        game, player = self._game, self._game.player(state)
        actions = tuple(game.actions(state))
        after = [game.apply(state, action) for action in actions]
        worth = game.returns(state)[player] if player != CHANCE else tuple(game.returns(state))
        turns = tuple(_turn(game, player, game.player(each)) for each in after)
        led_to = tuple(game.position(each) for each in after)
        whole = (actions, tuple(game.chances(state)), led_to, turns, worth, game.is_terminal(state))
        other = self._positions.setdefault(game.position(state), whole)
        self._must(other == whole, 9, state, f"position {game.position(state)} has other states with another future")


def _turn(game: Game, before: int, after: int) -> int:
    """How the turn passes: by how many seats, or to or from chance."""
    return after if CHANCE in (before, after) else (after - before) % game.n_players


def _is_printable(text: str) -> bool:
    return bool(text) and all(line.isprintable() for line in text.split("\n"))

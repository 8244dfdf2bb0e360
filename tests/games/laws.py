"""Tests of the laws in ``contract.py`` on any game.

States are tested in breadth-first order, so a small game is tested completely and a large one near its initial state;
random walks to the end sample the rest.
"""

import math
import random
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from punish_fast.games.contract import CHANCE, Game, GameError

# Above the rounding of probabilities and returns.
_TOLERANCE = 1e-9
_MAX_STEPS = 1000

# The number of a law, whether it holds, and the error if not.
Finding = tuple[int, bool, str]


class LawError(ValueError):
    """A game that breaks a law; the message names the law and the state."""


def check_game(game: Game, max_states: int = 2000, n_walks: int = 50) -> int:
    """Test all laws on the first states, breadth first, and on random walks; return the number of different states."""
    check, first = _LawCheck(game), game.initial()
    if first != game.initial():
        raise LawError("law 1: initial() returns different states")
    for state in (*_breadth_first(game, first, max_states), *_walks(game, first, n_walks)):
        check.state(state)
    return len(check.seen)


def check_vector_game(vector: Any, n: int = 64) -> int:
    """Follow random games step by step, many at once and one by one; return the number of plies compared."""
    game, generator = vector.game, random.Random(0)
    singles, states = [game.initial()] * n, vector.initial(n)
    if math.prod(vector.feature_shape) != game.n_features:
        raise LawError(f"{game.name}: feature_shape {vector.feature_shape} is not of {game.n_features} features")
    n_plies = 0
    while singles and n_plies < n * _MAX_STEPS:
        actions = [generator.choice(list(game.actions(single))) for single in singles]
        before = states.copy()
        after, returns, ended = vector.step(states, np.array(actions))
        if not np.array_equal(before, states):
            raise LawError(f"{game.name}: a step has changed the states before it")
        states = after
        singles = [game.apply(single, action) for single, action in zip(singles, actions, strict=True)]
        is_drawn = np.array([game.player(single) == CHANCE for single in singles])
        legal = [
            [game.player(single) != CHANCE and action in game.actions(single) for action in range(vector.n_moves)]
            for single in singles
        ]
        features = np.array([game.features(single) for single in singles])
        expected = {
            "returns": (returns, np.array([game.returns(single) for single in singles], dtype=np.float32)),
            "ended": (ended, np.array([game.is_terminal(single) for single in singles])),
            "player": (vector.player(states), np.array([game.player(single) for single in singles], dtype=np.int8)),
            "legal": (vector.legal(states), np.array(legal)),
            "features": (vector.features(states)[~is_drawn], features[~is_drawn]),
            "packed states": (vector.pack(singles) if hasattr(vector, "pack") else states, states),
            "states": (states, states.astype(np.uint64).reshape(len(singles), vector.n_words)),
        }
        if is_drawn.any():
            drawn = [_probabilities(game, single) for single, each in zip(singles, is_drawn, strict=True) if each]
            expected["probabilities"] = (vector.probabilities(states[is_drawn]), np.array(drawn))
        for name, (found, wanted) in expected.items():
            if found.dtype != wanted.dtype or not np.array_equal(found, wanted):
                raise LawError(f"{game.name}: {name} of many states at once are not those of the game")
        n_plies += len(singles)
        kept = np.flatnonzero(~ended)
        singles, states = [singles[k] for k in kept], states[kept]
    return n_plies


def _probabilities(game: Game, state: Any) -> list[float]:
    """The probability of every action of a chance state, 0 for those that are not possible."""
    possible = dict(zip(game.actions(state), game.probabilities(state), strict=True))
    return [possible.get(action, 0.0) for action in range(game.n_actions)]


def _breadth_first(game: Game, first: Any, max_states: int) -> Iterator[Any]:
    found = {first: None}
    queue = [first]
    for state in queue:
        yield state
        for action in game.actions(state):
            after = game.apply(state, action)
            if after not in found and len(found) < max_states:
                found[after] = None
                queue.append(after)


def _walks(game: Game, first: Any, n_walks: int) -> Iterator[Any]:
    generator = random.Random(0)
    for _ in range(n_walks):
        state = first
        for _ in range(_MAX_STEPS):
            yield state
            actions = game.actions(state)
            if not actions:
                break
            state = game.apply(state, generator.choice(list(actions)))


class _LawCheck:
    """The states tested so far, and what must agree or differ between them."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self.seen: dict[Any, str] = {}
        self._texts: dict[str, Any] = {}
        self._positions: dict[Hashable, tuple[Any, ...]] = {}
        self._features: dict[tuple[int, bytes], Hashable] = {}
        self._known: dict[Hashable, tuple[Any, ...]] = {}

    def state(self, state: Any) -> None:
        if state in self.seen:
            return
        self.seen[state] = repr(state)
        for test in (self._turn, self._moves, self._illegal, self._returns, self._words, self._numbers, self._future):
            for law, holds, problem in (*test(state), (1, repr(state) == self.seen[state], "the state has changed")):
                if not holds:
                    raise LawError(f"{self._game.name}: law {law}: in {self.seen[state]}, {problem}")

    def _turn(self, state: Any) -> Iterator[Finding]:
        game, player, ended = self._game, self._game.player(state), self._game.is_terminal(state)
        yield 2, player == CHANCE or 0 <= player < game.n_players, f"player {player} is not one of {game.n_players}"
        actions, probabilities = list(game.actions(state)), list(game.probabilities(state))
        yield 3, actions == sorted(set(actions)), f"actions {actions} are not ascending"
        yield 3, all(0 <= each < game.n_actions for each in actions), f"actions {actions} are not below n_actions"
        yield 3, bool(actions) != ended, f"{len(actions)} actions, but is_terminal is {ended}"
        if player != CHANCE or ended:
            yield 4, not probabilities, "probabilities outside a chance state"
            return
        sound = all(each > 0 for each in probabilities) and abs(sum(probabilities) - 1) <= _TOLERANCE
        fits = len(probabilities) == len(actions)
        yield 4, sound and fits, f"probabilities {probabilities} are not a distribution over {len(actions)} actions"

    def _moves(self, state: Any) -> Iterator[Finding]:
        for action in self._game.actions(state):
            after, again = self._game.apply(state, action), self._game.apply(state, action)
            yield 1, after == again, f"action {action} has different successors"
            yield 1, hash(after) == hash(again), "equal states have different hashes"

    def _illegal(self, state: Any) -> Iterator[Finding]:
        illegal = sorted({*range(self._game.n_actions)} - set(self._game.actions(state)))
        for action in (-1, self._game.n_actions, *illegal[:: max(len(illegal) // 4, 1)]):
            try:
                self._game.apply(state, action)
            except GameError:
                continue
            yield 5, False, f"illegal action {action} was accepted"

    def _returns(self, state: Any) -> Iterator[Finding]:
        game, returns = self._game, list(self._game.returns(state))
        yield 6, len(returns) == game.n_players, f"returns {returns} do not fit {game.n_players} players"
        yield 6, all(math.isfinite(x) for x in returns), f"returns {returns} are not finite"
        yield 6, game.is_terminal(state) or not any(returns), f"returns {returns} before the end"
        yield 6, not game.is_zero_sum or abs(sum(returns)) <= _TOLERANCE, f"returns {returns} do not add up to 0"

    def _words(self, state: Any) -> Iterator[Finding]:
        text = self._game.text(state)
        yield 7, _is_printable(text), f"text {text!r} cannot be printed"
        other = self._texts.setdefault(text, state)
        yield 7, other == state, f"text {text!r} is also the text of {other}"
        words = [self._game.action_text(state, action) for action in self._game.actions(state)]
        yield 7, all(map(_is_printable, words)), f"action texts {words} cannot be printed"
        yield 7, len(set(words)) == len(words), f"action texts {words} are not all different"

    def _numbers(self, state: Any) -> Iterator[Finding]:
        game, features = self._game, self._game.features(state)
        sound = features.dtype == np.float32 and features.shape == (game.n_features,)
        yield 8, sound, f"features are {features.dtype} {features.shape}, not float32 of length {game.n_features}"
        yield 8, bool(np.isfinite(features).all()), "features are not finite"
        if not game.is_open:
            player = game.player(state)
            if player != CHANCE and not game.is_terminal(state):
                known = (tuple(game.actions(state)), features.tobytes())
                other = self._known.setdefault((player, game.known_to(state, player)), known)
                yield 10, other == known, "the player to move is told what it does not know"
            return
        position = game.position(state)
        other = self._features.setdefault((game.player(state), features.tobytes()), position)
        yield 8, other == position, f"features are also the features of {other}"

    def _future(self, state: Any) -> Iterator[Finding]:
        game, player, position = self._game, self._game.player(state), self._game.position(state)
        after = [game.apply(state, action) for action in game.actions(state)]
        numbers = list(game.position_actions(state))
        yield 9, len(numbers) == len(after), f"{len(numbers)} numbers of {len(after)} actions in the position"
        sound = len(set(numbers)) == len(numbers) and all(0 <= each < game.n_actions for each in numbers)
        yield 9, sound, f"numbers {numbers} in the position are not different actions"
        order = sorted(range(len(numbers)), key=numbers.__getitem__)
        probabilities = game.probabilities(state)
        future = (
            tuple(sorted(numbers)),
            tuple(probabilities[k] for k in order if probabilities),
            tuple(game.position(after[k]) for k in order),
            tuple(_seats_between(game, player, game.player(after[k])) for k in order),
            game.returns(state)[player] if player != CHANCE else tuple(game.returns(state)),
            game.is_terminal(state),
        )
        other = self._positions.setdefault(position, future)
        yield 9, other == future, f"position {position} has states that are not equivalent"


def _seats_between(game: Game, before: int, after: int) -> int:
    """The number of seats by which the turn passes, or the next player to or from chance."""
    return after if CHANCE in (before, after) else (after - before) % game.n_players


def _is_printable(text: str) -> bool:
    return bool(text) and all(line.isprintable() for line in text.split("\n"))

"""The laws of games: sound games pass, and every planted fault is found."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from games.laws import LawError, check_game
from games.small import Corridor, Heap, Nim
from punish_fast.games.contract import Game, GameError
from punish_fast.games.tapnswap import TapnSwap, TapnSwapState
from punish_fast.games.tictactoe import TicTacToe


@pytest.mark.parametrize(
    ("game", "n_states"),
    [(Nim(), 10), (Nim(dice=True), 26), (Corridor({}), 12), (Corridor({5: 1.0, 3: 0.0}, keeps=True), 8)],
    ids=["nim", "coin-nim", "corridor", "keeping"],
)
def test_sound_games_pass(game: Game, n_states):
    assert check_game(game) == n_states


def test_walks_reach_beyond_the_first_states():
    assert 10 < check_game(Nim(300), max_states=10) <= 600


def broken(base: Game, **methods) -> Game:
    """A game with some methods replaced; each gets the sound game as first argument."""

    class Broken(type(base)):
        pass

    def method(replacement):
        return lambda _self, *arguments: replacement(base, *arguments)

    for name, replacement in methods.items():
        setattr(Broken, name, method(replacement) if callable(replacement) else replacement)
    made = Broken.__new__(Broken)
    vars(made).update({name: value for name, value in vars(base).items() if name not in methods})
    return made


ticks = itertools.count()


class Tally(list):
    """A state that changes."""

    def __hash__(self):
        return 1


def spoil(_game, state):
    if isinstance(state, Tally):
        state.append(1)
    return "spoiled"


def take_anything(game, state, action):
    try:
        return game.apply(state, action)
    except GameError:
        return state


def refuse_loudly(game, state, action):
    if action not in game.actions(state):
        raise IndexError("no such action")
    return game.apply(state, action)


FAULTS = {
    "another initial state every time": (1, Nim(), {"initial": lambda _game: Heap(5, 0, next(ticks))}),
    "successors that vary": (
        1,
        Nim(),
        {"apply": lambda game, s, a: Heap(*game.apply(s, a)[:2], next(ticks))},
    ),
    "a third player": (2, Nim(), {"player": lambda _game, s: s.player * 2}),
    "no actions before the end": (3, Nim(), {"is_terminal": lambda game, s: bool(game.is_terminal(s) and s.player)}),
    "actions after the end": (3, Nim(), {"is_terminal": lambda _game, s: s.size < 2}),
    "actions that are not ascending": (3, Nim(), {"actions": lambda game, s: game.actions(s)[::-1]}),
    "an action twice": (3, Nim(), {"actions": lambda game, s: game.actions(s) * 2}),
    "an action out of range": (3, Nim(), {"n_actions": 2}),
    "probabilities with another sum": (
        4,
        Nim(dice=True),
        {"probabilities": lambda g, s: [p / 2 for p in g.probabilities(s)]},
    ),
    "probabilities outside chance states": (4, Nim(), {"probabilities": lambda game, s: [1.0] * len(game.actions(s))}),
    "a probability of 0": (4, Nim(dice=True), {"probabilities": lambda g, s: [1.0, 0.0] if g.probabilities(s) else []}),
    "an illegal action that works": (5, Nim(), {"apply": take_anything}),
    "returns before the end": (6, Nim(), {"returns": lambda _game, _s: (1.0, -1.0)}),
    "returns that are not zero-sum": (6, Nim(), {"returns": lambda g, s: tuple(map(abs, g.returns(s)))}),
    "one return": (6, Nim(), {"returns": lambda game, s: game.returns(s)[:1]}),
    "infinite returns": (6, Nim(), {"returns": lambda game, s: tuple(1e999 * x for x in game.returns(s))}),
    "two states with one text": (7, Nim(), {"text": lambda _game, s: f"{s.size} left"}),
    "a text that cannot be printed": (7, Nim(), {"text": lambda game, s: game.text(s) + "\x1b"}),
    "two actions with one text": (7, Nim(), {"action_text": lambda _game, _s, _a: "take some"}),
    "features of another length": (8, Nim(), {"n_features": 3}),
    "features of another type": (8, Nim(), {"features": lambda game, s: game.features(s).astype(np.float64)}),
    "features that say too little": (8, Nim(), {"features": lambda game, s: game.features(s) * 0}),
    "features that are no numbers": (8, Nim(), {"features": lambda game, s: game.features(s) / np.float32(0)}),
    "a position that says too little": (9, Nim(), {"position": lambda _game, s: s.size // 2}),
    "a position that ignores the winner": (
        9,
        Nim(),
        {
            "position": lambda _game, s: s.size,
            "returns": lambda _game, s: (0.0, 0.0) if s.size else (1.0, -1.0),
        },
    ),
    "too few numbers in the position": (9, Nim(), {"position_actions": lambda game, s: game.actions(s)[1:]}),
    "a number in the position twice": (9, Nim(), {"position_actions": lambda game, s: [1] * len(game.actions(s))}),
    "numbers in the position that are no actions": (
        9,
        Nim(),
        {"position_actions": lambda game, s: [a + 1 for a in game.actions(s)]},
    ),
    "turns of the board that move stones alone": (
        9,
        TicTacToe(),
        {"position_actions": lambda game, s: game.actions(s)},
    ),
    "swaps that mirror": (
        9,
        TapnSwap(),
        {"actions": lambda game, s: game.actions(s)[: 1 if s.own == (1, 3) else None]},
    ),
    "a hand that rolls over on one side": (
        9,
        TapnSwap(),
        {
            "apply": lambda game, s, a: (
                TapnSwapState((2, 1), s.own, 1 - s.player) if s.own == (1, 2) and game.apply(s, a) else game.apply(s, a)
            )
        },
    ),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_planted_faults_are_found(name):
    law, base, methods = FAULTS[name]
    assert check_game(base) > 0
    with pytest.raises(LawError, match=rf"law {law}: "):
        check_game(broken(base, **methods))


def test_states_that_change_are_found():
    game = broken(Corridor({}), initial=lambda _game: Tally([0, 0]), text=spoil)
    with pytest.raises(LawError, match=r"law 1: in .*, the state has changed"):
        check_game(game)


def test_unexpected_exceptions_are_faults():
    with pytest.raises(LawError, match=r"^nim: unexpected IndexError \(no such action\)$"):
        check_game(broken(Nim(), apply=refuse_loudly))

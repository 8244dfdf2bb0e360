"""Invalid arguments of vector games, whose kernels do not check indices."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config

from punish_fast.games.contract import CHANCE, GameError
from punish_fast.games.enumeration.vector_games import PackedGame, VectorPositions
from punish_fast.games.registry import GAMES, make_game, vector_game

VECTORS = {name: vector_game(make_game(name, {"limit": 3} if name == "tapnswap" else {})) for name in GAMES}
PACKED = [vector for vector in VECTORS.values() if isinstance(vector, PackedGame)]


def legal_in(vector, states):
    """Actions that are legal in each state, bool ``[n, n_actions]``."""
    legal = np.zeros((len(states), vector.game.n_actions), bool)
    legal[:, : vector.n_moves] = vector.legal(states)
    for k in np.flatnonzero(vector.player(states) == CHANCE):
        legal[k] = vector.probabilities(states[k : k + 1])[0] > 0
    return legal


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_actions_that_are_illegal_are_refused(vector):
    states, over = vector.initial(3), np.zeros(3, bool)
    for _ in range(60):
        legal = legal_in(vector, states)
        actions = legal.argmax(axis=1)
        for action in (-1, -(2**40), 2**40, vector.game.n_actions, *np.flatnonzero(~legal[0])):
            with pytest.raises(GameError, match=f"actions: {action} is illegal in state 0"):
                vector.step(states, np.array([action, *actions[1:]]))
        if over[0]:
            with pytest.raises(GameError, match="is illegal in state 0; the game is over"):
                vector.step(states, actions)
        for wrong in (actions[:-1], actions.astype(float), actions[:, np.newaxis], None):
            with pytest.raises(GameError, match="actions: must be 3 integers"):
                vector.step(states, wrong)
        assert [len(each) for each in vector.step(states[:0], [])] == [0, 0, 0]
        if over[0]:
            break
        states, _, over = vector.step(states, actions)


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_arrays_that_are_not_states_are_refused(vector):
    states = vector.initial(4)
    for wrong in (states[:, :-1], states[0], states.astype(float), np.hstack([states, states]), None, [[1], [1, 2]]):
        for call in (vector.player, vector.legal, vector.features, lambda wrong: vector.step(wrong, np.zeros(4, int))):
            with pytest.raises(GameError, match=r"states: must be an array uint64 \[n, "):
                call(wrong)
    for n in (-1, 2.0, None):
        with pytest.raises(GameError, match=r"n: .* is not allowed; it must be an integer of at least 0"):
            vector.initial(n)
    with pytest.raises(MemoryError, match="n: 1,152,921,504,606,846,976 states would take"):
        vector.initial(2**60)


@pytest.mark.parametrize("vector", [each for each in VECTORS.values() if isinstance(each, VectorPositions)])
def test_numbers_of_no_state_are_refused(vector):
    states = vector.initial(2)
    for wrong in (len(vector.positions), 10**9, 2**63):
        states[1] = wrong
        for call in (vector.player, vector.legal, vector.features, lambda wrong: vector.step(wrong, np.zeros(2, int))):
            with pytest.raises(GameError, match=f"states: row 1 is not a state of {vector.game.name}"):
                call(states)
    with pytest.raises(GameError, match="states: row 0 is not a state"):
        vector.step(np.array([[-1]]), [0])


@pytest.mark.skipif(config.DISABLE_JIT, reason="NumPy raises OverflowError for such states")
@pytest.mark.parametrize("vector", PACKED)
def test_random_words_as_states_do_not_harm_the_process(vector):
    generator = np.random.default_rng(1)
    for n in (1, 7, 300):
        words = generator.integers(0, 2**63, (n, vector.n_words), dtype=np.uint64)
        fast = vector.unchecked
        found = fast.player(words), fast.legal(words), fast.features(words)
        assert [each.shape for each in found] == [(n,), (n, vector.n_moves), (n, vector.game.n_features)]
        fast.step(words, legal_in(fast, words).argmax(axis=1))
        for call in (vector.player, vector.legal, vector.features, lambda words: vector.step(words, [0] * len(words))):
            with pytest.raises(GameError, match="states: row 0 is not a state of"):
                call(words)


@pytest.mark.parametrize(
    ("field", "value"),
    [(0, 4), (11, 4), (17, 1), (20, 2), (21, 0), (21, 6), (22, 0), (23, 8), (24, 1), (25, -1), (31, 2000)],
)
def test_temples_that_break_the_rules_are_refused(field, value):
    vector = VECTORS["incan-gold"]
    states = vector.initial(1)
    states.view(np.int16)[0, field] = value
    with pytest.raises(GameError, match="states: row 0 is not a state of incan-gold"):
        vector.legal(states)


def test_hands_and_boards_that_break_the_rules_are_refused():
    gwent, connect4 = VECTORS["gwent"], VECTORS["connect4"]
    states = gwent.initial(6)
    states[0, 5] = 1 << 30  # a card in hand that is not in the deck
    states[1, 3:5] = 0  # cards are due, but none are left
    states[1, 0] |= np.uint64(1 << 30)
    states[2, 0] |= np.uint64(3 << 14)  # three rounds won
    states[3, 1] |= np.uint64(1 << 50)
    states[4, 5:7], states[4, 3:5] = states[4, 3:5], 0  # 25 cards in hand
    assert gwent.are_states(states).tolist() == [False] * 5 + [True]
    boards = np.array([[1, 1], [0, 2], [2, 1], [0, 64], [0, 1], [15, 15 | 15 << 7]], dtype=np.uint64)
    assert connect4.are_states(boards).tolist() == [False] * 4 + [True, False]


def refuse_illegal_calls(n_calls: int) -> None:
    script = Path(__file__).with_name("illegal_calls.py")
    done = subprocess.run([sys.executable, script, str(n_calls), "1"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{n_calls} refused\n"), done.stderr


def test_illegal_calls_never_crash():
    refuse_illegal_calls(2000)


@pytest.mark.slow
def test_a_hundred_thousand_illegal_calls_never_crash():
    refuse_illegal_calls(100_000)

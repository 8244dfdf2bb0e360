"""The solver of Connect Four against slow ones."""

import random
from itertools import pairwise

import numpy as np
import pytest

from bench.make.connect4 import is_win
from punish_fast.games.connect4.game import Connect4, Connect4State
from punish_fast.games.connect4.solver import Connect4Solver, distance_to_centre, plies_to_end, value_of
from punish_fast.games.solve.positions import enumerate_positions
from punish_fast.games.solve.retrograde import solve_game
from punish_fast.runtime._jit import config, set_threads, threads

pytestmark = pytest.mark.kernels

GAME = Connect4()
# Without kernels, only the ends of games are quick.
FEWEST = 36 if config.DISABLE_JIT else 30


@pytest.fixture(scope="module")
def solver() -> Connect4Solver:
    return Connect4Solver(memory=1)


def position_after(n_stones: int, seed: int) -> Connect4State:
    """A position of random play in which nobody makes a line as long as there is another move."""
    generator = random.Random(seed)
    while True:
        state = GAME.initial()
        while state.n_stones < n_stones and not GAME.is_terminal(state):
            actions = GAME.actions(state)
            quiet = [action for action in actions if not is_win(state, action)]
            state = GAME.apply(state, generator.choice(quiet or actions))
        if state.n_stones == n_stones:
            return state


@pytest.mark.parametrize("seed", range(3))
def test_whole_endings_are_those_of_retrograde_analysis(solver, seed):
    positions = enumerate_positions(GAME, position_after(FEWEST, seed))
    perfect = solve_game(positions)
    stones = np.array([state.n_stones for state in positions.states])
    # The winner's stones at the end: those of the player to move after a win, of the other after a loss.
    winner = np.where(
        perfect.value > 0, stones // 2 + (perfect.distance + 1) // 2, (stones + 1) // 2 + perfect.distance // 2
    )
    wanted = perfect.value * (22 - winner)
    assert np.array_equal(solver.solve_many(positions.states).score, wanted)
    assert np.array_equal(solver.solve_many(positions.states, exact=False).score, perfect.value)


@pytest.mark.parametrize("seed", range(6))
def test_scores_of_moves_and_the_line_agree(solver, seed):
    state = position_after(FEWEST, seed)
    score, _ = solver.solve(state)
    scores, nodes = solver.score_moves(state)
    assert max(each for each in scores if each is not None) == score
    assert [column for column, each in enumerate(scores) if each is not None] == GAME.actions(state)
    assert nodes >= 0
    line = solver.line(state, score)
    best = [column for column, each in enumerate(scores) if each == score]
    # Of columns as near to the centre, the left one.
    assert line[0] == solver.best_column(state, score) == min(best, key=distance_to_centre)
    states = [state]
    for column in line:
        states.append(GAME.apply(states[-1], column))
    assert GAME.is_terminal(states[-1])
    found = solver.solve_many(states).score.tolist()
    assert all(after == -before for before, after in pairwise(found))
    assert plies_to_end(state, score) == (len(line) if score else None)


def test_a_search_in_small_steps_finds_the_same(monkeypatch):
    states = [position_after(FEWEST, seed) for seed in range(20)]
    before = threads()
    try:
        set_threads(1)
        whole = Connect4Solver(memory=1).solve_many(states)
        monkeypatch.setattr("punish_fast.games.connect4.solver._BUDGET", 7)
        steps = Connect4Solver(memory=1).solve_many(states)
        assert np.array_equal(whole.nodes, steps.nodes)
    finally:
        set_threads(before)
    assert np.array_equal(whole.score, steps.score)
    assert np.array_equal(whole.score, Connect4Solver(memory=1).solve_many(states).score)


@pytest.mark.compiled
def test_searches_with_one_thread_take_known_numbers_of_nodes():
    """A fault in the order of moves changes no score, only the number of nodes."""
    before = threads()
    try:
        set_threads(1)
        found = [Connect4Solver(memory=1).solve(position_after(*drawn)) for drawn in ((20, 1), (22, 1), (24, 2))]
    finally:
        set_threads(before)
    assert found == [(-6, 2450), (-2, 4153), (2, 908)]


def test_ends_need_no_search(solver):
    for moves, score in (("112233", 18), ("1122334", -18), ("547125662261271266215743771576315353334444", 0)):
        assert solver.solve(GAME.state_of(moves)) == (score, 0)
    assert len(solver.solve_many([]).score) == 0
    assert solver.score_moves(GAME.state_of("1122334")) == ([None] * 7, 0)
    assert solver.line(GAME.state_of("1122334"), -18) == []
    assert [value_of(score) for score in (-3, 0, 1)] == ["loss", "draw", "win"]

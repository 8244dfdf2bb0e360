"""Perfect play of Connect Four."""

from __future__ import annotations

import time

import pytest

from punish_fast.games.connect4.game import WIDTH, Connect4
from punish_fast.games.connect4.known_scores import position_sets
from punish_fast.games.connect4.oracle import Connect4Oracle
from punish_fast.games.connect4.solver import distance_to_centre

pytestmark = pytest.mark.kernels

GAME = Connect4()


@pytest.fixture(scope="module")
def oracle():
    oracle = Connect4Oracle(GAME)
    oracle.open()
    return oracle


def test_the_values_of_moves_are_those_of_the_position_sets(oracle):
    found = position_sets()["easy-ends"]
    for state, scores in zip(found.states[:20], found.scores.tolist(), strict=False):
        moves = oracle.move_values(state)
        assert [move.action for move in moves] == GAME.actions(state)
        assert [move.value for move in moves] == [(s > 0) - (s < 0) for s in (scores[move.action] for move in moves)]
        assert [move.is_best for move in moves] == [scores[move.action] == max(scores) for move in moves]
        best = [move.action for move in moves if move.is_best]
        action = oracle.best_action(state)
        assert action in best
        assert distance_to_centre(action) == min(map(distance_to_centre, best))


def test_what_a_search_that_is_cut_short_knows_is_right(oracle):
    n_known = n_short = 0
    for state in position_sets()["hard-ends"].states[:10]:
        is_ready, (known, is_exact) = oracle.prepare(state, 0.0), oracle.known_values(state, 0.0)
        n_short += not is_exact and not is_ready
        exact = oracle.move_values(state)
        assert oracle.prepare(state, time.monotonic() + 60)
        for move, value in zip(known, exact, strict=True):
            if move is not None:
                n_known += 1
                assert (move.action, move.value) == (value.action, value.value)
                assert move.plies in (None, value.plies)
                assert value.is_best or not move.is_best
        assert oracle.known_values(state, 0.0) == (exact, True)
    assert n_known > 0
    assert n_short > 0


@pytest.mark.compiled
def test_a_search_ends_at_its_deadline(oracle):
    state = GAME.state_of("71223")
    begin = time.monotonic()
    _, is_exact = oracle.known_values(state, begin + 0.5)
    assert not is_exact
    assert time.monotonic() - begin < 3


def test_openings_come_from_the_book(oracle):
    moves = oracle.move_values(GAME.initial())
    assert [(move.value, move.plies, move.is_best) for move in moves] == [
        (-1, 40, False),
        (-1, 42, False),
        (0, None, False),
        (1, 41, True),
        (0, None, False),
        (-1, 42, False),
        (-1, 40, False),
    ]
    assert oracle.best_action(GAME.initial()) == WIDTH // 2


def test_a_win_at_once_is_made(oracle):
    assert oracle.best_action(GAME.state_of("112233")) == 3
    assert oracle.best_action(GAME.state_of("7717276")) == 6

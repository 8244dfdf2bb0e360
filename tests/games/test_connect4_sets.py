"""The position sets of Connect Four."""

import numpy as np
import pytest

from bench.make.connect4 import STONES, is_win, set_of
from punish_fast.games.connect4.game import Connect4, Connect4State
from punish_fast.games.connect4.known_scores import FULL, SETS, PositionSet, position_sets, search_policy, shares
from punish_fast.games.connect4.search import plies_to_end

GAME = Connect4()


@pytest.mark.parametrize("name", SETS)
def test_sets_have_what_their_names_say(name):
    found = position_sets()[name]
    states = found.states
    assert len(states) == len(set(states)) == 1000
    fewest, most = STONES[name.split("-")[1]]
    assert all(fewest <= state.n_stones <= most for state in states)
    assert not any(GAME.is_terminal(state) for state in states)
    assert not any(is_win(state, action) for state in states[:100] for action in GAME.actions(state))
    for state, score, scores in zip(states, found.score.tolist(), found.scores, strict=True):
        assert set_of(state.n_stones, plies_to_end(state.n_stones, score) if score else None) == name
        assert np.flatnonzero(scores != FULL).tolist() == GAME.actions(state)
    kept, best = found.keeps_value(), found.is_best()
    assert best.any(axis=1).all()
    assert (kept | ~best).all()
    assert not kept[found.scores == FULL].any()
    assert 0 < best.mean() < kept.mean() < 1


def test_moves_that_keep_the_value_and_perfect_play():
    made = PositionSet(np.zeros((3, 2), dtype=np.uint64), np.full((3, 7), FULL, dtype=np.int8))
    made.scores[:, :3] = [[3, 1, -2], [0, -1, 0], [-4, -2, FULL]]
    assert made.score.tolist() == [3, 0, -2]
    assert made.keeps_value()[:, :3].tolist() == [[True, True, False], [True, False, True], [True, True, False]]
    assert made.is_best()[:, :3].tolist() == [[True, False, False], [True, False, True], [False, True, False]]
    for found in position_sets().values():
        assert shares(found, search_policy(found, 42)) == (pytest.approx(1), pytest.approx(1))
        into_full = (found.scores == FULL) / np.maximum((found.scores == FULL).sum(axis=1, keepdims=True), 1)
        assert shares(found, into_full) == (0, 0)


def limited_score(state: Connect4State, depth: int) -> int:
    """Plain search to a depth, beyond which all is worth 0."""
    if GAME.is_terminal(state):
        lost = GAME.returns(state)[GAME.player(state)] < 0
        return -(22 - (state.n_stones + 1) // 2) if lost else 0
    if depth == 0:
        return 0
    return max(-limited_score(GAME.apply(state, action), depth - 1) for action in GAME.actions(state))


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_a_search_of_some_depth_plays_by_what_it_sees(depth):
    for name in ("easy-ends", "hard-ends"):
        found = position_sets()[name]
        policy = search_policy(found, depth)
        assert policy.sum(axis=1) == pytest.approx(np.ones(len(policy)))
        for state, row in zip(found.states[::100], policy[::100], strict=True):
            actions = GAME.actions(state)
            # Without a move of its own, it sees nothing.
            seen = [-limited_score(GAME.apply(state, action), depth - 1) if depth else 0 for action in actions]
            wanted = [action for action, score in zip(actions, seen, strict=True) if score == max(seen)]
            assert np.flatnonzero(row).tolist() == wanted

"""A policy against itself, against the same in dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
from exact import twin_of
from lessons_twin import TwinPlay
from policies import mixed
from positions import nodes_of, positions_of

from punish_fast.duel.graph import Graph
from punish_fast.mdp.policy import PolicyError
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.study.selfplay import self_play

RULES = PRESETS["tiny"]._replace(redeal="reshuffle")


@pytest.fixture(scope="module")
def play():
    space = StateSpace(RULES)
    # Something is played in every state, so that all beliefs are known.
    policy = mixed(space, 3) + 0.01
    policy /= np.repeat(np.add.reduceat(policy, space.state_ptr[:-1]), np.diff(space.state_ptr))
    return self_play(Graph(space), policy)


@pytest.fixture(scope="module")
def exact(play):
    return TwinPlay(play.graph.space, play.policy)


@pytest.mark.slow
def test_visits_and_values_are_those_of_the_slow_model(play, exact):
    for number, position in enumerate(positions_of(play.graph)):
        assert play.visits[number] == pytest.approx(exact.visits[position], abs=1e-10)
        assert play.duel.v[number, 0] == pytest.approx(exact.value[position], abs=1e-9)
    for number, node in enumerate(nodes_of(play.graph)):
        assert play.nodes[number] == pytest.approx(exact.visits[node], abs=1e-10)


def test_visits_add_up_to_the_length_of_a_game(play):
    assert play.visits.sum() == pytest.approx(play.duel.length, abs=1e-9)
    assert play.state_visits.sum() == pytest.approx(play.duel.length, abs=1e-9)
    assert play.dealt.sum() == pytest.approx(1 + play.nodes.sum(), abs=1e-9)


def test_both_players_come_to_what_they_see_alike(play):
    mirrored = np.bincount(play.graph.full.enemy_row, weights=play.visits, minlength=len(play.state_visits))
    assert mirrored == pytest.approx(play.state_visits, abs=1e-12)
    assert play.duel.win_probability == pytest.approx(0.5, abs=1e-12)


def test_action_values_are_those_of_the_slow_model(play, exact):
    space = play.graph.space
    generator = np.random.default_rng(1)
    for row in generator.choice(int(space.layer_ptr[RULES.breaths]), 60, replace=False):
        view = twin_of(space.state(int(row)))
        for place in range(*space.state_ptr[row : row + 2]):
            expected = exact.seen_value(view, int(space.action[place]))
            assert play.action_values[place] == pytest.approx(expected, abs=1e-9)


def test_what_the_policy_plays_is_worth_what_its_visits_win(play):
    """Where own choices do not matter for beliefs, in the first breath, values are means of what is played."""
    space = play.graph.space
    end = int(space.state_ptr[space.layer_ptr[1]])
    mean = np.add.reduceat(play.action_values[:end] * play.policy[:end], space.state_ptr[: space.layer_ptr[1]])
    ptr = play.graph.full.ptr[: space.layer_ptr[1] + 1]
    won = np.add.reduceat((play.visits * play.duel.v[: len(play.visits), 0])[: ptr[-1]], ptr[:-1])
    assert mean * play.state_visits[: len(mean)] == pytest.approx(won, abs=1e-12)


def test_all_actions_have_values_where_a_policy_never_leads():
    space = StateSpace(RULES)
    policy = np.zeros(len(space.action))
    policy[space.state_ptr[:-1]] = 1.0
    play = self_play(Graph(space), policy)
    assert (play.visits == 0).any()
    assert (play.action_values >= -1e-12).all()
    assert (play.action_values <= 1 + 1e-12).all()
    assert (np.add.reduceat(play.beliefs, play.graph.full.ptr[:-1]) > 0).mean() > 0.9


def test_what_is_no_policy_is_refused():
    graph = Graph(StateSpace(RULES))
    with pytest.raises(PolicyError, match="do not add up to 1"):
        self_play(graph, np.full(len(graph.space.action), 0.3))

"""A policy against itself, against the same in dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
from exact import twin_of
from lessons_twin import TwinPlay
from policies import mixed
from positions import nodes_of, positions_of

from punish_fast.duel.graph import Graph
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


def test_action_values_are_those_of_the_slow_model(play, exact):
    space = play.graph.space
    generator = np.random.default_rng(1)
    for row in generator.choice(int(space.layer_ptr[RULES.breaths]), 60, replace=False):
        view = twin_of(space.state(int(row)))
        for place in range(*space.state_ptr[row : row + 2]):
            expected = exact.seen_value(view, int(space.action[place]))
            assert play.action_values[place] == pytest.approx(expected, abs=1e-9)


def test_all_actions_have_values_where_a_policy_never_leads():
    space = StateSpace(RULES)
    policy = np.zeros(len(space.action))
    policy[space.state_ptr[:-1]] = 1.0
    play = self_play(Graph(space), policy)
    assert (play.visits == 0).any()
    assert (play.action_values >= -1e-12).all()
    assert (play.action_values <= 1 + 1e-12).all()
    assert (np.add.reduceat(play.beliefs, play.graph.full.ptr[:-1]) > 0).mean() > 0.9

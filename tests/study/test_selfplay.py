"""A policy against itself, against the same in dictionaries."""

import numpy as np
import pytest
from exact import twin_of
from positions import nodes_of, positions_of

from punish_fast.study.selfplay import self_play


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
    for row in generator.choice(int(space.layer_ptr[space.rules.breaths]), 60, replace=False):
        view = twin_of(space.state(int(row)))
        for place in range(*space.state_ptr[row : row + 2]):
            expected = exact.seen_value(view, int(space.action[place]))
            assert play.action_values[place] == pytest.approx(expected, abs=1e-9)


def test_all_actions_have_values_where_a_policy_never_leads(graph):
    space = graph.space
    policy = np.zeros(len(space.action))
    policy[space.state_ptr[:-1]] = 1.0
    play = self_play(graph, policy)
    assert (play.visits == 0).any()
    assert (play.action_values >= -1e-12).all()
    assert (play.action_values <= 1 + 1e-12).all()
    assert (np.add.reduceat(play.beliefs, play.graph.full.ptr[:-1]) > 0).mean() > 0.9

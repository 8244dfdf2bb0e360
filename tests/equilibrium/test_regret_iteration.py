"""Regret iterations; their formulas are tested with the kernels and with `Equilibrium`."""

import numpy as np
import pytest
from houses import TINY

from punish_fast.duel.graph import Graph
from punish_fast.equilibrium.counterfactual_response import CounterfactualResponse
from punish_fast.equilibrium.regret_iteration import RegretIteration
from punish_fast.equilibrium.regret_minimisers import Hedge
from punish_fast.equilibrium.restricted_game import all_inside, restrict
from punish_fast.punish.states.space import StateSpace

pytestmark = pytest.mark.kernels


def new_iteration(measure, graph, minimiser):
    v, dealt = np.full(measure.n_values, 0.5), graph.dealt
    v[-2:] = 1.0, 0.0
    return RegretIteration(measure, minimiser, dealt, v, 0.5, CounterfactualResponse(measure, v[:, None].copy(), dealt))


@pytest.mark.parametrize("model", ["view", "memory"])
def test_a_restricted_game_of_everything_learns_like_the_whole(model):
    graph = Graph(StateSpace(TINY, model))
    marks = all_inside(graph)
    restricted = restrict(graph, marks, must_pay=False)
    whole = new_iteration(graph, graph, Hedge(graph.state_ptr, marks.row))
    part = new_iteration(restricted, graph, Hedge(restricted.state_ptr))
    for iteration in (1, 2, 3):
        for played in (whole, part):
            played.run(iteration)
        assert np.array_equal(whole.response.choice, part.response.choice)
        for name in ("strategy", "enemy", "v", "nodes", "state_reach"):
            assert getattr(whole, name) == pytest.approx(getattr(part, name), abs=1e-12), name
        assert whole.reach.table == pytest.approx(part.reach.table, abs=1e-14)

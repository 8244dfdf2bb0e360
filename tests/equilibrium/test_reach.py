"""Both reaches of full states, against a sweep for each."""

from __future__ import annotations

import numpy as np
import pytest
from policies import mixed

from punish_fast.duel.graph import Graph
from punish_fast.equilibrium.reach import Reach
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace

TINY = PRESETS["tiny"]._replace(redeal="reshuffle")


@pytest.mark.parametrize(("model", "off_policy_weight"), [("view", 0.01), ("memory", 0.0), ("memory", 1.0)])
def test_both_reaches_are_those_of_two_sweeps(model, off_policy_weight):
    graph = Graph(StateSpace(TINY, model))
    own, enemy = mixed(graph.space, 1), mixed(graph.space, 2)
    reach = Reach(graph)
    reach.begin(graph.dealt)
    # A second run clears the first.
    for _ in range(2):
        reach.spread_all((own, enemy), off_policy_weight)
    for column, weight in enumerate((own, np.maximum(own, off_policy_weight))):
        expected = np.zeros(graph.n_full)
        expected[: len(graph.dealt)] = graph.dealt
        nodes, _ends = graph.spread(weight, enemy, expected)
        assert reach.table[:, column] == pytest.approx(expected, rel=1e-12, abs=1e-28)
        assert reach.nodes[:, column] == pytest.approx(nodes, rel=1e-12, abs=1e-28)
    own_nodes = np.ascontiguousarray(reach.nodes[:, 0])
    assert np.array_equal(reach.deal_again(), graph.deal_again(own_nodes))
    assert 0 < own_nodes.sum() < 1


@pytest.mark.parametrize("model", ["view", "memory"])
def test_reaches_of_a_response_are_those_it_has_alone(model):
    graph = Graph(StateSpace(TINY, model))
    own, enemy = mixed(graph.space, 1), mixed(graph.space, 2)
    n_rows = np.diff(graph.space.state_ptr[: len(graph.full.ptr)])
    choice = graph.space.state_ptr[: len(n_rows)] + np.random.default_rng(3).integers(n_rows)
    chosen = np.zeros(len(own))
    chosen[choice] = 1
    both, deals = Reach(graph, has_response=True), np.random.default_rng(4).random((2, len(graph.dealt)))
    for _ in range(2):
        both.begin(*deals)
        for number in range(TINY.breaths):
            both.spread(number, (own, enemy), 0.01, choice)
    for columns, dealt, strategies in (((0, 1), deals[0], (own, enemy)), ((2, 3), deals[1], (chosen, own))):
        alone = Reach(graph)
        for _ in range(2):
            alone.begin(dealt)
            alone.spread_all(strategies, 0.01)
        assert both.table[:, columns] == pytest.approx(alone.table, rel=1e-12, abs=1e-28)
        assert both.nodes[:, columns] == pytest.approx(alone.nodes, rel=1e-12, abs=1e-28)
        assert both.deal_again(columns[0]) == pytest.approx(alone.deal_again(), rel=1e-12)


def test_full_states_below_the_least_reach_are_not_passed_on():
    graph = Graph(StateSpace(TINY, "view"))
    own, enemy = mixed(graph.space, 1), mixed(graph.space, 2)
    first, dealt = len(graph.dealt), np.random.default_rng(5).random(len(graph.dealt))
    passed = dealt < 0.5
    assert 0 < passed.sum() < first
    tables = []
    for deals, least in ((dealt, 0.5), (np.where(passed, 0.0, dealt), 0.0)):
        reach = Reach(graph)
        reach.begin(deals)
        reach.spread(0, (own, enemy), 0.01, least=least)
        tables.append(reach.table[first : graph.targets_of(0)[0] + graph.room_after(0)[1]])
    assert np.array_equal(tables[0], tables[1])
    assert tables[0].any()

"""Counterfactual responses, iteration by iteration; ``test_best_response.py`` tests exploiters made of them."""

import numpy as np
import pytest
from houses import TINY
from policies import mixed, uniform

from punish_fast.duel.evaluation import head_to_head
from punish_fast.duel.graph import GameGraph
from punish_fast.equilibrium.exploitation.best_response import best_response
from punish_fast.equilibrium.regret_iteration import CounterfactualResponse, Reach
from punish_fast.equilibrium.regret_minimizers import OFF_POLICY_WEIGHT
from punish_fast.punish.states.space import StateSpace


def improved(graph, enemy, iterations):
    response, reach = (
        CounterfactualResponse(graph, np.full((graph.n_values, 1), 0.5), graph.initial_reach),
        Reach(graph),
    )
    for _ in range(iterations):
        response.improve(enemy, reach)
    return response


@pytest.mark.compiled
def test_iterations_converge_to_a_response_as_good_as_the_exploiter(graph):
    enemy = mixed(graph.space, 1)
    before, after = (head_to_head(graph, improved(graph, enemy, n).policy, enemy).win_probability for n in (0, 20))
    assert before < after == pytest.approx(best_response(graph, enemy, "belief").win_probability, abs=1e-3)


def test_a_converged_response_has_the_values_and_deals_of_its_duel(graph):
    enemy = uniform(graph.space)
    response = improved(graph, enemy, 60)
    duel = head_to_head(graph, response.policy, enemy)
    numbers, p = graph.opening
    assert p @ response.v[numbers, 0] == pytest.approx(duel.win_probability, abs=1e-9)
    assert response.nodes[:, 0] == pytest.approx(duel.v[graph.n_full : -2, 0], abs=1e-9)
    # Every game begins once, and each further measure with a deal.
    reach = np.zeros(graph.n_full)
    reach[: len(response.dealt)] = response.dealt
    nodes, _ = graph.propagate_reach(response.policy, enemy, reach)
    assert response.dealt.sum() == pytest.approx(1 + nodes.sum(), abs=1e-9)


def test_unlikely_full_states_are_skipped(graph, monkeypatch):
    monkeypatch.setattr("punish_fast.equilibrium.regret_iteration._LEAST_REACH", 0.002)
    v, reach = np.full((graph.n_full + graph.n_nodes + 2, 1), 0.5), Reach(graph)
    before = np.random.default_rng(4).random(graph.n_full)
    v[: graph.n_full, 0] = before
    response = CounterfactualResponse(graph, v, graph.initial_reach)
    response.improve(mixed(graph.space, 3), reach)
    skipped = v[: graph.n_full, 0] == before
    assert np.array_equal(skipped, reach.table[:, 1] < 0.002)
    assert 0 < skipped.sum() < len(skipped)


def test_passes_repeat_until_deals_have_converged(graph):
    enemy, reach = mixed(graph.space, 4), Reach(graph)
    once, often = improved(graph, enemy, 3), improved(graph, enemy, 3)
    for _ in range(60):
        reach.propagate_all(once.dealt, (once.policy, enemy), OFF_POLICY_WEIGHT)
        once.deal_again(reach.deal_again())
    expected = once.dealt.copy()
    often.improve(enemy, reach, max_passes=60)
    assert often.dealt == pytest.approx(expected, abs=1e-8)
    once.choose(enemy, reach.table[:, 1])
    assert np.array_equal(once.choice, often.choice)


@pytest.mark.parametrize(("model", "off_policy_weight"), [("memoryless", 0.01), ("memory", 0.0), ("memory", 1.0)])
def test_both_reaches_are_those_of_two_sweeps(model, off_policy_weight):
    graph = GameGraph(StateSpace(TINY, model))
    own, enemy = mixed(graph.space, 1), mixed(graph.space, 2)
    reach = Reach(graph)
    # A second run clears the first.
    for _ in range(2):
        reach.propagate_all(graph.initial_reach, (own, enemy), off_policy_weight)
    for column, weight in enumerate((own, np.maximum(own, off_policy_weight))):
        expected = np.zeros(graph.n_full)
        expected[: len(graph.initial_reach)] = graph.initial_reach
        nodes, _ends = graph.propagate_reach(weight, enemy, expected)
        assert reach.table[:, column] == pytest.approx(expected, rel=1e-12, abs=1e-28)
        assert reach.nodes[:, column] == pytest.approx(nodes, rel=1e-12, abs=1e-28)
    own_nodes = np.ascontiguousarray(reach.nodes[:, 0])
    assert np.array_equal(reach.deal_again(), graph.deal_again(own_nodes))
    assert 0 < own_nodes.sum() < 1


@pytest.mark.parametrize("model", ["memoryless", "memory"])
def test_reaches_of_a_response_are_those_it_has_alone(model):
    graph = GameGraph(StateSpace(TINY, model))
    own, enemy = mixed(graph.space, 1), mixed(graph.space, 2)
    n_rows = np.diff(graph.space.state_ptr[: len(graph.full.ptr)])
    choice = graph.space.state_ptr[: len(n_rows)] + np.random.default_rng(3).integers(n_rows)
    chosen = np.zeros(len(own))
    chosen[choice] = 1
    both, deals = Reach(graph, has_response=True), np.random.default_rng(4).random((2, len(graph.initial_reach)))
    for _ in range(2):
        both.begin(*deals)
        for number in range(TINY.breaths):
            both.propagate(number, (own, enemy), 0.01, choice)
    for columns, dealt, strategies in (((0, 1), deals[0], (own, enemy)), ((2, 3), deals[1], (chosen, own))):
        alone = Reach(graph)
        for _ in range(2):
            alone.propagate_all(dealt, strategies, 0.01)
        assert both.table[:, columns] == pytest.approx(alone.table, rel=1e-12, abs=1e-28)
        assert both.nodes[:, columns] == pytest.approx(alone.nodes, rel=1e-12, abs=1e-28)
        assert both.deal_again(columns[0]) == pytest.approx(alone.deal_again(), rel=1e-12)


def test_full_states_below_the_least_reach_are_not_passed_on(graph):
    own, enemy = mixed(graph.space, 1), mixed(graph.space, 2)
    first, dealt = len(graph.initial_reach), np.random.default_rng(5).random(len(graph.initial_reach))
    passed = dealt < 0.5
    assert 0 < passed.sum() < first
    tables = []
    for deals, least in ((dealt, 0.5), (np.where(passed, 0.0, dealt), 0.0)):
        reach = Reach(graph)
        reach.begin(deals)
        reach.propagate(0, (own, enemy), 0.01, least=least)
        tables.append(reach.table[first : graph.targets_of(0)[0] + graph.room_after(0)[1]])
    assert np.array_equal(tables[0], tables[1])
    assert tables[0].any()

"""Counterfactual responses, iteration by iteration; ``test_best_response.py`` tests exploiters made of them."""

from __future__ import annotations

import numpy as np
import pytest
from policies import mixed, uniform

from punish_fast.duel.exact_evaluation import head_to_head
from punish_fast.equilibrium.counterfactual_response import OFF_POLICY_WEIGHT, CounterfactualResponse
from punish_fast.equilibrium.exploitation.best_response import best_response
from punish_fast.equilibrium.reach import Reach
from punish_fast.punish.rules import PRESETS

TINY = PRESETS["tiny"]._replace(redeal="reshuffle")


def improved(graph, enemy, iterations):
    response, reach = CounterfactualResponse(graph, np.full((graph.n_values, 1), 0.5), graph.dealt), Reach(graph)
    for _ in range(iterations):
        response.improve(enemy, reach)
    return response


@pytest.mark.compiled
def test_iterations_converge_to_a_response_as_good_as_the_exploiter(graph):
    enemy = mixed(graph.space, 1)
    before, after = (head_to_head(graph, improved(graph, enemy, n).policy, enemy).win_probability for n in (0, 20))
    assert before < after == pytest.approx(best_response(graph, enemy, "true").win_probability, abs=1e-3)


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
    nodes, _ = graph.spread(response.policy, enemy, reach)
    assert response.dealt.sum() == pytest.approx(1 + nodes.sum(), abs=1e-9)


def test_unlikely_full_states_are_skipped(graph, monkeypatch):
    monkeypatch.setattr("punish_fast.equilibrium.counterfactual_response._LEAST_REACH", 0.002)
    v, reach = np.full((graph.n_full + graph.n_nodes + 2, 1), 0.5), Reach(graph)
    before = np.random.default_rng(4).random(graph.n_full)
    v[: graph.n_full, 0] = before
    response = CounterfactualResponse(graph, v, graph.dealt)
    response.improve(mixed(graph.space, 3), reach)
    skipped = v[: graph.n_full, 0] == before
    assert np.array_equal(skipped, reach.table[:, 1] < 0.002)
    assert 0 < skipped.sum() < len(skipped)


def test_passes_repeat_until_deals_have_converged(graph):
    enemy, reach = mixed(graph.space, 4), Reach(graph)
    once, often = improved(graph, enemy, 3), improved(graph, enemy, 3)
    for _ in range(60):
        reach.begin(once.dealt)
        reach.spread_all((once.policy, enemy), OFF_POLICY_WEIGHT)
        once.deal_again(reach.deal_again())
    expected = once.dealt.copy()
    often.improve(enemy, reach, max_passes=60)
    assert often.dealt == pytest.approx(expected, abs=1e-8)
    once.choose(enemy, reach.table[:, 1])
    assert np.array_equal(once.choice, often.choice)

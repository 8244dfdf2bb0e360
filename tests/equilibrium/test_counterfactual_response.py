"""Answers, round by round; what the best of them are worth is tested with the exploiters made of them."""

from __future__ import annotations

import numpy as np
import pytest
from policies import mixed, uniform

from punish_fast.duel.exact_evaluation import head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.duel.policies import policy_of
from punish_fast.equilibrium.best_response import best_response
from punish_fast.equilibrium.counterfactual_response import OFF_POLICY_WEIGHT, CounterfactualResponse
from punish_fast.equilibrium.reach import Reach
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace

TINY = PRESETS["tiny"]._replace(redeal="reshuffle")


@pytest.fixture(scope="module")
def graph():
    return Graph(StateSpace(TINY))


def answered(graph, enemy, rounds):
    answer, reach = CounterfactualResponse(graph, np.full((graph.n_values, 1), 0.5), graph.dealt), Reach(graph)
    for _ in range(rounds):
        answer.improve(enemy, reach)
    return answer


def test_an_answer_is_a_policy_of_one_action_in_each_state(graph):
    answer = CounterfactualResponse(graph, np.zeros((graph.n_values, 1)), graph.dealt)
    policy = answer.policy
    policy_of(policy, graph.space)
    assert set(policy.tolist()) == {0.0, 1.0}
    assert np.array_equal(np.flatnonzero(policy[: graph.space.state_ptr[len(answer.choice)]]), answer.choice)


@pytest.mark.compiled
@pytest.mark.parametrize("seed", [1, 2])
def test_rounds_settle_on_an_answer_as_good_as_the_exploiter(graph, seed):
    enemy = mixed(graph.space, seed)
    before, after = (head_to_head(graph, answered(graph, enemy, n).policy, enemy).win_probability for n in (0, 20))
    assert before < after == pytest.approx(best_response(graph, enemy, "true").win_probability, abs=1e-3)


def test_values_and_deals_are_those_of_the_duel_once_rounds_have_settled(graph):
    enemy = uniform(graph.space)
    answer = answered(graph, enemy, 60)
    duel = head_to_head(graph, answer.policy, enemy)
    numbers, p = graph.opening
    assert p @ answer.v[numbers, 0] == pytest.approx(duel.win_probability, abs=1e-9)
    assert answer.nodes[:, 0] == pytest.approx(duel.v[graph.n_full : -2, 0], abs=1e-9)
    # Every game begins once, and each further measure with a deal.
    reach = np.zeros(graph.n_full)
    reach[: len(answer.dealt)] = answer.dealt
    nodes, _ = graph.spread(answer.policy, enemy, reach)
    assert answer.dealt.sum() == pytest.approx(1 + nodes.sum(), abs=1e-9)


@pytest.mark.parametrize(("off_policy_weight", "passes_over"), [(1.0, True), (0.01, True), (0.001, False)])
def test_a_round_passes_over_what_is_unlikely_unless_stray_moves_make_it_so(
    graph, monkeypatch, off_policy_weight, passes_over
):
    monkeypatch.setattr("punish_fast.equilibrium.counterfactual_response._LEAST_REACH", 0.002)
    v, reach = np.full((graph.n_full + graph.n_nodes + 2, 1), 0.5), Reach(graph)
    before = np.random.default_rng(4).random(graph.n_full)
    v[: graph.n_full, 0] = before
    answer = CounterfactualResponse(graph, v, graph.dealt)
    answer.improve(mixed(graph.space, 3), reach, off_policy_weight)
    passed = v[: graph.n_full, 0] == before
    assert np.array_equal(passed, (reach.table[:, 1] < 0.002) & passes_over)
    assert passed.any() == passes_over


def test_beliefs_are_of_its_own_deals_after_as_many_walks_as_that_takes(graph):
    enemy, reach = mixed(graph.space, 4), Reach(graph)
    once, often = answered(graph, enemy, 3), answered(graph, enemy, 3)
    for _ in range(60):
        reach.begin(once.dealt)
        reach.spread_all((once.policy, enemy), OFF_POLICY_WEIGHT)
        once.deal_again(reach.deal_again())
    expected = once.dealt.copy()
    often.improve(enemy, reach, max_passes=60)
    assert often.dealt == pytest.approx(expected, abs=1e-8)
    once.choose(enemy, reach.table[:, 1])
    assert np.array_equal(once.choice, often.choice)

"""Exploiters, against exact best responses with perfect recall and against all pure policies."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product

import duel_twin
import numpy as np
import pytest
from houses import house_rules
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import reference
from punish_fast.arena.players import Player
from punish_fast.duel.exact_evaluation import DuelError, head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.equilibrium.best_response import Start, best_response
from punish_fast.equilibrium.counterfactual_response import OFF_POLICY_WEIGHT
from punish_fast.mdp.policy import PolicyError, greedy
from punish_fast.mdp.solver import solve
from punish_fast.punish.codes import State
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import lift, uniform_policy
from punish_fast.punish.transitions.tensor import build

TINY = PRESETS["tiny"]._replace(redeal="reshuffle")
# All cards are different and deal damage, and 2 HP last no longer than a measure, so every game ends in its first one.
# With one card left there is nothing to choose, so a player with a choice has nothing to remember.
BRIEF = TINY._replace(
    copies=(1, 1, 1, 1, 1),
    feints=0,
    damage=(1, 1, 1, 1, 1),
    guard_reduction=0,
    dodge_stops=(0, 0, 0, 0, 0),
    exhausting=(0, 0, 0, 0, 0),
)
# Few states leave a choice, so all pure policies can be tried; games may last many measures.
LASTING = TINY._replace(copies=(0, 2, 0, 2, 1), reveal_size=0, feints=0, hp=2, healing=1)


def dyadic(space, seed):
    """A policy whose probabilities are small fractions, some of them zero."""
    generator = np.random.default_rng(seed)
    parts = generator.integers(0, 4, len(space.action)).astype(np.float64)
    parts[space.state_ptr[:-1]] += 1
    return parts / np.repeat(np.add.reduceat(parts, space.state_ptr[:-1]), np.diff(space.state_ptr))


def exact_response(space, weight):
    """Win probability of the best response with perfect recall, in a game that ends in its first measure."""
    rules = space.rules

    def chosen(view):
        row = space.row(State(*view))
        rows = range(*space.state_ptr[row : row + 2])
        return {int(space.action[r]): Fraction(float(weight[r])) for r in rows if weight[r] > 0}

    def value(belief):
        view = next(iter(belief)).view
        return max(outcome(belief, own) for own in reference.legal_actions(rules, view))

    def outcome(belief, own):
        wins, seen = Fraction(0), defaultdict(lambda: defaultdict(Fraction))
        for position, p in belief.items():
            for enemy, q in chosen(duel_twin.enemy_view(position)).items():
                for then, chance in duel_twin.breath(rules, position, own, enemy).items():
                    assert type(then) is not duel_twin.Node
                    if then == duel_twin.WIN:
                        wins += p * q * chance
                    elif then != duel_twin.LOSS:
                        seen[then.view][then] += p * q * chance
        return wins + sum(map(value, seen.values()))

    dealt = defaultdict(dict)
    for position, p in duel_twin.deal(rules, duel_twin.begin(rules)).items():
        dealt[position.view][position] = p
    return float(sum(map(value, dealt.values())))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_true_beliefs_find_the_best_response_where_there_is_nothing_to_forget(seed):
    graph = Graph(StateSpace(BRIEF))
    enemy = dyadic(graph.space, seed)
    exact = exact_response(graph.space, enemy)
    for off_policy_weight in (OFF_POLICY_WEIGHT, 1.0):
        found = best_response(graph, enemy, "true", off_policy_weight=off_policy_weight)
        assert found.win_probability == pytest.approx(exact, abs=1e-9)


def pure_policies(space):
    """Every policy that takes one action in each state."""
    choices = [range(*space.state_ptr[row : row + 2]) for row in range(space.n_states)]
    for rows in product(*choices):
        weight = np.zeros(len(space.action))
        weight[list(rows)] = 1.0
        yield weight


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_true_beliefs_find_the_best_pure_policy(seed):
    graph = Graph(StateSpace(LASTING))
    enemy = dyadic(graph.space, seed)
    best = max(head_to_head(graph, own, enemy).win_probability for own in pure_policies(graph.space))
    assert best_response(graph, enemy, "true").win_probability == pytest.approx(best, abs=1e-9)


@pytest.fixture(scope="module")
def graph():
    return Graph(StateSpace(TINY))


@pytest.mark.parametrize("seed", [1, 2])
def test_the_uniform_exploiter_solves_the_one_player_model(graph, seed):
    space = graph.space
    enemy = dyadic(space, seed)
    expected = greedy(space.state_ptr, solve(build(space, enemy), discount=1.0).q)
    found = best_response(graph, enemy)
    assert np.array_equal(found.policy, expected)
    assert found.win_probability == pytest.approx(head_to_head(graph, expected, enemy).win_probability, abs=1e-9)
    assert found.win_probabilities == [found.win_probability]


def test_true_beliefs_win_more_than_uniform_beliefs_and_random_policies(graph):
    enemy = dyadic(graph.space, 1)
    true = best_response(graph, enemy, "true")
    uniform = best_response(graph, enemy, "uniform")
    assert true.win_probability == max(true.win_probabilities) > uniform.win_probability > 0.5
    assert true.win_probabilities[0] == uniform.win_probability
    duel = head_to_head(graph, true.policy, enemy)
    assert duel.win_probability == pytest.approx(true.win_probability, abs=1e-9)
    tried = [head_to_head(graph, dyadic(graph.space, k), enemy).win_probability for k in range(10, 14)]
    assert max(tried) < true.win_probability
    assert head_to_head(graph, enemy, enemy).win_probability < true.win_probability


@pytest.mark.compiled
def test_no_single_deviation_improves_the_best_response(graph):
    enemy = dyadic(graph.space, 5)
    true = best_response(graph, enemy, "true")
    ptr = graph.space.state_ptr
    open_states = np.flatnonzero(np.diff(ptr) > 1)
    for state in np.random.default_rng(1).choice(open_states, 12, replace=False):
        for row in range(*ptr[state : state + 2]):
            other = true.policy.copy()
            other[ptr[state] : ptr[state + 1]] = 0.0
            other[row] = 1.0
            assert head_to_head(graph, other, enemy).win_probability <= true.win_probability + 1e-9


@pytest.mark.compiled
@pytest.mark.parametrize(("hp", "seed", "gain"), [(1, 15, 3e-4), (1, 23, 2e-4), (2, 67, 5e-5)])
def test_small_steps_improve_responses_that_do_not_converge(monkeypatch, hp, seed, gain):
    graph = Graph(StateSpace(TINY._replace(breaths=1, hp=hp)))
    enemy = dyadic(graph.space, seed)
    starts = [Start(enemy)]
    found, again = (best_response(graph, enemy, "true", starts=starts) for _ in range(2))
    assert again.win_probabilities == found.win_probabilities
    monkeypatch.setattr("punish_fast.equilibrium.best_response._MAX_STEPS", 0)
    rounds = best_response(graph, enemy, "true", starts=starts).win_probabilities
    assert found.win_probabilities[: len(rounds)] == rounds
    assert found.win_probability == max(found.win_probabilities) > max(rounds) + gain
    duel = head_to_head(graph, found.policy, enemy)
    assert duel.win_probability == pytest.approx(found.win_probability, abs=1e-9)


@pytest.mark.slow
@pytest.mark.full
def test_the_naive_agent_exploits_the_random_player(tabletop):
    graph = Graph(tabletop)
    random, naive = (Player(name).policy(tabletop) for name in ("random", "naive"))
    # The naive agent is the uniform exploiter of the random player.
    found = best_response(graph, random)
    assert np.array_equal(found.policy, naive)
    assert found.win_probability == pytest.approx(0.844549, abs=1e-6)


def test_a_search_from_its_own_result_ends_at_once(graph):
    enemy = dyadic(graph.space, 7)
    found = best_response(graph, enemy, "true")
    starts = [Start(found.policy, found.duel.v[graph.n_full : -2])]
    again = best_response(graph, enemy, "true", starts=starts)
    # The start, and one response to it.
    assert again.win_probabilities == pytest.approx([found.win_probability] * 2, abs=1e-9)
    assert again.win_probability == max(again.win_probabilities)


def test_starts_are_judged_and_a_copy_is_better_than_losing(graph, monkeypatch):
    enemy = dyadic(graph.space, 7)
    best = best_response(graph, enemy, "true")
    for name in ("_MAX_RESPONSES", "_MAX_STEPS"):
        monkeypatch.setattr(f"punish_fast.equilibrium.best_response.{name}", 0)
    found = best_response(graph, enemy, "true", starts=[Start(best.policy)])
    assert np.array_equal(found.policy, best.policy)
    assert found.win_probability == pytest.approx(best.win_probability, abs=1e-9)
    worst = uniform_policy(graph.space)
    assert head_to_head(graph, worst, best.policy).win_probability < 0.5
    copy = best_response(graph, best.policy, "true", starts=[Start(enemy)])
    assert np.array_equal(copy.policy, best.policy)
    assert copy.win_probability == copy.win_probabilities[-1] == pytest.approx(0.5, abs=1e-9)


@settings(max_examples=10)
@given(rules=house_rules(largest_hp=2, most_breaths=2), seed=st.integers(0, 99))
def test_no_exploiter_loses(rules, seed):
    view = StateSpace(true_rules(rules))
    fine = StateSpace(view.rules, "memory")
    graph, policy = Graph(fine), lift(fine, view, dyadic(view, seed))
    try:
        found = best_response(graph, policy, "true")
    except DuelError:  # no end
        return
    assert found.win_probability >= 0.5 - 1e-9
    assert found.win_probability >= max(found.win_probabilities)
    duel = head_to_head(graph, found.policy, policy)
    assert duel.win_probability == pytest.approx(found.win_probability, abs=1e-9)


def test_progress_is_reported(graph):
    steps = []
    enemy = dyadic(graph.space, 6)
    found = best_response(graph, enemy, "true", lambda *step: steps.append(step))
    assert [step[0] for step in steps] == ["uniform"] + ["true"] * (len(found.win_probabilities) - 1)
    assert [step[1] for step in steps] == list(range(1, len(found.win_probabilities) + 1))
    assert steps[-1][2] == found.win_probability


def test_invalid_arguments_are_refused(graph):
    policy = dyadic(graph.space, 1)
    with pytest.raises(DuelError, match="beliefs: 'strong' is not allowed, it must be one of uniform, true"):
        best_response(graph, policy, "strong")
    with pytest.raises(PolicyError, match="do not add up to 1"):
        best_response(graph, policy * 0.5)
    for off_policy_weight in (0.0, 1.01, np.nan):
        with pytest.raises(
            DuelError, match=f"off_policy_weight: {off_policy_weight} is not allowed, it must be above 0 and at most 1"
        ):
            best_response(graph, policy, "true", off_policy_weight=off_policy_weight)

from __future__ import annotations

from fractions import Fraction

import duel_twin
import numpy as np
import pytest
from houses import house_rules
from hypothesis import given, settings
from hypothesis import strategies as st
from policies import uniform

from punish_fast.duel.exact_evaluation import DuelError, head_to_head, outcome_distribution
from punish_fast.duel.graph import Graph
from punish_fast.mdp.policy import PolicyError, greedy
from punish_fast.mdp.solver import solve
from punish_fast.punish.codes import State
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build


@pytest.fixture(scope="module")
def graph():
    return Graph(StateSpace(PRESETS["tiny"]))


def dyadic(space, seed):
    """A policy whose probabilities are small fractions, some of them zero."""
    generator = np.random.default_rng(seed)
    parts = generator.integers(0, 4, len(space.action))
    parts[space.state_ptr[:-1]] += 1
    totals = np.repeat(np.add.reduceat(parts, space.state_ptr[:-1]), np.diff(space.state_ptr))
    return parts, totals


def policy_of(space, parts, totals):
    """The same policy in the form of the exact model."""

    def choose(view):
        row = space.row(State(*view))
        rows = range(space.state_ptr[row], space.state_ptr[row + 1])
        return {int(space.action[r]): Fraction(int(parts[r]), int(totals[r])) for r in rows if parts[r]}

    return choose


@pytest.mark.parametrize("seed", [1, 2])
def test_a_duel_has_the_win_probability_of_the_exact_model(graph, seed):
    space = graph.space
    own, enemy = dyadic(space, seed), dyadic(space, seed + 10)
    exact = duel_twin.duel(space.rules, policy_of(space, *own), policy_of(space, *enemy))
    duel = head_to_head(graph, own[0] / own[1], enemy[0] / enemy[1])
    assert duel.win_probability == pytest.approx(float(exact), abs=1e-12)
    assert duel.error_bound <= 1e-12


def test_duels_are_symmetric(graph):
    own, enemy = (np.divide(*dyadic(graph.space, seed)) for seed in (3, 4))
    one, other = head_to_head(graph, own, enemy), head_to_head(graph, enemy, own)
    assert one.win_probability + other.win_probability == pytest.approx(1, abs=1e-12)
    assert one.length == pytest.approx(other.length, abs=1e-10)


@pytest.mark.parametrize("seed", [5, 6])
def test_a_policy_against_itself_wins_half_of_the_games(graph, seed):
    policy = np.divide(*dyadic(graph.space, seed))
    assert head_to_head(graph, policy, policy).win_probability == pytest.approx(0.5, abs=1e-12)


def test_forward_and_backward_agree(graph):
    own, enemy = (np.divide(*dyadic(graph.space, seed)) for seed in (7, 8))
    duel, law = head_to_head(graph, own, enemy), outcome_distribution(graph, own, enemy)
    breaths = graph.space.rules.breaths
    number = np.arange(len(law))[:, np.newaxis] * breaths + np.arange(1, breaths + 1)
    assert law.sum() == pytest.approx(1, abs=1e-12)
    assert law[..., 0].sum() == pytest.approx(duel.win_probability, abs=1e-10)
    assert (law.sum(axis=2) * number).sum() == pytest.approx(duel.length, abs=1e-10)


def test_the_greedy_agent_beats_the_random_player(graph):
    mdp = build(graph.space)
    agent = greedy(mdp.state_ptr, solve(mdp, 1.0).q)
    assert head_to_head(graph, agent, uniform(graph.space)).win_probability > 0.6


# Few examples, since some of these games last hundreds of measures.
@pytest.mark.compiled
@settings(max_examples=15)
@given(house_rules(), st.integers(0, 100))
def test_duels_are_symmetric_and_sum_to_their_outcomes_under_house_rules(rules, seed):
    # Every card deals damage, so games end.
    rules = rules._replace(damage=(1, 1, 2, 2, 3), guard_reduction=0, dodge_stops=(0, 0, 0, 0, 0), healing=0)
    graph = Graph(StateSpace(rules))
    own, enemy = (np.divide(*dyadic(graph.space, seed + k)) for k in range(2))
    try:
        one, other = head_to_head(graph, own, enemy), head_to_head(graph, enemy, own)
    except DuelError:
        return
    assert one.win_probability + other.win_probability == pytest.approx(1, abs=1e-10)
    assert outcome_distribution(graph, own, enemy)[..., 0].sum() == pytest.approx(one.win_probability, abs=1e-10)


@pytest.mark.compiled
def test_a_game_that_may_never_end_is_refused():
    space = StateSpace(PRESETS["tiny"]._replace(damage=(0, 0, 0, 0, 0)))
    graph = Graph(space)
    with pytest.raises(DuelError, match="may never end a game"):
        head_to_head(graph, uniform(space), uniform(space))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p[:-1], "allowed is float64"),
        (lambda p: p.astype(np.float32), "allowed is float64"),
        (lambda p: p * np.nan, "below 0 or not a number"),
        (lambda p: -p, "below 0 or not a number"),
        (lambda p: p * 0.9, "do not add up to 1"),
    ],
)
def test_invalid_policies_are_refused(graph, change, message):
    policy = uniform(graph.space)
    with pytest.raises(PolicyError, match=message):
        head_to_head(graph, policy, change(policy))
    with pytest.raises(PolicyError, match=message):
        outcome_distribution(graph, change(policy), policy)


@pytest.mark.slow
@pytest.mark.full
def test_duels_of_the_standard_game(notebook, notebook_mdp):
    graph = Graph(notebook)
    random = uniform(notebook)
    naive = greedy(notebook.state_ptr, solve(notebook_mdp).q)
    undiscounted = greedy(notebook.state_ptr, solve(notebook_mdp, 1.0).q)
    assert head_to_head(graph, random, random).win_probability == pytest.approx(0.5, abs=1e-12)
    won = head_to_head(graph, naive, random).win_probability
    assert won == pytest.approx(0.8423, abs=1e-3)
    assert 0.53 < head_to_head(graph, undiscounted, naive).win_probability < 0.55
    law = outcome_distribution(graph, naive, random)
    assert law[..., 0].sum() == pytest.approx(won, abs=1e-10)

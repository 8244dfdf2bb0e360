import numpy as np
import pytest
from houses import house_rules
from hypothesis import given, settings
from hypothesis import strategies as st
from policies import mixed, uniform

from punish_fast.duel.exact_evaluation import DuelError, head_to_head, outcome_distribution
from punish_fast.duel.graph import Graph
from punish_fast.mdp.policy import PolicyError, greedy
from punish_fast.mdp.solver import solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace


def test_forward_and_backward_agree(graph):
    own, enemy = (mixed(graph.space, seed) for seed in (7, 8))
    duel, law = head_to_head(graph, own, enemy), outcome_distribution(graph, own, enemy)
    breaths = graph.space.rules.breaths
    number = np.arange(len(law))[:, np.newaxis] * breaths + np.arange(1, breaths + 1)
    assert law.sum() == pytest.approx(1, abs=1e-12)
    assert duel.error_bound <= 1e-12
    rough = head_to_head(graph, own, enemy, tolerance=1e-3)
    assert abs(rough.win_probability - duel.win_probability) <= rough.error_bound <= 1e-3
    assert law[..., 0].sum() == pytest.approx(duel.win_probability, abs=1e-10)
    assert (law.sum(axis=2) * number).sum() == pytest.approx(duel.length, abs=1e-10)


# Few examples, since some of these games last hundreds of measures.
@pytest.mark.compiled
@settings(max_examples=6)
@given(house_rules(), st.integers(0, 100))
def test_duels_are_symmetric_and_sum_to_their_outcomes_under_house_rules(rules, seed):
    # Every card deals damage, so games end.
    rules = rules._replace(damage=(1, 1, 2, 2, 3), guard_reduction=0, dodge_stops=(0, 0, 0, 0, 0), healing=0)
    graph = Graph(StateSpace(rules))
    own, enemy = (mixed(graph.space, seed + k) for k in range(2))
    try:
        one, other = head_to_head(graph, own, enemy), head_to_head(graph, enemy, own)
    except DuelError:
        return
    assert one.win_probability + other.win_probability == pytest.approx(1, abs=1e-10)
    assert one.length == pytest.approx(other.length, rel=1e-9)
    assert outcome_distribution(graph, own, enemy)[..., 0].sum() == pytest.approx(one.win_probability, abs=1e-10)


@pytest.mark.compiled
def test_a_game_that_may_never_end_is_refused():
    space = StateSpace(PRESETS["tiny"]._replace(damage=(0, 0, 0, 0, 0)))
    graph = Graph(space)
    with pytest.raises(DuelError, match="games may never end"):
        head_to_head(graph, uniform(space), uniform(space))


def test_invalid_policies_are_refused(graph):
    policy = uniform(graph.space)
    with pytest.raises(PolicyError, match="do not add up to 1"):
        head_to_head(graph, policy, policy * 0.9)
    with pytest.raises(PolicyError, match="below 0 or not a number"):
        outcome_distribution(graph, -policy, policy)


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

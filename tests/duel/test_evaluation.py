import numpy as np
import pytest
from houses import house_rules
from hypothesis import given, settings
from hypothesis import strategies as st
from policies import mixed, uniform

from punish_fast.duel import evaluation as batch_module
from punish_fast.duel.evaluation import head_to_head, outcome_distribution, simulate, simulator_of
from punish_fast.duel.graph import DuelError, GameGraph
from punish_fast.mdp.arrays.policy import PolicyError, greedy
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime._jit import set_threads


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def deviations(graph, own, enemy, n_games, seed):
    """Errors of simulated games against the exact duel, in standard errors.

    Of wins of paired games, and of the lengths of single games (chi-square).
    """
    law = outcome_distribution(graph, own, enemy, rest=1e-10)
    exact, law = law[..., 0].sum(), law.sum(axis=2).ravel()
    result, simulator = simulate(graph, own, enemy, n_games, seed), simulator_of(graph)
    thresholds = [simulator.thresholds(policy) for policy in (own, enemy)]
    lengths = np.bincount(simulator.play(*thresholds, 0, n_games, seed).breaths)
    expected, found = np.zeros((2, max(len(law) + 1, len(lengths))))
    expected[1 : len(law) + 1] = n_games * law
    found[: len(lengths)] = lengths
    # Lengths too rare for chi-square form one class.
    last = int(np.flatnonzero(expected > 20)[-1]) + 1
    expected[last], found[last] = n_games - expected[:last].sum(), found[last:].sum()
    often = expected[: last + 1] > 5
    assert found[: last + 1][~often].sum() <= 5 * np.count_nonzero(~often) + 20
    freedom = np.count_nonzero(often) - 1
    chi_square = ((found - expected)[: last + 1][often] ** 2 / expected[: last + 1][often]).sum()
    return [(result.win_probability - exact) / result.standard_error, (chi_square - freedom) / np.sqrt(2 * freedom)]


def test_simulated_games_agree_with_the_exact_duel(graph):
    own, enemy = mixed(graph.space, 1), mixed(graph.space, 11)
    assert np.abs(deviations(graph, own, enemy, 4000, 1)).max() < 4


def test_every_game_is_counted_once_in_every_statistic(graph):
    own, enemy = mixed(graph.space, 3), mixed(graph.space, 4)
    result = simulate(graph, own, enemy, 500, 1)
    assert result.games == result.lengths.sum() == 500
    assert result.length == (result.lengths * np.arange(len(result.lengths))).sum() / 500
    assert result.lengths[0] == 0


def test_a_policy_against_itself_splits_every_pair(graph):
    policy = mixed(graph.space, 5)
    result = simulate(graph, policy, policy, 200)
    assert result.split == 100
    assert result.win_probability == 0.5
    assert result.standard_error == 0


def test_the_standard_error_is_the_spread_of_batches(graph):
    own, enemy = mixed(graph.space, 6), mixed(graph.space, 7)
    results = [simulate(graph, own, enemy, 100, seed) for seed in range(100)]
    spread = np.std([result.win_probability for result in results], ddof=1)
    expected = np.sqrt(np.mean([result.standard_error**2 for result in results]))
    assert 0.75 < spread / expected < 1.25
    assert simulate(graph, own, enemy, 2).standard_error == np.inf


def test_games_do_not_depend_on_threads_or_batches(graph, monkeypatch):
    own, enemy = mixed(graph.space, 8), mixed(graph.space, 9)
    args = (graph, own, enemy)
    whole = simulate(*args, 600, 3)
    set_threads(1)
    alone = simulate(*args, 600, 3)
    set_threads(2)
    monkeypatch.setattr(batch_module, "_DEALS_AT_ONCE", 37)
    assert same(whole, alone)
    assert same(whole, simulate(*args, 600, 3))


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((0, 0), "games: 0 is not an even number from 2 to"),
        ((3, 0), "games: 3 is not an even number"),
        ((2, -1), "seed: -1 is not from 0 to"),
        ((2, 1 << 64), "seed: 18446744073709551616 is not"),
    ],
)
def test_invalid_arguments_are_refused(graph, numbers, message):
    policy = mixed(graph.space, 1)
    with pytest.raises(DuelError, match=message):
        simulate(graph, policy, policy, *numbers)


@pytest.mark.slow
@pytest.mark.full
def test_a_million_games_agree_with_exact_duels(notebook, notebook_mdp):
    naive = greedy(notebook.state_ptr, solve(notebook_mdp).q)
    for enemy in (uniform(notebook), mixed(notebook, 1)):
        assert np.abs(deviations(GameGraph(notebook), naive, enemy, 1_000_000, 0)).max() < 4


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
    graph = GameGraph(StateSpace(rules))
    own, enemy = (mixed(graph.space, seed + k) for k in range(2))
    try:
        one, other = head_to_head(graph, own, enemy), head_to_head(graph, enemy, own)
        # Games that last hundreds of measures on average are undecided after 1,000 measures.
        law = outcome_distribution(graph, own, enemy)
    except DuelError:
        return
    assert one.win_probability + other.win_probability == pytest.approx(1, abs=1e-10)
    assert one.length == pytest.approx(other.length, rel=1e-9)
    assert law[..., 0].sum() == pytest.approx(one.win_probability, abs=1e-10)


@pytest.mark.compiled
def test_a_game_that_may_never_end_is_refused():
    space = StateSpace(PRESETS["tiny"]._replace(damage=(0, 0, 0, 0, 0)))
    graph = GameGraph(space)
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
    graph = GameGraph(notebook)
    random = uniform(notebook)
    naive = greedy(notebook.state_ptr, solve(notebook_mdp).q)
    undiscounted = greedy(notebook.state_ptr, solve(notebook_mdp, 1.0).q)
    assert head_to_head(graph, random, random).win_probability == pytest.approx(0.5, abs=1e-12)
    won = head_to_head(graph, naive, random).win_probability
    assert won == pytest.approx(0.8423, abs=1e-3)
    assert 0.53 < head_to_head(graph, undiscounted, naive).win_probability < 0.55
    law = outcome_distribution(graph, naive, random)
    assert law[..., 0].sum() == pytest.approx(won, abs=1e-10)


def test_a_duel_is_a_table_in_notebooks(graph):
    html = head_to_head(graph, "naive", "random")._repr_html_()
    assert "<td>win_probability</td><td>0.725872</td>" in html

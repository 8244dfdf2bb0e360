"""Both regret minimisers, in a game whose equilibrium is known."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.equilibrium._restricted_game import INSIDE, NEEDED, OUTSIDE
from punish_fast.equilibrium.regret_minimisers import Hedge, RegretMatching

# A player with two decisions, of three and of two actions.
PTR = np.array([0, 3, 5])
# Rock, paper, scissors, where paper wins twice as much.
PAYOFF = np.array([[0.0, -2.0, 1.0], [2.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
EQUILIBRIUM = np.array([0.25, 0.25, 0.5])
# Both decisions always come up.
SEEN = np.ones((2, 2))


def regrets(strategy, enemy):
    """Regrets of the first decision against an enemy; in the second, the first action wins 1 more."""
    values = PAYOFF @ enemy
    second = np.array([1.0, 0.0])
    return np.concatenate([values - strategy[:3] @ values, second - strategy[3:] @ second])


def learn(minimiser, iterations, enemy_of):
    """The average strategy learned against ``enemy_of(strategy)``."""
    strategy = np.empty(5)
    minimiser.play(strategy)
    assert strategy == pytest.approx([1 / 3] * 3 + [1 / 2] * 2)
    for iteration in range(1, iterations + 1):
        minimiser.regret[:] = regrets(strategy, enemy_of(strategy[:3]))
        minimiser.learn(iteration, SEEN, strategy)
    total = minimiser.tables["total"]
    return total / np.repeat(np.add.reduceat(total, PTR[:-1]), np.diff(PTR))


def half_best_response(strategy):
    best = np.zeros(3)
    best[np.argmax(PAYOFF @ strategy)] = 1
    return (strategy + best) / 2


def test_regret_matching_converges_to_the_equilibrium_in_self_play():
    average = learn(RegretMatching(PTR), 1_000, lambda strategy: strategy)
    assert average[:3] == pytest.approx(EQUILIBRIUM, abs=1e-3)
    assert average[3:] == pytest.approx([1, 0], abs=1e-3)


@pytest.mark.parametrize("enemy_of", [half_best_response, lambda strategy: 2 * half_best_response(strategy) - strategy])
def test_hedge_converges_to_the_equilibrium_against_best_responses(enemy_of):
    average = learn(Hedge(PTR), 5_000, enemy_of)
    assert average[:3] == pytest.approx(EQUILIBRIUM, abs=0.05)
    assert average[3:] == pytest.approx([1, 0], abs=1e-3)


@pytest.mark.parametrize("kind", [RegretMatching, Hedge])
def test_learning_resumes_from_the_tables_alone(kind):
    generator = np.random.default_rng(1)
    first, second = kind(PTR), kind(PTR)
    strategy, again = np.empty(5), np.empty(5)
    first.play(strategy)
    for iteration in (1, 2, 3):
        if iteration == 3:
            for name, table in first.tables.items():
                second.tables[name][:] = table
            second.play(again)
            assert np.array_equal(strategy, again)
        first.regret[:] = generator.normal(size=5)
        first.learn(iteration, SEEN, strategy)
    second.regret[:] = first.regret
    second.learn(3, SEEN, again)
    assert np.array_equal(strategy, again)
    # Playing again from the tables changes nothing.
    second.play(again)
    assert np.array_equal(strategy, again)


def test_only_hedge_has_restricted_iterations():
    assert all(RegretMatching(PTR).is_full(iteration) for iteration in range(1, 100))
    minimiser = Hedge(PTR)
    assert [iteration for iteration in range(1, 65) if minimiser.is_full(iteration)] == [*range(1, 17), 32, 48, 64]


@pytest.mark.parametrize("mark", [OUTSIDE, NEEDED])
def test_full_iterations_alone_learn_as_fast_outside_the_restricted_game(mark):
    """Regrets are the same in all iterations, so it does not matter which of them count."""
    marks = np.full(5, INSIDE, dtype=np.uint8)
    always, seldom = Hedge(PTR, marks.copy()), Hedge(PTR, marks)
    strategies = [np.empty(5), np.empty(5)]
    for minimiser, strategy in zip((always, seldom), strategies, strict=True):
        minimiser.play(strategy)
        minimiser.regret[:] = [0, 0, 0, 1e-3, -1e-3]
    for iteration in range(1, 49):
        always.learn(iteration, SEEN, strategies[0])
        if always.is_full(iteration):
            seldom.learn(iteration, SEEN, strategies[1])
        if iteration == 16:
            before = seldom.tables["logit"][4]
            assert before == always.tables["logit"][4]
            # From now on restricted iterations have only the first decision.
            marks[3:] = mark
    now, late = (minimiser.tables["logit"][4] for minimiser in (always, seldom))
    # Steps taken at once have the rate of the last one.
    assert late == pytest.approx(now, rel=0.2)
    assert late < before


def test_a_restricted_minimiser_starts_from_the_tables_and_merges_into_them():
    generator = np.random.default_rng(2)
    minimiser = Hedge(PTR)
    for table in minimiser.tables.values():
        table[:] = generator.random(len(table))
    before = {name: table.copy() for name, table in minimiser.tables.items()}
    states, rows = np.array([1]), np.array([4])
    part = minimiser.restrict(states, rows, np.array([0, 1]))
    assert {name: table.tolist() for name, table in part.tables.items()} == {
        "logit": [before["logit"][4]],
        "total": [before["total"][4]],
        "variance": [before["variance"][1]],
    }
    for name in part.tables:
        part.tables[name] += 1
    minimiser.merge(part, states, rows)
    for name, places in (("logit", rows), ("total", rows), ("variance", states)):
        changed = minimiser.tables[name] - before[name]
        assert changed[places] == pytest.approx(1)
        assert not np.delete(changed, places).any()

"""Both regret minimisers, in a game whose equilibrium is known."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.equilibrium.regret_minimisers import Hedge, RegretMatching

pytestmark = pytest.mark.kernels

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


def test_hedge_converges_to_the_equilibrium_against_best_responses():
    average = learn(Hedge(PTR), 2_000, half_best_response)
    assert average[:3] == pytest.approx(EQUILIBRIUM, abs=0.05)
    assert average[3:] == pytest.approx([1, 0], abs=1e-3)


def test_only_hedge_has_restricted_iterations():
    assert all(RegretMatching(PTR).is_full(iteration) for iteration in range(1, 100))
    minimiser = Hedge(PTR)
    assert [iteration for iteration in range(1, 65) if minimiser.is_full(iteration)] == [*range(1, 17), 32, 48, 64]


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

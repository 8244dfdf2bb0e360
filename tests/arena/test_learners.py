"""Both ways to learn, in games so small that the answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.arena.learners import Hedge, Regrets

# A player with one decision among three, and one among two.
PTR = np.array([0, 3, 5])
# Rock, paper and scissors, where paper wins twice: played 1/4, 1/4 and 1/2 of the time.
PAYOFF = np.array([[0.0, -2.0, 1.0], [2.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
EQUILIBRIUM = np.array([0.25, 0.25, 0.5])


def regrets(strategy, enemy):
    """Those of the first decision, against an enemy; in the second, the first action wins one more."""
    values = PAYOFF @ enemy
    second = np.array([1.0, 0.0])
    return np.concatenate([values - strategy[:3] @ values, second - strategy[3:] @ second])


def learn(learner, iterations, enemy_of):
    """What is learned on average against ``enemy_of(strategy)``."""
    strategy = np.empty(5)
    learner.play(strategy)
    assert strategy == pytest.approx([1 / 3] * 3 + [1 / 2] * 2)
    for iteration in range(1, iterations + 1):
        learner.regret[:] = regrets(strategy, enemy_of(strategy[:3]))
        learner.learn(iteration, np.ones(2), strategy)
        learner.play(strategy)
    total = learner.tables["total"]
    return total / np.repeat(np.add.reduceat(total, PTR[:-1]), np.diff(PTR))


def half_an_answer(strategy):
    best = np.zeros(3)
    best[np.argmax(PAYOFF @ strategy)] = 1
    return (strategy + best) / 2


def test_regrets_come_to_the_equilibrium_in_play_against_oneself():
    average = learn(Regrets(PTR), 1_000, lambda strategy: strategy)
    assert average[:3] == pytest.approx(EQUILIBRIUM, abs=1e-3)
    assert average[3:] == pytest.approx([1, 0], abs=1e-3)


@pytest.mark.parametrize("enemy_of", [half_an_answer, lambda strategy: 2 * half_an_answer(strategy) - strategy])
def test_steps_come_to_the_equilibrium_against_answers(enemy_of):
    average = learn(Hedge(PTR), 5_000, enemy_of)
    assert average[:3] == pytest.approx(EQUILIBRIUM, abs=0.05)
    assert average[3:] == pytest.approx([1, 0], abs=1e-3)


def test_what_is_not_come_to_by_own_choice_counts_less():
    learner, strategy = Regrets(PTR), np.full(5, 0.5)
    learner.learn(3, np.array([1.0, 0.25]), strategy)
    assert learner.tables["total"].tolist() == [4.5, 4.5, 4.5, 1.125, 1.125]


@pytest.mark.parametrize("kind", [Regrets, Hedge])
def test_tables_say_all_there_is_to_go_on(kind):
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
        first.learn(iteration, np.ones(2), strategy)
        first.play(strategy)
    second.regret[:] = first.regret
    second.learn(3, np.ones(2), again)
    second.play(again)
    assert np.array_equal(strategy, again)

"""Both ways to learn, in games so small that the answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.equilibrium._restricted_game import INSIDE, NEEDED, OUTSIDE
from punish_fast.equilibrium.regret_minimisers import Hedge, RegretMatching

# A player with one decision among three, and one among two.
PTR = np.array([0, 3, 5])
# Rock, paper and scissors, where paper wins twice: played 1/4, 1/4 and 1/2 of the time.
PAYOFF = np.array([[0.0, -2.0, 1.0], [2.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
EQUILIBRIUM = np.array([0.25, 0.25, 0.5])
# Both decisions come up always.
SEEN = np.ones((2, 2))


def regrets(strategy, enemy):
    """Those of the first decision, against an enemy; in the second, the first action wins one more."""
    values = PAYOFF @ enemy
    second = np.array([1.0, 0.0])
    return np.concatenate([values - strategy[:3] @ values, second - strategy[3:] @ second])


def learn(minimiser, iterations, enemy_of):
    """What is learned on average against ``enemy_of(strategy)``."""
    strategy = np.empty(5)
    minimiser.play(strategy)
    assert strategy == pytest.approx([1 / 3] * 3 + [1 / 2] * 2)
    for iteration in range(1, iterations + 1):
        minimiser.regret[:] = regrets(strategy, enemy_of(strategy[:3]))
        minimiser.learn(iteration, SEEN, strategy)
    total = minimiser.tables["total"]
    return total / np.repeat(np.add.reduceat(total, PTR[:-1]), np.diff(PTR))


def half_an_answer(strategy):
    best = np.zeros(3)
    best[np.argmax(PAYOFF @ strategy)] = 1
    return (strategy + best) / 2


def test_regrets_come_to_the_equilibrium_in_play_against_oneself():
    average = learn(RegretMatching(PTR), 1_000, lambda strategy: strategy)
    assert average[:3] == pytest.approx(EQUILIBRIUM, abs=1e-3)
    assert average[3:] == pytest.approx([1, 0], abs=1e-3)


@pytest.mark.parametrize("enemy_of", [half_an_answer, lambda strategy: 2 * half_an_answer(strategy) - strategy])
def test_steps_come_to_the_equilibrium_against_answers(enemy_of):
    average = learn(Hedge(PTR), 5_000, enemy_of)
    assert average[:3] == pytest.approx(EQUILIBRIUM, abs=0.05)
    assert average[3:] == pytest.approx([1, 0], abs=1e-3)


def test_what_is_not_come_to_by_own_choice_counts_less():
    minimiser, strategy = RegretMatching(PTR), np.full(5, 0.5)
    minimiser.learn(3, np.array([[0.3, 0.3], [0.1, 0.4]]), strategy)
    assert minimiser.tables["total"].tolist() == [4.5, 4.5, 4.5, 1.125, 1.125]
    # Nobody knows what contributes to being where chance does not lead to.
    minimiser.learn(4, np.zeros((2, 2)), strategy)
    assert minimiser.tables["total"].tolist() == [4.5, 4.5, 4.5, 1.125, 1.125]


@pytest.mark.parametrize("kind", [RegretMatching, Hedge])
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
        first.learn(iteration, SEEN, strategy)
    second.regret[:] = first.regret
    second.learn(3, SEEN, again)
    assert np.array_equal(strategy, again)
    # What follows from the tables is what is played already.
    second.play(again)
    assert np.array_equal(strategy, again)


def test_only_steps_are_short_enough_to_pass_over_what_is_seldom():
    assert all(RegretMatching(PTR).is_full(iteration) for iteration in range(1, 100))
    minimiser = Hedge(PTR)
    assert [iteration for iteration in range(1, 65) if minimiser.is_full(iteration)] == [*range(1, 17), 32, 48, 64]


@pytest.mark.parametrize("mark", [OUTSIDE, NEEDED])
def test_what_an_excerpt_leaves_out_is_learnt_as_fast_by_thorough_iterations_alone(mark):
    """RegretMatching are the same in all iterations, so that nothing depends on when they are worked out."""
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
            # From now on only the first decision is played by hasty iterations.
            marks[3:] = mark
    now, late = (minimiser.tables["logit"][4] for minimiser in (always, seldom))
    # Steps that are taken at once are limited by the number of the last of them.
    assert late == pytest.approx(now, rel=0.2)
    assert late < before


def test_a_part_goes_on_with_what_was_learnt_and_gives_it_back():
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

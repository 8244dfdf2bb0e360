"""Best rules of one player and equilibria of three in a round of Incan Gold, against recursion over cards."""

import numpy as np
import pytest

from games.incan_gold_round_twin import round_of_three, solo_points, symmetric_pay
from punish_fast.games.incan_gold._rounds import equilibrium_of_three, equilibrium_of_two
from punish_fast.games.incan_gold.rounds import (
    RoundDeck,
    RoundSets,
    best_single_threshold,
    solve_equilibrium,
    solve_solo,
)

pytestmark = pytest.mark.kernels

SMALL = RoundDeck((2, 5, 7), (1, 2, 1), n_hazards=2, hazard_copies=2)
DECKS = [
    SMALL,
    SMALL._replace(n_artifacts=0),
    SMALL._replace(hazard_copies=3),
    RoundDeck((1, 4, 8, 11), (1, 1, 1, 1), n_hazards=3, hazard_copies=2),
]


@pytest.mark.parametrize("n_inside", [1, 3])
def test_rules_have_the_values_of_a_recursion(n_inside):
    for deck in DECKS:
        found = solve_solo(RoundSets(deck), n_inside).points
        assert found == pytest.approx(float(solo_points(deck, n_inside)), abs=1e-12)
    for leave_at in ((9, 5, 3), (1, 1, 1), (30, 30, 30)):
        wanted = solo_points(SMALL, n_inside, lambda pay, seen, leave_at=leave_at: pay >= leave_at[seen])
        assert solve_solo(RoundSets(SMALL), n_inside, leave_at).points == pytest.approx(float(wanted), abs=1e-12)


def test_thresholds_enclose_the_best_rule():
    sets = RoundSets(SMALL)
    solo = solve_solo(sets)
    pay, leaves, reach = sets.pay(1), solo.stay() == 0, sets.reach(solo.stay())
    for hazards, (first, surely) in enumerate(solo.thresholds()):
        here = reach[:, hazards] > 0
        if hazards == 0:
            here[0, 1] = False
        assert not leaves[:, hazards][here & (pay[:, hazards] < first)].any()
        assert leaves[:, hazards][here & (pay[:, hazards] >= surely)].all()
    tried = [solve_solo(sets, 1, [points] * 3).points for points in range(1, 40)]
    assert best_single_threshold(solo).points == max(tried) <= solo.points + 1e-12


@pytest.mark.compiled
def test_the_first_round_is_solved():
    sets = RoundSets()
    alone, against = solve_solo(sets), solve_solo(sets, 3)
    assert alone.points == pytest.approx(15.647246, abs=1e-6)
    assert against.points == pytest.approx(7.186731, abs=1e-6)
    # The best rule is one of thresholds: less than 112 points are in the deck, so it never leaves without a hazard.
    assert alone.thresholds() == [(each, each) for each in (112, 38, 23, 16, 13, 11)]
    for solo in (alone, against):
        thresholds = [surely for _, surely in solo.thresholds()]
        assert solve_solo(sets, solo.n_inside, thresholds).points == solo.points


SMALL_TABLE = RoundDeck((2, 7), (1, 2), n_hazards=2, hazard_copies=2)
SHARED_DECKS = [
    SMALL_TABLE,
    SMALL_TABLE._replace(n_artifacts=0),
    RoundDeck((4, 11), (1, 1), n_hazards=2, hazard_copies=3),
]


def test_the_equilibrium_has_the_value_of_a_recursion():
    for deck in SHARED_DECKS:
        expected = round_of_three(deck)
        for is_best in (True, False):
            assert solve_equilibrium(RoundSets(deck), is_best).points == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_decisions_are_in_equilibrium(seed):
    """Of two and of three players, on random pays with and without several equilibria."""
    generator = np.random.default_rng(seed)
    staying, leaving = generator.integers(0, 6, size=(2, 3)).astype(float)
    for n, solve in ((2, equilibrium_of_two), (3, equilibrium_of_three)):
        pays = {(answer, n - 1 - k): pay[k] for answer, pay in ((1, staying), (0, leaving)) for k in range(n)}
        best = solve(tuple(staying[:n]), tuple(leaving[:n]), 1)
        worst = solve(tuple(staying[:n]), tuple(leaving[:n]), -1)
        assert best[1] == pytest.approx(symmetric_pay(pays, n), abs=1e-7)
        assert worst[1] <= best[1]
        for p, worth in (best, worst):
            chances = np.array([p, 1 - p]) if n == 2 else np.array([p * p, 2 * p * (1 - p), (1 - p) ** 2])
            of_staying, of_leaving = chances @ staying[:n], chances @ leaving[:n]
            assert worth == pytest.approx(p * of_staying + (1 - p) * of_leaving)
            assert worth >= max(of_staying, of_leaving) - 1e-9


@pytest.mark.slow
@pytest.mark.compiled
def test_the_first_round_has_one_value():
    whole = solve_equilibrium(RoundSets())
    assert whole.points == pytest.approx(5.712599, abs=1e-6)
    worst = solve_equilibrium(whole.sets, is_best=False)
    # Since the best and the worst equilibrium of every decision agree, there is no other symmetric one.
    assert np.array_equal(whole.three, worst.three)
    assert np.array_equal(whole.pair, worst.pair)

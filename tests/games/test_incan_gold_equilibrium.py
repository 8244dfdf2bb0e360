"""The symmetric equilibrium of three players in a round of Incan Gold, against recursion over cards and over states."""

import numpy as np
import pytest

from games.incan_gold_round_twin import round_of_three, symmetric_pay
from punish_fast.games.incan_gold._rounds import equilibrium_of_three, equilibrium_of_two
from punish_fast.games.incan_gold.rounds import RoundDeck, RoundSets, solve_equilibrium

pytestmark = pytest.mark.kernels

SMALL = RoundDeck((2, 7), (1, 2), n_hazards=2, hazard_copies=2)
DECKS = [
    SMALL,
    SMALL._replace(n_artifacts=0),
    RoundDeck((4, 11), (1, 1), n_hazards=2, hazard_copies=3),
]


def test_the_equilibrium_has_the_value_of_a_recursion():
    for deck in DECKS:
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

"""The best rule of one player in a round of Incan Gold, against recursion over cards, and in sampled rounds."""

import pytest

from games.incan_gold_round_twin import solo_points
from punish_fast.games.incan_gold.rounds import (
    RoundDeck,
    RoundSets,
    best_single_threshold,
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

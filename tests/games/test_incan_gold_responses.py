"""Best responses in a round of Incan Gold, against recursion over cards, and rules of thumb."""

from __future__ import annotations

import numpy as np
import pytest

from games.incan_gold_round_twin import response_points
from punish_fast.games.contract import GameError
from punish_fast.games.incan_gold_playouts import N_HELD, play_games, random_policy, threshold_policy
from punish_fast.games.incan_gold_responses import best_rule, round_response
from punish_fast.games.incan_gold_rounds import RoundDeck, RoundSets, solve_solo

SMALL = RoundDeck((2, 5, 7), (1, 2, 1), n_hazards=2, hazard_copies=2)
STAYS = threshold_policy(N_HELD)


def any_policy(seed: int) -> np.ndarray:
    """A policy of random probabilities, some of them 0 or 1."""
    return np.clip(np.random.default_rng(seed).uniform(-0.5, 1.5, size=random_policy().shape), 0, 1)


@pytest.mark.parametrize("deck", [SMALL, SMALL._replace(n_artifacts=0), RoundDeck((1, 8, 15), (1, 1, 1), 3, 2)])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_response_has_the_value_of_a_recursion(deck, seed):
    opponents = [any_policy(seed), any_policy(seed + 10)]
    found = round_response(RoundSets(deck), opponents).points
    assert found == pytest.approx(response_points(deck, opponents), abs=1e-9)
    # Seats make no difference, and neither does it whether both opponents are told apart.
    assert found == pytest.approx(round_response(RoundSets(deck), opponents[::-1]).points, abs=1e-12)
    same = [opponents[0], opponents[0].copy()]
    assert round_response(RoundSets(deck), same).points == pytest.approx(response_points(deck, same), abs=1e-9)


def test_against_two_who_never_leave_it_is_the_best_rule():
    sets = RoundSets(SMALL)
    response, solo = round_response(sets, [STAYS, STAYS]), solve_solo(sets, 3)
    assert response.points == pytest.approx(solo.points, abs=1e-12)
    assert np.array_equal(response.stay, solo.stay() == 1)


def test_against_two_who_leave_at_once_a_player_is_alone_after_the_first_card():
    # After one card, a player who stays has what it holds, an odd coin of the board, and the artifact.
    leaving = [threshold_policy(0)] * 2
    sets = RoundSets(RoundDeck((6,), (1,), n_hazards=1, hazard_copies=2, n_artifacts=0))
    # The treasure first: 2. A fire first, then the treasure: 6.
    assert round_response(sets, leaving).points == pytest.approx((2 + 6 / 2 * 2) / 3)


@pytest.mark.slow
@pytest.mark.compiled
def test_no_rule_is_better_than_the_best_response():
    sets = RoundSets()
    for opponents in ([threshold_policy(8)] * 2, [random_policy(0.9), threshold_policy(12)]):
        best = round_response(sets, opponents).points
        single = best_rule(opponents, 10_000)
        assert single.points < best
        again = play_games([threshold_policy(single.leave_at), *opponents], 10_000, n_rounds=1)[:, 0]
        assert again.mean() == pytest.approx(single.points)


@pytest.mark.slow
@pytest.mark.compiled
def test_a_rule_that_counts_hazards_is_better():
    opponents = [threshold_policy(8)] * 2
    single, several = best_rule(opponents, 2_000), best_rule(opponents, 2_000, by_hazards=True)
    again = play_games([threshold_policy(several.leave_at), *opponents], 2_000, n_rounds=1)[:, 0]
    assert several.points == pytest.approx(again.mean())
    assert single.points < several.points < round_response(RoundSets(), opponents).points + 3 * several.error


def test_wrong_opponents_are_refused():
    with pytest.raises(GameError, match=r"^opponents: 1 are not allowed, only 2$"):
        round_response(RoundSets(SMALL), [STAYS])
    with pytest.raises(GameError, match=r"^policy: some numbers are no probabilities, they must be from 0 to 1$"):
        round_response(RoundSets(SMALL), [STAYS, STAYS * 2])

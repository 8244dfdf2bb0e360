"""How strong players of Incan Gold are."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.games.incan_gold.game import IncanGold
from punish_fast.games.incan_gold.players import best_responder, player_named
from punish_fast.games.learn.episodes import match_of, play_match

VECTOR = IncanGold().vector


# Shares of games won alone and of first places of leave-at-8 against two of leave-at-12, in two million games.
SHARES = (0.8225, 0.8419)


def test_first_places_are_shared():
    returns = [[1, -1, -1], [0, 0, -1], [0, 0, 0], [-1, 1, -1], [-1, 0, 0], [0, -1, 0]]
    match = match_of(np.array(returns, dtype=np.float32))
    assert (match.games, match.win, match.tie, match.loss) == (6, 1 / 6, 3 / 6, 2 / 6)
    assert match.first == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 2) / 6)
    assert match.errors["win"] == pytest.approx(np.sqrt(5 / 36 / 6))


def test_equal_players_who_never_mix_share_every_game():
    match = play_match(VECTOR, player_named("leave-at-12"), player_named("leave-at-12"), 30)["all"]
    assert (match.games, match.win, match.tie, match.loss) == (30, 0, 1, 0)
    assert match.first == pytest.approx(1 / 3)


def test_the_player_sits_everywhere_equally_often():
    asked = []

    def player(states, _legal, _generator):
        asked.append(VECTOR.player(states))
        return np.zeros(len(states), dtype=np.int64)

    # It leaves after the first card of each round.
    assert play_match(VECTOR, player, player_named("random"), 31)["all"].games == 33
    assert np.bincount(np.concatenate(asked)).tolist() == [55, 55, 55]


@pytest.mark.compiled
def test_matches_agree_with_known_shares():
    found = play_match(VECTOR, player_named("leave-at-8"), player_named("leave-at-12"), 6000)["all"]
    errors = found.errors["win"], found.errors["first"]
    for share, error, known in zip((found.win, found.first), errors, SHARES, strict=True):
        assert abs(share - known) < 4 * error


@pytest.mark.slow
@pytest.mark.compiled
def test_the_best_responder_is_found():
    found = best_responder(VECTOR, player_named("leave-at-12"), 1200, seed=1, thresholds=(2, 8, 30))
    assert found.leave_at == 8
    assert len(found.tried) == 3
    assert found.tried[1] == max(found.tried)
    assert abs(found.match.first - SHARES[1]) < 4 * found.match.errors["first"]
    # Other games than those that chose it, and the same again with the same seed.
    assert found.match.first != found.tried[1]
    assert found == best_responder(VECTOR, player_named("leave-at-12"), 1200, seed=1, thresholds=(2, 8, 30))

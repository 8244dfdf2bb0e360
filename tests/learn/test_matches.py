"""Matches of Incan Gold and Gwent Lite: seats, shares, and best threshold responders."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.games.gwent.decks import DEFAULT_DECK, deck_rows
from punish_fast.games.gwent.players import play_games, rule_player
from punish_fast.games.incan_gold.game import IncanGold
from punish_fast.games.incan_gold.players import best_responder, player_named
from punish_fast.games.learn.episodes import match_of, play_match
from punish_fast.games.learn.movers import random_mover
from punish_fast.games.registry import make_game, vectorise

VECTOR = IncanGold().vector


# Shares of games won alone and of first places of leave-at-8 against two of leave-at-12, in two million games.
SHARES = (0.8225, 0.8419)


def test_first_places_are_shared():
    returns = [[1, -1, -1], [0, 0, -1], [0, 0, 0], [-1, 1, -1], [-1, 0, 0], [0, -1, 0]]
    match = match_of(np.array(returns, dtype=np.float32))
    assert (match.games, match.win, match.tie, match.loss) == (6, 1 / 6, 3 / 6, 2 / 6)
    assert match.first == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 2) / 6)
    assert match.errors["win"] == pytest.approx(np.sqrt(5 / 36 / 6))


def test_the_player_sits_everywhere_equally_often():
    asked = []

    def player(states, _legal, _generator):
        asked.append(VECTOR.player(states))
        return np.zeros(len(states), dtype=np.int64)

    # It leaves after the first card of each round.
    found = play_match(VECTOR, player, player_named("random"), 31)
    assert {name: each.games for name, each in found.items()} == {"first": 11, "second": 11, "third": 11, "all": 33}
    assert np.bincount(np.concatenate(asked)).tolist() == [55, 55, 55]


@pytest.mark.compiled
def test_the_best_responder_is_found():
    found = best_responder(VECTOR, player_named("leave-at-12"), 600, seed=1, thresholds=(2, 8, 30))
    assert found.leave_at == 8
    assert len(found.tried) == 3
    assert found.tried[1] == max(found.tried)
    # Other games than those that chose it.
    assert found.match.first != found.tried[1]
    assert abs(found.match.win - SHARES[0]) < 4 * found.match.errors["win"]
    assert abs(found.match.first - SHARES[1]) < 4 * found.match.errors["first"]


def test_illegal_actions_lose():
    vector = vectorise(make_game("gwent", {}))
    found = play_match(vector, lambda states, _legal, _generator: np.full(len(states), 10), rule_player, 20)
    # A full hand has a tenth slot, the next one has none.
    assert (found["both"].win, found["both"].tie, found["both"].loss) == (0, 0, 1)


@pytest.mark.compiled
def test_matches_agree_with_the_kernel_of_games():
    vector = vectorise(make_game("gwent", {}))
    found = play_match(vector, rule_player, random_mover, 1000, seed=5)["both"]
    pairs = deck_rows([DEFAULT_DECK] * 2)[np.newaxis]
    returns = play_games(pairs, ("rule-of-thumb", "random"), 20_000, seed=7).returns
    known = match_of(np.stack([returns, -returns], axis=1))
    for name in ("win", "tie", "loss"):
        # Few ties leave an error of its own uncertain.
        error = (max(found.errors[name], 0.0005) ** 2 + known.errors[name] ** 2) ** 0.5
        assert abs(getattr(found, name) - getattr(known, name)) < 4 * error

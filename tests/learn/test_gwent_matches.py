"""How strong players of Gwent Lite are."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.games.contract import CHANCE
from punish_fast.games.gwent.decks import DEFAULT_DECK, deck_rows, random_decks
from punish_fast.games.gwent.players import play_games, rule_player
from punish_fast.games.learn.episodes import match_of, play_match
from punish_fast.games.learn.movers import random_mover
from punish_fast.games.registry import make_game, vectorise


def test_the_player_sits_in_both_seats():
    vector, asked = vectorise(make_game("gwent", {})), []

    def player(states, _legal, _generator):
        asked.append(vector.player(states))
        return np.zeros(len(states), dtype=np.int64)

    found = play_match(vector, player, rule_player, 11)
    assert [each.games for each in found.values()] == [6, 6, 12]
    assert found["both"].win == (found["first"].win + found["second"].win) / 2
    # It passes in each of two rounds.
    assert np.bincount(np.concatenate(asked)).tolist() == [12, 12]
    assert CHANCE not in np.concatenate(asked)
    assert found["both"].loss == 1
    assert play_match(vector, player, rule_player, 11, seed=1) == play_match(vector, player, rule_player, 11, seed=1)


def test_illegal_actions_lose():
    vector = vectorise(make_game("gwent", {}))
    found = play_match(vector, lambda states, _legal, _generator: np.full(len(states), 10), rule_player, 20)
    # A full hand has a tenth slot, the next one has none.
    assert (found["both"].win, found["both"].tie, found["both"].loss) == (0, 0, 1)


@pytest.mark.compiled
@pytest.mark.parametrize("decks", ["default", "random"])
def test_matches_agree_with_the_kernel_of_games(decks):
    vector = vectorise(make_game("gwent", {"decks": decks}))
    found = play_match(vector, rule_player, random_mover, 3000, seed=5)["both"]
    pairs = deck_rows([DEFAULT_DECK] * 2)[np.newaxis]
    if decks == "random":
        pairs = random_decks(np.random.default_rng(6), 40_000).reshape(20_000, 2, 25)
    returns = play_games(pairs, ("rule", "random"), 20_000, seed=7).returns
    known = match_of(np.stack([returns, -returns], axis=1))
    for name in ("win", "tie", "loss"):
        # Few ties leave an error of its own uncertain.
        error = (max(found.errors[name], 0.0005) ** 2 + known.errors[name] ** 2) ** 0.5
        assert abs(getattr(found, name) - getattr(known, name)) < 4 * error

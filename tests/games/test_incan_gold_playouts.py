"""Whole games of Incan Gold against a table with cards in lists."""

from __future__ import annotations

import numpy as np
import pytest

from games.incan_gold_twin import GOLD, HAZARDS, Table
from punish_fast.games.contract import GameError
from punish_fast.games.incan_gold.playouts import play_games, random_policy, threshold_policy
from punish_fast.runtime._jit import set_threads, threads
from punish_fast.runtime._random import draw_words

MIXED = [random_policy(0.8), threshold_policy(9), threshold_policy([40, 12, 10, 8, 6, 3])]


def at_table(policies, game: int, seed: int, by_leaving: bool = False) -> list[int]:
    """The points of a game at a table, with random words as the kernel draws them."""
    table, turn = Table(by_leaving), 0
    deck = [*GOLD, *(hazard for hazard in HAZARDS for _ in range(3)), "artifact"]
    while table.phase == "draw":
        number, left = table.n_rounds, len(deck)
        while table.phase == "draw" and table.n_rounds == number:
            card, *words = (int(word) for word in draw_words(game, turn, 3, np.uint64(seed)))
            turn += 1
            place, left = card * left >> 32, left - 1
            deck[place], deck[left] = deck[left], deck[place]
            kind, inside = deck[left], [player for player in range(3) if table.players[player].is_inside]
            is_burnt = kind in HAZARDS and kind in table.path
            table.draw(kind)
            if is_burnt:
                deck[left] = deck[-1]
                deck.pop()
                continue
            hazards = sum(card in HAZARDS for card in table.path)
            shares = [policies[player][len(inside) - 1, hazards, table.players[player].purse] for player in inside]
            stays = [words[player] < round(share * 2**32) for player, share in zip(inside, shares, strict=True)]
            table.decide([player for player, stay in zip(inside, stays, strict=True) if not stay])
        deck = [card for k, card in enumerate(deck) if k < left or card != "artifact"] + ["artifact"]
    return table.points()


@pytest.mark.parametrize("artifact_value", ["drawn", "taken"])
def test_games_have_the_points_of_cards_in_lists(artifact_value):
    for policies in (MIXED, [random_policy(0.95)] * 3, [random_policy(0.6)] * 3):
        points = play_games(policies, 60, seed=7, artifact_value=artifact_value)
        for k in range(60):
            assert at_table(policies, k, 7, artifact_value == "taken") == points[k].tolist()


def test_values_of_artifacts_matter():
    # Staying long and leaving at different times takes many artifacts.
    policies = [random_policy(0.9)] * 3
    first, second = (play_games(policies, 3000, artifact_value=value) for value in ("drawn", "taken"))
    assert not np.array_equal(first, second)


def test_games_depend_on_the_seed_and_not_on_threads():
    before = threads()
    try:
        set_threads(1)
        one = play_games(MIXED, 200, seed=5)
    finally:
        set_threads(before)
    assert np.array_equal(one, play_games(MIXED, 200, seed=5))
    assert np.array_equal(one[:50], play_games(MIXED, 50, seed=5))
    assert not np.array_equal(one, play_games(MIXED, 200, seed=6))


def test_wrong_policies_are_refused():
    one = random_policy()
    with pytest.raises(GameError, match=r"^policies: 2 are not allowed, only 3$"):
        play_games([one] * 2, 1)
    with pytest.raises(GameError, match=r"^policy: its shape is \(3, 6\), it must be \(3, 6, 128\)$"):
        play_games([one[..., 0]] * 3, 1)
    with pytest.raises(GameError, match=r"^policy: some numbers are no probabilities, they must be from 0 to 1$"):
        play_games([one * 3] * 3, 1)
    with pytest.raises(GameError, match=r"^artifact_value: 'found' is not allowed, it must be drawn or taken$"):
        play_games([one] * 3, 1, artifact_value="found")

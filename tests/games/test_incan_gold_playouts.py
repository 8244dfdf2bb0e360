"""Games of Incan Gold in kernels against the game and a table with cards in lists."""

from __future__ import annotations

import math

import numpy as np
import pytest

from games.incan_gold_twin import Table
from punish_fast.games.contract import CHANCE, GameError
from punish_fast.games.incan_gold import CARDS, STAY, TREASURES, IncanGold, IncanGoldVariant
from punish_fast.games.incan_gold_playouts import N_HELD, play_games, random_policy, record_games, threshold_policy
from punish_fast.runtime._jit import set_threads, threads

MIXED = [random_policy(0.8), threshold_policy(9), threshold_policy([40, 12, 10, 8, 6, 3])]


def replay(game: IncanGold, actions: list[int]) -> tuple[list[int], list[int]]:
    """The points of a recorded game by the rules, and at a table."""
    state, table = game.initial(), Table(by_leaving=game.variant.artifact_value == "taken")
    leaving: list[int] = []
    for action in actions:
        player = game.player(state)
        if player == CHANCE:
            table.draw(TREASURES[action] if action < len(TREASURES) else CARDS[action])
        elif action != STAY:
            leaving.append(player)
        is_last = player != CHANCE and len(state.answers) + 1 == len(state.seats)
        state = game.apply(state, action)
        if is_last:
            table.decide(leaving)
            leaving = []
    assert game.is_terminal(state)
    assert table.phase == "over"
    return list(state.totals), table.points()


@pytest.mark.parametrize("artifact_value", ["drawn", "taken"])
def test_recorded_games_have_the_points_of_the_rules(artifact_value):
    game = IncanGold(IncanGoldVariant(artifact_value))
    for policies in (MIXED, [random_policy(0.95)] * 3, [random_policy(0.6)] * 3):
        points, games = record_games(policies, 60, seed=7, artifact_value=artifact_value)
        assert np.array_equal(points, play_games(policies, 60, seed=7, artifact_value=artifact_value))
        for k, actions in enumerate(games):
            by_rules, at_table = replay(game, actions)
            assert points[k].tolist() == by_rules == at_table


def test_values_of_artifacts_matter():
    # Staying long and leaving at different times takes many artifacts.
    policies = [random_policy(0.9)] * 3
    first, second = (play_games(policies, 3000, artifact_value=value) for value in ("drawn", "taken"))
    assert not np.array_equal(first, second)


def test_every_card_of_the_deck_is_equally_likely():
    """For each kind, what was drawn less what the deck let expect has mean 0 and the variance of coins."""
    game, drawn, variance = IncanGold(), np.zeros(17), np.zeros(17)
    _, games = record_games([random_policy(0.9)] * 3, 300, seed=1)
    for actions in games:
        state = game.initial()
        for action in actions:
            if game.player(state) == CHANCE:
                share = np.array(state.deck) / sum(state.deck)
                drawn -= share
                drawn[action] += 1
                variance += share * (1 - share)
            state = game.apply(state, action)
    assert (np.abs(drawn) < 4 * np.sqrt(variance)).all()


@pytest.mark.parametrize("stay", [0.25, 0.9])
def test_players_stay_as_often_as_their_policy_says(stay):
    _, games = record_games([random_policy(stay)] * 3, 300, seed=2)
    game, answers = IncanGold(), []
    for actions in games:
        state = game.initial()
        for action in actions:
            if game.player(state) != CHANCE:
                answers.append(action == STAY)
            state = game.apply(state, action)
    assert np.mean(answers) == pytest.approx(stay, abs=4 * math.sqrt(stay * (1 - stay) / len(answers)))


def test_policies_see_points_hazards_and_players():
    # Everybody leaves with the first points, so nobody gets more than a third of the highest treasure a round.
    points = play_games([threshold_policy(1)] * 3, 2000, n_rounds=1)
    assert points.max() == 5
    # A player who leaves at once has no more than its share of the first card, or an artifact alone.
    alone = play_games([threshold_policy(0), threshold_policy(N_HELD), threshold_policy(N_HELD)], 2000, n_rounds=1)
    assert set(alone[:, 0].tolist()) == {TREASURES[k] // 3 + TREASURES[k] % 3 for k in range(11)} | {0}
    assert not alone[:, 1:].any()
    # With a hazard on the board, this one leaves; alone, it goes on.
    shy = threshold_policy([N_HELD, 0, 0, 0, 0, 0])
    shy[0] = 1
    assert not play_games([shy], 500, n_rounds=1).any()
    assert (play_games([threshold_policy([N_HELD, 0, 0, 0, 0, 0])], 500, n_rounds=1) > 0).sum() > 200


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


@pytest.mark.compiled
def test_a_mean_of_many_games_is_that_of_the_first_card():
    # Everybody leaves after the first card: the share of what is drawn from 30 cards.
    expected = sum(value // 3 for value in (1, 2, 3, 4, 5, 5, 7, 7, 9, 11, 11, 13, 14, 15)) / 30
    points = play_games([threshold_policy(0)] * 3, 400_000, n_rounds=1)[:, 0]
    assert points.mean() == pytest.approx(expected, abs=3 * points.std() / math.sqrt(len(points)))


def test_wrong_policies_are_refused():
    one = random_policy()
    with pytest.raises(GameError, match=r"^policies: 0 are not allowed, only 1 to 3$"):
        play_games([], 1)
    with pytest.raises(GameError, match=r"^policy: its shape is \(3, 6\), it must be \(3, 6, 128\)$"):
        play_games([one[..., 0]], 1)
    with pytest.raises(GameError, match=r"^policy: some numbers are no probabilities, they must be from 0 to 1$"):
        play_games([one * 3], 1)
    with pytest.raises(GameError, match=r"^n_rounds: 6 is not allowed, it must be from 1 to 5$"):
        play_games([one], 1, n_rounds=6)
    with pytest.raises(GameError, match=r"^artifact_value: 'found' is not allowed, only drawn or taken$"):
        play_games([one], 1, artifact_value="found")

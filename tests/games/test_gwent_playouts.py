"""Games of Gwent Lite in kernels against the game, players with cards in lists, and the rule of thumb."""

from __future__ import annotations

import math

import numpy as np
import pytest

from games.gwent_twin import Duel
from punish_fast.games import _gwent, gwent_rule_of_thumb
from punish_fast.games.contract import GameError
from punish_fast.games.gwent import Gwent, GwentVariant
from punish_fast.games.gwent_decks import DEFAULT_DECK, deck_rows, decks_text, random_decks
from punish_fast.games.gwent_playouts import play_games, record_games
from punish_fast.games.gwent_rule_of_thumb import rule_of_thumb
from punish_fast.games.gwent_state import PASS
from punish_fast.runtime._jit import set_threads, threads

SAME = deck_rows([DEFAULT_DECK] * 2)[np.newaxis]
RANDOM = ("random", "random")


def replay(game: Gwent, words: str, policies=RANDOM) -> list[tuple[object, int]]:
    """Follow a recorded game by the rules and with cards in lists; the states of moves, and the actions."""
    state, drawn, duel, moves = game.initial(), ([], []), None, []
    hidden = [list(deck) for deck in game.decks]
    numbers = words.split()
    # The twin draws the last card of its decks; what the game never draws lies before.
    order: tuple[list[int], list[int]] = ([], [])
    walk = state
    for word in numbers:
        if any(walk.due):
            order[0 if walk.due[0] else 1].append(int(word))
        walk = game.apply(walk, game.words(walk)[word])
    for player in (0, 1):
        for card in order[player]:
            hidden[player].remove(card)
        drawn[player].extend([*hidden[player], *order[player][::-1]])
    for word in numbers:
        if any(state.due) or state.beginner < 0:
            state = game.apply(state, game.words(state)[word])
            if state.beginner >= 0 and duel is None:
                duel = Duel(drawn, state.beginner, game.variant.hand_size, game.variant.draws)
            continue
        assert duel is not None
        assert duel.mover == state.turn
        action = game.words(state)[word]
        if policies[state.turn] == "rule":
            chosen = rule_of_thumb(state)
            assert game.apply(state, chosen) == game.apply(state, action)
        moves.append((state, action))
        duel.move(None if action == PASS else int(word))
        state = game.apply(state, action)
    assert game.is_terminal(state)
    assert duel is not None
    assert duel.over
    assert list(game.returns(state)) == duel.outcome()
    assert list(state.wins) == [player.rounds for player in duel.players]
    return [*moves, (state, -1)]


@pytest.mark.parametrize("policies", [RANDOM, ("rule", "random"), ("random", "rule"), ("rule", "rule")], ids="-".join)
def test_recorded_games_are_those_of_the_rules_with_decks_of_their_own(policies):
    generator = np.random.default_rng(5)
    decks = [random_decks(generator, 1, n)[0] for n in (25, 25, 40, 31, 100, 25)]
    pairs = deck_rows(decks).reshape(3, 2, -1)
    games, texts = record_games(pairs, policies, 60, seed=3)
    again = play_games(pairs, policies, 60, seed=3)
    assert np.array_equal(games.wins, again.wins)
    assert np.array_equal(games.moves, again.moves)
    made = [Gwent(GwentVariant(decks_text(decks[2 * k : 2 * k + 2]))) for k in range(3)]
    for k, text in enumerate(texts):
        moves = replay(made[k % 3], text, policies)
        assert moves[-1][0].wins == tuple(games.wins[k])
        assert len(moves) - 1 == games.moves[k]
        assert made[k % 3].returns(moves[-1][0])[0] == games.returns[k]


@pytest.mark.parametrize(
    ("hand_size", "draws", "n_cards"), [(2, 1, 4), (3, 0, 3), (1, 1, 1), (4, 10, 9)], ids=["2", "none", "1", "many"]
)
def test_small_games_are_those_of_the_rules(hand_size, draws, n_cards):
    generator = np.random.default_rng(n_cards)
    decks = np.sort(generator.integers(1, 6, (4, 2, n_cards)), axis=2)
    policies = ("rule", "random")
    games, texts = record_games(
        decks, policies, 80, 9, GwentVariant(decks_text(decks[0].tolist()), hand_size, draws, n_cards)
    )
    for k, text in enumerate(texts):
        variant = GwentVariant(decks_text(decks[k % 4].tolist()), hand_size, draws, n_cards)
        moves = replay(Gwent(variant), text, policies)
        assert moves[-1][0].wins == tuple(games.wins[k])


def test_every_card_of_the_pile_is_equally_likely_and_so_are_the_players_who_begin():
    """What was drawn, less what the pile let expect, has mean 0 and the variance of coins."""
    game, drawn, variance, begun = Gwent(), np.zeros(9), np.zeros(9), 0
    _, texts = record_games(SAME, RANDOM, 300, seed=1)
    for text in texts:
        piles = np.array([[0, 2, 5, 4, 4, 4, 3, 2, 1]] * 2)
        state = game.initial()
        for word in text.split():
            if any(state.due):
                player = 0 if state.due[0] else 1
                share = piles[player] / piles[player].sum()
                drawn -= share
                drawn[int(word)] += 1
                variance += share * (1 - share)
                piles[player, int(word)] -= 1
            begun += word == "first"
            state = game.apply(state, game.words(state)[word])
    assert (np.abs(drawn) <= 4 * np.sqrt(variance)).all()
    assert abs(begun - 150) < 4 * math.sqrt(75)


def test_random_play_passes_and_plays_all_slots_equally_often():
    cards = tuple(range(1, 13))
    game = Gwent(GwentVariant(decks_text([cards] * 2), min_cards=12))
    _, texts = record_games(deck_rows([cards] * 2)[np.newaxis], RANDOM, 300, seed=2, variant=game.variant)
    chosen, variance = np.zeros(11), np.zeros(11)
    for text in texts:
        for state, action in replay(game, text)[:-1]:
            n = len(game.actions(state))
            chosen[:n] -= 1 / n
            chosen[action] += 1
            variance[:n] += (1 - 1 / n) / n
    assert (np.abs(chosen) < 4 * np.sqrt(variance)).all()


def test_games_depend_on_the_seed_and_not_on_threads():
    before = threads()
    try:
        set_threads(1)
        one = play_games(SAME, ("random", "rule"), 200, seed=5)
    finally:
        set_threads(before)
    assert np.array_equal(one.wins, play_games(SAME, ("random", "rule"), 200, seed=5).wins)
    assert np.array_equal(one.moves[:50], play_games(SAME, ("random", "rule"), 50, seed=5).moves)
    assert not np.array_equal(one.moves, play_games(SAME, ("random", "rule"), 200, seed=6).moves)


@pytest.mark.compiled
@pytest.mark.parametrize("seat", [0, 1])
def test_the_rule_of_thumb_wins_96_percent_of_games_against_random_play(seat):
    policies = ("rule", "random") if seat == 0 else ("random", "rule")
    returns = play_games(SAME, policies, 100_000, seed=4).returns * (1 - 2 * seat)
    # 0.9627 of four million games, which is within 4 standard errors of 0.0006.
    assert (returns > 0).mean() == pytest.approx(0.9627, abs=0.0024)
    assert (returns == 0).mean() < 0.004


@pytest.mark.compiled
def test_equal_players_win_equally_often():
    for policies in (RANDOM, ("rule", "rule")):
        returns = play_games(SAME, policies, 100_000, seed=8).returns
        assert abs(returns.mean()) < 4 / math.sqrt(len(returns))


def test_the_rule_is_the_same_in_both_places():
    assert _gwent.LARGEST_DEFICIT == gwent_rule_of_thumb.LARGEST_DEFICIT


def test_clauses_of_the_rule():
    game = Gwent(GwentVariant(decks_text([(*(1,) * 20, 2, 3, 4, 5, 9), (*(1,) * 20, 5, 6, 7, 8, 9)])))
    deal = "1 1 1 1 1 2 3 4 5 9 1 1 1 1 1 5 6 7 8 9 "
    for words, expected in (
        # The other is in: the lowest card that leads, of the whole hand if it is level or ahead.
        ("first", 1),
        ("second 1", 6),
        ("second 6", 10),
        # Seven behind: not worth it.
        ("second 7", PASS),
        # The other is out: pass if ahead, take the lead if level.
        ("first 1 pass", PASS),
        ("second pass", 1),
        ("second 5 1 pass", 8),
    ):
        state = game.state_of(deal + words)
        assert (words, state.turn, rule_of_thumb(state)) == (words, 0, expected)
    # No card suffices: the highest, or none if the whole hand does not.
    state = game.state_of(deal + "second 9")._replace(out=(False, True))
    for total, expected in ((8, 10), (9, 10), (27, 10), (28, PASS)):
        assert rule_of_thumb(state._replace(totals=(0, total))) == expected
    # With a round lost, the round is worth everything, whatever the other has played.
    state = game.state_of(deal + "second 7")._replace(wins=(0, 1))
    for total, expected in ((7, 10), (40, 10)):
        assert rule_of_thumb(state._replace(totals=(0, total))) == expected


@pytest.mark.parametrize(
    ("decks", "options", "message"),
    [
        (SAME[0], {}, r"^decks: their shape is \(2, 25\), it must be \(n, 2, width\) with n above 0$"),
        (SAME[:0], {}, r"^decks: their shape is \(0, 2, 25\), it must be \(n, 2, width\) with n above 0$"),
        (SAME * 1.0, {}, r"^decks: float64 is not allowed, they must be integers$"),
        (SAME - 2, {}, r"^decks: a card is out of range, they must be from 1 to 76, or 0 behind the last$"),
        (SAME[..., 1:], {}, r"^decks: one has 24 cards, it must have at least 25$"),
        (SAME + 1, {}, r"^decks: one has the sum 125, it must be at most 100$"),
        (SAME, {"hand_size": 11}, r"^hand_size: 11 is not allowed, it must be from 1 to 10$"),
        (SAME, {"draws": -1}, r"^draws: -1 is not allowed, it must be from 0 to 10$"),
    ],
)
def test_wrong_games_are_refused(decks, options, message):
    with pytest.raises(GameError, match=message):
        play_games(decks, RANDOM, 1, variant=GwentVariant(**options))


@pytest.mark.parametrize("policies", [("random",), ("random", "best"), ("rule",) * 3])
def test_wrong_policies_are_refused(policies):
    with pytest.raises(GameError, match=r"^policies: .* are not allowed, only two of random, rule$"):
        play_games(SAME, policies, 1)

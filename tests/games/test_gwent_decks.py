"""Decks of Gwent Lite: checks, random decks, repairs, and tournaments."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.games.contract import GameError
from punish_fast.games.gwent import deck_search as gwent_tournament
from punish_fast.games.gwent.deck_search import RoundRobin, play_random_decks, play_round_robin
from punish_fast.games.gwent.decks import (
    DEFAULT_DECK,
    MAX_CARD,
    MAX_SUM,
    MIN_CARDS,
    checked_deck,
    random_decks,
    repaired_deck,
)
from punish_fast.games.gwent.movers import play_games


def test_decks_at_the_limits_are_allowed_and_others_refused():
    assert (len(DEFAULT_DECK), sum(DEFAULT_DECK)) == (25, 100)
    for deck in (DEFAULT_DECK, (1,) * 25, (1,) * 100, (*(1,) * 24, 76)):
        assert checked_deck(deck) == tuple(sorted(deck))
    for deck, message in (
        ((1,) * 24, "24 cards; it must have at least 25"),
        ((1,) * 101, "its sum is 101; it must be at most 100"),
        ((*(1,) * 25, 0), "the card 0 is not allowed; it must be a whole number from 1 to 76"),
        ((*(1,) * 25, 77), "the card 77 is not allowed; it must be a whole number from 1 to 76"),
        ((*(1,) * 25, 1.5), "the card 1.5 is not allowed; it must be a whole number from 1 to 76"),
        ((*(1,) * 25, "\x1b"), "the card \\x1b is not allowed; it must be a whole number from 1 to 76"),
    ):
        with pytest.raises(GameError) as error:
            checked_deck(deck)
        assert str(error.value) == f"deck: {message}"


@given(st.integers(0, 2**32), st.integers(MIN_CARDS, MAX_SUM))
def test_random_decks_are_allowed_and_use_all_points(seed, n_cards):
    deck = tuple(random_decks(np.random.default_rng(seed), 1, n_cards)[0].tolist())
    assert checked_deck(deck) == deck
    assert (len(deck), sum(deck)) == (n_cards, MAX_SUM)


def test_random_decks_cut_the_points_anywhere():
    decks = random_decks(np.random.default_rng(1), 20_000)
    assert decks.shape == (20_000, 25)
    assert np.array_equal(np.sort(decks, axis=1), decks)
    # A part is 1 if the place behind a cut is cut, too: 24 of 99 places, and in the mean 24/99 of 25 parts.
    ones = (decks == 1).sum(axis=1)
    assert ones.mean() == pytest.approx(25 * 24 / 99, abs=4 * ones.std() / math.sqrt(len(ones)))
    assert decks.max() > 20


numbers = st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 90), max_size=130)


@given(numbers)
def test_repaired_decks_are_allowed(values):
    deck = repaired_deck(values)
    assert checked_deck(deck) == deck
    # What is allowed already stays, and what was too much uses all points.
    assert repaired_deck(deck) == deck
    whole = [max(round(value), 1) for value in values] + [1] * max(MIN_CARDS - len(values), 0)
    if sum(whole) > MAX_SUM:
        assert sum(deck) == MAX_SUM
    else:
        assert deck == tuple(sorted(whole))


@given(st.lists(st.integers(1, 90), min_size=MIN_CARDS, max_size=MAX_SUM))
def test_what_is_above_one_shrinks_in_proportion(values):
    above, room = sum(values) - len(values), MAX_SUM - len(values)
    share = min(room / above, 1) if above else 1
    for card, value in zip(repaired_deck(values), sorted(values), strict=True):
        assert abs(card - 1 - (value - 1) * share) < 1


def test_examples_of_repairs():
    assert repaired_deck([]) == (1,) * MIN_CARDS
    assert repaired_deck([0.2, -7, 3.4]) == (*(1,) * 24, 3)
    assert repaired_deck([1000]) == (*(1,) * 24, MAX_CARD)
    assert repaired_deck([5] * 25) == (4,) * 25
    assert repaired_deck([2] * 200) == (1,) * 100
    assert repaired_deck([10, 9, *(1,) * 100]) == (1,) * 100


DECKS = random_decks(np.random.default_rng(1), 5)


def test_every_two_decks_meet_in_either_seat():
    games, seed = 4, 7
    found = play_round_robin(DECKS, "rule-of-thumb", games, seed)
    played = {(i, j): [] for i in range(5) for j in range(i)}
    # The same games, one after the other.
    orders = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    orders += [(j, i) for i, j in orders]
    decks = np.array([[DECKS[i], DECKS[j]] for i, j in orders])
    batch_seed = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
    returns = play_games(decks, ("rule-of-thumb", "rule-of-thumb"), 2 * len(orders), batch_seed).returns.tolist()
    points = [0] * 5
    for (i, j), value in zip(orders * 2, returns, strict=True):
        points[i] += value
        points[j] -= value
        played[max(i, j), min(i, j)].append(value if i > j else -value)
    assert all(len(values) == games for values in played.values())
    assert found.points.tolist() == points
    assert (found.games, found.decided) == (games, sum(map(abs, returns)))
    assert found.pair_squares == sum(sum(values) ** 2 for values in played.values())


def test_batches_are_games_of_their_own_and_add_up(monkeypatch):
    batches, told = [], []

    def play(decks, policies, n_games, seed):
        played = play_games(decks, policies, n_games, seed)
        batches.append((seed, played.returns.reshape(-1, 2, 10).astype(int)))
        return played

    monkeypatch.setattr(gwent_tournament, "play_games", play)
    whole = play_round_robin(DECKS, "rule-of-thumb", 20, 3)
    monkeypatch.setattr(gwent_tournament, "_MOST_AT_ONCE", 80)
    parts = play_round_robin(DECKS, "rule-of-thumb", 20, 3, lambda done, total: told.append((done, total)))
    assert told == [(80, 200), (160, 200), (200, 200)]
    (seed, all_games), *others = batches
    assert len({batch_seed for batch_seed, _ in others}) == 3
    # The first batch has the games of before, further ones have others.
    first, second, third = (games for _, games in others)
    assert others[0][0] == seed
    assert np.array_equal(first, all_games[:4])
    assert not np.array_equal(second, first)
    assert not np.array_equal(second, all_games[4:8])
    assert not np.array_equal(third, first[:2])
    for found, games in ((whole, all_games), (parts, np.concatenate([first, second, third]))):
        won = (games[:, 0] - games[:, 1]).sum(axis=0)
        table = np.zeros((5, 5), dtype=int)
        table[np.triu_indices(5, k=1)] = won
        assert found.points.tolist() == (table - table.T).sum(axis=1).tolist()
        assert found[1:] == (20, np.count_nonzero(games), (won**2).sum())


def test_errors_and_spreads_by_hand(monkeypatch):
    # Three pairs of decks with 4 games each: 10 games were decided, and the wins of pairs differ by 4, 2 and 0.
    found = RoundRobin(np.array([6, -2, -4]), 4, 10, 20)
    assert found.fitness.tolist() == [0.75, -0.25, -0.5]
    assert found.error == pytest.approx(math.sqrt((10 - 20 / 4) / (3 * 3) / 8))
    assert found.strength_variance == pytest.approx(np.var([0.75, -0.25, -0.5], ddof=1) - 5 / 9 / 8 * 3 / 2)
    assert found.spread == pytest.approx(math.sqrt(found.strength_variance))
    even = RoundRobin(np.zeros(3, dtype=int), 4, 12, 0)
    assert even.strength_variance < 0
    assert even.spread == 0
    # Seats alternate, and the results are those of the first seat.
    values = np.array([1] * 60 + [-1] * 30 + [0] * 10)
    played = SimpleNamespace(returns=values * (1 - 2 * (np.arange(100) % 2)))
    monkeypatch.setattr(gwent_tournament, "play_games", lambda *_: played)
    fresh = play_random_decks(DECKS[:1], "rule-of-thumb", 100, 0)
    assert fresh.strength == pytest.approx(0.3)
    assert fresh.error == pytest.approx(np.std(values) / 10)


@pytest.mark.compiled
def test_fresh_games_are_those_of_the_decks_in_turn():
    """A strong and a weak deck: together they are the mean of both."""
    strong, weak = np.full(25, 4), np.array([1] * 24 + [76])
    alone = [play_random_decks(deck[np.newaxis], "rule-of-thumb", 20_000, 5) for deck in (strong, weak)]
    both = play_random_decks(np.array([strong, weak]), "rule-of-thumb", 40_000, 6)
    assert alone[0].strength > 0.3
    assert alone[1].strength < -0.3
    mean = (alone[0].strength + alone[1].strength) / 2
    assert both.strength == pytest.approx(mean, abs=4 * math.hypot(both.error, alone[0].error / 2, alone[1].error / 2))
    # A random deck has no advantage over random decks.
    draws = play_random_decks(random_decks(np.random.default_rng(8), 5000), "rule-of-thumb", 20_000, 9)
    assert abs(draws.strength) < 4 * (draws.error + 0.11 / math.sqrt(5000))

"""The genetic search over decks: pools and their laws, seeds, resuming, and selection that finds what is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punish_fast.games.gwent import deck_search
from punish_fast.games.gwent.deck_search import (
    DeckSearch,
    SearchMethod,
    best_decks,
    curve_of,
    deck_text,
    next_pool,
    noise_of,
    random_pool,
    run_search,
)
from punish_fast.games.gwent.decks import checked_deck, random_decks
from punish_fast.games.learn.hyperparameters import LearnError

SMALL = SearchMethod(pool=6, games=2, survivors=2, newcomers=1)


@pytest.fixture(autouse=True)
def _few_games(monkeypatch):
    monkeypatch.setattr(deck_search, "FRESH_GAMES", 50)


def small_search(seed=1, generations=4):
    search = DeckSearch(SMALL, seed)
    run_search(search, generations)
    return search


def same(one, other):
    return curve_of(one) == curve_of(other) and all(
        np.array_equal(a.decks, b.decks)
        and np.array_equal(a.tournament.points, b.tournament.points)
        and a.tournament[1:] == b.tournament[1:]
        and a.fresh == b.fresh
        for a, b in zip(one.history, other.history, strict=True)
    )


@settings(max_examples=40)
@given(st.data())
def test_a_next_pool_is_of_different_legal_decks_and_keeps_the_best(data):
    survivors = data.draw(st.integers(1, 6))
    newcomers = data.draw(st.integers(0, 3))
    decks = survivors + newcomers + data.draw(st.integers(1, 6))
    deviation = data.draw(st.sampled_from([0.3, 0.7, 5.0, 100.0]))
    method = SearchMethod(pool=decks, survivors=survivors, newcomers=newcomers, deviation=deviation)
    generator = np.random.default_rng(data.draw(st.integers(0, 2**40)))
    before = random_pool(method, generator)
    points = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=decks, max_size=decks)))
    after = next_pool(method, before, points, generator)
    for pool in (before, after):
        assert (pool.shape, pool.dtype) == ((decks, 25), np.int8)
        assert len({checked_deck(deck) for deck in pool.tolist()}) == decks
    order = sorted(range(decks), key=lambda k: (-points[k], k))
    assert np.array_equal(after[:survivors], before[order[:survivors]])


def test_selection_finds_the_deck_that_is_the_best():
    """By fitness without luck, from random decks to the one whose cards are all 4."""
    method, generator = SearchMethod(pool=40, survivors=8, newcomers=2, deviation=0.4), np.random.default_rng(1)
    pool = random_pool(method, generator)
    for _ in range(60):
        points = -np.abs(pool.astype(int) - 4).sum(axis=1)
        pool = next_pool(method, pool, points, generator)
    assert pool[0].tolist() == [4] * 25


def test_a_longer_search_begins_the_same():
    whole, longer, told = small_search(), small_search(generations=2), []
    run_search(longer, 4, lambda *numbers: told.append(numbers))
    assert told == [(3, 4), (4, 4)]
    assert same(longer, whole)
    assert best_decks(longer, 2) == best_decks(whole, 2)
    assert not np.array_equal(small_search(2, 1).history[0].decks, whole.history[0].decks)


def test_the_best_decks_are_the_fittest_of_the_last_generation():
    search = small_search()
    last = search.history[-1]
    fittest = sorted(range(6), key=lambda k: (-last.tournament.fitness[k], k))[:3]
    found = best_decks(search, 3)
    assert [each["deck"] for each in found] == last.decks[fittest].tolist()
    assert {each["fresh_games"] for each in found} == {50}
    # Wins less losses of 50 games.
    assert all(50 * each["strength"] == pytest.approx(round(50 * each["strength"])) for each in found)
    assert all(0 < each["strength_error"] < 1 / np.sqrt(50) for each in found)
    assert curve_of(search)[3] == {
        **{"generation": 3, "spread": last.tournament.spread, "error": last.tournament.error},
        **{"strength": last.fresh.strength, "strength_error": last.fresh.error},
    }
    assert len(best_decks(search, 99)) == 6
    for each in found:
        deck, since = each["deck"], each["since"]
        assert all(deck in pool.decks.tolist() for pool in search.history[since:])
        assert since == 0 or deck not in search.history[since - 1].decks.tolist()
    for n in range(1, len(search.history) + 1):
        spread, error = noise_of(search.history[:n])
        tournaments = [each.tournament for each in search.history[:n]]
        assert error**2 == pytest.approx(np.mean([each.error**2 for each in tournaments]))
        assert spread**2 == pytest.approx(max(np.mean([each.strength_variance for each in tournaments]), 0))


def test_decks_in_words_and_impossible_searches():
    assert deck_text(np.array([1, 1, 1, 2, 30])) == "1 x 3, 2, 30"
    (deck,) = random_decks(np.random.default_rng(1), 1)
    parts = [part.partition(" x ") for part in deck_text(deck).split(", ")]
    assert sorted(int(card) for card, _, copies in parts for _ in range(int(copies or 1))) == deck.tolist()
    for wrong, text in (
        ({"games": 7}, "games: 7 is not allowed; it must be even"),
        ({"pool": 12}, "pool: 10 survivors and 5 newcomers do not fit into a pool of 12"),
        ({"survivors": 50, "newcomers": 0}, "pool: 50 survivors and 0 newcomers do not fit into a pool of 50"),
    ):
        with pytest.raises(LearnError, match=text):
            SearchMethod(**wrong)
    with pytest.raises(LearnError, match="seed: -1 is not allowed"):
        DeckSearch(SMALL, -1)
    with pytest.raises(LearnError, match="generations: 0 is not allowed"):
        run_search(DeckSearch(SMALL), 0)

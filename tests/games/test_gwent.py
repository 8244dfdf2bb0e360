"""Gwent Lite against players with cards in lists."""

import random

import numpy as np
import pytest

from games.gwent_twin import Duel, features
from games.laws import LawError, check_game, check_vector_game
from punish_fast.games.contract import CHANCE, GameError
from punish_fast.games.enumeration.positions import enumerate_positions
from punish_fast.games.gwent.decks import DEFAULT_DECK, checked_deck, deal_probabilities, decks_text
from punish_fast.games.gwent.game import N_MOVES, Gwent, GwentVariant
from punish_fast.games.gwent.state import PASS, state_of_words, words_of
from punish_fast.games.registry import make_game, vector_game

GAME = Gwent()
# Both have four cards, hold two and draw one.
SMALL = Gwent(GwentVariant("1 1 2 5 / 1 2 3 3", hand_size=2, draws=1, min_cards=4))
TINY = Gwent(GwentVariant("1 2 / 1 2", hand_size=2, draws=3, min_cards=2))
LIGHT = (*(1,) * 20, 2, 3, 4, 5, 6)
HEAVY = (*(1,) * 24, 76)
MIXED = Gwent(GwentVariant(decks_text([LIGHT, HEAVY])))
RANDOM_DECKS = Gwent(GwentVariant("random"))
# Hands of ten: of MIXED for the first clauses, and of the default deck.
DEAL = "1 1 1 1 1 2 3 4 5 6 1 1 1 1 1 1 1 1 1 76 "


def after(game: Gwent, *words: str):
    return game.state_of(" ".join(words))


def test_it_obeys_the_laws():
    assert check_game(SMALL, max_states=300, n_walks=20) > 300
    assert check_game(RANDOM_DECKS, max_states=5, n_walks=2) > 100

    class Loud(Gwent):
        def features(self, state):
            return super().features(state) + np.float32(sum(state.hands[1 - max(self.player(state), 0)]))

    with pytest.raises(LawError, match="law 10"):
        check_game(Loud(SMALL.variant), max_states=300)


def compare(game: Gwent, state, duel: Duel) -> None:
    assert state.totals == tuple(sum(player.played) for player in duel.players)
    assert state.wins == tuple(player.rounds for player in duel.players)
    assert [list(hand) for hand in state.hands] == [sorted(player.hand) for player in duel.players]
    assert [list(pile) for pile in state.piles] == [sorted(player.deck) for player in duel.players]
    assert list(state.out) == [player.stopped for player in duel.players]
    assert (state.round, state.turn) == (duel.n_rounds, duel.mover)
    assert game.is_terminal(state) == duel.over


def shuffled(game: Gwent, state, decks):
    """Draw as the decks lie, the last card first."""
    while any(state.due):
        state = game.apply(state, decks[0 if state.due[0] else 1].pop())
    return state


@pytest.mark.parametrize("game", [GAME, MIXED, SMALL, TINY], ids=["default", "mixed", "small", "tiny"])
@pytest.mark.parametrize("seed", range(5))
def test_random_games_are_those_of_cards_in_lists(game, seed):
    generator = random.Random(seed)
    decks = [generator.sample(deck, len(deck)) for deck in game.decks]
    beginner, passes = generator.randrange(2), generator.uniform(0, 0.4)
    duel = Duel(decks, beginner, game.variant.hand_size, game.variant.draws)
    state = game.apply(shuffled(game, game.initial(), decks), beginner)
    while not game.is_terminal(state):
        compare(game, state, duel)
        assert game.actions(state) == list(range(len(duel.players[duel.mover].hand) + 1))
        action = PASS if generator.random() < passes else generator.choice(game.actions(state)[1:])
        duel.move(None if action == PASS else state.hands[state.turn][action - 1])
        state = shuffled(game, game.apply(state, action), decks)
    assert game.is_terminal(state) == duel.over
    assert list(game.returns(state)) == duel.outcome()
    assert state.wins == tuple(player.rounds for player in duel.players)
    assert state.totals == tuple(duel.history[-1])


def test_ten_cards_are_drawn_and_a_random_player_begins():
    state = GAME.initial()
    for due in range(20, 0, -1):
        assert (sum(state.due), GAME.player(state)) == (due, CHANCE)
        state = GAME.apply(state, GAME.actions(state)[-1])
    assert [len(hand) for hand in state.hands] == [10, 10]
    assert [len(pile) for pile in state.piles] == [15, 15]
    assert (GAME.actions(state), GAME.probabilities(state)) == ([0, 1], [0.5, 0.5])
    for beginner in (0, 1):
        began = GAME.apply(state, beginner)
        assert (GAME.player(began), GAME.actions(began)) == (beginner, list(range(N_MOVES)))


def test_slots_and_pictures_show_the_own_hand():
    state = after(MIXED, DEAL, "first")
    texts = [MIXED.action_text(state, action) for action in MIXED.actions(state)]
    shown = [texts[slot] for slot in (0, 1, 5, 10)]
    assert shown == ["pass", "play 1 from slot 1", "play 1 from slot 5", "play 6 from slot 10"]
    assert MIXED.apply(state, 1) == MIXED.apply(state, 5)
    with pytest.raises(GameError, match=r"^action: 11 is illegal; legal: \[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\]$"):
        MIXED.apply(state, 11)
    state = after(MIXED, DEAL, "second 1 pass")
    assert MIXED.draw(state, 0, ("Ann", "Ben")).splitlines() == [
        "round 1 of 3",
        "Ann (you): 10 in hand, 15 to draw, total 0, won 0, out",
        "Ben: 9 in hand, 15 to draw, total 1, won 0",
        "Ben still has 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 76, in hand or to draw",
        "hand  1  1  1  1  1  2  3  4  5  6",
    ]
    assert MIXED.board(state, 1) == {
        **{"round": 1, "hand": [1] * 8 + [76], "n_cards": [10, 9], "n_pile": [15, 15], "totals": [0, 1]},
        **{"wins": [0, 0], "out": [True, False], "unplayed": [list(LIGHT), [1] * 23 + [76]], "own": 2},
    }
    assert Gwent(VARIANTS["odd"]).variant_text() == "Gwent Lite, decks of 100 and 24 cards"
    assert MIXED.variant_text() == "Gwent Lite, decks of 25 cards"
    assert RANDOM_DECKS.variant_text() == "Gwent Lite, random decks of 25 cards"
    assert "Then both draw 1 cards, up to 2 in hand" in SMALL.rules_text()
    assert MIXED.rules_text().split("\n")[-2].startswith("Your deck: 1 ")
    assert "deck: " not in GAME.rules_text() + RANDOM_DECKS.rules_text()


def test_random_decks_are_dealt_before_the_hands_and_become_a_part_of_the_state():
    assert GAME.initial().decks == (DEFAULT_DECK, DEFAULT_DECK)
    assert RANDOM_DECKS.initial().decks == ((), ())
    generator, state = random.Random(1), RANDOM_DECKS.initial()
    while len(state.decks[1]) < 25:
        actions, shares = RANDOM_DECKS.actions(state), RANDOM_DECKS.probabilities(state)
        state = RANDOM_DECKS.apply(state, generator.choices(actions, shares)[0])
    assert state.piles == state.decks
    for deck in state.decks:
        assert checked_deck(deck) == deck
        assert sum(deck) == 100
    assert (state.due, RANDOM_DECKS.player(state)) == ((10, 10), CHANCE)
    assert RANDOM_DECKS.actions(state) == sorted(set(state.decks[0]))
    assert RANDOM_DECKS.action_text(RANDOM_DECKS.initial(), 76) == "76 into the deck"
    # With 24 ones, only the greatest card is left.
    state = after(RANDOM_DECKS, "1 " * 24)
    assert (RANDOM_DECKS.actions(state), RANDOM_DECKS.probabilities(state)) == ([76], [1])
    state = after(RANDOM_DECKS, "1 " * 24, "76 76")
    assert (state.decks, RANDOM_DECKS.actions(state)) == ((HEAVY, (76,)), [1])


def test_a_random_deck_has_each_number_as_often_as_cuts_of_a_row_make_it():
    # Any 24 of the 99 places between points are cut.
    shares = dict(enumerate(deal_probabilities(25, 100), 1))
    assert [shares[1], shares[2]] == pytest.approx([24 / 99, 75 / 99 * 24 / 98])
    # The whole distribution of a small row: each of the C(5, 2) cuts with the same probability.
    rows: dict[tuple[int, ...], float] = {}
    for first, p in enumerate(deal_probabilities(3, 6), 1):
        for second, q in enumerate(deal_probabilities(2, 6 - first), 1):
            rows[first, second, 6 - first - second] = p * q
    assert list(rows.values()) == pytest.approx([1 / 10] * 10)
    assert deal_probabilities(1, 3) == [0, 0, 1]


def test_impossible_variants_are_refused():
    for variant, message in (
        ({"decks": decks_text([DEFAULT_DECK, (5,) * 25])}, "second deck: its sum is 125; it must be at most 100"),
        (
            {"decks": "one/" + decks_text([DEFAULT_DECK])},
            "first deck: the card one is not allowed; it must be a whole number from 1 to 76",
        ),
        ({"decks": "best"}, "decks: 'best' is not allowed; use default, random, or decks like 1 1 2 / 1 2 3"),
        ({"decks": "random", "min_cards": 24}, "min_cards: 24 is not allowed; it must be from 25 to 100"),
        ({"hand_size": 11}, "hand_size: 11 is not allowed; it must be from 1 to 10"),
        ({"draws": -1}, "draws: -1 is not allowed; it must be from 0 to 10"),
    ):
        with pytest.raises(GameError) as error:
            Gwent(GwentVariant(**variant))
        assert str(error.value) == message


def test_positions_are_draws_and_moves_from_the_beginning():
    for text, problem in (
        ("9", "1, '9', is wrong; use 1, 2, 5"),
        ("1 5 1 2 first 2", "6, '2', is wrong; use 5, 1, pass"),
        ("1 5 1 2 first pass pass pass pass pass", "10, 'pass', is wrong; the game is over"),
    ):
        with pytest.raises(GameError, match=rf"^position: word {problem}$"):
            SMALL.state_of(text)
    with pytest.raises(GameError):
        enumerate_positions(GAME)


ONES, FEW = (1,) * 100, (*(1,) * 20, 2, 3, 30, 45)
VARIANTS = {
    "random": GwentVariant("random"),
    "odd": GwentVariant(decks_text([ONES, FEW]), min_cards=24),
    "small": GwentVariant("1 1 2 5 / 1 2 50 47", hand_size=2, draws=1, min_cards=4),
    "one": GwentVariant("1 / 1", hand_size=1, draws=1, min_cards=1),
}


def test_many_at_once_are_the_same_as_one_by_one():
    for variant in VARIANTS.values():
        assert check_vector_game(Gwent(variant).vector, 6) > 6


@pytest.mark.parametrize("name", ["random", "odd"])
def test_words_are_those_of_the_state(name):
    """Games with the probabilities that chance has, so random decks are usual ones."""
    game, generator = Gwent(VARIANTS[name]), np.random.default_rng(3)
    single, states = game.initial(), game.vector.initial(1)
    while not game.is_terminal(single):
        action = int(generator.choice(game.actions(single), p=game.probabilities(single) or None))
        single, states = game.apply(single, action), game.vector.step(states, np.array([action]))[0]
        words = words_of(single)
        assert np.array_equal(states[0], words)
        assert state_of_words(words) == single
        if game.player(single) != CHANCE:
            assert np.array_equal(game.features(single), np.array(features(single), dtype=np.float32))


def test_actions_may_have_any_integer_type_and_states_any_order():
    vector = vector_game(make_game("gwent", {}))
    states = np.asfortranarray(vector.initial(2))
    for kind in (np.int8, np.int32, np.uint64):
        after, returns, ended = vector.step(states, np.array([8, 1], dtype=kind))
        assert vector.player(after).tolist() == [CHANCE, CHANCE]
        assert vector.probabilities(after)[:, 8].tolist() == [0, 1 / 24]
        assert not returns.any()
        assert not ended.any()

"""Whole games of Gwent Lite against players with cards in lists, and the rule of thumb."""

import numpy as np
import pytest

from games.gwent_twin import Duel, by_rule
from punish_fast.games.contract import GameError
from punish_fast.games.gwent.decks import DEFAULT_DECK, deck_rows, decks_text, random_decks
from punish_fast.games.gwent.game import Gwent, GwentVariant
from punish_fast.games.gwent.movers import play_games, rule_of_thumb
from punish_fast.games.gwent.state import PASS
from punish_fast.runtime._jit import set_threads, threads
from punish_fast.runtime._random import draw_words
from tests.kernels import calling

pytestmark = pytest.mark.kernels

SAME = deck_rows([DEFAULT_DECK] * 2)[np.newaxis]
RANDOM, RULE = ("random", "random"), "rule-of-thumb"


class Words:
    """Random words as a kernel draws them for a game, four at a time."""

    def __init__(self, game: int, seed: int) -> None:
        self.game, self.seed, self.turn, self.left = game, np.uint64(seed), 0, []

    def next(self) -> int:
        if not self.left:
            self.left = [int(word) for word in calling(draw_words)(self.game, self.turn, 5, self.seed)]
            self.turn += 1
        return self.left.pop(0)

    def below(self, n: int) -> int:
        return self.next() * n >> 32

    def take(self, deck: list[int], n: int) -> list[int]:
        """Cards of a deck, each in place of its last card."""
        self.left, cards = [], []
        for _ in range(n):
            chosen = self.below(len(deck))
            deck[chosen], deck[-1] = deck[-1], deck[chosen]
            cards.append(deck.pop())
        return cards


def played(decks, policies, game: int, seed: int, limit: int = 10, draws: int = 3) -> tuple[list[int], int]:
    """Rounds won by each player and the number of moves of a game with cards in lists."""
    words, n_moves, number = Words(game, seed), 0, 0
    duel = Duel(decks, words.next() & 1, limit, draws, words.take)
    while not duel.over:
        if number != duel.n_rounds:
            number, words.left = duel.n_rounds, []
        if policies[duel.mover] == RULE:
            card = by_rule(duel)
        else:
            hand = sorted(duel.players[duel.mover].hand)
            card = [None, *hand][words.below(len(hand) + 1)]
        duel.move(card)
        n_moves += 1
    return [player.rounds for player in duel.players], n_moves


@pytest.mark.parametrize("policies", [RANDOM, (RULE, "random"), ("random", RULE), (RULE, RULE)], ids="-".join)
def test_games_are_those_of_cards_in_lists_with_decks_of_their_own(policies):
    generator = np.random.default_rng(5)
    decks = [random_decks(generator, 1, n)[0] for n in (25, 25, 40, 31, 100, 25)]
    games = play_games(deck_rows(decks).reshape(3, 2, -1), policies, 30, seed=3)
    for k in range(30):
        first = 2 * (k % 3)
        assert played(decks[first : first + 2], policies, k, 3) == (games.wins[k].tolist(), games.moves[k])
    assert np.array_equal(games.returns, np.sign(games.wins[:, 0] - games.wins[:, 1]))


def test_games_depend_on_the_seed_and_not_on_threads():
    before = threads()
    try:
        set_threads(1)
        one = play_games(SAME, ("random", RULE), 200, seed=5)
    finally:
        set_threads(before)
    assert np.array_equal(one.wins, play_games(SAME, ("random", RULE), 200, seed=5).wins)
    assert np.array_equal(one.moves[:50], play_games(SAME, ("random", RULE), 50, seed=5).moves)
    assert not np.array_equal(one.moves, play_games(SAME, ("random", RULE), 200, seed=6).moves)


@pytest.mark.compiled
def test_the_rule_of_thumb_wins_96_percent_of_games_against_random_play():
    for policies, sign in (((RULE, "random"), 1), (("random", RULE), -1)):
        returns = play_games(SAME, policies, 100_000, seed=4).returns * sign
        # 0.9627 of four million games, which is within 4 standard errors of 0.0006.
        assert (returns > 0).mean() == pytest.approx(0.9627, abs=0.0024)
        assert (returns == 0).mean() < 0.004


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


def test_decks_beyond_the_arrays_of_kernels_and_unknown_policies_are_refused():
    for decks in (SAME[0], SAME[:0], SAME * 1.0, SAME - 2, SAME[..., 1:], SAME + 1):
        with pytest.raises(GameError, match=r"^decks: "):
            play_games(decks, RANDOM, 1)
    with pytest.raises(GameError, match=r"^policies: .* are not allowed; they must be two of random, rule-of-thumb$"):
        play_games(SAME, ("random", "rule"), 1)

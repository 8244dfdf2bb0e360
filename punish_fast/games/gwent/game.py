"""Gwent Lite: two players spend the cards of a hand on the best of three rounds.

Each player has a deck of at least 25 cards, whole numbers that add up to 100 at the most. Both draw ten cards, and a
random player begins. In turn, players play a card, whose number is added to their total of the round, or pass. Whoever
passes, or has no cards left, is out for the round; the other may go on alone. When both are out, the higher total wins
the round; equal totals count as a round won for both. Then both draw three cards, or fewer: a hand has at most ten. The
winner begins the next round, and after a tie the player who did not begin the first. With two rounds won a player wins
the game; if both have two, it is a tie.

Nobody sees the other's hand. Which of the other's cards are still to come is public, in hand or not: decks are known,
and cards are played openly.

Action 0 passes, and actions 1 to 10 play a slot; hands are in ascending order, so slot 1 has the lowest card. In a
chance state an action is the card that is drawn, or at last the player who begins: 0 or 1. All cards of the first
player are drawn before those of the second. Random decks are drawn before the hands, card by card, and become a part of
the state; so a game follows from its actions.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.contract import CHANCE, GameError, TableGame
from punish_fast.games.gwent import _game as _gwent
from punish_fast.games.gwent.decks import (
    DEFAULT_DECK,
    MAX_CARD,
    MAX_SUM,
    MIN_CARDS,
    deal_probabilities,
    decks_of,
    decks_text,
)
from punish_fast.games.gwent.state import PASS, Cards, GwentState, state_of_words, words_of
from punish_fast.games.solve.packed_states import GameKernels, PackedGame, signed

N_PLAYERS = 2
N_ROUNDS = 3
WINNING = 2
HAND_SIZE = 10
DRAWS = 3
# What players, not chance, choose from.
N_MOVES = 1 + HAND_SIZE
# The highest total of a round with ten cards.
MAX_TOTAL = MAX_CARD + HAND_SIZE - 1
_SEATS = ("first", "second")
# A deck of this size, a total of at most this, all points, and rounds: scales of features.
_SIZE = (MIN_CARDS, MAX_TOTAL, MAX_SUM, N_ROUNDS)
# The decks that have a name.
DEFAULT_DECKS, RANDOM_DECKS = "default", "random"


class GwentVariant(NamedTuple):
    """The decks, and numbers of the rules."""

    # ``"default"``: both players have `DEFAULT_DECK`. ``"random"``: each draws a deck of ``min_cards`` cards with the
    # sum 100 in every game, like `gwent_decks.random_decks`. Or two decks, ``"1 1 2 4 / 1 2 2 3"``.
    decks: str = DEFAULT_DECKS
    hand_size: int = HAND_SIZE  # Cards drawn at first, and the limit of a hand.
    draws: int = DRAWS  # Cards drawn before each further round.
    min_cards: int = MIN_CARDS  # Minimum number of cards in a deck.


class Gwent(TableGame):
    """Gwent Lite; see `contract.TableGame` and `contract.SecretGame`.

    Attributes:
        variant: The decks and the rules.
        decks: The decks, ascending; empty if they are random.
        n_dealt: The cards of a random deck; 0 if decks are not random.
        rules: The size of a hand, cards drawn before further rounds, and ``n_dealt``, as kernels take them.
    """

    name = "gwent"
    n_players = N_PLAYERS
    n_actions = MAX_CARD + 1
    n_features = 100
    is_zero_sum = True
    first_number: int | None = PASS

    def __init__(self, variant: GwentVariant | None = None) -> None:
        variant = variant or GwentVariant()
        # Fewer cards might be greater than any action.
        least_cards = MIN_CARDS if variant.decks == RANDOM_DECKS else 1
        limits = {"hand_size": (1, HAND_SIZE), "draws": (0, HAND_SIZE), "min_cards": (least_cards, MAX_SUM)}
        for name, (least, most) in limits.items():
            value = getattr(variant, name)
            if not least <= value <= most:
                raise GameError(f"{name}: {value} is not allowed, it must be from {least} to {most}")
        self.n_dealt = variant.min_cards if variant.decks == RANDOM_DECKS else 0
        self.decks: tuple[Cards, Cards] = ((), ())
        if not self.n_dealt:
            text = decks_text([DEFAULT_DECK] * N_PLAYERS) if variant.decks == DEFAULT_DECKS else variant.decks
            self.decks = decks_of(text, variant.min_cards)
        self.rules = (variant.hand_size, variant.draws, self.n_dealt)
        is_named = variant.decks in (DEFAULT_DECKS, RANDOM_DECKS)
        self.variant = variant if is_named else variant._replace(decks=decks_text(self.decks))

    @cached_property
    def vector(self) -> VectorGwent:
        """The game on arrays of states."""
        return VectorGwent(self, words_of(self.initial()), N_MOVES, _KERNELS, (self.rules,))

    def initial(self) -> GwentState:
        """All cards are to be drawn."""
        first, second = (min(self.variant.hand_size, len(deck) or self.n_dealt) for deck in self.decks)
        due = (first, second)
        return GwentState(self.decks, 1, ((), ()), self.decks, due, (0, 0), (0, 0), (False, False), -1, 0)

    def player(self, state: GwentState) -> int:
        """The player to move, or chance while cards or the beginner are to be drawn."""
        return CHANCE if any(state.due) or state.beginner < 0 else state.turn

    def is_terminal(self, state: GwentState) -> bool:
        """Whether a player has won two rounds."""
        return max(state.wins) >= WINNING

    def actions(self, state: GwentState) -> list[int]:
        """What may be dealt, the different cards of a pile, who may begin, or to pass and the slots of the hand."""
        if self.player(state) == CHANCE:
            return np.flatnonzero(self._shares(state)).tolist()
        return [] if self.is_terminal(state) else list(range(len(state.hands[state.turn]) + 1))

    def probabilities(self, state: GwentState) -> list[float]:
        """How often a random deck goes on with each card, the shares of cards in a pile, or a half for each player."""
        shares = self._shares(state) if self.player(state) == CHANCE else np.zeros(0)
        possible: list[float] = shares[shares > 0].tolist()
        return possible

    def apply(self, state: GwentState, action: int) -> GwentState:
        """The state after a draw or a move; players without cards are out, and a round ends when both are."""
        self.check_action(state, action)
        after, _, _ = self.vector.step(words_of(state)[np.newaxis], np.array([action]))
        return state_of_words(after[0])

    def _is_dealt(self, state: GwentState) -> bool:
        """Whether a card of a random deck is to be drawn."""
        return len(state.decks[1]) < self.n_dealt

    def _shares(self, state: GwentState) -> np.ndarray:
        shares: np.ndarray = self.vector.probabilities(words_of(state)[np.newaxis])[0]
        return shares

    def returns(self, state: GwentState) -> tuple[float, float]:
        """1 for the winner and -1 for the other; 0 after a tie."""
        if not self.is_terminal(state) or state.wins[0] == state.wins[1]:
            return 0.0, 0.0
        return (1.0, -1.0) if state.wins[0] > state.wins[1] else (-1.0, 1.0)

    def information(self, state: GwentState) -> Hashable:
        """What the player to move knows: not which of the other's cards are in hand. Chance knows everything."""
        own = self.player(state)
        if own == CHANCE:
            return own, state
        hand, pile = state.hands[1 - own], state.piles[1 - own]
        known = state._replace(hands=((), ()), piles=((), ()))
        return known, state.hands[own], state.piles[own], len(hand), tuple(sorted(hand + pile))

    def text(self, state: GwentState) -> str:
        """All of a state in a line, hands included: for spectators, not for players."""
        players = "; ".join(
            f"{seat} player: deck {_cards_text(state.decks[k])}, hand {_cards_text(state.hands[k])}, "
            f"pile {_cards_text(state.piles[k])}, to draw {state.due[k]}, total {state.totals[k]}, "
            f"won {state.wins[k]}{', out' * state.out[k]}"
            for k, seat in enumerate(_SEATS)
        )
        beginner = _SEATS[state.beginner] if state.beginner >= 0 else "nobody"
        return f"round {state.round}; {players}; {beginner} began; {_SEATS[state.turn]} moves"

    def action_text(self, state: GwentState, action: int) -> str:
        """For example ``"pass"``, ``"play 4 from slot 2"``, ``"draw 4"``, ``"first begins"``, ``"4 into the deck"``."""
        if self._is_dealt(state):
            return f"{action} into the deck"
        if any(state.due):
            return f"draw {action}"
        if state.beginner < 0:
            return f"{_SEATS[action]} begins"
        return "pass" if action == PASS else f"play {state.hands[state.turn][action - 1]} from slot {action}"

    def features(self, state: GwentState) -> np.ndarray:
        """What the player to move knows, as 100 numbers; of other chance states, what the first player knows.

        * 76: how many cards of 1, 2, ..., 76 the own deck began with, over its size.
        * 10: the slots of the hand / 76, 0 where empty.
        * 5: cards not played yet, in hand or pile, / 25; total / 85; rounds won / 2; the sum of the cards not played /
          100, and their mean / 76.
        * 7 of the other player: cards the deck began with / 25, cards in hand / 10, and the five above.
        * 2: round / 3, players who are not out / 2.
        """
        features: np.ndarray = self.vector.features(words_of(state)[np.newaxis])[0]
        return features

    def words(self, state: GwentState) -> dict[str, int]:
        """Cards as numbers, ``pass``, and who begins; of equal cards, only the first slot.

        For example, with hands of two cards, `state_of` reads ``"1 5 2 2 second 2 pass"``.
        """
        actions = self.actions(state)
        if self._is_dealt(state) or any(state.due):
            return {str(card): card for card in actions}
        if state.beginner < 0:
            return {_SEATS[action]: action for action in actions}
        hand = state.hands[state.turn]
        return {"pass" if a == PASS else str(hand[a - 1]): a for a in reversed(actions)}

    def variant_text(self) -> str:
        """For example ``"Gwent Lite, decks of 25 and 30 cards"``."""
        if self.n_dealt:
            return f"Gwent Lite, random decks of {self.n_dealt} cards"
        first, second = map(len, self.decks)
        return f"Gwent Lite, decks of {first if first == second else f'{first} and {second}'} cards"

    def rules_text(self) -> str:
        """State the rules in a few lines."""
        return (
            "Play a card, which adds its number to your total of the round, or pass and be out for the round.\n"
            "When both are out, the higher total wins the round; equal totals count for both.\n"
            f"Then both draw {self.variant.draws} cards, up to {self.variant.hand_size} in hand.\n"
            "The winner of a round begins the next. Two rounds won win the game; two for both are a tie."
        )

    def draw(self, state: GwentState, viewer: int, names: Sequence[str]) -> str:
        """The table and the slots of ``viewer``; of the other, the cards in hand or pile together."""
        lines = [f"round {state.round} of {N_ROUNDS}"]
        for player, name in enumerate(names):
            lines.append(
                f"{name}{' (you)' * (player == viewer and name != 'you')}: {len(state.hands[player])} cards in hand, "
                f"{len(state.piles[player])} to draw, total {state.totals[player]}, won {state.wins[player]}"
                f"{', out' * state.out[player]}"
            )
        lines.append(f"{names[1 - viewer]} still has {_cards_text(_unplayed(state, 1 - viewer))}, in hand or to draw")
        hand = state.hands[viewer]
        for title, numbers in (("slot", range(1, len(hand) + 1)), ("card", hand)):
            lines.append(f"{title}{''.join(f'{number:3}' for number in numbers)}")
        return "\n".join(lines)

    def board(self, state: GwentState, viewer: int) -> dict[str, Any]:
        """What ``viewer`` sees, as JSON values."""
        return {
            "round": state.round,
            "hand": list(state.hands[viewer]),
            "n_cards": [len(hand) for hand in state.hands],
            "n_pile": [len(pile) for pile in state.piles],
            "totals": list(state.totals),
            "wins": list(state.wins),
            "out": list(state.out),
            "unplayed": [list(_unplayed(state, player)) for player in range(N_PLAYERS)],
            "own": viewer + 1,
        }


def _fill_features(states: np.ndarray, features: np.ndarray) -> None:
    _gwent.find_gwent_features(states, _SIZE, features)


_KERNELS = GameKernels(_gwent.find_gwent_players, _gwent.find_gwent_moves, _fill_features, _gwent.step_gwent)


class VectorGwent(PackedGame):
    """Many states at once; see `contract.VectorChanceGame`. ``state.py`` describes the words."""

    def probabilities(self, states: np.ndarray) -> np.ndarray:
        """The probability of each card to draw, or of each player to begin."""
        shares, n_dealt = np.empty((len(states), Gwent.n_actions)), self.rules[0][-1]
        _gwent.find_gwent_shares(signed(states), n_dealt, _deals(n_dealt), shares)
        return shares


@lru_cache(maxsize=4)
def _deals(n_dealt: int) -> np.ndarray:
    """The probabilities of the next card of a random deck, as `_gwent.find_gwent_shares` takes them."""
    deals = np.zeros((n_dealt + 1, MAX_SUM - n_dealt + 1, Gwent.n_actions)) if n_dealt else np.zeros((0, 0, 0))
    for n_cards in range(1, n_dealt + 1):
        for spare in range(MAX_SUM - n_dealt + 1):
            shares = deal_probabilities(n_cards, n_cards + spare)
            deals[n_cards, spare, 1 : len(shares) + 1] = shares
    return deals


def _unplayed(state: GwentState, player: int) -> Cards:
    """The cards in hand or pile, which both players know, ascending."""
    return tuple(sorted(state.hands[player] + state.piles[player]))


def _cards_text(cards: Cards) -> str:
    return " ".join(map(str, cards)) or "none"

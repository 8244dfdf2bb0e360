"""Gwent Lite: a card game for two players, who spend a limited number of cards on the best of three rounds.

Each player has a deck of at least 25 cards. Cards are positive integers with a sum of at most 100. Both players draw
ten cards, and a random player begins. The players take turns. On each turn, a player passes, or plays a card, whose
number is added to the player's total for the round. A player who passes or has no cards left is out for the round, but
the opponent may continue. When both are out, the player with the higher total wins the round. Equal totals count as a
win for both. Then both draw three cards, up to a hand of ten. The winner begins the next round. After a tie, the player
who did not begin the first round begins. The first player to win two rounds wins the game. If both win their second
round simultaneously, the game is a tie.

Hands are hidden. The set of a player's unplayed cards, in hand or pile, is public, because decks are known and cards
are played openly.

Action 0 passes, and action ``k`` from 1 to 10 plays the card in slot ``k``. Hands are in ascending order, so slot 1
contains the lowest card. In a chance state, the action is the drawn card or, after all draws, the player who begins, 0
or 1. The first player draws all cards before the second player draws any. Random decks are drawn card by card before
the hands, and are part of the state, so a game is determined by its actions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.contract import CHANCE, Game, GameError
from punish_fast.games.enumeration.vector_games import GameKernels, PackedGame, filled
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
from punish_fast.runtime.events import Event, Moved, Step, Told

N_PLAYERS = 2
N_ROUNDS = 3
WINNING = 2
HAND_SIZE = 10
DRAWS = 3
# Number of actions for players. There are more actions in chance states.
N_MOVES = 1 + HAND_SIZE
_SEATS = ("first", "second")
# Names of predefined decks.
DEFAULT_DECKS, RANDOM_DECKS = "default", "random"


class GwentVariant(NamedTuple):
    """Decks and rule parameters."""

    # ``"default"``: both players have `DEFAULT_DECK`. ``"random"``: in every game, each player gets a deck of
    # ``min_cards`` cards with sum 100, with the distribution of `decks.random_decks`. Otherwise, the text contains two
    # decks, such as ``"1 1 2 4 / 1 2 2 3"``.
    decks: str = DEFAULT_DECKS
    hand_size: int = HAND_SIZE  # Number of cards drawn at the start, and maximum size of a hand.
    draws: int = DRAWS  # Number of cards drawn before each round after the first.
    min_cards: int = MIN_CARDS  # Minimum number of cards in a deck.


class Gwent(Game):
    """Gwent Lite (see `contract.Game`)."""

    name = "gwent"
    n_players = N_PLAYERS
    n_actions = MAX_CARD + 1
    n_features = 100
    is_zero_sum = True
    first_number: int | None = PASS
    is_open = False

    def __init__(self, variant: GwentVariant | None = None) -> None:
        variant = variant or GwentVariant()
        # In a random deck of fewer cards, a card could exceed the highest action.
        least_cards = MIN_CARDS if variant.decks == RANDOM_DECKS else 1
        limits = {"hand_size": (1, HAND_SIZE), "draws": (0, HAND_SIZE), "min_cards": (least_cards, MAX_SUM)}
        for name, (least, most) in limits.items():
            value = getattr(variant, name)
            if not least <= value <= most:
                raise GameError(f"{name}: {value} is not allowed; it must be from {least} to {most}")
        # Number of cards in a random deck, or 0 if decks are not random.
        self.n_dealt = variant.min_cards if variant.decks == RANDOM_DECKS else 0
        # Decks of both players in ascending order, empty if decks are random.
        self.decks: tuple[Cards, Cards] = ((), ())
        if not self.n_dealt:
            text = decks_text([DEFAULT_DECK] * N_PLAYERS) if variant.decks == DEFAULT_DECKS else variant.decks
            self.decks = decks_of(text, variant.min_cards)
        self.rules = (variant.hand_size, variant.draws, self.n_dealt)
        is_named = variant.decks in (DEFAULT_DECKS, RANDOM_DECKS)
        self.variant = variant if is_named else variant._replace(decks=decks_text(self.decks))

    @cached_property
    def vector(self) -> VectorGwent:
        """Vectorized version of the game, for arrays of states."""
        return VectorGwent(self, words_of(self.initial()), N_MOVES, _KERNELS, (self.rules,))

    def initial(self) -> GwentState:
        """Return the state before any card is drawn."""
        first, second = (min(self.variant.hand_size, len(deck) or self.n_dealt) for deck in self.decks)
        due = (first, second)
        return GwentState(self.decks, 1, ((), ()), self.decks, due, (0, 0), (0, 0), (False, False), -1, 0)

    def player(self, state: GwentState) -> int:
        """Return the player to move, or `CHANCE` if a card or the beginning player is to be drawn."""
        return CHANCE if any(state.due) or state.beginner < 0 else state.turn

    def is_terminal(self, state: GwentState) -> bool:
        """Return True if a player has won two rounds."""
        return max(state.wins) >= WINNING

    def actions(self, state: GwentState) -> list[int]:
        """Return the cards that can be drawn, the players who can begin, or `PASS` and the slots of the hand."""
        if self.player(state) == CHANCE:
            return np.flatnonzero(self._shares(state)).tolist()
        return [] if self.is_terminal(state) else list(range(len(state.hands[state.turn]) + 1))

    def probabilities(self, state: GwentState) -> list[float]:
        """Return the probabilities of the cards that can be drawn, or of the players who can begin."""
        shares = self._shares(state) if self.player(state) == CHANCE else np.zeros(0)
        possible: list[float] = shares[shares > 0].tolist()
        return possible

    def apply(self, state: GwentState, action: int) -> GwentState:
        """Return the state after a draw or a move, including the score of a finished round."""
        self.check_action(state, action)
        after, _, _ = self.vector.advance(words_of(state)[np.newaxis], np.array([action]))
        return state_of_words(after[0])

    def _is_dealt(self, state: GwentState) -> bool:
        """Return True if a card of a random deck is to be drawn."""
        return len(state.decks[1]) < self.n_dealt

    def _shares(self, state: GwentState) -> np.ndarray:
        return np.asarray(self.vector.probabilities(words_of(state)[np.newaxis])[0])

    def returns(self, state: GwentState) -> tuple[float, float]:
        """Return 1 for the winner and -1 for the loser, or 0 for both in a tie and before the end of the game."""
        if not self.is_terminal(state) or state.wins[0] == state.wins[1]:
            return 0.0, 0.0
        return (1.0, -1.0) if state.wins[0] > state.wins[1] else (-1.0, 1.0)

    def uncovered(self, state: GwentState, player: int) -> dict[str, Any]:
        """Return the opponent's hand."""
        return {"hand": state.hands[1 - player]}

    def known_to(self, state: GwentState, player: int) -> GwentState:
        """Return the state with the opponent's hand replaced by the lowest of the opponent's unplayed cards."""
        other = 1 - player
        cards, n = _unplayed(state, other), len(state.hands[other])
        hands, piles = list(state.hands), list(state.piles)
        hands[other], piles[other] = cards[:n], cards[n:]
        return state._replace(hands=(hands[0], hands[1]), piles=(piles[0], piles[1]))

    def story(self, steps: Sequence[Step]) -> list[Event]:
        """Describe the steps from one decision to the next: moves, draws, and the beginnings and ends of rounds.

        Events omit the slot of a played card, because it would reveal the number of lower cards in the hand.
        """
        before, last = steps[0], steps[-1].after
        is_dealt = self.player(before.state) == CHANCE
        events = list(_draws(before.state, last) if is_dealt else _move(self, before))
        if not is_dealt:
            events += _draws(before.after, last)
        if (is_dealt or last.round > before.state.round) and not self.is_terminal(last):
            events.append(Told("round", f"round {last.round}", last.turn, "begin", about=last.round))
        return events

    def text(self, state: GwentState) -> str:
        """Describe the whole state in one line, including both hands."""
        players = "; ".join(
            f"{seat} player: deck {_cards_text(state.decks[k])}, hand {_cards_text(state.hands[k])}, "
            f"pile {_cards_text(state.piles[k])}, to draw {state.due[k]}, total {state.totals[k]}, "
            f"won {state.wins[k]}{', out' * state.out[k]}"
            for k, seat in enumerate(_SEATS)
        )
        beginner = _SEATS[state.beginner] if state.beginner >= 0 else "nobody"
        return f"round {state.round}; {players}; {beginner} began; {_SEATS[state.turn]} moves"

    def action_text(self, state: GwentState, action: int) -> str:
        """Describe an action, such as ``"pass"``, ``"play 4 from slot 2"``, ``"draw 4"`` or ``"first begins"``."""
        if self._is_dealt(state):
            return f"{action} into the deck"
        if any(state.due):
            return f"draw {action}"
        if state.beginner < 0:
            return f"{_SEATS[action]} begins"
        return "pass" if action == PASS else f"play {state.hands[state.turn][action - 1]} from slot {action}"

    def features(self, state: GwentState) -> np.ndarray:
        """Return 100 numbers known to the player to move or, in chance states, to the first player.

        * 76: shares of the cards 1, 2, ..., 76 in the player's initial deck.
        * 10: cards in the slots of the hand / 76, or 0 for empty slots.
        * 5: number of unplayed cards (in hand or pile) / 25, total / 85, rounds won / 2, sum of the unplayed cards
          / 100, mean of the unplayed cards / 76.
        * 7 for the opponent: size of the initial deck / 25, number of cards in hand / 10, and the preceding five
          numbers.
        * 2: round / 3, number of players who are not out / 2.
        """
        return np.asarray(self.vector.features(words_of(state)[np.newaxis])[0])

    def words(self, state: GwentState) -> dict[str, int]:
        """Return the actions by name: a card, ``"pass"`` or a player who begins. Equal cards map to their first slot.

        With hands of two cards, for example, `state_of` accepts ``"1 5 2 2 second 2 pass"``.
        """
        actions = self.actions(state)
        if self._is_dealt(state) or any(state.due):
            return {str(card): card for card in actions}
        if state.beginner < 0:
            return {_SEATS[action]: action for action in actions}
        hand = state.hands[state.turn]
        return {"pass" if a == PASS else str(hand[a - 1]): a for a in reversed(actions)}

    def variant_text(self) -> str:
        """Return the name of the variant, such as ``"Gwent Lite, decks of 25 and 30 cards"``."""
        if self.n_dealt:
            return f"Gwent Lite, random decks of {self.n_dealt} cards"
        first, second = map(len, self.decks)
        return f"Gwent Lite, decks of {first if first == second else f'{first} and {second}'} cards"

    def rules_text(self) -> str:
        """Describe the rules in a few lines."""
        return (
            "Play a card, which adds its number to your total for the round, or pass and be out for the round.\n"
            "When both are out, the higher total wins the round; equal totals count for both.\n"
            f"Then both draw {self.variant.draws} cards, up to {self.variant.hand_size} in hand.\n"
            "The winner of a round begins the next. The first to win two rounds wins; if both do, the game is a tie."
        ) + self._decks_text()

    def _decks_text(self) -> str:
        """Describe the decks if they differ. A user at a terminal or a page is the first player."""
        if self.n_dealt or self.decks[0] == self.decks[1]:
            return ""
        first, second = map(_cards_text, self.decks)
        return f"\nYour deck: {first}\nYour opponent's deck: {second}"

    def draw(self, state: GwentState, viewer: int, names: Sequence[str]) -> str:
        """Draw the public state, the hand of ``viewer``, and the set of the opponent's unplayed cards."""
        lines = [f"round {state.round} of {N_ROUNDS}"]
        for player, name in enumerate(names):
            lines.append(
                f"{name}{' (you)' * (player == viewer and name != 'you')}: {len(state.hands[player])} in hand, "
                f"{len(state.piles[player])} to draw, total {state.totals[player]}, won {state.wins[player]}"
                f"{', out' * state.out[player]}"
            )
        lines.append(f"{names[1 - viewer]} still has {_cards_text(_unplayed(state, 1 - viewer))}, in hand or to draw")
        hand = state.hands[viewer]
        lines.append(f"hand{''.join(f'{card:3}' for card in hand)}")
        return "\n".join(lines)

    def board(self, state: GwentState, viewer: int) -> dict[str, Any]:
        """Return the part of the state that ``viewer`` can see as JSON values."""
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


_KERNELS = GameKernels(
    _gwent.find_gwent_players, _gwent.find_gwent_moves, _gwent.find_gwent_features, _gwent.step_gwent
)


class VectorGwent(PackedGame):
    """Gwent Lite on arrays of states (see `contract.VectorChanceGame`). ``state.py`` describes the words of a state."""

    def probabilities(self, states: np.ndarray) -> np.ndarray:
        """Return the probability that each card is drawn, or that each player begins."""
        n_dealt = self.rules[0][-1]
        rules = n_dealt, _deals(n_dealt)
        return filled(_gwent.find_gwent_shares, self.checked(states), np.float64, (Gwent.n_actions,), rules)


@lru_cache(maxsize=4)
def _deals(n_dealt: int) -> np.ndarray:
    """Return the table ``deals`` for the kernel `find_gwent_shares`."""
    deals = np.zeros((n_dealt + 1, MAX_SUM - n_dealt + 1, Gwent.n_actions)) if n_dealt else np.zeros((0, 0, 0))
    for n_cards in range(1, n_dealt + 1):
        for spare in range(MAX_SUM - n_dealt + 1):
            shares = deal_probabilities(n_cards, n_cards + spare)
            deals[n_cards, spare, 1 : len(shares) + 1] = shares
    return deals


def _unplayed(state: GwentState, player: int) -> Cards:
    """Return a player's unplayed cards (in hand or pile), which are public, in ascending order."""
    return tuple(sorted(state.hands[player] + state.piles[player]))


def _cards_text(cards: Cards) -> str:
    return " ".join(map(str, cards)) or "none"


def _move(game: Game, step: Step) -> Iterator[Event]:
    state: GwentState = step.state
    after: GwentState = step.after
    seat, totals = state.turn, list(state.totals)
    card = 0 if step.action == PASS else state.hands[seat][step.action - 1]
    totals[seat] += card
    yield Moved(seat, None, f"play {card}" if card else "pass")
    n_ended = after.round - state.round + game.is_terminal(after)
    if not n_ended:
        for player in range(2):
            if after.out[player] and not state.out[player] and (card or player != seat):
                yield Told("out", "no cards left", player, "have")
    # If no player has cards, the round ends immediately.
    for k in range(n_ended):
        yield _ending(state.round + k, totals if k == 0 else [0, 0])


def _draws(state: GwentState, after: GwentState) -> Iterator[Event]:
    for player in range(2):
        if not state.decks[player]:
            deck = " ".join(map(str, after.decks[player]))
            yield Told("deck", f"the deck {deck}", player, "get")
    for player in range(2):
        drawn = list(after.hands[player])
        for card in state.hands[player]:
            drawn.remove(card)
        if drawn:
            n = f"{len(drawn)} card{'s' * (len(drawn) > 1)}"
            yield Told("draw", n, player, "draw", own=" ".join(map(str, drawn)))


def _ending(number: int, totals: Sequence[int]) -> Event:
    first, second = totals
    if first == second:
        return Told("won", f"Round {number} is a tie at {first}: it counts for both.")
    high, low = max(totals), min(totals)
    return Told("won", f"round {number}, {high} to {low}", int(second > first), "win")

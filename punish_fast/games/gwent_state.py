"""States of Gwent Lite, and what draws and moves change in them; when rounds end is told in ``gwent.py``."""

from __future__ import annotations

from typing import Any, NamedTuple

Cards = tuple[int, ...]

# The action of a player who is out for the round.
PASS = 0


class GwentState(NamedTuple):
    """A state; where there are two values, they are of the first and the second player.

    Attributes:
        decks: The cards that the decks began with, ascending; random decks grow until they have all their cards.
        round: The round, from 1.
        hands: The cards in hand, ascending.
        piles: The cards that are still to be drawn, ascending.
        due: Cards to be drawn before the round.
        totals: Points of the round.
        wins: Rounds won.
        out: Whether a player is out for the round.
        beginner: The player who began the first round; -1 before that is drawn.
        turn: The player to move, if no card is to be drawn.
    """

    decks: tuple[Cards, Cards]
    round: int
    hands: tuple[Cards, Cards]
    piles: tuple[Cards, Cards]
    due: tuple[int, int]
    totals: tuple[int, int]
    wins: tuple[int, int]
    out: tuple[bool, bool]
    beginner: int
    turn: int

    def drawer(self) -> int:
        """The player who draws next."""
        return 0 if self.due[0] else 1

    def with_dealt(self, player: int, card: int) -> GwentState:
        """The state after a card has come into a random deck."""
        decks = at_seat(self.decks, player, tuple(sorted((*self.decks[player], card))))
        return self._replace(decks=decks, piles=decks)

    def with_draw(self, card: int) -> GwentState:
        """The state after the next player has drawn a card."""
        player = self.drawer()
        pile, hand = list(self.piles[player]), sorted((*self.hands[player], card))
        pile.remove(card)
        return self._replace(
            hands=at_seat(self.hands, player, tuple(hand)),
            piles=at_seat(self.piles, player, tuple(pile)),
            due=at_seat(self.due, player, self.due[player] - 1),
        )

    def with_move(self, action: int) -> GwentState:
        """The state after a pass or a slot of the player whose turn it is; it is the other's turn."""
        player, state = self.turn, self._replace(turn=1 - self.turn)
        if action == PASS:
            return state._replace(out=at_seat(state.out, player, True))
        hand = state.hands[player]
        return state._replace(
            hands=at_seat(state.hands, player, hand[: action - 1] + hand[action:]),
            totals=at_seat(state.totals, player, state.totals[player] + hand[action - 1]),
        )


def at_seat(pair: Any, player: int, value: Any) -> Any:
    """A pair with the value of one player replaced."""
    return (value, pair[1]) if player == 0 else (pair[0], value)

"""What happens at the table, in the order in which it does.

Seats are numbered from 0. Every event is public but for the hands of a deal, and for cards that a player alone sees.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from punish_fast.punish.rules import Five


@dataclass(frozen=True)
class Event:
    """Something that happens at the table."""

    def told(self, _seat: int) -> Event:
        """The event as the player of a seat may see it."""
        return self


@dataclass(frozen=True)
class Moved(Event):
    """A player makes a move that everyone sees."""

    seat: int
    action: int | None  # number of the action; None where it would tell of hidden cards
    words: str  # action in words


@dataclass(frozen=True)
class Told(Event):
    """Something that happens in a card game, in words."""

    kind: str  # what it is, in one word, for pages
    words: str  # words; with a seat, what follows the name and the verb
    seat: int | None = None  # player who does something, or to whom it happens
    verb: str = ""  # what the player does, in its plain form
    own: str | None = None  # what this player alone is told in place of `words`; None if all are told the same
    about: str | int | None = None  # card or the number of the round that it is about

    def told(self, seat: int) -> Event:
        """The event, with the words that are for one seat only if it is that seat."""
        words = self.words if self.own is None or seat != self.seat else self.own
        return replace(self, words=words, own=None)


@dataclass(frozen=True)
class Deal(Event):
    """Both hands are full, and a measure begins."""

    measure: int  # measure, from 1
    hands: tuple[Five | None, Five | None]  # hand of each seat, five counts; None for one that may not be seen
    revealed: Five  # new discard pile, five counts
    deck: int  # cards in the deck

    def told(self, seat: int) -> Event:
        """The deal with the hand of one seat alone."""
        mine = self.hands[seat]
        return replace(self, hands=(mine, None) if seat == 0 else (None, mine))


@dataclass(frozen=True)
class Reveal(Event):
    """Both players show what they picked, and draw for their feints."""

    breath: int  # breath of the measure, from 1
    actions: tuple[int, int]  # two-digit action of each seat
    drawn: tuple[int | None, int | None]  # card that each seat drew for a feint, from 0 for guard; None without a feint


@dataclass(frozen=True)
class Clash(Event):
    """Two cards hit each other."""

    resolved: tuple[int, int]  # card of each seat, from 0 for guard; 5 for rest


@dataclass(frozen=True)
class Damage(Event):
    """A player loses HP."""

    seat: int
    amount: int
    hp: int  # what is left, possibly below 0


@dataclass(frozen=True)
class Exhaustion(Event):
    """A player must rest in the next breath."""

    seat: int


@dataclass(frozen=True)
class Reshuffle(Event):
    """A measure ends: both players heal, and all cards but those in hand are shuffled."""

    hp: tuple[int, int]  # HP of each seat after healing
    healed: tuple[int, int]  # HP that each seat regained


@dataclass(frozen=True)
class End(Event):
    """The game is over."""

    winner: int | None  # seat that won; None for a draw, which Punish does not have
    both_fell: bool = False  # whether both players lost their last HP, so that the lower card won


@dataclass(frozen=True)
class SharedEnd(End):
    """The game is over, and some players, but not all, share first place."""

    shared: tuple[int, ...] = ()

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
    """A player makes a move that everyone sees.

    Attributes:
        seat: The player.
        action: The number of the action; None where it would tell of hidden cards.
        words: The action in words.
    """

    seat: int
    action: int | None
    words: str


@dataclass(frozen=True)
class Told(Event):
    """Something that happens in a card game, in words.

    Attributes:
        kind: What it is, in one word, for pages.
        words: The words; with a seat, what follows the name and the verb.
        seat: The player who does something, or to whom it happens.
        verb: What the player does, in its plain form.
        own: What this player alone is told in place of ``words``; None if all are told the same.
        about: The card or the number of the round that it is about.
    """

    kind: str
    words: str
    seat: int | None = None
    verb: str = ""
    own: str | None = None
    about: str | int | None = None

    def told(self, seat: int) -> Event:
        """The event, with the words that are for one seat only if it is that seat."""
        words = self.words if self.own is None or seat != self.seat else self.own
        return replace(self, words=words, own=None)


@dataclass(frozen=True)
class Deal(Event):
    """Both hands are full, and a measure begins.

    Attributes:
        measure: The measure, from 1.
        hands: The hand of each seat, five counts; None for one that may not be seen.
        revealed: The new discard pile, five counts.
        deck: Cards in the deck.
    """

    measure: int
    hands: tuple[Five | None, Five | None]
    revealed: Five
    deck: int

    def told(self, seat: int) -> Event:
        """The deal with the hand of one seat alone."""
        mine = self.hands[seat]
        return replace(self, hands=(mine, None) if seat == 0 else (None, mine))


@dataclass(frozen=True)
class Reveal(Event):
    """Both players show what they picked, and draw for their feints.

    Attributes:
        breath: The breath of the measure, from 1.
        actions: The two-digit action of each seat.
        drawn: The card that each seat drew for a feint, from 0 for guard; None without a feint.
    """

    breath: int
    actions: tuple[int, int]
    drawn: tuple[int | None, int | None]


@dataclass(frozen=True)
class Clash(Event):
    """Two cards hit each other.

    Attributes:
        resolved: The card of each seat, from 0 for guard; 5 for rest.
    """

    resolved: tuple[int, int]


@dataclass(frozen=True)
class Damage(Event):
    """A player loses HP.

    Attributes:
        seat: The player.
        amount: Damage.
        hp: What is left, possibly below 0.
    """

    seat: int
    amount: int
    hp: int


@dataclass(frozen=True)
class Exhaustion(Event):
    """A player must rest in the next breath.

    Attributes:
        seat: The player.
    """

    seat: int


@dataclass(frozen=True)
class Reshuffle(Event):
    """A measure ends: both players heal, and all cards but those in hand are shuffled.

    Attributes:
        hp: HP of each seat after healing.
        healed: HP that each seat regained.
    """

    hp: tuple[int, int]
    healed: tuple[int, int]


@dataclass(frozen=True)
class End(Event):
    """The game is over.

    Attributes:
        winner: The seat that won; None for a draw, which Punish does not have.
        both_fell: Whether both players lost their last HP, so that the lower card won.
    """

    winner: int | None
    both_fell: bool = False


@dataclass(frozen=True)
class SharedEnd(End):
    """The game is over, and some players, but not all, share first place.

    Attributes:
        shared: Their seats.
    """

    shared: tuple[int, ...] = ()

"""Events of a session.

Seats are numbered from 0. All events are public, except for the hands of a deal and cards that only one player sees.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from punish_fast.punish.rules import Five


@dataclass(frozen=True)
class Event:
    """An event of a session."""

    def told(self, _seat: int) -> Event:
        """Return the event as the player of a seat may see it."""
        return self


@dataclass(frozen=True)
class Moved(Event):
    """A player makes a move that everyone sees."""

    seat: int
    action: int | None  # number of the action; None if it would reveal hidden cards
    words: str  # action in words


@dataclass(frozen=True)
class Told(Event):
    """Something that happens in a card game, in words."""

    kind: str  # kind of event in one word, for pages
    words: str  # words; with a seat, the part after name and verb
    seat: int | None = None  # player concerned
    verb: str = ""  # infinitive of the verb
    own: str | None = None  # words for the player concerned, if they differ
    about: str | int | None = None  # card or the number of the round that it is about

    def told(self, seat: int) -> Event:
        """Return the event with the words for this seat."""
        words = self.words if self.own is None or seat != self.seat else self.own
        return replace(self, words=words, own=None)


@dataclass(frozen=True)
class Deal(Event):
    """Both hands are full, and a measure begins."""

    measure: int  # measure, from 1
    hands: tuple[Five | None, Five | None]  # hand of each seat, five counts; None if hidden
    revealed: Five  # new discard pile, five counts
    deck: int  # cards in the deck

    def told(self, seat: int) -> Event:
        """Return the deal with the hand of one seat only."""
        mine = self.hands[seat]
        return replace(self, hands=(mine, None) if seat == 0 else (None, mine))


@dataclass(frozen=True)
class Reveal(Event):
    """Both players show their picks, and draw for their feints."""

    breath: int  # breath of the measure, from 1
    actions: tuple[int, int]  # two-digit action of each seat
    drawn: tuple[int | None, int | None]  # card that each seat drew for a feint, from 0 for guard, or None


@dataclass(frozen=True)
class Clash(Event):
    """Two cards hit each other."""

    resolved: tuple[int, int]  # card of each seat, from 0 for guard; 5 for rest


@dataclass(frozen=True)
class Damage(Event):
    """A player loses HP."""

    seat: int
    amount: int
    hp: int  # remaining HP, possibly below 0


@dataclass(frozen=True)
class Exhaustion(Event):
    """A player must rest in the next breath."""

    seat: int


@dataclass(frozen=True)
class Reshuffle(Event):
    """A measure ends: both players heal, and all cards not in hand are shuffled."""

    hp: tuple[int, int]  # HP of each seat after healing
    healed: tuple[int, int]  # HP that each seat regained


@dataclass(frozen=True)
class End(Event):
    """The game is over."""

    winner: int | None  # seat that won; None if the game is a draw
    both_fell: bool = False  # whether both players lost their last HP, so that the lower card won


@dataclass(frozen=True)
class SharedEnd(End):
    """The game is over, and some players, but not all, share first place."""

    shared: tuple[int, ...] = ()

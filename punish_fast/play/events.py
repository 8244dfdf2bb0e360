"""Events of a session.

Seats are numbered from 0. All events are public, except for dealt hands and other cards that only one player sees.
"""

from dataclasses import dataclass, replace

from punish_fast.punish.rules import Five
from punish_fast.runtime.events import Event


@dataclass(frozen=True)
class Deal(Event):
    """Both hands are dealt, and a measure begins."""

    measure: int  # number of the measure, from 1
    hands: tuple[Five | None, Five | None]  # hand of each seat, five counts (None if hidden)
    revealed: Five  # new discard pile, five counts
    deck: int  # number of cards in the deck

    def told(self, seat: int) -> Event:
        """Return the deal without the hand of the other seat."""
        mine = self.hands[seat]
        return replace(self, hands=(mine, None) if seat == 0 else (None, mine))


@dataclass(frozen=True)
class Reveal(Event):
    """Both players reveal their picks and draw cards for their feints."""

    breath: int  # breath of the measure, from 1
    actions: tuple[int, int]  # two-digit action of each seat
    drawn: tuple[int | None, int | None]  # card that each seat drew for a feint (0 is guard, None if it drew none)


@dataclass(frozen=True)
class Clash(Event):
    """Two cards clash."""

    resolved: tuple[int, int]  # card of each seat (0 is guard, 5 is rest)


@dataclass(frozen=True)
class Damage(Event):
    """A player loses HP."""

    seat: int
    amount: int
    hp: int  # remaining HP, possibly below 0


@dataclass(frozen=True)
class Heal(Event):
    """A player regains HP within a measure."""

    seat: int
    amount: int
    hp: int  # HP after healing


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

    winner: int | None  # seat that won (None if the game is a draw)
    both_fell: bool = False  # True if both players lost their last HP, so that the lower card won


@dataclass(frozen=True)
class SharedEnd(End):
    """The game is over, and some players, but not all, share first place."""

    shared: tuple[int, ...] = ()

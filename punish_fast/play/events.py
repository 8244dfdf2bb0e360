"""Events of a session.

Seats are numbered from 0. Events are public, except for cards that only one player sees, such as a dealt hand.
"""

from dataclasses import dataclass, replace

from punish_fast.punish.rules import Five
from punish_fast.runtime.events import Event


@dataclass(frozen=True)
class Deal(Event):
    """Deal of both hands at the beginning of a measure."""

    measure: int  # number of the measure in the game, from 1
    hands: tuple[Five | None, Five | None]  # hand of each seat, as five counts (None if hidden)
    revealed: Five  # new discard pile, as five counts
    deck: int  # number of cards in the deck

    def seen_by(self, seat: int) -> Event:
        """Return the deal without the hand of the other seat."""
        mine = self.hands[seat]
        return replace(self, hands=(mine, None) if seat == 0 else (None, mine))


@dataclass(frozen=True)
class Reveal(Event):
    """Reveal of both picks and of the cards drawn for feints."""

    breath: int  # number of the breath in the measure, from 1
    actions: tuple[int, int]  # two-digit action of each seat
    drawn: tuple[int | None, int | None]  # card that each seat drew for a feint (0 is guard, None if no feint)


@dataclass(frozen=True)
class Clash(Event):
    """Clash of two cards."""

    resolved: tuple[int, int]  # kind of card that each seat resolves (0 is guard, 5 is rest)


@dataclass(frozen=True)
class Damage(Event):
    """Loss of HP in a clash."""

    seat: int
    amount: int
    hp: int  # remaining HP, possibly below 0


@dataclass(frozen=True)
class Heal(Event):
    """Healing of a player within a measure."""

    seat: int
    amount: int
    hp: int  # HP after healing


@dataclass(frozen=True)
class Exhaustion(Event):
    """Exhaustion of a player, who must rest in the next breath."""

    seat: int


@dataclass(frozen=True)
class Reshuffle(Event):
    """End of a measure: both players heal, and all cards outside the hands are shuffled."""

    hp: tuple[int, int]  # HP of each seat after healing
    healed: tuple[int, int]  # HP that each seat regained


@dataclass(frozen=True)
class End(Event):
    """End of the game."""

    winner: int | None  # seat that won (None if several players share first place)
    both_fell: bool = False  # True if both players lost their last HP and the lower card won


@dataclass(frozen=True)
class SharedEnd(End):
    """End of a game in which at least two players, but not all, share first place."""

    shared: tuple[int, ...] = ()

"""Events of a session: moves, and other events of card games."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Event:
    """An event of a session."""

    def seen_by(self, _seat: int) -> Event:
        """Return the event as seen by the player in a seat.

        Args:
            _seat: Seat of the player, from 0. Subclasses with hidden cards use it.

        Returns:
            The event, without cards that the player must not see.

        Examples:
            >>> from punish_fast.games import Event
            >>> Event().seen_by(0)
            Event()
        """
        return self


@dataclass(frozen=True)
class Moved(Event):
    """A move, shown to all players."""

    seat: int
    action: int | None  # None if the action would reveal hidden cards
    words: str  # description of the action


@dataclass(frozen=True)
class Told(Event):
    """An event of a card game and its description."""

    kind: str  # kind of event in one word, for the web page
    words: str  # description (if `seat` is not None, only the part after the player's name and the verb)
    seat: int | None = None  # seat of the player who is the subject (None if no player is)
    verb: str = ""  # infinitive of the verb
    own: str | None = None  # description for the player in `seat` (None if `words` applies)
    about: str | int | None = None  # card or round number that the event concerns

    def seen_by(self, seat: int) -> Event:
        """Return the event as described to the player in a seat."""
        words = self.words if self.own is None or seat != self.seat else self.own
        return replace(self, words=words, own=None)


class Step(NamedTuple):
    """One action of a player or of chance."""

    state: Any  # state before the action
    action: int
    after: Any  # state after the action

"""Events of a session in words: moves, and events of card games."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Event:
    """An event of a session."""

    def told(self, _seat: int) -> Event:
        """Return the event as the player of a seat may see it."""
        return self


@dataclass(frozen=True)
class Moved(Event):
    """A move that everyone sees."""

    seat: int
    action: int | None  # None if the action would reveal hidden cards
    words: str  # action in words


@dataclass(frozen=True)
class Told(Event):
    """An event of a card game in words."""

    kind: str  # kind of event in one word, for the web page
    words: str  # description; if there is a seat, the part after name and verb
    seat: int | None = None  # player concerned
    verb: str = ""  # infinitive
    own: str | None = None  # description for the player concerned, if different
    about: str | int | None = None  # card or round number concerned

    def told(self, seat: int) -> Event:
        """Return the event with the words for this seat."""
        words = self.words if self.own is None or seat != self.seat else self.own
        return replace(self, words=words, own=None)


class Step(NamedTuple):
    """One action of a player or of chance."""

    state: Any  # state before the action
    action: int
    after: Any  # state after the action

"""Referees decide who is asked in a game, hide secret information from players, and describe events in words.

Players of a match see only states from `Referee.known_to`, in which hidden information is replaced. Policies and web
pages therefore cannot depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from punish_fast.games.contract import CHANCE, TableGame


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


class Referee(Protocol):
    """The information of each player in a game, and who is asked."""

    # True if all players know the whole state, so that moves can be undone.
    is_open: bool

    def deciders(self, state: Any) -> tuple[int, ...]:
        """Return the players who decide simultaneously in a state in which none has been asked yet, in order."""

    def known_to(self, state: Any, player: int) -> Any:
        """Return a representative of the states that ``player`` cannot distinguish from ``state``.

        If ``player`` is to decide, ``player`` is to move in the representative.
        """

    def story(self, steps: Sequence[Step]) -> list[Event]:
        """Describe the steps from one decision to the next."""


class OpenReferee:
    """Referee of a game with perfect information, in which one player moves at a time."""

    is_open = True

    def __init__(self, game: TableGame) -> None:
        self._game = game

    def deciders(self, state: Any) -> tuple[int, ...]:
        """Return the player to move."""
        return (self._game.player(state),)

    def known_to(self, state: Any, player: int) -> Any:  # noqa: ARG002 - no secrets
        """Return the state."""
        return state

    def story(self, steps: Sequence[Step]) -> list[Event]:
        """Return the moves."""
        game = self._game
        moves = [(game.player(step.state), step) for step in steps]
        return [
            Moved(player, step.action, game.action_text(step.state, step.action))
            for player, step in moves
            if player != CHANCE
        ]

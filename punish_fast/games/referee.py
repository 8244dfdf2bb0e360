"""Referees: who decides in a game, the information of each player, and events in words.

A match gives players only states of `Referee.known_to`, in which hidden information is replaced. Policies and pages
therefore cannot depend on it.
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


class Step(NamedTuple):
    """One action of a player or of chance."""

    state: Any  # state before it
    action: int  # action
    after: Any  # state after it


class Referee(Protocol):
    """Knowledge of the players of one game."""

    # Whether all players know the whole state, so that moves can be undone.
    is_open: bool

    def deciders(self, state: Any) -> tuple[int, ...]:
        """Return the players who decide simultaneously, in the order in which the game asks them.

        Args:
            state: A state in which players are to decide, and nobody has been asked yet.
        """

    def known_to(self, state: Any, player: int) -> Any:
        """Return one state for all states that ``player`` cannot distinguish from ``state``.

        If ``player`` is to decide, the game asks this player there.
        """

    def story(self, steps: Sequence[Step]) -> list[Event]:
        """Return the events in the steps from one decision to the next."""


class OpenReferee:
    """Referee of a game without secrets, in which one player moves at a time."""

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

"""Referees: who decides in a game, the information of each player, and events in words.

A match gives players only states of `Referee.known_to`, in which hidden information is replaced. Policies and pages
therefore cannot depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from punish_fast.games.contract import CHANCE, TableGame
from punish_fast.play.events import Event, Moved


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

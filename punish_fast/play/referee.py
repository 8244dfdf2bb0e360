"""What a table asks about the secrets of a game: who decides, what each player knows, and what happens, in words.

A *referee* of a game knows its states. A match hands nobody a state itself, but `Referee.known_to`, in which everything
that a player does not know is replaced. Whatever follows from it, be it a policy or a page, cannot tell what is hidden.
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
        """The players who decide now, all at once, in the order in which the game asks them.

        Args:
            state: A state in which players are to decide, and nobody has been asked yet.
        """

    def known_to(self, state: Any, player: int) -> Any:
        """A state that ``player`` cannot tell from ``state``, the same one for all such states.

        If ``player`` is to decide, the game asks this player there.
        """

    def story(self, steps: Sequence[Step]) -> list[Event]:
        """What happens in the steps from one decision to the next."""


class OpenReferee:
    """Referee of a game without secrets, in which players move in turn."""

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

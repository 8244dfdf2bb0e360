"""Protocol of a match in a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from punish_fast.games.referee import Event
from punish_fast.runtime.errors import PunishFastError


class UndoError(PunishFastError, ValueError):
    """A move that cannot be undone; the message says why."""


class Match(Protocol):
    """One game with its hidden information."""

    @property
    def to_move(self) -> tuple[int, ...]:
        """Seats that choose simultaneously; empty when the game is over."""

    def begin(self) -> list[Event]:
        """Begin the game; called once."""

    def view(self, seat: int) -> Any:
        """Return the information of the player of a seat."""

    def legal(self, seat: int) -> Sequence[int]:
        """Return the legal actions of a seat."""

    def draw_choice(self, seat: int, policy: Any) -> int:
        """Sample an action of a policy for a seat."""

    def move(self, actions: dict[int, int]) -> list[Event]:
        """Play the actions of all seats that choose now."""

    def undo(self) -> None:
        """Undo the last move, or raise `UndoError`."""

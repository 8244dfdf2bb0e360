"""What a session asks of a game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from punish_fast.play.events import Event
from punish_fast.runtime.errors import PunishFastError


class UndoError(PunishFastError, ValueError):
    """A move that cannot be undone; the message says why."""


class Match(Protocol):
    """One game with its secrets: whoever holds it knows both hands."""

    @property
    def to_move(self) -> tuple[int, ...]:
        """The seats that choose now, all at once; empty when the game is over."""

    def begin(self) -> list[Event]:
        """Begin the game; called once."""

    def view(self, seat: int) -> Any:
        """Everything that the player of a seat may know."""

    def legal(self, seat: int) -> Sequence[int]:
        """The legal actions of a seat."""

    def draw_choice(self, seat: int, policy: Any) -> int:
        """The action that the policy of an agent plays now in this seat."""

    def move(self, actions: dict[int, int]) -> list[Event]:
        """Play the actions of all seats that choose now."""

    def undo(self) -> None:
        """Go back to before the last move."""

"""How a game looks from a seat: JSON and words, for a page or any other program that draws it.

A game brings its own. Whoever shows it knows no rule: it takes what a face makes of views and events, and hands numbers
of actions back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from punish_fast.play.events import Event


class Face(Protocol):
    """A game as JSON; text in it is for people and screen readers."""

    @property
    def game(self) -> str:
        """The name of the game, by which a page chooses how to draw it."""

    def rules(self) -> dict[str, Any]:
        """What is the same in every position."""

    def view(self, view: Any) -> dict[str, Any]:
        """A position as one player may know it, as `PlaySession.view` gives it."""

    def guide(self, view: Any, enemy: str) -> list[str]:
        """The rules that matter now, in paragraphs."""

    def moves(self, view: Any) -> list[dict[str, Any]]:
        """Each legal action as ``action``, ``name`` and ``key``, the keys to press for it."""

    def event(self, event: Event, seat: int, names: Sequence[str]) -> dict[str, Any]:
        """An event as ``kind``, ``words`` and what it says; hidden from a seat what `Event.told` hides.

        Args:
            event: The event.
            seat: Whom it is told.
            names: The name of each seat in the words; "you" for the reader.
        """

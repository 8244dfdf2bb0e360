"""What is asked of perfect play in any game: the outcome of each move, and the move to make."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from punish_fast.games.contract import TableGame


class MoveValue(NamedTuple):
    """The value of an action with perfect play."""

    action: int  # The action.
    value: int  # 1, 0 or -1 for the player who takes it.
    plies: int | None  # Actions to the end, this one included, or None if the game is drawn.
    is_best: bool  # True if no other action is better.


class Oracle(Protocol):
    """Perfect play of a game for two: it wins fast, else draws, else loses slowly."""

    is_quick: bool  # True if answers take no time after `open`.

    @property
    def game(self) -> TableGame:
        """The game."""

    @property
    def n_positions(self) -> int:
        """The number of positions of the game."""

    def open(self) -> None:
        """Do what takes longer now."""

    def prepare(self, state: Any, until: float) -> bool:
        """Search until a moment of ``time.monotonic``; return True if `best_action` needs no further search."""

    def known_values(self, state: Any, until: float) -> tuple[list[MoveValue | None], bool]:
        """Return the values that are known at a moment of ``time.monotonic``, and whether they are `move_values`.

        If the search was cut short, a value is None if its outcome is unknown, and ``plies`` is None if the length is
        unknown. ``is_best`` is True only if it is proved.
        """

    def move_values(self, state: Any) -> list[MoveValue]:
        """The value of each action of a state, in the order of ``game.actions``."""

    def best_action(self, state: Any) -> int:
        """A best action of a state that is not terminal; errors as in `move_values`."""

    def line(self, state: Any) -> list[int]:
        """The best actions of both players to the end, or until a position repeats; errors as in `move_values`."""

"""Protocol of oracles, which know the value of each move and the best move of a game."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from punish_fast.games.contract import TableGame


class MoveValue(NamedTuple):
    """Value of an action with perfect play."""

    action: int
    value: int  # 1 for a win, 0 for a draw or -1 for a loss of the player who takes it.
    plies: int | None  # Number of actions until the end, including this one; None if the game is drawn.
    is_best: bool  # True if no other action is better.


class Oracle(Protocol):
    """Perfect play of a two-player game: win as fast as possible, else draw, else lose as slowly as possible.

    By default, `open` solves all positions. Oracles that search override `prepare` and `known_values`.
    """

    is_quick: bool = True  # True if queries take negligible time after `open`.

    game: TableGame

    @property
    def n_positions(self) -> int:
        """Number of positions of the game."""

    def open(self) -> None:
        """Do the expensive part of the work, such as solving or compiling, before the first query."""

    def reaching(self, state: Any) -> Oracle:  # noqa: ARG002 - of games that are enumerated
        """Return an oracle that covers a state, even if it cannot be reached from the initial state."""
        return self

    def prepare(self, state: Any, until: float) -> bool:  # noqa: ARG002 - of searches
        """Search until a deadline of ``time.monotonic``; return True if `best_action` needs no further search."""
        return True

    def known_values(self, state: Any, until: float) -> tuple[list[MoveValue | None], bool]:  # noqa: ARG002
        """Return the values found until a deadline of ``time.monotonic``, and True if they equal `move_values`.

        If the deadline cuts the search short, a value is None if its outcome is unknown, and ``plies`` is None if the
        length is unknown. ``is_best`` is True only if it is proved.
        """
        return [*self.move_values(state)], True

    def move_values(self, state: Any) -> list[MoveValue]:
        """Return the value of each action of a state, in the order of ``game.actions``."""

    def best_action(self, state: Any) -> int:
        """Return a best action of a nonterminal state."""

    def line(self, state: Any) -> list[int]:
        """Return the best actions of both players until the game ends or a position repeats."""
        game, actions, seen = self.game, [], set()
        while not game.is_terminal(state) and game.position(state) not in seen:
            seen.add(game.position(state))
            actions.append(self.best_action(state))
            state = game.apply(state, actions[-1])
        return actions

    def line_text(self, state: Any) -> list[str]:
        """Return the actions of `line` in words."""
        texts = []
        for action in self.line(state):
            texts.append(self.game.action_text(state, action))
            state = self.game.apply(state, action)
        return texts

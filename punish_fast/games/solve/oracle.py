"""Perfect play of any game: the outcome of each move, and the move to make."""

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
    """Perfect play of a game for two: it wins fast, else draws, else loses slowly.

    By default, all positions are solved by `open`; a search overrides `prepare` and `known_values`.
    """

    is_quick: bool = True  # True if answers take no time after `open`.

    game: TableGame  # The game.

    @property
    def n_positions(self) -> int:
        """The number of positions of the game."""

    def open(self) -> None:
        """Do what takes longer now."""

    def reaching(self, state: Any) -> Oracle:  # noqa: ARG002 - of games that are enumerated
        """Return perfect play that knows a state, even if no game reaches it."""
        return self

    def prepare(self, state: Any, until: float) -> bool:  # noqa: ARG002 - of searches
        """Search until a moment of ``time.monotonic``; return True if `best_action` needs no further search."""
        return True

    def known_values(self, state: Any, until: float) -> tuple[list[MoveValue | None], bool]:  # noqa: ARG002
        """Return the values that are known at a moment of ``time.monotonic``, and whether they are `move_values`.

        If the search was cut short, a value is None if its outcome is unknown, and ``plies`` is None if the length is
        unknown. ``is_best`` is True only if it is proved.
        """
        return [*self.move_values(state)], True

    def move_values(self, state: Any) -> list[MoveValue]:
        """The value of each action of a state, in the order of ``game.actions``."""

    def best_action(self, state: Any) -> int:
        """A best action of a state that is not terminal; errors as in `move_values`."""

    def line(self, state: Any) -> list[int]:
        """The best actions of both players to the end, or until a position repeats; errors as in `move_values`."""
        game, actions, seen = self.game, [], set()
        while not game.is_terminal(state) and game.position(state) not in seen:
            seen.add(game.position(state))
            actions.append(self.best_action(state))
            state = game.apply(state, actions[-1])
        return actions

    def line_text(self, state: Any) -> list[str]:
        """The actions of `line` in words."""
        texts = []
        for action in self.line(state):
            texts.append(self.game.action_text(state, action))
            state = self.game.apply(state, action)
        return texts

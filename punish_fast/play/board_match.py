"""A match of a game without secrets, in which players move in turn: any of ``games``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from punish_fast.games.contract import Game
from punish_fast.play.events import End, Event, Moved
from punish_fast.play.match import UndoError

# A policy: the weight of each legal action of a state, in the order of ``game.actions``; not all are 0.
Choices = Callable[[Any], Sequence[float] | np.ndarray]


@dataclass(frozen=True)
class BoardView:
    """A position, which all players know, and who sees it.

    Attributes:
        state: The state of the game.
        seat: The player.
        actions: The legal actions of the player.
    """

    state: Any
    seat: int
    actions: tuple[int, ...]


class BoardMatch:
    """A match of a game without secrets, in which policies are `Choices`."""

    def __init__(self, game: Game, generator: np.random.Generator, most_moves: int | None = None) -> None:
        """Set the board up.

        Args:
            game: The game.
            generator: Draws the actions of policies.
            most_moves: After so many moves the game is a draw; None for no end.
        """
        self._game = game
        self._generator, self._most_moves = generator, most_moves
        self._states: list[Any] = [self._game.initial()]

    @property
    def to_move(self) -> tuple[int, ...]:
        """The player to move; empty when the game is over."""
        is_over = self._game.is_terminal(self._state) or len(self._states) - 1 == self._most_moves
        return () if is_over else (self._game.player(self._state),)

    @property
    def _state(self) -> Any:
        return self._states[-1]

    def begin(self) -> list[Event]:
        """Nothing happens before the first move."""
        return []

    def view(self, seat: int) -> BoardView:
        """The position, for the player of a seat."""
        return BoardView(self._state, seat, self.legal(seat))

    def legal(self, seat: int) -> tuple[int, ...]:
        """The legal actions of a seat: none unless it is its turn."""
        return tuple(self._game.actions(self._state)) if seat in self.to_move else ()

    def draw_choice(self, seat: int, policy: Choices) -> int:  # noqa: ARG002 - the turn says who moves
        """The action that a policy plays now."""
        weight = np.asarray(policy(self._state), dtype=np.float64)
        return int(self._game.actions(self._state)[self._generator.choice(len(weight), p=weight / weight.sum())])

    def move(self, actions: dict[int, int]) -> list[Event]:
        """Make the move of the player whose turn it is."""
        ((seat, action),) = actions.items()
        events: list[Event] = [Moved(seat, action, self._game.action_text(self._state, action))]
        self._states.append(self._game.apply(self._state, action))
        return events if self.to_move else [*events, End(self._winner)]

    @property
    def _winner(self) -> int | None:
        returns = self._game.returns(self._state)
        return None if returns[0] == returns[1] else int(returns[1] > returns[0])

    def undo(self) -> None:
        """Go back to before the last move.

        Raises:
            UndoError: there was none.
        """
        if len(self._states) == 1:
            raise UndoError("there is no move to undo")
        self._states.pop()

"""A match of any game in the package ``games``, with any number of players.

The match samples chance events. Views and policies receive only states from `Game.known_to`, which exclude information
hidden from the player. When players decide simultaneously, all of them choose before any choice is revealed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from punish_fast.games.contract import CHANCE, Game
from punish_fast.play.events import End, SharedEnd
from punish_fast.play.session import UndoError
from punish_fast.runtime.events import Event, Step

# Function that maps a state to weights of its legal actions, in the order of `Game.actions`.
# Weights are not negative, and at least one weight is positive.
GamePolicy = Callable[[Any], Sequence[float] | np.ndarray]


@dataclass(frozen=True)
class GameView:
    """A position as seen by a player."""

    state: Any  # state from `Game.known_to`, without hidden information
    seat: int
    actions: tuple[int, ...]  # legal actions of the player


class GameMatch:
    """A match whose policies are `GamePolicy` functions of states from `Game.known_to`."""

    def __init__(
        self,
        game: Game,
        chance: np.random.Generator,
        most_moves: int | None = None,
        choices: np.random.Generator | None = None,
    ) -> None:
        """Create a match in the initial state.

        Args:
            game: The game.
            chance: Random number generator for chance events.
            most_moves: Number of moves after which a game without hidden information is a draw. None if unlimited.
            choices: Random number generator for the actions of policies. By default, ``chance``.
        """
        self._game, self._most_moves = game, most_moves
        self._chance, self._choices = chance, choices or chance
        self._state: Any = game.initial()
        # State before each move.
        self._past: list[Any] = []

    @property
    def to_move(self) -> tuple[int, ...]:
        """Seats that decide now. Empty if the game is over."""
        return () if self._is_over else self._game.deciders(self._state)

    @property
    def _is_over(self) -> bool:
        is_long = self._game.is_open and len(self._past) == self._most_moves
        return is_long or self._game.is_terminal(self._state)

    def begin(self) -> list[Event]:
        """Sample chance events until a player decides, and return the events."""
        return self._told([])

    def view(self, seat: int) -> GameView:
        """Return the position as seen by the player in a seat."""
        return GameView(self._game.known_to(self._state, seat), seat, self.legal(seat))

    def legal(self, seat: int) -> tuple[int, ...]:
        """Return the legal actions of a seat. Empty if the seat does not decide now."""
        return tuple(self._game.actions(self._game.known_to(self._state, seat))) if seat in self.to_move else ()

    def draw_choice(self, seat: int, policy: GamePolicy) -> int:
        """Sample an action from a policy, given the information of the player in a seat."""
        weight = np.asarray(policy(self._game.known_to(self._state, seat)), dtype=np.float64)
        return int(self.legal(seat)[self._choices.choice(len(weight), p=weight / weight.sum())])

    def move(self, actions: dict[int, int]) -> list[Event]:
        """Apply the actions of all players who decide, sample chance events, and return the events."""
        steps: list[Step] = []
        deciders = self.to_move
        self._past.append(self._state)
        for seat in deciders:
            self._take(actions[seat], steps)
        return self._told(steps)

    def uncovered(self, seat: int) -> dict[str, Any] | None:
        """Return the other player's hand after a card game. Return None if the game is not over or has no hands."""
        return self._game.uncovered(self._state, seat) if self._is_over else None

    def undo(self) -> None:
        """Undo the last move. Raise `UndoError` in games with hidden information, and before the first move."""
        if not self._game.is_open:
            raise UndoError("moves cannot be undone in a game with hidden information")
        if not self._past:
            raise UndoError("there is no move to undo")
        self._state = self._past.pop()

    def _told(self, steps: list[Step]) -> list[Event]:
        """Sample chance events until a player decides, append them to ``steps``, and return the events of all steps."""
        game = self._game
        while not game.is_terminal(self._state) and game.player(self._state) == CHANCE:
            shares = np.asarray(game.probabilities(self._state))
            drawn = self._chance.choice(len(shares), p=shares / shares.sum())
            self._take(int(game.actions(self._state)[drawn]), steps)
        events = self._game.story(steps) if steps else []
        return [*events, self._end()] if self._is_over else events

    def _take(self, action: int, steps: list[Step]) -> None:
        before = self._state
        self._state = self._game.apply(before, action)
        steps.append(Step(before, action, self._state))

    def _end(self) -> End:
        returns = list(self._game.returns(self._state))
        first = tuple(seat for seat, each in enumerate(returns) if each == max(returns))
        if len(first) == 1:
            return End(first[0])
        return End(None) if len(first) == len(returns) else SharedEnd(None, shared=first)

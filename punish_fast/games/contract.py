"""The contract of a game: what it must offer, and the laws it must obey.

A game holds the rules. Its states are immutable, hashable values. Enumeration, exact solutions, learning and play use
only the methods of `Game`. `tests/games/laws.py` tests the laws on any game; ``s`` is a reachable state, ``a`` a legal
action:

1.  ``initial()`` and ``apply(s, a)`` are deterministic and leave ``s`` unchanged.
2.  ``player(s)`` is from 0 to ``n_players - 1``, or `CHANCE` in a chance state. In a terminal state it is the player
    who would move next.
3.  ``actions(s)`` are distinct integers from 0 to ``n_actions - 1``, ascending, and empty exactly in terminal states.
4.  ``probabilities(s)`` has a positive number for each action of a chance state, and their sum is 1; it is empty
    elsewhere.
5.  ``apply(s, a)`` raises `GameError` for an illegal action.
6.  ``returns(s)`` has ``n_players`` finite numbers, all 0 before the end; their sum is 0 if ``is_zero_sum``.
7.  ``text(s)`` differs between states, and ``action_text(s, a)`` between the actions of a state; both are printable
    and not empty.
8.  ``features(s)`` is a finite float32 ``[n_features]`` that differs between positions (law 9) of the same player.
9.  ``position(s)`` is equal for states that are equivalent for the player to move: they have the same actions and
    probabilities, the same actions lead to equal positions and pass the turn alike, and at the end the player who
    would move next has the same return. It is hashable. A game without symmetries returns ``s``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import numpy as np

# The player to move in a chance state.
CHANCE = -1


class GameError(ValueError):
    """A wrong action, state, option or game; the message says what is allowed."""


class Game(Protocol):
    """The rules of a game.

    Attributes:
        name: Its name; with ``parameters()`` it identifies the game.
        n_players: Number of players.
        n_actions: Actions are integers below this.
        n_features: Length of ``features``.
        is_zero_sum: Whether the returns always add up to 0.
    """

    name: str
    n_players: int
    n_actions: int
    n_features: int
    is_zero_sum: bool

    def parameters(self) -> dict[str, Any]:
        """The parameters of the variant, as JSON values."""

    def initial(self) -> Any:
        """The initial state."""

    def player(self, state: Any) -> int:
        """The player to move, or `CHANCE`; in a terminal state, the player who would move next."""

    def is_terminal(self, state: Any) -> bool:
        """Whether the game is over."""

    def actions(self, state: Any) -> Sequence[int]:
        """The legal actions, ascending."""

    def probabilities(self, state: Any) -> Sequence[float]:
        """The probability of each action of a chance state; empty elsewhere."""

    def apply(self, state: Any, action: int) -> Any:
        """The state after an action.

        Raises:
            GameError: The action is illegal.
        """

    def returns(self, state: Any) -> Sequence[float]:
        """The return of each player; 0 before the end."""

    def position(self, state: Any) -> Hashable:
        """The state up to symmetry."""

    def text(self, state: Any) -> str:
        """The state in words or signs."""

    def action_text(self, state: Any, action: int) -> str:
        """A legal action in words."""

    def features(self, state: Any) -> np.ndarray:
        """The position as numbers, float32 ``[n_features]``."""


class TableGame(Game, Protocol):
    """A game that people can ask about and play."""

    def variant_text(self) -> str:
        """The game and its variant, in one line."""

    def rules_text(self) -> str:
        """The rules, in a few lines."""

    def state_of(self, text: str) -> Any:
        """The state that a text describes.

        Raises:
            GameError: The text describes no state.
        """

    def draw(self, state: Any, viewer: int, names: tuple[str, str]) -> str:
        """A picture of a state as ``viewer`` sees it, in lines of text."""

    def board(self, state: Any, viewer: int) -> dict[str, Any]:
        """A state as ``viewer`` sees it, as JSON values, for a page to draw."""

    def counts(self) -> dict[str, int]:
        """Further counts of this game, by name."""

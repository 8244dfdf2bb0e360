"""What a game has to offer, told by its laws.

A game is a value that says what is possible; its states are values too, hashable and never changed. Everything else is
built on these few methods: enumerating positions, solving, learning, playing. The laws, which `check_game` tries on
any game (``s`` is any state that can be reached, ``a`` any legal action):

1.  ``initial()`` and ``apply(s, a)`` give the same state every time, and neither changes ``s``.
2.  ``player(s)`` is from 0 to ``n_players - 1``, or `CHANCE` where nobody decides. At the end it is whoever would be
    next.
3.  ``actions(s)`` are different whole numbers from 0 to ``n_actions - 1``, ascending. There is one unless
    ``is_terminal(s)``, and none if it is.
4.  ``chances(s)`` has one number above 0 for every action where chance decides, and they add up to 1; it is empty
    elsewhere.
5.  ``apply(s, a)`` refuses an action that is not legal with a `GameError`.
6.  ``returns(s)`` are ``n_players`` finite numbers, 0 before the end, which add up to 0 in a game that ``is_zero_sum``.
7.  ``text(s)`` differs where states differ, and ``action_text(s, a)`` where actions of a state do; both are one line
    or more of printable characters.
8.  ``features(s)`` is float32 ``[n_features]``, finite, and differs where positions (law 9) of the same player do.
9.  ``position(s)`` is all of ``s`` that matters to whoever is to move. States with the same position have the same
    actions and chances, the same actions lead to the same positions and pass the turn alike, and at the end they are
    worth the same to the player who would be next. It is hashable; a game without symmetries returns ``s`` itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import numpy as np

# The player who decides where nobody does.
CHANCE = -1


class GameError(ValueError):
    """What is not possible in a game; the message says what is."""


class Game(Protocol):
    """The rules of a game.

    States are hashable values that nobody looks into but the game itself.

    Attributes:
        name: What it is called; with ``parameters`` it says which game this is.
        n_players: How many play.
        n_actions: Actions are numbers below this one.
        n_features: Length of ``features``.
        is_zero_sum: Whether returns always add up to 0.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - described above

    @property
    def n_players(self) -> int: ...  # noqa: D102

    @property
    def n_actions(self) -> int: ...  # noqa: D102

    @property
    def n_features(self) -> int: ...  # noqa: D102

    @property
    def is_zero_sum(self) -> bool: ...  # noqa: D102

    def parameters(self) -> dict[str, Any]:
        """What distinguishes this game from others of the same name, JSON-like."""
        ...

    def initial(self) -> Any:
        """The state in which play begins."""
        ...

    def player(self, state: Any) -> int:
        """Who is to move, or `CHANCE`; at the end, who would be."""
        ...

    def is_terminal(self, state: Any) -> bool:
        """Whether play has ended."""
        ...

    def actions(self, state: Any) -> Sequence[int]:
        """The legal actions, ascending."""
        ...

    def chances(self, state: Any) -> Sequence[float]:
        """How likely each action is where chance decides; empty elsewhere."""
        ...

    def apply(self, state: Any, action: int) -> Any:
        """The state after an action.

        Raises:
            GameError: the action is not legal.
        """
        ...

    def returns(self, state: Any) -> Sequence[float]:
        """What every player has won; 0 before the end."""
        ...

    def position(self, state: Any) -> Hashable:
        """All that matters to whoever is to move."""
        ...

    def text(self, state: Any) -> str:
        """The state in words or signs."""
        ...

    def action_text(self, state: Any, action: int) -> str:
        """A legal action in words."""
        ...

    def features(self, state: Any) -> np.ndarray:
        """The position in numbers, float32 ``[n_features]``."""
        ...

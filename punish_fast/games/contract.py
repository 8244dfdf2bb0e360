"""The contract of a game: what it must offer, and the laws it must obey.

A game holds the rules. Its states are immutable, hashable values. Enumeration, exact solutions and play use only the
methods of `Game`; learners that play many games at once use `VectorGame`. `tests/games/laws.py` tests the laws on any
game; ``s`` is a reachable state, ``a`` a legal action:

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
8.  ``features(s)`` is a finite float32 ``[n_features]`` that differs between positions (law 9) of the same player. It
    describes ``s`` with the actions as ``s`` numbers them.
9.  ``position(s)`` is equal for states that are equivalent for the player to move. A symmetry, such as a turn of the
    board, may renumber actions: ``position_actions(s)`` has the number of each of ``actions(s)`` in the position,
    distinct integers from 0 to ``n_actions - 1``. Equivalent states have the same numbers there; actions of the same
    number are equally probable, lead to equal positions and pass the turn alike; and at the end the player who would
    move next has the same return. Positions are hashable. A game without symmetries returns ``s``, and one whose
    symmetries renumber nothing returns ``actions(s)``.
10. In a `SecretGame`, states with the same ``information(s)`` have the same player, actions and features. Its features
    may summarise what the player to move knows, so law 8 does not ask that they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

import numpy as np

from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.printable import printable

# The player to move in a chance state.
CHANCE = -1


# How a player moves in many states at once: takes states, uint64 [n, n_words], whether each action is legal, bool
# [n, n_moves], and random numbers; returns an action for each state. What it may not know, it does not look at.
Mover = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


class GameError(PunishFastError, ValueError):
    """A wrong action, state, option or game; the message says what is allowed."""


class Game(Protocol):
    """The rules of a game.

    A game with too many positions to list may say how many in ``n_positions``; it is then refused at once where they
    are needed.
    """

    name: str  # Identifies the game together with ``parameters()``.
    n_players: int  # Number of players.
    n_actions: int  # Actions are integers below this.
    n_features: int  # Length of ``features``.
    is_zero_sum: bool  # True if the returns always add up to 0.

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

    def probabilities(self, state: Any) -> Sequence[float]:  # noqa: ARG002 - of games with chance
        """The probability of each action of a chance state; empty elsewhere, as in a game without chance."""
        return ()

    def apply(self, state: Any, action: int) -> Any:
        """The state after an action."""

    def returns(self, state: Any) -> Sequence[float]:
        """The return of each player; 0 before the end."""

    def position(self, state: Any) -> Hashable:
        """The state up to symmetry; by default there are no symmetries."""
        key: Hashable = state
        return key

    def position_actions(self, state: Any) -> Sequence[int]:
        """The number of each legal action in the state's position; by default the action itself."""
        return self.actions(state)

    def text(self, state: Any) -> str:
        """The state in words or signs."""

    def action_text(self, state: Any, action: int) -> str:
        """A legal action in words."""

    def features(self, state: Any) -> np.ndarray:
        """The position as numbers, float32 ``[n_features]``."""


class SecretGame(Game, Protocol):
    """A game whose player to move does not know all of the state, such as what others have just decided."""

    def information(self, state: Any) -> Hashable:
        """What the player to move knows: equal for states that this player cannot tell apart."""


class VectorGame(Protocol):
    """Many states of one game at once, as arrays, for learners; row ``k`` of every array belongs to state ``k``.

    A state is ``n_words`` numbers that only this class understands. Along the same actions, everything here equals what
    `Game` says of the state. Arrays that are passed in stay unchanged.
    """

    game: Game  # The game.
    n_words: int  # Words of a state.
    n_moves: int  # Players choose from the actions below this; only chance may have more.
    # The shape of the features of a state, for example ``(2, 6, 7)``: planes, rows and columns. Its product is the
    # game's ``n_features``. A single number says that the features have no places.
    feature_shape: tuple[int, ...]

    def initial(self, n: int) -> np.ndarray:
        """``n`` initial states, uint64 ``[n, n_words]``."""

    def player(self, states: np.ndarray) -> np.ndarray:
        """The player to move or `CHANCE`, int8 ``[n]``; in terminal states, the player who would move next."""

    def legal(self, states: np.ndarray) -> np.ndarray:
        """Whether each action is legal, bool ``[n, n_moves]``; none is in chance states and terminal states."""

    def features(self, states: np.ndarray) -> np.ndarray:
        """float32 ``[n, n_features]``, each row in the order of ``feature_shape``, the last index fastest."""

    def step(self, states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Take a legal action in each state, none of which is terminal; what an illegal one does is not defined.

        Args:
            states: uint64 ``[n, n_words]``.
            actions: Integers ``[n]``.

        Returns:
            The states after them, uint64 ``[n, n_words]``; the returns of all players, float32 ``[n, n_players]``, 0
            before the end; and whether the games are over, bool ``[n]``.
        """


class VectorBoardGame(VectorGame, Protocol):
    """A vector game whose players see all of its state, so that its words follow from a state of the game."""

    def pack(self, states: Sequence[Any]) -> np.ndarray:
        """The words of states of the game, uint64 ``[n, n_words]``."""


class VectorChanceGame(VectorGame, Protocol):
    """A vector game some of whose states are chance states."""

    def probabilities(self, states: np.ndarray) -> np.ndarray:
        """The probability of each action of chance states, float64 ``[n, n_actions]``."""


class TableGame(Game, Protocol):
    """A game that people can ask about and play; a game of the registry inherits what it has in common with others."""

    variant: Any  # The rules, a NamedTuple.
    # The number of action 0 on the board, if a board shows the numbers of its columns, squares or slots; else None.
    # People type ``first_number + a`` for action ``a`` or, with None, its index among the legal actions, from 1.
    first_number: int | None = None

    def parameters(self) -> dict[str, Any]:
        """The fields of the variant."""
        fields: dict[str, Any] = self.variant._asdict()
        return fields

    def check_action(self, state: Any, action: int) -> None:
        """Raise `GameError` unless an action is legal."""
        if action not in self.actions(state):
            raise GameError(f"action: {action} is illegal, legal: {list(self.actions(state))}")

    def variant_text(self) -> str:
        """The game and its variant, in one line."""

    def rules_text(self) -> str:
        """The rules, in a few lines."""

    def state_of(self, text: str) -> Any:
        """The state that a text describes; by default the words of the actions from the beginning, as in `words`."""
        state = self.initial()
        for number, word in enumerate(text.split(), 1):
            actions = self.words(state)
            if word not in actions:
                allowed = ", ".join(actions) or "nothing, the game is over"
                raise GameError(f"position: word {number}, {printable(word)!r}, is wrong, allowed: {allowed}")
            state = self.apply(state, actions[word])
        return state

    def words(self, state: Any) -> dict[str, int]:
        """The legal actions by the words that `state_of` reads."""
        return {self.action_text(state, action): action for action in self.actions(state)}

    def draw(self, state: Any, viewer: int, names: Sequence[str]) -> str:  # noqa: ARG002 - of other games
        """A picture of a state as ``viewer`` sees it, in lines of text; by default `text`, which hides nothing."""
        return self.text(state)

    def board(self, state: Any, viewer: int) -> dict[str, Any]:  # noqa: ARG002 - of other games
        """A state as ``viewer`` sees it, as JSON values, for a page to draw; empty if the page shows `text` or `draw`.

        A board of squares has ``rows``, ``columns``, ``cells`` (by rows from the top: 0 for empty, 1 and 2 for the
        players), ``own`` (the viewer's number, 1 or 2) and ``line`` (the cells of the lines that ended the game).
        """
        return {}

    def counts(self) -> dict[str, int]:
        """Further counts of this game, by name; ``states`` if they are more than the positions."""
        return {}


def numbers_of(game: TableGame, actions: Sequence[int]) -> list[int]:
    """The numbers that people type for the legal actions of a player."""
    first = game.first_number
    return list(range(1, len(actions) + 1)) if first is None else [first + action for action in actions]

"""Protocols of games, and the laws that every game obeys.

A `Game` defines the rules; its states are immutable, hashable values. Enumeration, exact solvers and play use only the
methods of `Game`; learners, which play many games in parallel, use `VectorGame`. `tests/games/laws.py` checks the
following laws, in which ``s`` is a reachable state and ``a`` a legal action:

1.  ``initial()`` and ``apply(s, a)`` are deterministic and leave ``s`` unchanged.
2.  ``player(s)`` is an integer from 0 to ``n_players - 1``, or `CHANCE` in a chance state. In a terminal state it is
    the player who would move next.
3.  ``actions(s)`` lists distinct integers from 0 to ``n_actions - 1`` in ascending order. It is empty if and only if
    ``s`` is terminal.
4.  ``probabilities(s)`` has a positive entry for each action of a chance state; the entries sum to 1. It is empty in
    other states.
5.  ``apply(s, a)`` raises `GameError` for an illegal action.
6.  ``returns(s)`` has ``n_players`` finite entries, all 0 before the end of the game. They sum to 0 if ``is_zero_sum``.
7.  ``text(s)`` differs between states, and ``action_text(s, a)`` differs between the actions of a state; both are
    printable and not empty.
8.  ``features(s)`` is a float32 array ``[n_features]`` of finite values. It differs between positions (law 9) with the
    same player to move, and it matches the action numbers of ``actions(s)``, not of ``position_actions(s)``.
9.  ``position(s)`` is hashable, and is equal for states that are equivalent for the player to move. A symmetry, such as
    a rotation of the board, may renumber actions: ``position_actions(s)`` gives the number of each of ``actions(s)`` in
    the position, as distinct integers from 0 to ``n_actions - 1``. Equivalent states have the same set of numbers.
    Actions with the same number are equally probable, lead to equal positions, and either all pass the turn or all keep
    it. In equivalent terminal states, the player who would move next has the same return. A game without
    symmetries returns ``s`` from ``position``; a game whose symmetries do not renumber actions returns ``actions(s)``
    from ``position_actions``.
10. If not ``is_open``, nonterminal states with the same player to move and equal ``known_to(s, player(s))`` have the
    same actions and features. Features of such games may summarize what the player knows, so they need not differ
    between positions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from punish_fast.games.events import Event, Moved, Step
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.printable import printable

# The player to move in a chance state.
CHANCE = -1


# A player: a function that maps states, uint64 [n, n_words], legal moves, bool [n, n_moves], and a random generator to
# one action per state. It must not use information that is hidden from the player to move.
Mover = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


class GameError(PunishFastError, ValueError):
    """Raised for an invalid action, state, option or game. The message states the reason."""


class Game(Protocol):
    """Rules of a game.

    A game may define ``n_positions``, its number of positions; a game that is too large is then rejected before any
    position is enumerated.
    """

    name: str  # Name, which identifies the game together with ``parameters()``.
    n_players: int
    n_actions: int  # Actions are integers from 0 to ``n_actions - 1``.
    n_features: int  # Length of ``features``.
    is_zero_sum: bool  # True if the returns always sum to 0.
    variant: Any  # The rules, a NamedTuple.
    # Number shown for action 0 if the columns, squares or slots of the board are numbered; None otherwise. For action
    # ``a``, people type ``first_number + a`` or, if this is None, its index among the legal actions, counted from 1.
    first_number: int | None = None
    # True if all players know the whole state, so that moves can be undone.
    is_open: bool = True

    def parameters(self) -> dict[str, Any]:
        """Return the fields of the variant."""
        fields: dict[str, Any] = self.variant._asdict()
        return fields

    def initial(self) -> Any:
        """Return the initial state."""

    def player(self, state: Any) -> int:
        """Return the player to move, or `CHANCE`; in a terminal state, the player who would move next."""

    def is_terminal(self, state: Any) -> bool:
        """Return True if the game is over."""

    def actions(self, state: Any) -> Sequence[int]:
        """Return the legal actions in ascending order."""

    def probabilities(self, state: Any) -> Sequence[float]:  # noqa: ARG002 - of games with chance
        """Return the probability of each action of a chance state, or an empty sequence in other states."""
        return ()

    def apply(self, state: Any, action: int) -> Any:
        """Return the state after an action."""

    def returns(self, state: Any) -> Sequence[float]:
        """Return the payoff of each player; 0 before the end of the game."""

    def position(self, state: Any) -> Hashable:
        """Return the equivalence class of a state under symmetries; by default, the state itself."""
        key: Hashable = state
        return key

    def position_actions(self, state: Any) -> Sequence[int]:
        """Return the number of each legal action in the position; by default, the action itself."""
        return self.actions(state)

    def text(self, state: Any) -> str:
        """Describe a state in one line of text."""

    def action_text(self, state: Any, action: int) -> str:
        """Describe a legal action in words."""

    def features(self, state: Any) -> np.ndarray:
        """Return the features of a state, the input of neural networks, float32 ``[n_features]``."""

    def check_action(self, state: Any, action: int) -> None:
        """Raise `GameError` unless an action is legal."""
        if action not in self.actions(state):
            raise GameError(f"action: {action} is illegal; legal: {list(self.actions(state))}")

    def variant_text(self) -> str:
        """Name the game and its variant in one line."""

    def rules_text(self) -> str:
        """State the rules in a few lines."""

    def state_of(self, text: str) -> Any:
        """Parse a state; by default, ``text`` lists the actions since the initial state, as words from `words`."""
        state = self.initial()
        for number, word in enumerate(text.split(), 1):
            actions = self.words(state)
            if word not in actions:
                told = f"use {', '.join(actions)}" if actions else "the game is over"
                raise GameError(f"position: word {number}, {printable(word)!r}, is wrong; {told}")
            state = self.apply(state, actions[word])
        return state

    def words(self, state: Any) -> dict[str, int]:
        """Return a mapping from the words that `state_of` accepts to the legal actions."""
        return {self.action_text(state, action): action for action in self.actions(state)}

    def draw(self, state: Any, viewer: int, names: Sequence[str]) -> str:  # noqa: ARG002 - of other games
        """Draw a state as ``viewer`` sees it, in lines of text; by default, return `text`, which hides nothing."""
        return self.text(state)

    def board(self, state: Any, viewer: int) -> dict[str, Any]:  # noqa: ARG002 - of other games
        """Return JSON values for the web page to draw a state as ``viewer`` sees it; empty if the page shows text.

        A board of squares has ``rows``, ``columns``, ``cells`` (row by row from the top: 0 for empty, 1 and 2 for the
        players), ``own`` (the viewer's number, 1 or 2) and ``line`` (indices of the cells in winning lines).
        """
        return {}

    def deciders(self, state: Any) -> tuple[int, ...]:
        """Return, in order, the players who decide simultaneously in a state in which none of them has decided yet."""
        return (self.player(state),)

    def known_to(self, state: Any, player: int) -> Any:  # noqa: ARG002 - of games with secrets
        """Return a representative of the states that ``player`` cannot distinguish from ``state``.

        If ``player`` has to decide in ``state``, ``player`` is also to move in the representative. Players in a match
        see only such states, so policies and pages cannot depend on hidden information.
        """
        return state

    def story(self, steps: Sequence[Step]) -> list[Event]:
        """Describe the steps from one decision to the next; by default, list the moves of players."""
        moves = [step for step in steps if self.player(step.state) != CHANCE]
        return [Moved(self.player(s.state), s.action, self.action_text(s.state, s.action)) for s in moves]

    def counts(self) -> dict[str, int]:
        """Return additional counts by name, for example ``states`` if there are more states than positions."""
        return {}


class VectorGame(Protocol):
    """A game on arrays of states, for learners. Row ``k`` of every array belongs to state ``k``.

    A state is encoded in ``n_words`` integers whose meaning is private to the class. After the same sequence of
    actions, the methods agree with those of `Game`. They do not modify their arguments.
    """

    game: Game
    n_words: int  # Number of words of a state.
    n_moves: int  # Actions below this number belong to players; all others belong to chance.
    # Shape of the features of a state, for example ``(2, 6, 7)`` for planes, rows and columns, with product
    # ``game.n_features``. A shape of length 1 means that the features have no spatial structure.
    feature_shape: tuple[int, ...]

    def initial(self, n: int) -> np.ndarray:
        """Return ``n`` initial states, uint64 ``[n, n_words]``."""

    def player(self, states: np.ndarray) -> np.ndarray:
        """Return the player to move or `CHANCE`, int8 ``[n]``; in terminal states, the player who would move next."""

    def legal(self, states: np.ndarray) -> np.ndarray:
        """Return the legal moves, bool ``[n, n_moves]``; all False in chance states and terminal states."""

    def features(self, states: np.ndarray) -> np.ndarray:
        """Return the features, float32 ``[n, n_features]``; each row is a flattened array of ``feature_shape``."""

    def step(self, states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Take a legal action, integer ``[n]``, in each state, uint64 ``[n, n_words]``; no state is terminal.

        Return the next states, uint64 ``[n, n_words]``; the returns of all players, float32 ``[n, n_players]``, 0
        before the end of the game; and a mask of the games that are over, bool ``[n]``.
        """


class VectorBoardGame(VectorGame, Protocol):
    """A vector game with perfect information that can encode the states of `Game`."""

    def pack(self, states: Sequence[Any]) -> np.ndarray:
        """Encode states of `Game`, as uint64 ``[n, n_words]``."""


class VectorChanceGame(VectorGame, Protocol):
    """A vector game with chance states."""

    def probabilities(self, states: np.ndarray) -> np.ndarray:
        """Return the probability of each action in chance states, float64 ``[n, n_actions]``."""


def numbers_of(game: Game, actions: Sequence[int]) -> list[int]:
    """Return the numbers that people type for the legal actions of a player."""
    first = game.first_number
    return list(range(1, len(actions) + 1)) if first is None else [first + action for action in actions]


class MoveValue(NamedTuple):
    """Value of an action under perfect play."""

    action: int
    value: int  # 1 for a win, 0 for a draw or -1 for a loss of the player who takes it.
    plies: int | None  # Number of actions until the end, including this one; None if drawn or unknown.
    is_best: bool  # True if no other action is better.


class Oracle(Protocol):
    """Perfect play of a two-player game: win as fast as possible, else draw, else lose as slowly as possible.

    The default methods are for oracles whose `open` solves all positions. Oracles that search override `prepare` and
    `known_values`.
    """

    is_quick: bool = True  # True if queries take negligible time after `open`.

    game: Game

    @property
    def n_positions(self) -> int:
        """Number of positions of the game."""

    def open(self) -> None:
        """Do the expensive part of the work, such as solving or compiling, before the first query."""

    def reaching(self, state: Any) -> Oracle:  # noqa: ARG002 - of games that are enumerated
        """Return an oracle that covers a state, even if it cannot be reached from the initial state."""
        return self

    def prepare(self, state: Any, until: float) -> bool:  # noqa: ARG002 - of searches
        """Search until a ``time.monotonic`` deadline; return True if `best_action` needs no further search."""
        return True

    def known_values(self, state: Any, until: float) -> tuple[list[MoveValue | None], bool]:  # noqa: ARG002
        """Return the values found by a ``time.monotonic`` deadline, and True if they equal `move_values`.

        If the deadline cuts the search short, a value is None if its outcome is unknown, and ``plies`` is None if the
        length is unknown. ``is_best`` is True only if no other action can be better.
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
        """Describe the actions of `line` in words."""
        texts = []
        for action in self.line(state):
            texts.append(self.game.action_text(state, action))
            state = self.game.apply(state, action)
        return texts

"""Protocols for games, and the laws that every game satisfies.

A `Game` defines the rules of a game, whose states are immutable, hashable values. Enumeration, retrograde analysis and
matches use only the methods of `Game`. Networks learn by a `VectorGame`, which plays many games in parallel.
`tests/games/laws.py` checks the following laws. Let ``s`` be a reachable state and ``a`` a legal action.

1.  ``initial()`` and ``apply(s, a)`` are deterministic and leave ``s`` unchanged.
2.  ``player(s)`` is an integer from 0 to ``n_players - 1``, or `CHANCE` in a chance state. In a terminal state,
    ``player(s)`` is the player who would move next.
3.  ``actions(s)`` lists distinct integers from 0 to ``n_actions - 1`` in ascending order. The list is empty if and
    only if ``s`` is terminal.
4.  In a chance state, ``probabilities(s)`` contains a positive number for each action. The numbers sum to 1. In other
    states, ``probabilities(s)`` is empty.
5.  ``apply(s, b)`` raises `GameError` if ``b`` is not a legal action.
6.  ``returns(s)`` contains ``n_players`` finite numbers, all 0 unless ``s`` is terminal. The numbers sum to 0 if
    ``is_zero_sum``.
7.  Different states have different texts ``text(s)``, and different actions of a state have different texts
    ``action_text(s, a)``. All texts are printable and not empty.
8.  ``features(s)`` is a float32 array ``[n_features]`` of finite values. States with different positions (law 9) but
    the same player to move have different features. Features use the action numbers of ``actions(s)``, not of
    ``position_actions(s)``.
9.  ``position(s)`` is hashable. States that are equivalent for the player to move have equal positions. A symmetry,
    such as a rotation of the board, may renumber actions: ``position_actions(s)`` lists the numbers of ``actions(s)``
    in the position, distinct integers from 0 to ``n_actions - 1``. Equivalent states have the same set of
    numbers. In all of these states, actions with the same number are equally probable, lead to equal positions, and
    agree in whether they pass the turn. In equivalent terminal states, the return of the player who would move next is
    the same. A game without symmetries returns ``s`` from ``position``. A game whose symmetries do not renumber actions
    returns ``actions(s)`` from ``position_actions``.
10. If ``is_open`` is False, nonterminal states with the same player to move and equal ``known_to(s, player(s))`` have
    the same actions and features. Features of games that are not open may summarize the player's information, so
    states with different positions may have the same features.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np

from punish_fast.runtime.errors import PunishFastError, printable
from punish_fast.runtime.events import Event, Moved, Step

# Result of ``player(s)`` in a chance state.
CHANCE = -1


# Function that chooses one action for each state. Its arguments are the states, uint64 [n, n_words], a mask of the
# legal moves, bool [n, n_moves], and a random generator. It must not use information hidden from the player to move.
Mover = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]

# Function that returns the context manager for a stage of a long computation, given the name and, optionally, a longer
# description of the stage.
Stage = Callable[..., AbstractContextManager[object]]


class GameError(PunishFastError, ValueError):
    """Raised if an action, state, option or game is invalid."""


class Game(Protocol):
    """Rules of a game."""

    name: str  # Name of the game. The name and ``parameters()`` identify the rules.
    n_players: int
    n_actions: int  # Actions are integers from 0 to ``n_actions - 1``.
    n_features: int  # Length of ``features(state)``.
    is_zero_sum: bool  # True if the returns always sum to 0.
    variant: Any  # Options of the rules, as a NamedTuple.
    # Number shown for action 0 if the columns, squares or slots of the board are numbered. To take action ``a``, users
    # type ``first_number + a`` or, if ``first_number`` is None, the index of ``a`` among the legal actions, from 1.
    first_number: int | None = None
    # Number of positions, if it is known before the positions are enumerated, otherwise 0.
    n_positions: int = 0
    # True if all players know the whole state, so that moves can be undone.
    is_open: bool = True

    def parameters(self) -> dict[str, Any]:
        """Return the fields of ``variant`` as a dictionary.

        Examples:
            >>> from punish_fast.games import make_game
            >>> make_game("tapnswap", {"limit": 6}).parameters()["limit"]
            6
        """
        return dict(self.variant._asdict())

    def initial(self) -> Any:
        """Return the initial state.

        Examples:
            >>> from punish_fast.games import make_game
            >>> make_game("tictactoe").initial()
            TicTacToeState(own=0, other=0)
        """

    def player(self, state: Any) -> int:
        """Return the player to move, -1 in a chance state, or the next player in a terminal state.

        Args:
            state: State of the game.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.player(state)
            1
        """

    def is_terminal(self, state: Any) -> bool:
        """Return True if the game is over.

        Args:
            state: State of the game.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.is_terminal(state)
            False
        """

    def actions(self, state: Any) -> Sequence[int]:
        """Return the legal actions in ascending order.

        Args:
            state: State of the game.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.actions(state)
            [0, 1, 2, 3, 5, 6, 7, 8]
        """

    def probabilities(self, state: Any) -> Sequence[float]:  # noqa: ARG002 - for games with chance
        """Return the probability of each action in a chance state, and an empty sequence in other states.

        Args:
            state: State of the game.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("incan-gold")
            >>> len(game.probabilities(game.initial())), game.probabilities(game.initial())[0]
            (17, 0.03333333333333333)
        """
        return ()

    def apply(self, state: Any, action: int) -> Any:
        """Return the state after an action.

        Args:
            state: State of the game.
            action: Legal action.

        Raises:
            GameError: If the action is illegal.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.text(game.apply(state, 0))
            'O../.X./...'
        """

    def returns(self, state: Any) -> Sequence[float]:
        """Return the payoff of each player. Payoffs are 0 before the end of the game.

        Args:
            state: State of the game.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.returns(state)
            (0.0, 0.0)
        """

    def position(self, state: Any) -> Hashable:
        """Return a key that equivalent states share, by default the state itself.

        Args:
            state: State of the game.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.position(state)
            (0, 16)
        """
        return cast(Hashable, state)

    def position_actions(self, state: Any) -> Sequence[int]:
        """Return the number of each legal action in the state's position, by default the action itself.

        Args:
            state: State of the game.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.position_actions(state)
            [0, 1, 2, 3, 5, 6, 7, 8]
        """
        return self.actions(state)

    def text(self, state: Any) -> str:
        """Return a description of a state in one line.

        Args:
            state: State of the game.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.text(state)
            '.../.X./...'
        """

    def action_text(self, state: Any, action: int) -> str:
        """Return a description of a legal action in words.

        Args:
            state: State of the game.
            action: Legal action.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.action_text(state, 0)
            'top left'
        """

    def features(self, state: Any) -> np.ndarray:
        """Return the input of a neural network for a state, float32 ``[n_features]``.

        Args:
            state: State of the game.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.features(state).shape
            (18,)
        """

    def check_action(self, state: Any, action: int) -> None:
        """Raise `GameError` unless an action is legal.

        Args:
            state: State of the game.
            action: Legal action.

        Raises:
            GameError: If the action is illegal.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.check_action(state, 0)
        """
        if action not in self.actions(state):
            raise GameError(f"action: {action} is illegal; legal: {list(self.actions(state))}")

    def variant_text(self) -> str:
        """Return the name of the game and its variant in one line.

        Examples:
            >>> from punish_fast.games import make_game
            >>> make_game("tapnswap").variant_text()
            'TapnSwap, limit 5'
        """

    def rules_text(self) -> str:
        """Return a description of the rules in a few lines.

        Examples:
            >>> from punish_fast.games import make_game
            >>> make_game("tictactoe").rules_text().splitlines()[1]
            'On your turn, put a stone on an empty square.'
        """

    def state_of(self, text: str) -> Any:
        """Return the state that a text describes.

        By default, ``text`` lists the actions from the initial state, as named in `words`.

        Args:
            text: Text in the format of the game.

        Raises:
            GameError: If the text does not describe a state.

        Examples:
            >>> from punish_fast.games import make_game
            >>> make_game("connect4").state_of("4455") == make_game("connect4").initial()
            False
        """
        state = self.initial()
        for number, word in enumerate(text.split(), 1):
            actions = self.words(state)
            if word not in actions:
                told = f"use {', '.join(actions)}" if actions else "the game is over"
                raise GameError(f"position: word {number}, {printable(word)!r}, is wrong; {told}")
            state = self.apply(state, actions[word])
        return state

    def words(self, state: Any) -> dict[str, int]:
        """Return a mapping from words, as parsed by `state_of`, to the legal actions of a state.

        Args:
            state: State of the game.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.words(state)["bottom"]
            7
        """
        return {self.action_text(state, action): action for action in self.actions(state)}

    def draw(self, state: Any, viewer: int, names: Sequence[str]) -> str:  # noqa: ARG002 - for other games
        """Return a drawing of a state in text, as seen by ``viewer``.

        The default is `text`, which shows the whole state.

        Args:
            state: State of the game.
            viewer: Player who sees the state.
            names: Name of each player.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.draw(state, 0, ["Ann", "Ben"]).splitlines()[0]
            'X Ann, O Ben'
        """
        return self.text(state)

    def board(self, state: Any, viewer: int) -> dict[str, Any]:  # noqa: ARG002 - for other games
        """Return JSON values for drawing a state on the web page as seen by ``viewer``.

        If there are no values, the page shows the text of the state.

        A board of squares has ``rows``, ``columns``, ``cells`` (row by row from the top: 0 for empty, 1 and 2 for the
        players), ``own`` (the viewer's number, 1 or 2) and ``line`` (indices of the cells in winning lines).

        Args:
            state: State of the game.
            viewer: Player who sees the state.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.board(state, viewer=0)["cells"]
            [0, 0, 0, 0, 1, 0, 0, 0, 0]
        """
        return {}

    def deciders(self, state: Any) -> tuple[int, ...]:
        """Return the players who decide simultaneously, in the order of their decisions in the game.

        None of the players has decided yet in ``state``. By default, only the player to move decides.

        Args:
            state: State of the game.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.deciders(state)
            (1,)
        """
        return (self.player(state),)

    def known_to(self, state: Any, player: int) -> Any:  # noqa: ARG002 - for games with secrets
        """Return a representative of the states that ``player`` cannot distinguish from ``state``.

        If ``player`` has to decide in ``state``, ``player`` is to move in the representative. Players in a match see
        only representatives, so policies and web pages cannot depend on hidden information.

        Args:
            state: State of the game.
            player: Player, from 0.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.known_to(state, 0) == state
            True
        """
        return state

    def uncovered(self, state: Any, player: int) -> dict[str, Any] | None:  # noqa: ARG002 - as above
        """Return the cards that ``player`` may see after the game, by name, or None if no card is visible.

        Args:
            state: State of the game.
            player: Player, from 0.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.uncovered(state, 0) is None
            True
        """
        return None

    def story(self, steps: Sequence[Step]) -> list[Event]:
        """Return the events in the steps from one decision to the next. By default, they are the moves of players.

        Args:
            steps: States and actions, in order.

        Examples:
            >>> from punish_fast.games import make_game
            >>> game = make_game("tictactoe")
            >>> state = game.apply(game.initial(), 4)
            >>> game.story([])
            []
        """
        moves = [step for step in steps if self.player(step.state) != CHANCE]
        return [Moved(self.player(s.state), s.action, self.action_text(s.state, s.action)) for s in moves]

    def counts(self) -> dict[str, int]:
        """Return additional counts by name, such as ``states`` if there are more states than positions.

        Examples:
            >>> from punish_fast.games import make_game
            >>> make_game("tictactoe").counts()
            {'states': 5478, 'canonical_states': 765}
        """
        return {}


class VectorGame(Protocol):
    """A game with vectorized rules for learners. Row ``k`` of every array belongs to state ``k``.

    A state is encoded in ``n_words`` integers whose meaning is private to the class. After the same sequence of
    actions, the methods return the same values as the methods of `Game`. The methods do not modify their arguments.
    """

    game: Game
    n_words: int  # Number of uint64 words that encode a state.
    n_moves: int  # Actions below this number belong to players. All others belong to chance.
    # Shape of a state's features, for example ``(2, 6, 7)`` for planes, rows and columns. The product of the entries is
    # ``game.n_features``. If the shape has length 1, the features have no spatial structure.
    feature_shape: tuple[int, ...]

    def initial(self, n: int) -> np.ndarray:
        """Return ``n`` copies of the initial state, uint64 ``[n, n_words]``."""

    def player(self, states: np.ndarray) -> np.ndarray:
        """Return the result of `Game.player` for each state, int8 ``[n]``."""

    def legal(self, states: np.ndarray) -> np.ndarray:
        """Return a mask of the legal moves, bool ``[n, n_moves]``, all False in chance states and terminal states."""

    def features(self, states: np.ndarray) -> np.ndarray:
        """Return the features of each state, flattened from ``feature_shape``, float32 ``[n, n_features]``."""

    def step(self, states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Take a legal action in each state.

        Args:
            states: Nonterminal states, uint64 ``[n, n_words]``.
            actions: Legal action in each state, integer ``[n]``.

        Returns:
            A tuple of the next states, uint64 ``[n, n_words]``, the returns of all players, float32 ``[n, n_players]``,
            and a mask of the games that are over, bool ``[n]``. Returns are 0 before the end of a game.

        Raises:
            GameError: If a state or an action is invalid.
        """

    def advance(self, states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the result of `step` for actions that are known to be legal, without checking them."""


@runtime_checkable
class VectorBoardGame(VectorGame, Protocol):
    """A vector game with perfect information that can encode the states of `Game`."""

    def pack(self, states: Sequence[Any]) -> np.ndarray:
        """Encode states of ``game`` in a uint64 array ``[n, n_words]``."""


@runtime_checkable
class VectorChanceGame(VectorGame, Protocol):
    """A vector game with chance states."""

    def probabilities(self, states: np.ndarray) -> np.ndarray:
        """Return the probability of each action, float64 ``[n, n_actions]``. All states must be chance states."""


def numbers_of(game: Game, actions: Sequence[int]) -> list[int]:
    """Return the number that users type for each of the legal ``actions``."""
    first = game.first_number
    return list(range(1, len(actions) + 1)) if first is None else [first + action for action in actions]


class MoveValue(NamedTuple):
    """Value of an action under perfect play.

    Attributes:
        action: The action.
        value: 1 if the player who takes the action wins, 0 for a draw, -1 if this player loses.
        plies: Number of actions to the end, including this action, or None if unknown or the value is 0.
        is_best: True if no other action is better.
    """

    action: int
    value: int
    plies: int | None
    is_best: bool


class Oracle(Protocol):
    """Perfect play in a two-player game: win as fast as possible, otherwise draw, otherwise lose as slowly as possible.

    By default, `prepare` and `known_values` assume that `open` has solved all positions. Oracles that search override
    both.
    """

    is_quick: bool = True  # True if queries take negligible time after `open`.

    game: Game

    @property
    def n_positions(self) -> int:
        """Number of positions of the game."""

    def open(self) -> None:
        """Prepare for queries, including expensive computations such as solving or compiling."""

    def reaching(self, state: Any) -> Oracle:  # noqa: ARG002 - for enumerated games
        """Return an oracle that can evaluate ``state``, even if ``state`` is not reachable from the initial state."""
        return self

    def prepare(self, state: Any, until: float) -> bool:  # noqa: ARG002 - for oracles that search
        """Search for the best action until a ``time.monotonic`` deadline. Return True if the search is complete."""
        return True

    def known_values(self, state: Any, until: float) -> tuple[list[MoveValue | None], bool]:  # noqa: ARG002
        """Search until a ``time.monotonic`` deadline. Return the action values, and True if the search is complete.

        After a complete search, the values equal `move_values`. Otherwise, the value of an action with unknown outcome
        is None, ``plies`` is None if the number of plies is unknown, and ``is_best`` is True only if no other action
        can be better.
        """
        return [*self.move_values(state)], True

    def move_values(self, state: Any) -> list[MoveValue]:
        """Return the value of each action of a state, in the order of ``game.actions``."""

    def best_action(self, state: Any) -> int:
        """Return a best action of a nonterminal state."""

    def line(self, state: Any) -> list[tuple[Any, int]]:
        """Return each state and its best action, from a state until the game ends or a position repeats."""
        game, steps, seen = self.game, [], set()
        while not game.is_terminal(state) and game.position(state) not in seen:
            seen.add(game.position(state))
            steps.append((state, self.best_action(state)))
            state = game.apply(*steps[-1])
        return steps

    def line_text(self, state: Any) -> list[str]:
        """Describe the actions of `line` in words."""
        return [self.game.action_text(*step) for step in self.line(state)]

"""Perfect play in games that might not terminate: the value of every position, and the distance to the end of the game.

`solve_game` computes values and distances by retrograde analysis (``_retrograde.py``). `check_perfect_play` certifies
the result independently, using local conditions. In a position won at distance ``d``, the fastest winning action leads
to distance ``d - 1``. In a position lost at distance ``d``, all actions lose, and the slowest action leads to distance
``d - 1``. In a drawn position, an action draws and no action wins. By induction over the distance, wins are forced and
distances are exact. In a drawn position, both players can avoid losing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from punish_fast.games.contract import Game, GameError, MoveValue, Oracle
from punish_fast.games.enumeration import _retrograde
from punish_fast.games.enumeration._retrograde import DRAW, ENDLESS, LOSS, WIN
from punish_fast.games.enumeration.positions import Positions, enumerate_positions
from punish_fast.mdp.arrays.policy import first_best, greedy
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.parallel import cumulated

OUTCOMES = {WIN: "win", DRAW: "draw", LOSS: "loss"}


class CertificateError(PunishFastError, ValueError):
    """Raised when values violate a condition of perfect play. The message names the position."""

    exit_code = 1


@dataclass(frozen=True, eq=False)
class PerfectPlay:
    """Value of each position under perfect play, and its distance to the end of the game."""

    positions: Positions
    value: np.ndarray  # int8 ``[n]``, 1 for a win of the player to move, 0 for a draw, -1 for a loss.
    # int32 ``[n]``, number of actions to the end under the fastest win and the slowest loss, or -1 for nonterminal
    # draws.
    distance: np.ndarray

    @cached_property
    def row_values(self) -> np.ndarray:
        """Value of each action for the player who takes the action, int8 ``[n_rows]``."""
        return np.asarray(self.value[self.positions.after] * self.positions.sign)

    def keeps_value(self) -> np.ndarray:
        """Return a mask of the actions that preserve the value of the position, bool ``[n_rows]``."""
        return np.asarray(self.row_values == self.value[self.positions.position_of_row])

    def is_mistaken(self, policy: np.ndarray) -> np.ndarray:
        """Return a mask of the positions where a policy may give away a win or a draw, bool ``[n]``."""
        given_away = (policy > 0) & ~self.keeps_value()
        return np.asarray(np.bincount(self.positions.position_of_row, given_away, len(self.positions)) > 0)

    def is_safe(self) -> np.ndarray:
        """Return a mask of the actions after which the opponent cannot force a win, bool ``[n_rows]``."""
        return np.asarray(self.row_values >= DRAW)

    @cached_property
    def ranks(self) -> np.ndarray:
        """Rank of each action, int64 ``[n_rows]``.

        Fast wins rank highest, followed by slow wins, draws, slow losses and fast losses.
        """
        rows = self.row_values.astype(np.int64)
        distance = self.distance[self.positions.after].astype(np.int64)
        return np.asarray(rows * (int(self.distance.max(initial=0)) + 2) - np.sign(rows) * distance)

    @cached_property
    def best_rows(self) -> np.ndarray:
        """Row of the first best action in each position, int64 ``[n]``, or -1 in terminal positions."""
        best = np.full(len(self.positions), -1)
        if len(self.positions.live):
            best[self.positions.live] = first_best(self.positions.live_ptr, self.ranks)
        return best

    def policy(self) -> np.ndarray:
        """Return the policy, float64 ``[n_rows]``, that takes the first best action in each position."""
        return greedy(self.positions.live_ptr, self.ranks)

    def line_text(self) -> list[str]:
        """Describe the actions of perfect play from the initial position."""
        oracle = RetrogradeOracle(self.positions.game)
        oracle.perfect = self
        return oracle.line_text(self.positions.states[0])


def outcome_text(value: int, distance: int | None) -> str:
    """Describe an outcome, for example as ``"win in 3"``. ``distance`` is ignored for a draw."""
    return OUTCOMES[value] if value == DRAW else f"{OUTCOMES[value]} in {distance}"


def solve_game(positions: Positions) -> PerfectPlay:
    """Compute the value of each position under perfect play, and its distance to the end of the game."""
    n = len(positions)
    value, distance = np.empty(n, dtype=np.int8), np.empty(n, dtype=np.int32)
    _retrograde.analyze_backwards(
        positions.state_ptr,
        positions.sign,
        positions.payoff,
        cumulated(np.bincount(positions.after, minlength=n)),
        np.argsort(positions.after, kind="stable"),
        positions.position_of_row,
        value,
        distance,
        np.empty(n, dtype=np.int64),
    )
    return PerfectPlay(positions, value, distance)


def check_perfect_play(perfect: PerfectPlay) -> PerfectPlay:
    """Return ``perfect``. Raise `CertificateError` if a position violates the conditions of perfect play."""
    positions, value, distance = perfect.positions, perfect.value, perfect.distance
    row_values = perfect.row_values
    for number, state in enumerate(positions.states):
        rows = slice(*positions.state_ptr[number : number + 2])
        found, away = row_values[rows], distance[positions.after[rows]]
        if positions.is_terminal[number]:
            holds = value[number] == np.sign(positions.payoff[number]) and distance[number] == 0
        elif value[number] == WIN:
            holds = bool((found == WIN).any()) and away[found == WIN].min() == distance[number] - 1
        elif value[number] == LOSS:
            holds = bool((found == LOSS).all()) and away.max() == distance[number] - 1
        else:
            holds = value[number] == DRAW and found.max() == DRAW and distance[number] == ENDLESS
        if not holds:
            name = OUTCOMES.get(int(value[number]), f"value {value[number]}")
            raise CertificateError(f"{positions.game.text(state)}: {name} in {distance[number]} is not perfect play")
    return perfect


class RetrogradeOracle(Oracle):
    """Perfect play in a game whose positions can be enumerated.

    The oracle solves the game on first use. It raises `GameError` if the game is not a zero-sum game of two players
    without chance, or has more than 2,000,000 positions, or if a state cannot be reached from the initial state.
    """

    def __init__(self, game: Game, origin: Any = None) -> None:
        """Store the game.

        Args:
            game: Zero-sum game of two players without chance or hidden information.
            origin: State from which positions are enumerated, by default the initial state.

        Examples:
            >>> from punish_fast.games import RetrogradeOracle, make_game
            >>> RetrogradeOracle(make_game("tictactoe")).n_positions
            765
        """
        self.game, self._origin = game, origin

    def reaching(self, state: Any) -> RetrogradeOracle:
        """Return an oracle for all positions that are reachable from a state.

        Args:
            state: State of the game.

        Returns:
            The oracle.

        Examples:
            >>> from punish_fast.games import RetrogradeOracle, make_game
            >>> game = make_game("tictactoe")
            >>> RetrogradeOracle(game).reaching(game.apply(game.initial(), 0)).n_positions < 765
            True
        """
        return RetrogradeOracle(self.game, state)

    @cached_property
    def perfect(self) -> PerfectPlay:
        """Solution of the game, certified by `check_perfect_play`."""
        return check_perfect_play(solve_game(enumerate_positions(self.game, self._origin)))

    @property
    def n_positions(self) -> int:
        """Number of positions of the game."""
        return len(self.perfect.positions)

    def open(self) -> None:
        """Solve the game.

        Examples:
            >>> from punish_fast.games import RetrogradeOracle, make_game
            >>> RetrogradeOracle(make_game("tictactoe")).open()
        """
        _ = self.perfect.best_rows

    def move_values(self, state: Any) -> list[MoveValue]:
        """Return the value of each action of a state.

        Args:
            state: State of the game, not terminal.

        Returns:
            Values in the order of ``game.actions``.

        Examples:
            >>> from punish_fast.games import RetrogradeOracle, make_game
            >>> game = make_game("tictactoe")
            >>> RetrogradeOracle(game).move_values(game.initial())[0]
            MoveValue(action=0, value=0, plies=None, is_best=True)
        """
        perfect, rows = self.perfect, self.perfect.positions.rows_of(state)
        values, ranks = perfect.row_values[rows].tolist(), perfect.ranks[rows].tolist()
        away = perfect.distance[perfect.positions.after[rows]].tolist()
        return [
            MoveValue(action, value, None if value == DRAW else distance + 1, rank == max(ranks))
            for action, value, distance, rank in zip(self.game.actions(state), values, away, ranks, strict=True)
        ]

    def best_action(self, state: Any) -> int:
        """Return the first best action of a state.

        The order of actions is that of the position, which several symmetric states can share.

        Args:
            state: State of the game, not terminal.

        Returns:
            The action.

        Raises:
            GameError: If the state is terminal.

        Examples:
            >>> from punish_fast.games import RetrogradeOracle, make_game
            >>> game = make_game("tictactoe")
            >>> RetrogradeOracle(game).best_action(game.initial())
            0
        """
        positions = self.perfect.positions
        row = int(self.perfect.best_rows[positions.find(state)])
        if row < 0:
            raise GameError(f"state: {self.game.text(state)} is terminal, so there is no action")
        return int(self.game.actions(state)[positions.rows_of(state).index(row)])

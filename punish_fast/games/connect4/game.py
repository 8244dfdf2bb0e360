"""Connect Four: two players drop stones into seven columns; four of one player in a line win.

A stone falls to the lowest empty square of its column. A line is horizontal, vertical or diagonal. When all 42 squares
are full and nobody has a line, the game is a draw.

A board is an integer with a bit for each square, seven bits for each column. The seventh is never set in a board; it
keeps lines from passing from the top of a column to the bottom of the next::

     6  13  20  27  34  41  48     never set
    --------------------------
     5  12  19  26  33  40  47
     4  11  18  25  32  39  46
     3  10  17  24  31  38  45
     2   9  16  23  30  37  44
     1   8  15  22  29  36  43
     0   7  14  21  28  35  42     the bottom
    --------------------------
     1   2   3   4   5   6   7     columns, as people name them

A shift by 1 moves all stones up, by 7 to the right, by 8 and by 6 along the diagonals. A state has the stones of the
player to move and all stones. Action ``c`` drops a stone into column ``c + 1``. A state and its mirror image are one
position, in which actions have the numbers of the lesser of the two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.connect4 import _game as kernels
from punish_fast.games.contract import GameError, TableGame
from punish_fast.games.solve.packed_states import GameKernels, PackedGame
from punish_fast.runtime.printable import printable

WIDTH, HEIGHT, N_SQUARES, STEP = kernels.WIDTH, kernels.HEIGHT, kernels.N_SQUARES, kernels.STEP
_LINES = (1, STEP - 1, STEP, STEP + 1)
# The squares from left to right, then from the bottom to the top.
_SQUARES = tuple(tuple(1 << (STEP * column + row) for column in range(WIDTH)) for row in range(HEIGHT))
_FROM_TOP = tuple(square for row in reversed(_SQUARES) for square in row)
_STONES = ".XO"


class Connect4State(NamedTuple):
    """A state."""

    own: int  # The stones of the player to move.
    filled: int  # All stones.

    @property
    def n_stones(self) -> int:
        """The number of stones on the board."""
        return self.filled.bit_count()


class Connect4Variant(NamedTuple):
    """The rules, of which there is one variant."""


class Connect4(TableGame):
    """Connect Four; see `contract.TableGame`.

    Attributes:
        n_positions: The number of boards, mirror images told apart; J. Tromp counted them ("John's Connect Four
            playground").
    """

    name = "connect4"
    n_players = 2
    n_actions = WIDTH
    n_features = 2 * N_SQUARES
    is_zero_sum = True
    first_number: int | None = 1
    n_positions = 4_531_985_219_092

    def __init__(self, variant: Connect4Variant | None = None) -> None:
        self.variant = variant or Connect4Variant()

    @cached_property
    def vector(self) -> VectorConnect4:
        """Many states at once."""
        return VectorConnect4(self, np.zeros(2), WIDTH, _KERNELS, feature_shape=(2, HEIGHT, WIDTH))

    def initial(self) -> Connect4State:
        """The empty board."""
        return Connect4State(0, 0)

    def player(self, state: Connect4State) -> int:
        """The player to move; after a line, the loser."""
        return state.n_stones % 2

    def is_terminal(self, state: Connect4State) -> bool:
        """Whether there is a line or the board is full."""
        return state.n_stones == N_SQUARES or has_line(state.own ^ state.filled)

    def actions(self, state: Connect4State) -> list[int]:
        """The columns that are not full, from 0."""
        return [] if self.is_terminal(state) else [c for c in range(WIDTH) if not state.filled & _SQUARES[-1][c]]

    def apply(self, state: Connect4State, action: int) -> Connect4State:
        """The state after a stone was dropped into column ``action``."""
        self.check_action(state, action)
        filled = state.filled | (state.filled + _SQUARES[0][action])
        return Connect4State(state.own ^ state.filled, filled)

    def is_win(self, state: Connect4State, action: int) -> bool:
        """Whether a legal action wins at once."""
        return has_line(self.apply(state, action).filled ^ self.apply(state, action).own)

    def returns(self, state: Connect4State) -> tuple[float, float]:
        """1 for the winner and -1 for the loser."""
        if not has_line(state.own ^ state.filled):
            return 0.0, 0.0
        return (1.0, -1.0) if self.player(state) == 1 else (-1.0, 1.0)

    def position(self, state: Connect4State) -> Connect4State:
        """The lesser of the state and its mirror image."""
        return min(state, _mirrored(state))

    def position_actions(self, state: Connect4State) -> list[int]:
        """The open columns, from the right if the mirror image is the position."""
        actions = self.actions(state)
        return actions if self.position(state) == state else [WIDTH - 1 - action for action in actions]

    def text(self, state: Connect4State) -> str:
        """The rows from the top: ``"......./......./......./......./...O.../..XX..."``."""
        cells = [_STONES[cell] for cell in _cells(state)]
        return "/".join("".join(cells[row : row + WIDTH]) for row in range(0, N_SQUARES, WIDTH))

    def action_text(self, state: Connect4State, action: int) -> str:  # noqa: ARG002 - the contract's
        """The column, from 1."""
        return f"column {action + 1}"

    def features(self, state: Connect4State) -> np.ndarray:
        """The stones of the player to move, then those of the other: rows from the bottom up, 1 for a stone."""
        features: np.ndarray = self.vector.features(self.vector.pack([state]))[0]
        return features

    def state_of(self, text: str) -> Connect4State:
        """The state after moves, as columns from 1 to 7: ``"4455"``."""
        if not re.fullmatch("[1-7]*", text):
            raise GameError(
                f"position: {printable(text)!r} is wrong, allowed: the columns played, 1 to 7, such as 4455"
            )
        state = self.initial()
        for number, column in enumerate(text, 1):
            if int(column) - 1 not in self.actions(state):
                problem = "the game is over" if self.is_terminal(state) else f"column {column} is full"
                raise GameError(f"position: {text!r} is wrong: before move {number}, {problem}")
            state = self.apply(state, int(column) - 1)
        return state

    def variant_text(self) -> str:
        """The name of the game."""
        return "Connect Four"

    def rules_text(self) -> str:
        """The rules, in a few lines."""
        return (
            "In your turn, drop a stone into one of seven columns; it falls to the lowest empty square.\n"
            "Four stones in a line, horizontal, vertical or diagonal, win.\n"
            "A full board without a line is a draw."
        )

    def draw(self, state: Connect4State, viewer: int, names: Sequence[str]) -> str:  # noqa: ARG002 - no sides
        """The board, and who plays X and O."""
        rows = [" ".join(row) for row in self.text(state).split("/")]
        numbers = " ".join(str(column + 1) for column in range(WIDTH))
        return "\n".join([f"X {names[0]}, O {names[1]}", "", *rows, numbers])

    def board(self, state: Connect4State, viewer: int) -> dict[str, Any]:
        """A board of squares; see `contract.TableGame.board`."""
        line = line_squares(state.own ^ state.filled)
        return {
            "rows": HEIGHT,
            "columns": WIDTH,
            "cells": _cells(state),
            "own": viewer + 1,
            "line": [number for number, square in enumerate(_FROM_TOP) if square & line],
        }


def _fill_players(boards: np.ndarray, player: np.ndarray) -> None:
    player[:] = np.bitwise_count(boards[:, 1]) % 2


def _fill_features(boards: np.ndarray, features: np.ndarray) -> None:
    kernels.spread_stones(boards, features.reshape(-1, 2, HEIGHT, WIDTH))


_KERNELS = GameKernels(_fill_players, kernels.find_open_columns, _fill_features, kernels.drop_stones)


class VectorConnect4(PackedGame):
    """Many states at once; see `contract.VectorBoardGame`. Their words are those of `Connect4State`."""

    def pack(self, states: Sequence[Connect4State]) -> np.ndarray:
        """The words of states."""
        return np.array(states, dtype=np.uint64).reshape(-1, self.n_words)


def has_line(stones: int) -> bool:
    """Whether a board has four stones in a line."""
    return line_squares(stones) != 0


def line_squares(stones: int) -> int:
    """The stones that are in a line of four."""
    found = 0
    for step in _LINES:
        pairs = stones & (stones >> step)
        starts = pairs & (pairs >> 2 * step)
        found |= starts | starts << step | starts << 2 * step | starts << 3 * step
    return found


def _cells(state: Connect4State) -> list[int]:
    """The squares by rows from the top: 0 for empty, 1 for the first player, 2 for the second."""
    first, second = state.own, state.own ^ state.filled
    if state.n_stones % 2 == 1:
        first, second = second, first
    return [1 if first & square else 2 if second & square else 0 for square in _FROM_TOP]


def _mirrored(state: Connect4State) -> Connect4State:
    column = (1 << STEP) - 1
    own, filled = (
        sum(((board >> STEP * c) & column) << STEP * (WIDTH - 1 - c) for c in range(WIDTH)) for board in state
    )
    return Connect4State(own, filled)

"""Connect Four: two players drop stones into seven columns; four in a line win.

A stone falls to the lowest empty square of its column. A line is horizontal, vertical or diagonal. A full board without
a line is a draw.

A board is an integer with a bit for each square and seven bits for each column. The seventh bit is never set; it keeps
lines from continuing from the top of a column to the bottom of the next::

     6  13  20  27  34  41  48     never set
    --------------------------
     5  12  19  26  33  40  47
     4  11  18  25  32  39  46
     3  10  17  24  31  38  45
     2   9  16  23  30  37  44
     1   8  15  22  29  36  43
     0   7  14  21  28  35  42     the bottom
    --------------------------
     1   2   3   4   5   6   7     columns in text

A shift by 1 moves all stones up, by 7 to the right, and by 8 or 6 along the diagonals. A state consists of the stones
of the player to move and all stones. Action ``c`` drops a stone into column ``c + 1``. A state and its mirror image
share a position, which has the action numbers of the smaller of the two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.connect4 import _game as kernels
from punish_fast.games.contract import GameError, TableGame
from punish_fast.games.solve.vector_games import GameKernels, PackedGame
from punish_fast.runtime.printable import printable

WIDTH, HEIGHT, N_SQUARES, STEP = kernels.WIDTH, kernels.HEIGHT, kernels.N_SQUARES, kernels.STEP
_LINES = (1, STEP - 1, STEP, STEP + 1)
# Rows of squares from the bottom, each from left to right.
_SQUARES = tuple(tuple(1 << (STEP * column + row) for column in range(WIDTH)) for row in range(HEIGHT))
_FROM_TOP = tuple(square for row in reversed(_SQUARES) for square in row)
_STONES = ".XO"


class Connect4State(NamedTuple):
    """A state of Connect Four."""

    own: int  # Stones of the player to move, as a bitboard.
    filled: int  # All stones, as a bitboard.

    @property
    def n_stones(self) -> int:
        """Number of stones on the board."""
        return self.filled.bit_count()


class Connect4Variant(NamedTuple):
    """The rules, without options."""


class Connect4(TableGame):
    """Connect Four; see `contract.TableGame`."""

    name = "connect4"
    n_players = 2
    n_actions = WIDTH
    n_features = 2 * N_SQUARES
    is_zero_sum = True
    first_number: int | None = 1
    # Number of boards, counting mirror images separately (J. Tromp, "John's Connect Four Playground").
    n_positions = 4_531_985_219_092

    def __init__(self, variant: Connect4Variant | None = None) -> None:
        self.variant = variant or Connect4Variant()

    @cached_property
    def vector(self) -> VectorConnect4:
        """The game on arrays of states."""
        return VectorConnect4(self, np.zeros(2), WIDTH, _KERNELS, feature_shape=(2, HEIGHT, WIDTH))

    def initial(self) -> Connect4State:
        """Return the empty board."""
        return Connect4State(0, 0)

    def player(self, state: Connect4State) -> int:
        """Return the player to move; after a line, the loser."""
        return state.n_stones % 2

    def is_terminal(self, state: Connect4State) -> bool:
        """Return True if there is a line or the board is full."""
        return state.n_stones == N_SQUARES or has_line(state.own ^ state.filled)

    def actions(self, state: Connect4State) -> list[int]:
        """Return the columns that are not full, counted from 0."""
        return [] if self.is_terminal(state) else [c for c in range(WIDTH) if not state.filled & _SQUARES[-1][c]]

    def apply(self, state: Connect4State, action: int) -> Connect4State:
        """Return the state after a stone is dropped into column ``action``."""
        self.check_action(state, action)
        filled = state.filled | (state.filled + _SQUARES[0][action])
        return Connect4State(state.own ^ state.filled, filled)

    def returns(self, state: Connect4State) -> tuple[float, float]:
        """Return 1 for the winner and -1 for the loser, or 0 for both."""
        if not has_line(state.own ^ state.filled):
            return 0.0, 0.0
        return (1.0, -1.0) if self.player(state) == 1 else (-1.0, 1.0)

    def position(self, state: Connect4State) -> Connect4State:
        """Return the smaller of the state and its mirror image."""
        return min(state, _mirrored(state))

    def position_actions(self, state: Connect4State) -> list[int]:
        """Return the open columns, counted from the right if the position is the mirror image."""
        actions = self.actions(state)
        return actions if self.position(state) == state else [WIDTH - 1 - action for action in actions]

    def text(self, state: Connect4State) -> str:
        """Return the rows from the top, such as ``"......./......./......./......./...O.../..XX..."``."""
        cells = [_STONES[cell] for cell in _cells(state)]
        return "/".join("".join(cells[row : row + WIDTH]) for row in range(0, N_SQUARES, WIDTH))

    def action_text(self, state: Connect4State, action: int) -> str:  # noqa: ARG002 - the contract's
        """Return the column, counted from 1."""
        return f"column {action + 1}"

    def features(self, state: Connect4State) -> np.ndarray:
        """Return planes of the stones of the player to move and of the opponent, with rows from the bottom up."""
        features: np.ndarray = self.vector.features(self.vector.pack([state]))[0]
        return features

    def state_of(self, text: str) -> Connect4State:
        """Parse a sequence of moves as columns from 1 to 7, such as ``"4455"``."""
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
        """Return the name of the game."""
        return "Connect Four"

    def rules_text(self) -> str:
        """State the rules in a few lines."""
        return (
            "In your turn, drop a stone into one of seven columns; it falls to the lowest empty square.\n"
            "Four stones in a line, horizontal, vertical or diagonal, win.\n"
            "A full board without a line is a draw."
        )

    def draw(self, state: Connect4State, viewer: int, names: Sequence[str]) -> str:  # noqa: ARG002 - no sides
        """Draw the board below the names of both players."""
        rows = [" ".join(row) for row in self.text(state).split("/")]
        numbers = " ".join(str(column + 1) for column in range(WIDTH))
        return "\n".join([f"X {names[0]}, O {names[1]}", "", *rows, numbers])

    def board(self, state: Connect4State, viewer: int) -> dict[str, Any]:
        """Return a board of squares."""
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
    """Connect Four on arrays of states; see `contract.VectorBoardGame`. The words are the fields of `Connect4State`."""

    def pack(self, states: Sequence[Connect4State]) -> np.ndarray:
        """Encode states."""
        return np.array(states, dtype=np.uint64).reshape(-1, self.n_words)


def has_line(stones: int) -> bool:
    """Return True if a board has four stones in a line."""
    return line_squares(stones) != 0


def line_squares(stones: int) -> int:
    """Return a bitboard of the stones that are part of a line of four."""
    found = 0
    for step in _LINES:
        pairs = stones & (stones >> step)
        starts = pairs & (pairs >> 2 * step)
        found |= starts | starts << step | starts << 2 * step | starts << 3 * step
    return found


def _cells(state: Connect4State) -> list[int]:
    """Return the squares row by row from the top: 0 for empty, 1 for the first player, 2 for the second."""
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

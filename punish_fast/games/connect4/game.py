"""Connect Four: two players drop stones into seven columns. The first player with four stones in a line wins.

A stone falls to the lowest empty square of its column. A line is horizontal, vertical or diagonal. A full board without
a line is a draw.

A bitboard is an integer with seven bits for each column: one bit for each of its six squares, and a seventh bit that is
never set. The seventh bit prevents lines from continuing from the top of a column to the bottom of the next column::

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

A left shift by 1 moves all stones up, by 7 to the right, and by 8 or 6 along the diagonals. A state consists of the
stones of the player to move and the stones of both players. Action ``c`` drops a stone into column ``c + 1``. A state
and its mirror image have the same position, with the action numbers of the smaller state.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from punish_fast.games.connect4 import _game as kernels
from punish_fast.games.contract import GameError
from punish_fast.games.enumeration.vector_games import GameKernels, PackedGame
from punish_fast.games.squares import SquareGame
from punish_fast.runtime.errors import printable

WIDTH, HEIGHT, N_SQUARES, STEP = kernels.WIDTH, kernels.HEIGHT, kernels.N_SQUARES, kernels.STEP
_LINES = (1, STEP - 1, STEP, STEP + 1)


class Connect4State(NamedTuple):
    """A state of Connect Four, as two bitboards."""

    own: int  # Stones of the player to move.
    filled: int  # Stones of both players.

    @property
    def n_stones(self) -> int:
        """Number of stones on the board."""
        return self.filled.bit_count()


class Connect4(SquareGame):
    """Connect Four (see `contract.Game`)."""

    name = "connect4"
    n_actions = WIDTH
    n_features = 2 * N_SQUARES
    squares = tuple(1 << (STEP * column + row) for row in reversed(range(HEIGHT)) for column in range(WIDTH))
    columns = WIDTH
    # Number of positions, counting mirror images separately (J. Tromp, "John's Connect Four Playground").
    n_positions = 4_531_985_219_092

    @cached_property
    def vector(self) -> VectorConnect4:
        """Vectorized version of the game, for arrays of states."""
        return VectorConnect4(self, np.zeros(2), WIDTH, _KERNELS, feature_shape=(2, HEIGHT, WIDTH))

    def initial(self) -> Connect4State:
        """Return the empty board."""
        return Connect4State(0, 0)

    def stones(self, state: Connect4State) -> tuple[int, int]:
        """Return the stones of the player to move and of the opponent."""
        return state.own, state.own ^ state.filled

    def line(self, stones: int) -> int:
        """Return the stones in lines of four."""
        return line_squares(stones)

    def actions(self, state: Connect4State) -> list[int]:
        """Return the columns that are not full, counted from 0, or an empty list at the end of the game."""
        return [] if self.is_terminal(state) else [c for c in range(WIDTH) if not state.filled & self.squares[c]]

    def apply(self, state: Connect4State, action: int) -> Connect4State:
        """Return the state after a stone is dropped into column ``action``."""
        self.check_action(state, action)
        filled = state.filled | (state.filled + (1 << STEP * action))
        return Connect4State(state.own ^ state.filled, filled)

    def position(self, state: Connect4State) -> Connect4State:
        """Return the smaller of the state and its mirror image."""
        return min(state, _mirrored(state))

    def position_actions(self, state: Connect4State) -> list[int]:
        """Return the open columns, counted from the right if the position is the mirror image."""
        actions = self.actions(state)
        return actions if self.position(state) == state else [WIDTH - 1 - action for action in actions]

    def action_text(self, state: Connect4State, action: int) -> str:  # noqa: ARG002 - the contract's
        """Return the column, counted from 1, such as ``"column 4"``."""
        return f"column {action + 1}"

    def features(self, state: Connect4State) -> np.ndarray:
        """Return two planes of zeros and ones, the mover's stones and the opponent's stones, bottom row first."""
        return np.asarray(self.vector.features(self.vector.pack([state]))[0])

    def state_of(self, text: str) -> Connect4State:
        """Parse a sequence of moves, given as columns from 1 to 7, such as ``"4455"``."""
        if not re.fullmatch("[1-7]*", text):
            raise GameError(f"position: {printable(text)!r} is wrong; use the columns played, 1 to 7, such as 4455")
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
        """Describe the rules in a few lines."""
        return (
            "On your turn, drop a stone into one of seven columns; it falls to the lowest empty square.\n"
            "Four stones in a line, horizontal, vertical or diagonal, win.\n"
            "A full board without a line is a draw."
        )

    def draw(self, state: Connect4State, viewer: int, names: Sequence[str]) -> str:  # noqa: ARG002 - no sides
        """Draw the board below the names of both players."""
        rows = [" ".join(row) for row in self.text(state).split("/")]
        numbers = " ".join(str(column + 1) for column in range(WIDTH))
        return "\n".join([f"X {names[0]}, O {names[1]}", "", *rows, numbers])


def _fill_players(boards: np.ndarray, player: np.ndarray) -> None:
    player[:] = np.bitwise_count(boards[:, 1]) % 2


_KERNELS = GameKernels(_fill_players, kernels.find_open_columns, kernels.spread_stones, kernels.drop_stones)


class VectorConnect4(PackedGame):
    """Connect Four on arrays of states (see `contract.VectorBoardGame`).

    The words are the fields of `Connect4State`.
    """

    def pack(self, states: Sequence[Connect4State]) -> np.ndarray:
        """Encode states in a uint64 array ``[n, 2]``."""
        return np.array(states, dtype=np.uint64).reshape(-1, self.n_words)


def line_squares(stones: int) -> int:
    """Return a bitboard of the stones in lines of four."""
    found = 0
    for step in _LINES:
        pairs = stones & (stones >> step)
        starts = pairs & (pairs >> 2 * step)
        found |= starts | starts << step | starts << 2 * step | starts << 3 * step
    return found


def _mirrored(state: Connect4State) -> Connect4State:
    column = (1 << STEP) - 1
    own, filled = (
        sum(((board >> STEP * c) & column) << STEP * (WIDTH - 1 - c) for c in range(WIDTH)) for board in state
    )
    return Connect4State(own, filled)

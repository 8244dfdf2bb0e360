"""Tic-tac-toe: three in a row on a 3 x 3 board.

Squares are numbered row by row,

    0 1 2
    3 4 5
    6 7 8

and a player's stones are represented by a mask with bit ``k`` for square ``k``. Action ``k`` places a stone on square
``k``. X moves first, so X is to move if both players have the same number of stones.

The board has eight symmetries: four rotations and their reflections. The position of a state is the smallest of its
eight images. `TicTacToe.position_actions` returns the image of each action under the same symmetry.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.contract import GameError
from punish_fast.games.enumeration.positions import enumerate_positions
from punish_fast.games.squares import SquareGame

_SIDE = 3
_SQUARES = _SIDE * _SIDE
_WORDS = ("top left", "top", "top right", "left", "center", "right", "bottom left", "bottom", "bottom right")


def _mask(squares: Any) -> int:
    return sum(1 << square for square in squares)


_BOARD = np.arange(_SQUARES).reshape(_SIDE, _SIDE)
# Permutation of the squares for each symmetry. Entry ``k`` is the image of square ``k``.
_IMAGE = [np.rot90(each, turns).ravel().tolist() for each in (_BOARD, _BOARD.T) for turns in range(4)]
# Image of every mask under every symmetry.
_IMAGE_OF_MASK = [
    [_mask(image[k] for k in range(_SQUARES) if mask >> k & 1) for mask in range(1 << _SQUARES)] for image in _IMAGE
]
_LINES = [_mask(map(int, squares)) for squares in ("012", "345", "678", "036", "147", "258", "048", "246")]


class TicTacToeState(NamedTuple):
    """A state of tic-tac-toe, as two masks of squares."""

    own: int  # Mask of the stones of the player to move.
    other: int  # Mask of the opponent's stones.


class TicTacToe(SquareGame):
    """Tic-tac-toe (see `contract.Game`)."""

    name = "tictactoe"
    n_actions = _SQUARES
    n_features = 2 * _SQUARES
    squares = tuple(1 << square for square in range(_SQUARES))
    columns = _SIDE

    def initial(self) -> TicTacToeState:
        """Return the empty board, with X to move."""
        return TicTacToeState(0, 0)

    def stones(self, state: TicTacToeState) -> tuple[int, int]:
        """Return masks of the stones of the player to move and of the opponent."""
        return state.own, state.other

    def line(self, stones: int) -> int:
        """Return a mask of the stones in lines of three."""
        found = 0
        for line in _LINES:
            if stones & line == line:
                found |= line
        return found

    def actions(self, state: TicTacToeState) -> list[int]:
        """Return the empty squares, or an empty list if the game is over."""
        if self.is_terminal(state):
            return []
        stones = state.own | state.other
        return [square for square in range(_SQUARES) if not stones >> square & 1]

    def apply(self, state: TicTacToeState, action: int) -> TicTacToeState:
        """Return the state after the player to move places a stone on a square."""
        self.check_action(state, action)
        return TicTacToeState(state.other, state.own | 1 << action)

    def position(self, state: TicTacToeState) -> tuple[int, int]:
        """Return the smallest of the symmetric images of a state."""
        return min((image[state.own], image[state.other]) for image in _IMAGE_OF_MASK)

    def position_actions(self, state: TicTacToeState) -> list[int]:
        """Return the image of each legal action under the symmetry that maps the state to its position."""
        images = [(image[state.own], image[state.other]) for image in _IMAGE_OF_MASK]
        moved = _IMAGE[images.index(min(images))]
        return [moved[action] for action in self.actions(state)]

    def action_text(self, state: TicTacToeState, action: int) -> str:  # noqa: ARG002 - see Game
        """Return the name of a square, for example ``"top left"``."""
        return _WORDS[action]

    def features(self, state: TicTacToeState) -> np.ndarray:
        """Return two planes, the stones of the player to move and of the opponent, flattened to float32 ``[18]``."""
        masks = np.array([[state.own], [state.other]])
        return (masks >> np.arange(_SQUARES) & 1).astype(np.float32).ravel()

    def state_of(self, text: str) -> TicTacToeState:
        """Parse a board such as ``"X../.O./..."``. The numbers of stones determine the player to move."""
        cells = re.sub(r"[\s/|]", "", text, flags=re.ASCII).upper()
        if not re.fullmatch(r"[XO.]{9}", cells):
            raise GameError(
                f'position: {text!r} is wrong; use three rows of X, O and . for an empty square, such as "X../.O./..."'
            )
        first, second = (_mask(k for k in range(_SQUARES) if cells[k] == mark) for mark in "XO")
        lead = first.bit_count() - second.bit_count()
        state = TicTacToeState(first, second) if lead == 0 else TicTacToeState(second, first)
        if lead not in {0, 1} or self.line(state.own):
            raise GameError(
                f"position: {text!r} cannot be reached; there must be as many X as O, or one more X, and the player to "
                "move must not have a line"
            )
        return state

    def variant_text(self) -> str:
        """Return the name of the game."""
        return "Tic-tac-toe"

    def rules_text(self) -> str:
        """Describe the rules in a few lines."""
        return (
            "The board has three rows of three squares. X moves first.\n"
            "On your turn, put a stone on an empty square.\n"
            "Three stones in a line win: a row, a column or a diagonal.\n"
            "A full board without a line is a draw."
        )

    def draw(self, state: TicTacToeState, viewer: int, names: Sequence[str]) -> str:  # noqa: ARG002 - see Game
        """Draw the board below the names of both players, with a number on each square that can be chosen."""
        free = {square: str(square + 1) for square in self.actions(state)}
        cells = [free.get(square, " XO"[cell]) for square, cell in enumerate(self.cells(state))]
        rows = ["|".join(f" {cell} " for cell in row).rstrip() for row in np.reshape(cells, (_SIDE, _SIDE))]
        return f"X {names[0]}, O {names[1]}\n\n" + "\n---+---+---\n".join(rows)

    def counts(self) -> dict[str, int]:
        """Return the numbers of reachable states (``states``) and of reachable positions (``canonical_states``)."""
        states = enumerate_positions(self, is_folded=False).states
        return {"states": len(states), "canonical_states": len({self.position(state) for state in states})}

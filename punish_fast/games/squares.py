"""Games of two players who place stones on a board of squares. The first line of stones wins."""

from typing import Any, NamedTuple, Protocol

from punish_fast.games.contract import Game


class NoOptions(NamedTuple):
    """The variant of a game without options."""


class SquareGame(Game, Protocol):
    """Base class of tic-tac-toe and Connect Four (see `contract.Game`)."""

    n_players: int = 2
    is_zero_sum: bool = True
    first_number: int | None = 1
    squares: tuple[int, ...]  # Bitboard with the bit of each square, row by row from the top.
    columns: int  # Number of columns.

    def __init__(self, _variant: NoOptions | None = None) -> None:
        self.variant = NoOptions()

    def stones(self, state: Any) -> tuple[int, int]:
        """Return the stones of the player to move and of the opponent, as bitboards."""

    def line(self, stones: int) -> int:
        """Return a bitboard of the stones that are part of a winning line, or 0 if there is no line."""

    def player(self, state: Any) -> int:
        """Return the player to move or, after the end of the game, the player who would move next."""
        own, other = self.stones(state)
        return (own | other).bit_count() % 2

    def is_terminal(self, state: Any) -> bool:
        """Return True if the opponent has a line or the board is full."""
        own, other = self.stones(state)
        return self.line(other) != 0 or (own | other).bit_count() == len(self.squares)

    def returns(self, state: Any) -> tuple[float, float]:
        """Return 1 for the player with a line and -1 for the other player, or 0 for both if there is no line."""
        if not self.line(self.stones(state)[1]):
            return 0.0, 0.0
        return (-1.0, 1.0) if self.player(state) == 0 else (1.0, -1.0)

    def cells(self, state: Any) -> list[int]:
        """Return the contents of each square, row by row from the top.

        The contents are 0 for an empty square, and 1 or 2 for a stone of the first or second player.
        """
        first, second = self.stones(state)[:: -1 if self.player(state) else 1]
        return [1 if first & square else 2 if second & square else 0 for square in self.squares]

    def text(self, state: Any) -> str:
        """Return the board as text, row by row from the top, for example ``"X../.O./..."``."""
        cells = "".join(".XO"[cell] for cell in self.cells(state))
        return "/".join(cells[begin : begin + self.columns] for begin in range(0, len(cells), self.columns))

    def board(self, state: Any, viewer: int) -> dict[str, Any]:
        """Return the board for the web page (see `contract.Game.board`)."""
        line = self.line(self.stones(state)[1])
        return {
            "rows": len(self.squares) // self.columns,
            "columns": self.columns,
            "cells": self.cells(state),
            "own": viewer + 1,
            "line": [number for number, square in enumerate(self.squares) if square & line],
        }

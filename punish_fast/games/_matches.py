"""Games played by policies: walks from position to position, drawn by counter-based random numbers.

Every ply has a random number of its own, made of the seed, the game and the ply (see ``punish/_simulator.py``), so a
game is the same whoever plays it, and in whatever order.
"""

from __future__ import annotations

from punish_fast.runtime._jit import kernel
from punish_fast.runtime._random import draw_words

_UNIT = 1 / (1 << 32)
# Numbers the stream of random numbers; games have nothing else to draw.
_PLAY = 0


@kernel
def play_games(begin, end, first_game, seed, positions, until, most_plies, result, plies):
    """Play games from number ``begin`` to ``end`` of a batch.

    Args:
        begin: The first game.
        end: The one after the last.
        first_game: What the first game of the batch is called.
        seed: That of the games.
        positions: ``state_ptr``, ``after``, ``sign``, ``worth`` of the game.
        until: float64 ``[2, n_rows]``, for both players the chance of each row or an earlier one of its position.
        most_plies: When a game is broken off.
        result: int8 ``[n]``, becomes 1 where the first player wins, -1 where the second does, 0 otherwise.
        plies: int32 ``[n]``, becomes the length of each game.
    """
    state_ptr, after, sign, worth = positions
    for game in range(begin, end):
        position, mover, ply = 0, 0, 0
        while ply < most_plies and state_ptr[position] < state_ptr[position + 1]:
            word = draw_words(first_game + game, ply, _PLAY, seed)[0]
            x = float(word) * _UNIT
            row = state_ptr[position]
            last = state_ptr[position + 1] - 1
            while row < last and x >= until[mover, row]:
                row += 1
            position = after[row]
            mover = mover if sign[row] > 0 else 1 - mover
            ply += 1
        # Before the end the worth is 0.
        view = 1 if mover == 0 else -1
        result[game] = (1 if worth[position] > 0 else (-1 if worth[position] < 0 else 0)) * view
        plies[game] = ply

"""Simulated games between two policies, drawn by counter-based random numbers.

Every ply has its own random number, made from the seed, the game and the ply (see ``duel/_simulator.py``). A game is
therefore the same in whatever order, and on however many threads, games are played.
"""

from __future__ import annotations

from punish_fast.runtime._jit import kernel
from punish_fast.runtime._random import draw_words

_UNIT = 1 / (1 << 32)
# The stream of random numbers.
_PLAY = 0


@kernel
def simulate_matches(begin, end, seed, positions, until, max_plies, result, plies):
    """Play the games from number ``begin`` to ``end``.

    Args:
        begin: The first game.
        end: The end of the range of games.
        seed: The random seed.
        positions: ``state_ptr``, ``after``, ``sign``, ``payoff`` of the game.
        until: float64 ``[2, n_rows]``, the cumulative probability of each row in its position, for both players.
        max_plies: Games stop after this number of plies.
        result: int8 ``[n]``, set to 1 if the first player wins, -1 if the second player wins, 0 otherwise.
        plies: int32 ``[n]``, set to the length of each game.
    """
    state_ptr, after, sign, payoff = positions
    for game in range(begin, end):
        position, mover, ply = 0, 0, 0
        while ply < max_plies and state_ptr[position] < state_ptr[position + 1]:
            word = draw_words(game, ply, _PLAY, seed)[0]
            x = float(word) * _UNIT
            row = state_ptr[position]
            last = state_ptr[position + 1] - 1
            while row < last and x >= until[mover, row]:
                row += 1
            position = after[row]
            mover = mover if sign[row] > 0 else 1 - mover
            ply += 1
        # The payoff is 0 if the game was stopped.
        view = 1 if mover == 0 else -1
        result[game] = (1 if payoff[position] > 0 else (-1 if payoff[position] < 0 else 0)) * view
        plies[game] = ply

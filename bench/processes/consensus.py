"""The shared coin of randomized consensus: the maximum probability that processes decide for different coins.

The weak shared coin of Aspnes and Herlihy (1990), "Fast randomized consensus using shared memory", J. Algorithms
15(1), as a model of Kwiatkowska, Norman and Segala (2001), "Automated verification of a randomized distributed
consensus protocol using Cadence SMV and PRISM", CAV. Each of ``n`` processes flips a fair coin, moves a shared counter
one up or down accordingly, and reads it. It decides for tails at a distance of at most ``n`` from the lower end, for
heads at most ``n`` from the upper end, and otherwise flips again. The counter runs from 0 to ``2 n (k + 1)`` and starts
in the middle. A scheduler chooses who moves next. In the terminals all processes have decided: in the first for the
same coin, in the second, the goal, for different ones.
"""

from __future__ import annotations

import numpy as np

from bench.processes.transitions import Moves, explored
from punish_fast.mdp.model.mdp import MDP

FLIP, WRITE_TAILS, WRITE_HEADS, READ, TAILS, HEADS = range(6)
_N_PHASES = 6


def make(n: int, k: int) -> MDP:
    """Return the process; the action is the number of the process that moves."""
    most = 2 * n * (k + 1)
    place = (most + 1) * _N_PHASES ** np.arange(n)
    n_codes = _N_PHASES**n * (most + 1)

    def decided(code: np.ndarray) -> np.ndarray:
        """Return the code, or the terminal if all processes have decided."""
        ends = [(code // unit) % _N_PHASES for unit in place]
        is_over = np.logical_and.reduce([end >= TAILS for end in ends])
        differs = np.logical_or.reduce([end != ends[0] for end in ends])
        return np.where(is_over, n_codes + differs, code)

    def moves(codes: np.ndarray) -> list[Moves]:
        counter, found = codes % (most + 1), []
        low, high = counter <= n, counter >= most - n
        for i, unit in enumerate(place):
            phase = (codes // unit) % _N_PHASES
            for before, step, after, is_there in (
                (FLIP, 0, WRITE_TAILS, True),
                (FLIP, 0, WRITE_HEADS, True),
                (WRITE_TAILS, -1, READ, True),
                (WRITE_HEADS, 1, READ, True),
                (READ, 0, TAILS, low),
                (READ, 0, HEADS, high),
                (READ, 0, FLIP, ~low & ~high),
            ):
                code = codes[(phase == before) & is_there]
                target = decided(code + step + (after - before) * unit)
                p = np.full(len(code), 0.5 if before == FLIP else 1.0)
                found.append(Moves(code, np.full(len(code), i), target, p))
        return found

    return explored(n * (k + 1), n_codes, n, moves, terminals=[0.0, 1.0])

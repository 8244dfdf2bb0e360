"""The shared coin of randomized consensus: the maximum probability that processes decide for different sides.

The weak shared coin is due to Aspnes and Herlihy (1990), "Fast randomized consensus using shared memory", J. Algorithms
15(1). The model follows Kwiatkowska, Norman and Segala (2001), "Automated verification of a randomized distributed
consensus protocol using Cadence SMV and PRISM", CAV. Each of ``n`` processes flips a fair coin, moves a shared counter
by one, up for heads and down for tails, and reads the counter. The process decides for tails within ``n`` of the lower
end, for heads within ``n`` of the upper end, and otherwise flips again. The counter runs from 0 to ``2 n (k + 1)`` and
starts in the middle. A scheduler chooses the process that moves next. In the two terminals, all processes have decided:
for the same side in the first, for different sides in the second. The second terminal is the goal.
"""

from __future__ import annotations

import numpy as np

from bench.processes.transitions import Moves, explored
from punish_fast.mdp.model.mdp import MDP

FLIP, WRITE_TAILS, WRITE_HEADS, READ, TAILS, HEADS = range(6)
_N_PHASES = 6


def make(n: int, k: int) -> MDP:
    """Return the decision process. An action is the index of the process that moves."""
    most = 2 * n * (k + 1)
    place = (most + 1) * _N_PHASES ** np.arange(n)
    n_codes = _N_PHASES**n * (most + 1)

    def decided(code: np.ndarray) -> np.ndarray:
        """Replace the code of each state without undecided processes by the code of a terminal."""
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

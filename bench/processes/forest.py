"""Forest management: wait for the forest to grow, or cut it.

This is the example in Chades, Chapron, Cros, Garcia and Sabbadin (2014), "MDPtoolbox: a multi-platform toolbox to solve
stochastic dynamic programming problems", Ecography 37(9). In each year, fire sets an uncut forest back to the youngest
age class with probability ``p``. Otherwise the forest grows by one class, up to the oldest class. The reward for
waiting is 4 in the oldest class and 0 in other classes. The reward for cutting is 0 in the youngest class, 2 in the
oldest and 1 in other classes, and the forest returns to the youngest class. The states form a long chain. The large
reward at its end affects only states near the end.
"""

from __future__ import annotations

import numpy as np

from bench.processes.transitions import Transitions, matrix_of, process_of
from punish_fast.mdp.model.mdp import MDP

WAIT, CUT = 0, 1


def make(n_ages: int, p: float = 0.1) -> MDP:
    """Return the process. Its states are the age classes."""
    age = np.arange(n_ages, dtype=np.int64)
    older = np.minimum(age + 1, n_ages - 1)
    young = np.zeros(n_ages, dtype=np.int64)
    parts = [
        Transitions(2 * age + WAIT, young, np.full(n_ages, p)),
        Transitions(2 * age + WAIT, older, np.full(n_ages, 1 - p)),
        Transitions(2 * age + CUT, young, np.ones(n_ages)),
    ]
    reward = np.tile([0.0, 1.0], n_ages)
    reward[CUT] = 0.0
    reward[-2:] = 4.0, 2.0
    matrix = matrix_of(parts, (2 * n_ages, n_ages))
    return process_of(matrix, np.full(n_ages, 2), reward, np.tile([WAIT, CUT], n_ages))

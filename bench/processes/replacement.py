"""Replacement of two machines that wear out, with a shared cost of visits.

This is the replacement problem of Howard (1960), "Dynamic Programming and Markov Processes", extended to two machines.
At the beginning of a period, machines can be replaced by new ones (condition 0) for 8 each. A visit to replace one or
both machines costs 6. A machine in condition ``i``, from 0 to ``worst``, costs ``5 (i / worst)^2`` in the period. Then
its condition increases by 0 to 3, up to ``worst``, independently of the other machine. Rows have up to sixteen
successors. Values decrease with both conditions.
"""

from __future__ import annotations

import numpy as np

from bench.processes.transitions import Transitions, matrix_of, process_of
from punish_fast.mdp.model.mdp import MDP

_WEAR = (0.3, 0.4, 0.2, 0.1)
_RUNNING, _MACHINE, _VISIT = 5.0, 8.0, 6.0
# Flags of each action: 1 if the first machine is replaced, 1 if the second machine is replaced.
ACTIONS = ((False, False), (True, False), (False, True), (True, True))


def make(worst: int) -> MDP:
    """Return the process. In state ``i * (worst + 1) + j``, the machines are in conditions ``i`` and ``j``."""
    side = worst + 1
    state = np.arange(side * side, dtype=np.int32)
    first, second = np.divmod(state, side)
    parts, reward = [], np.empty((len(state), len(ACTIONS)))
    for action, (renews_first, renews_second) in enumerate(ACTIONS):
        i = np.zeros_like(first) if renews_first else first
        j = np.zeros_like(second) if renews_second else second
        n_new = renews_first + renews_second
        running = _RUNNING * ((i / worst) ** 2 + (j / worst) ** 2)
        reward[:, action] = -running - _MACHINE * n_new - _VISIT * (n_new > 0)
        for wear_first, p in enumerate(_WEAR):
            for wear_second, q in enumerate(_WEAR):
                column = np.minimum(i + wear_first, worst) * side + np.minimum(j + wear_second, worst)
                parts.append(Transitions(4 * state + action, column, np.full(len(state), p * q)))
    matrix = matrix_of(parts, (4 * len(state), len(state)))
    return process_of(matrix, np.full(len(state), 4), reward.ravel(), np.tile(np.arange(4), len(state)))

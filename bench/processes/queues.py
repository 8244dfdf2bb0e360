"""Two queues in a network: admit an arriving job to one of the queues, or reject it.

The model combines admission control and routing from Stidham and Weber (1993), "A survey of Markov decision models for
control of networks of queues", Queueing Systems 13. Jobs arrive at rate 1.0. The controller rejects a job, or sends it
to a queue that is not full. The servers finish jobs at rates 0.7 and 0.6. From the first server, a job moves to the
second queue with probability 0.3 and otherwise leaves the network. If the second queue is full, the job is lost. An
admitted job pays 10. A job in the first or second queue costs 0.02 or 0.03 per unit of time. The process is uniformized
[Lippman 1975]: each step is one event at the total rate 2.3, events of idle servers have no effect, and rewards are per
step. Values decrease with the lengths of both queues.
"""

from __future__ import annotations

import numpy as np

from bench.processes.transitions import Transitions, matrix_of, process_of
from punish_fast.mdp.model.mdp import MDP

REJECT, TO_FIRST, TO_SECOND = range(3)
_ARRIVAL, _FIRST, _SECOND = 1.0, 0.7, 0.6
_RATE = _ARRIVAL + _FIRST + _SECOND
_TO_SECOND = 0.3
_FEE, _COST = 10.0, (0.02, 0.03)


def make(most: int) -> MDP:
    """Return the process. In state ``i * (most + 1) + j``, there are ``i`` and ``j`` jobs in the queues."""
    side = most + 1
    state = np.arange(side * side)
    first, second = np.divmod(state, side)
    after = {
        REJECT: state,
        TO_FIRST: np.where(first < most, state + side, state),
        TO_SECOND: np.where(second < most, state + 1, state),
    }
    leaves = np.where(first > 0, state - side, state)
    passes = np.where((first > 0) & (second < most), leaves + 1, leaves)
    done = np.where(second > 0, state - 1, state)
    parts, reward = [], np.empty((len(state), len(after)))
    for action, arrived in after.items():
        row = 3 * state + action
        events = (
            (arrived, _ARRIVAL),
            (leaves, _FIRST * (1 - _TO_SECOND)),
            (passes, _FIRST * _TO_SECOND),
            (done, _SECOND),
        )
        parts += [Transitions(row, column, np.full(len(state), rate / _RATE)) for column, rate in events]
        reward[:, action] = _FEE * _ARRIVAL * (arrived != state) - _COST[0] * first - _COST[1] * second
    matrix = matrix_of(parts, (3 * len(state), len(state)))
    return process_of(matrix, np.full(len(state), 3), reward.ravel() / _RATE, np.tile(np.arange(3), len(state)))

"""A grid with slips: walk to a corner, across cells of random cost.

The grid follows Russell and Norvig, "Artificial Intelligence: A Modern Approach", sec. 17.1. A move goes in the
intended direction with probability 0.8 and to each side with probability 0.1. A move against a wall or the border has
no effect. A random fifth of the cells are walls. Cells enclosed by walls are also states. The cost of a move depends on
the cell and is random, uniform in (0, 1). Episodes end at the goal, the last cell. Since successors are near in space,
they are also near in memory.
"""

from __future__ import annotations

import numpy as np

from bench.processes.transitions import Transitions, matrix_of, process_of
from punish_fast.mdp.model.mdp import MDP

_MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))
_SLIP = 0.1
_WALLS = 0.2


def make(side: int, seed: int = 1) -> MDP:
    """Return the process. Its states are the cells without walls, row by row, and its terminal is the goal."""
    random = np.random.default_rng(seed)
    is_open = random.random((side, side)) >= _WALLS
    is_open[0, 0] = is_open[-1, -1] = True
    number = np.cumsum(is_open.ravel()).reshape(side, side) - 1
    goal = int(number[-1, -1])
    i, j = (axis[:goal] for axis in np.nonzero(is_open))
    cell = np.arange(goal)
    ends = []
    for down, right in _MOVES:
        k, m = np.clip(i + down, 0, side - 1), np.clip(j + right, 0, side - 1)
        ends.append(np.where(is_open[k, m], number[k, m], cell))
    parts = [
        Transitions(4 * cell + action, ends[(action + turn) % 4], np.full(goal, p))
        for action in range(4)
        for turn, p in ((0, 1 - 2 * _SLIP), (1, _SLIP), (3, _SLIP))
    ]
    cost = np.repeat(random.random(goal), 4)
    matrix = matrix_of(parts, (4 * goal, goal + 1))
    return process_of(matrix, np.full(goal, 4), -cost, np.tile(np.arange(4), goal), terminals=[0.0])

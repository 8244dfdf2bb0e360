"""Random sparse transitions: the successors of every row are a few uniformly drawn states.

These are the *Garnet* problems of Archibald, McKinnon and Thomas (1995), "On the generation of Markov decision
processes", J. Oper. Res. Soc. 46(3), with rewards for every action. Successors are drawn with replacement (equal ones
are merged), probabilities are normalized uniform numbers, and rewards are uniform in [0, 1]. Sweeps read values in
random order, so caches help little. The process mixes within a few steps.
"""

from __future__ import annotations

import numpy as np

from bench.processes.transitions import Transitions, matrix_of, process_of
from punish_fast.mdp.model.mdp import MDP


def make(n_states: int, n_actions: int = 4, n_successors: int = 8, seed: int = 1) -> MDP:
    """Return the process. ``n_successors`` successors are drawn for each of ``n_actions`` actions in a state."""
    random = np.random.default_rng(seed)
    n_rows = n_states * n_actions
    weight = random.random((n_rows, n_successors))
    weight /= weight.sum(axis=1, keepdims=True)
    row = np.repeat(np.arange(n_rows, dtype=np.int32), n_successors)
    column = random.integers(0, n_states, n_rows * n_successors, dtype=np.int32)
    matrix = matrix_of([Transitions(row, column, weight.ravel())], (n_rows, n_states))
    action = np.tile(np.arange(n_actions), n_states)
    return process_of(matrix, np.full(n_states, n_actions), random.random(n_rows), action)

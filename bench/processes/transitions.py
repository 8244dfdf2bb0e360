"""Construction of processes from transitions in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from punish_fast.mdp.model.mdp import MDP
from punish_fast.runtime.parallel import cumulated


class Transitions(NamedTuple):
    """Transitions from rows to successors, as arrays of equal length."""

    row: np.ndarray  # state-action pairs
    column: np.ndarray  # successors
    p: np.ndarray  # probabilities, to be added if rows and columns are equal


class Moves(NamedTuple):
    """Transitions between codes of states, as arrays of equal length."""

    code: np.ndarray  # codes of states
    action: np.ndarray  # actions
    target: np.ndarray  # codes of successors
    p: np.ndarray  # probabilities


def matrix_of(parts: Sequence[Transitions], shape: tuple[int, int]) -> csr_array:
    """Return the transitions of all parts as one sparse matrix, with sorted columns and without explicit zeros."""
    row, column, p = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    kept = p > 0
    matrix = csr_array(coo_array((p[kept], (row[kept], column[kept])), shape=shape))
    matrix.sum_duplicates()
    # Sums of probabilities can exceed 1 by rounding errors.
    np.minimum(matrix.data, 1.0, out=matrix.data)
    return matrix


def process_of(
    matrix: csr_array, n_actions: np.ndarray, reward: np.ndarray, action: np.ndarray, terminals: Sequence[float] = ()
) -> MDP:
    """Return a process with a single layer.

    Args:
        matrix: Transitions ``[n_rows, n_states + n_terminals]``.
        n_actions: ``[n_states]``, number of rows in each state.
        reward: ``[n_rows]``, expected immediate rewards.
        action: ``[n_rows]``, labels of the actions, from 0 to 255.
        terminals: Reward per step in each terminal.
    """
    return MDP(
        state_ptr=cumulated(n_actions.astype(np.int64)),
        indptr=matrix.indptr.astype(np.int64),
        indices=matrix.indices.astype(np.int32),
        data=matrix.data.astype(np.float64),
        reward=reward.astype(np.float64),
        terminal_reward=np.array(terminals, dtype=np.float64),
        layer_ptr=np.array([0, len(n_actions)], dtype=np.int64),
        action=action.astype(np.uint8),
    )


def explored(
    start: int, n_codes: int, n_actions: int, moves: Callable[[np.ndarray], list[Moves]], terminals: Sequence[float]
) -> MDP:
    """Return the process of all states that are reachable from a start, in the order of their codes.

    Codes of states are below ``n_codes``. The code ``n_codes + i`` stands for terminal ``i``, with reward
    ``terminals[i]`` per step. Actions are below ``n_actions``. ``moves`` returns all moves from an array of codes.
    """
    is_known = np.zeros(n_codes + len(terminals), dtype=bool)
    is_known[start] = True
    is_known[n_codes:] = True
    frontier, found = np.array([start]), []
    while len(frontier):
        found += (new := moves(frontier))
        target = np.concatenate([move.target for move in new])
        frontier = np.unique(target[~is_known[target]])
        is_known[frontier] = True
    known = np.flatnonzero(is_known)
    n_states = len(known) - len(terminals)
    code, action, target, p = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    # Search the sorted codes, because an array of indices for all possible codes would be too large.
    pair = np.searchsorted(known, code) * n_actions + action
    is_possible = np.zeros((n_states, n_actions), dtype=bool)
    is_possible.ravel()[pair] = True
    row = np.cumsum(is_possible.ravel()) - 1
    transitions = Transitions(row[pair], np.searchsorted(known, target), p)
    matrix = matrix_of([transitions], (int(row[-1]) + 1, n_states + len(terminals)))
    labels = np.nonzero(is_possible)[1]
    return process_of(matrix, is_possible.sum(axis=1), np.zeros(len(labels)), labels, terminals)

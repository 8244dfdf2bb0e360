"""Policies from values: the probability of each row in its state."""

from __future__ import annotations

import numpy as np

from punish_fast.mdp.model import MDP


def greedy(mdp: MDP, q: np.ndarray) -> np.ndarray:
    """The policy that takes the best row of each state, the first one of equals.

    Args:
        mdp: The process.
        q: float64 ``[n_rows]``, values of rows.

    Returns:
        float64 ``[n_rows]``, 1 for the rows taken and 0 for the others.
    """
    best = np.maximum.reduceat(q, mdp.state_ptr[:-1])
    state = np.repeat(np.arange(mdp.n_states), np.diff(mdp.state_ptr))
    rows = np.flatnonzero(q == best[state])
    _, first = np.unique(state[rows], return_index=True)
    weight = np.zeros(mdp.n_rows)
    weight[rows[first]] = 1.0
    return weight


def softmax(mdp: MDP, q: np.ndarray, temperature: float) -> np.ndarray:
    """The policy that takes row ``r`` with probability proportional to ``exp(q[r] / temperature)``.

    Args:
        mdp: The process.
        q: float64 ``[n_rows]``, values of rows.
        temperature: Above 0, in the unit of ``q``; the lower, the nearer to greedy.

    Returns:
        float64 ``[n_rows]``, adding up to 1 in each state.

    Raises:
        ValueError: the temperature is not a number above 0.
    """
    if not 0 < temperature < np.inf:
        raise ValueError(f"temperature: {temperature} is not allowed, it must be above 0")
    begins = mdp.state_ptr[:-1]
    lengths = np.diff(mdp.state_ptr)
    weight: np.ndarray = np.exp((q - np.repeat(np.maximum.reduceat(q, begins), lengths)) / temperature)
    weight /= np.repeat(np.add.reduceat(weight, begins), lengths)
    return weight

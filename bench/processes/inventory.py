"""Inventory control with lost sales: how many batches to order each evening.

This is the single-product model of Puterman (1994), "Markov Decision Processes", sec. 3.2. In the morning, ``s`` stored
items and ``a`` ordered items are available, together at most ``capacity``. Customers buy items up to their demand, and
the other items are stored. An order costs 4, and each ordered item costs 2. A sold item pays 8, and storing an item
overnight costs 0.1. Demand has a Poisson distribution, truncated far out in the tail. Rows have many entries, and their
transitions depend only on ``s + a``. Since orders have a fixed cost, an (s, S) policy is optimal if single items can be
ordered [Scarf 1960].
"""

from __future__ import annotations

import numpy as np
from scipy.stats import poisson

from bench.processes.transitions import Transitions, matrix_of, process_of
from punish_fast.mdp.model.mdp import MDP

_FIXED, _ITEM, _PRICE, _STORAGE = 4.0, 2.0, 8.0, 0.1


def make(capacity: int, batch: int, mean_demand: float, largest_demand: int) -> MDP:
    """Return the process. Its states are 0 to ``capacity`` items, and an action is the number of batches to order."""
    stock = np.arange(capacity + 1)
    n_actions = (capacity - stock) // batch + 1
    owner = np.repeat(stock, n_actions)
    first = np.concatenate([[0], np.cumsum(n_actions)])
    batches = np.arange(first[-1]) - first[owner]
    filled = owner + batch * batches
    demand = np.arange(largest_demand + 1)
    p = poisson.pmf(demand, mean_demand)
    p /= p.sum()
    left = np.maximum(filled[:, None] - demand, 0)
    row = np.repeat(np.arange(first[-1], dtype=np.int32), len(demand))
    parts = [Transitions(row, left.astype(np.int32).ravel(), np.tile(p, first[-1]))]
    stored = left @ p
    reward = _PRICE * (filled - stored) - _STORAGE * stored - _ITEM * batch * batches - _FIXED * (batches > 0)
    return process_of(matrix_of(parts, (first[-1], capacity + 1)), n_actions, reward, batches)

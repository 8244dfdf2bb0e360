"""Inventory control with lost sales: how many batches to order each evening.

The single-product model of Puterman (1994), "Markov Decision Processes", sec. 3.2. ``s`` items in store and ``a``
ordered ones, together at most ``capacity``, are there in the morning. Demand ``D`` takes what it can, and the rest is
stored. An order costs 4 and 2 per item; an item sold pays 8, and one stored overnight costs 0.1. Demand is Poisson, cut
off far out in the tail. Rows are long, and equal for equal ``s + a``. Since orders have a fixed cost, the best policy
is an (s, S) policy if single items can be ordered [Scarf 1960].
"""

from __future__ import annotations

import numpy as np
from scipy.stats import poisson

from bench.processes.transitions import Transitions, matrix_of, process_of
from punish_fast.mdp.model.mdp import MDP

_FIXED, _ITEM, _PRICE, _STORAGE = 4.0, 2.0, 8.0, 0.1


def make(capacity: int, batch: int, mean_demand: float, largest_demand: int) -> MDP:
    """Return the process; its states are 0 to ``capacity`` items, its actions the number of batches ordered."""
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

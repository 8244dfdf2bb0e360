"""The states that play can reach."""

from __future__ import annotations

import numpy as np

from punish_fast.mdp.model import MDP


def reachable_states(mdp: MDP, first: np.ndarray) -> np.ndarray:
    """The states that some policy leads to from the ``first`` ones, int64 ``[k]``, these included: int64 ``[n]``.

    It takes about as long as six sweeps.

    Examples:
        >>> from punish_fast.mdp.model import from_rows
        >>> mdp = from_rows([[(0, {1: 1.0})], [(0, {3: 1.0})], [(0, {0: 1.0})]], terminals=[0])
        >>> reachable_states(mdp, np.array([0]))
        array([0, 1])
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    mdp = mdp.expanded()
    # Terminals lead nowhere; one more node leads to the first states.
    n, end = mdp.n_columns, mdp.n_entries
    ends = np.full(len(mdp.terminal_reward), end)
    pointers = np.concatenate([mdp.indptr[mdp.state_ptr], ends, [end + len(first)]])
    indices = np.concatenate([mdp.indices, first])
    graph = csr_array((np.ones(len(indices)), indices, pointers), shape=(n + 1, n + 1))
    found = breadth_first_order(graph, n, return_predecessors=False)
    return np.sort(found[found < mdp.n_states]).astype(np.int64)

"""Topological order of strongly connected components, in which each component comes after its successors.

Play never returns to a component that it has left, so each component needs to be solved only once if components are
solved in this order [Dai, Mausam, Weld and Goldsmith 2011, J. Artif. Intell. Res. 42].
"""

from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from punish_fast.mdp.chain.elimination import components
from punish_fast.mdp.graph.row_selection import select_rows
from punish_fast.mdp.model import MDP
from punish_fast.runtime.parallel import cumulated


def components_of(mdp: MDP) -> np.ndarray:
    """Return the strongly connected component of each state, ``[n_states]``, numbered in topological order."""
    from scipy.sparse import csr_array

    pointers = mdp.indptr[mdp.state_ptr]
    graph = csr_array((np.ones(mdp.n_entries, dtype=bool), mdp.indices, pointers), shape=(mdp.n_states, mdp.n_columns))
    return components(graph[:, : mdp.n_states])


class Order:
    """MDP whose states are sorted by strongly connected component, in topological order."""

    def __init__(self, mdp: MDP) -> None:
        label = components_of(mdp)
        self.sizes = np.bincount(label)  # int64 [n_components], number of states in each component
        self.states = np.argsort(label, kind="stable")  # int64 [n_states], original indices of the states
        lengths = np.diff(mdp.state_ptr)[self.states]
        self._state_ptr = cumulated(lengths)
        # Original indices of the rows, int64 [n_rows].
        self.rows = np.repeat(mdp.state_ptr[self.states] - self._state_ptr[:-1], lengths) + np.arange(mdp.n_rows)
        self._original = mdp

    @cached_property
    def mdp(self) -> MDP:
        """The reordered MDP."""
        return _reordered(self._original, self.states, self._state_ptr, self.rows)

    def runs(self, large: int) -> list[np.ndarray]:
        """Divide the components into runs; each component of at least ``large`` states forms its own run.

        Return the state offsets of each run's components, including the end of the last component.
        """
        boundary, alone = cumulated(self.sizes), np.flatnonzero(self.sizes >= large)
        ends = np.unique(np.concatenate([[0, len(self.sizes)], alone, alone + 1]))
        return [boundary[begin : end + 1] for begin, end in pairwise(ends.tolist())]


def _reordered(mdp: MDP, states: np.ndarray, state_ptr: np.ndarray, rows: np.ndarray) -> MDP:
    """Return the MDP with its states and rows in the order given by ``states`` and ``rows``."""
    column = np.arange(mdp.n_columns, dtype=np.int32)
    column[states] = np.arange(len(states), dtype=np.int32)
    selection = select_rows(mdp, rows, column)
    return replace(mdp, state_ptr=state_ptr, **selection._asdict(), reward=mdp.reward[rows], action=mdp.action[rows])

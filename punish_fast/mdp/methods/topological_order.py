"""Topological order: strongly connected components, each after all components that it leads to.

Play never comes back to a component it has left. So if components are solved in this order, each is solved once [Dai,
Mausam, Weld and Goldsmith 2011, J. Artif. Intell. Res. 42].
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from punish_fast.mdp.chain.elimination import components
from punish_fast.mdp.graph.row_selection import select_rows
from punish_fast.mdp.model import MDP
from punish_fast.runtime.parallel import cumulated


def components_of(mdp: MDP) -> np.ndarray:
    """The strongly connected component of each state, ``[n_states]``; none leads to one of a higher number."""
    from scipy.sparse import csr_array

    pointers = mdp.indptr[mdp.state_ptr]
    graph = csr_array((np.ones(mdp.n_entries, dtype=bool), mdp.indices, pointers), shape=(mdp.n_states, mdp.n_columns))
    return components(graph[:, : mdp.n_states])


class Order:
    """A process whose states are ordered by component, each after all that it leads to.

    Attributes:
        sizes: int64 ``[n_components]``, states of each.
        states: int64 ``[n_states]``, the former numbers of states.
        rows: int64 ``[n_rows]``, the former numbers of rows.
    """

    def __init__(self, mdp: MDP) -> None:
        label = components_of(mdp)
        self.sizes = np.bincount(label)
        self.states = np.argsort(label, kind="stable")
        lengths = np.diff(mdp.state_ptr)[self.states]
        self._state_ptr = cumulated(lengths)
        self.rows = np.repeat(mdp.state_ptr[self.states] - self._state_ptr[:-1], lengths) + np.arange(mdp.n_rows)
        self._original = mdp

    @cached_property
    def mdp(self) -> MDP:
        """The process in that order."""
        return _reordered(self._original, self.states, self._state_ptr, self.rows)

    def runs(self, large: int) -> list[np.ndarray]:
        """Runs of components: each with ``large`` states or more alone, and the others between them together.

        Returns:
            For each run, int64 ``[n + 1]``, where the states of its components begin and end.
        """
        boundary, alone = cumulated(self.sizes), np.flatnonzero(self.sizes >= large)
        ends = np.unique(np.concatenate([[0, len(self.sizes)], alone, alone + 1]))
        return [boundary[begin : end + 1] for begin, end in pairwise(ends.tolist())]


def _reordered(mdp: MDP, states: np.ndarray, state_ptr: np.ndarray, rows: np.ndarray) -> MDP:
    """The process with state ``states[i]`` as its state ``i``, and ``rows[i]`` as its row ``i``."""
    column = np.arange(mdp.n_columns, dtype=np.int32)
    column[states] = np.arange(len(states), dtype=np.int32)
    selection = select_rows(mdp, rows, column)
    return replace(mdp, state_ptr=state_ptr, **selection._asdict(), reward=mdp.reward[rows], action=mdp.action[rows])

"""Topological order: strongly connected components, solved one after the other.

Play never comes back to a component it has left. So if components are solved in an order in which each comes after all
that it leads to, none has to be looked at again [Dai, Mausam, Weld and Goldsmith 2011, J. Artif. Intell. Res. 42]. A
component of one state takes one backup, in which a row that leads back to it is solved for it. Small components are
swept, in both directions in turn, until nothing changes; a large one is a process of its own, whose successors outside
are one terminal worth nothing and what they are worth is a part of the rewards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from punish_fast.mdp._bellman import Tensor
from punish_fast.mdp.bounds.improvement import Improvement
from punish_fast.mdp.chain.elimination import components
from punish_fast.mdp.graph.row_selection import select_rows
from punish_fast.mdp.methods import _topological_order
from punish_fast.mdp.model import MDP
from punish_fast.runtime.parallel import balanced_chunks, cumulated

_LARGE = 4096
_MOST_SWEEPS = 10_000

Solve = Callable[[MDP, float, np.ndarray], np.ndarray]


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


class Topological:
    """All components, each solved once.

    Attributes:
        sizes: int64 ``[n_components]``, states of each.
    """

    def __init__(self, mdp: MDP, solve: Solve, max_sweeps: int = _MOST_SWEEPS) -> None:
        """Find the components.

        Args:
            mdp: The process.
            solve: ``solve(mdp, tolerance, start)``, for a large component, with first values ``[n_states]``.
            max_sweeps: Maximum number of sweeps of each other component.
        """
        self._max_sweeps = max_sweeps
        self._order = Order(mdp)
        self.sizes = self._order.sizes
        self._solve = solve

    def advance(self, point: Improvement) -> None:
        """Solve all components in their order, so well that the goal is reached."""
        mdp, order, n = self._order.mdp, self._order.states, point.mdp.n_states
        v = np.concatenate([point.v[order], point.v[n:]])
        # Values change by at most twice their error in another backup.
        goal = point.goal_of_changes / 2
        for boundary in self._order.runs(_LARGE):
            first, last = boundary[0], boundary[-1]
            if len(boundary) == 2 and last - first >= _LARGE:
                part = _component(mdp, v, first, last, point.discount)
                v[first:last] = self._solve(part, goal, v[first:last])
                point.work += int(part.n_entries)
            else:
                point.work += _relax(mdp, boundary, point.discount, v, goal, self._max_sweeps)
        point.v[order] = v[:n]


def _reordered(mdp: MDP, states: np.ndarray, state_ptr: np.ndarray, rows: np.ndarray) -> MDP:
    """The process with state ``states[i]`` as its state ``i``, and ``rows[i]`` as its row ``i``."""
    column = np.arange(mdp.n_columns, dtype=np.int32)
    column[states] = np.arange(len(states), dtype=np.int32)
    selection = select_rows(mdp, rows, column)
    return replace(mdp, state_ptr=state_ptr, **selection._asdict(), reward=mdp.reward[rows], action=mdp.action[rows])


def _component(mdp: MDP, v: np.ndarray, first: int, last: int, discount: float) -> MDP:
    """The states from ``first`` to ``last`` as a process, given the values ``v`` of all others."""
    rows = slice(mdp.state_ptr[first], mdp.state_ptr[last])
    begin, end = mdp.indptr[rows.start], mdp.indptr[rows.stop]
    indices, data = mdp.indices[begin:end], mdp.data[begin:end]
    is_inside = (indices >= first) & (indices < last)
    indptr = mdp.indptr[rows.start : rows.stop + 1] - begin
    worth = np.add.reduceat(data * np.where(is_inside, 0.0, v[indices]), indptr[:-1])
    return MDP(
        state_ptr=mdp.state_ptr[first : last + 1] - rows.start,
        indptr=indptr,
        indices=np.where(is_inside, indices - first, last - first).astype(np.int32),
        data=data,
        reward=mdp.reward[rows] + discount * worth,
        terminal_reward=np.zeros(1),
        layer_ptr=np.array([0, last - first], dtype=np.int64),
        action=mdp.action[rows],
    )


def _relax(mdp: MDP, boundary: np.ndarray, discount: float, v: np.ndarray, goal: float, max_sweeps: int) -> int:
    """Sweep each component until nothing changes by more than ``goal``; return the entries read."""
    pointers = mdp.state_ptr.view(np.uint64), mdp.indptr.view(np.uint64)
    tensor = Tensor(*pointers, mdp.indices.view(np.uint32), mdp.data, mdp.reward)
    n_backups = 0
    # In pieces, so that an interrupt does not wait for all of them.
    for begin, end in pairwise(balanced_chunks(boundary, 64).tolist()):
        args = boundary.view(np.uint64), tensor, discount, v, goal, max_sweeps
        n_backups += _topological_order.relax_components(begin, end, *args)
    return n_backups * mdp.n_entries // mdp.n_states

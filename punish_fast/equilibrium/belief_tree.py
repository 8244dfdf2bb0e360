"""Tables for searches over beliefs: the values of actions in every full state (``_belief_tree.py``)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from punish_fast.duel.graph import Graph
from punish_fast.equilibrium import _belief_tree
from punish_fast.equilibrium._belief_tree import BeliefTree
from punish_fast.runtime.memory import require_memory
from punish_fast.runtime.parallel import cumulated


class BeliefTrees:
    """Belief trees against one enemy.

    Attributes:
        graph: The game.
        enemy: float64 ``[n_rows]``, the enemy's policy.
    """

    def __init__(self, graph: Graph, enemy: np.ndarray) -> None:
        self.graph = graph
        self.enemy = enemy

    def tree(self, v: np.ndarray, breaths: range) -> BeliefTree:
        """The tree with the values of actions in some breaths, from the values of their successors.

        Args:
            v: float64 ``[n_values]``, values of all numbers.
            breaths: Breaths, from 0 on.
        """
        tree = self._room(breaths)
        for number in breaths:
            self._fill(tree, v, number)
        return tree

    def best_tree(self, v: np.ndarray, n_breaths: int) -> BeliefTree:
        """The tree of the first breaths of a measure, with values for a player that sees the enemy's hand.

        They are upper bounds on the values of actions to any player.

        Args:
            v: float64 ``[n_values]``, values of all numbers; values of full states are written.
            n_breaths: Breaths in the table.
        """
        graph, ptr = self.graph, self.graph.space.state_ptr
        first = self._room(range(n_breaths))
        for number in reversed(range(graph.space.rules.breaths)):
            tree = first if number < n_breaths else self._room(range(number, number + 1))
            self._fill(tree, v, number)
            graph.for_states(number, _belief_tree.take_best, graph.full.ptr, ptr, tree.q, tree.q_ptr, tree.origin, v)
        return first._replace(bounds=True)

    def _fill(self, tree: BeliefTree, v: np.ndarray, number: int) -> None:
        self.graph.for_states(number, _belief_tree.fill_action_values, tree, v[:, None])

    def _room(self, breaths: range) -> BeliefTree:
        """A tree with an empty table."""
        graph, space = self.graph, self.graph.space
        first, last = space.layer_ptr[breaths.start], space.layer_ptr[breaths.stop]
        origin, end = int(self._q_ptr[first]), int(self._q_ptr[last])
        require_memory(8 * (end - origin), f"a table of {end - origin:,} values of actions")
        q = np.empty(end - origin)
        rows = (space.state_ptr, space.action)
        win = graph.n_full + graph.n_nodes
        return BeliefTree(graph.full, graph.draws, *rows, self.enemy, self._row_of, self._q_ptr, origin, q, win, False)

    @cached_property
    def _q_ptr(self) -> np.ndarray:
        """int64 ``[n_states + 1]``, the first value of the actions of each information state."""
        ptr = self.graph.full.ptr
        return cumulated(np.diff(ptr) * np.diff(self.graph.space.state_ptr[: len(ptr)]))

    @cached_property
    def _row_of(self) -> np.ndarray:
        """int32 ``[n_full]``, the information state of each full state."""
        ptr = self.graph.full.ptr
        return np.repeat(np.arange(len(ptr) - 1, dtype=np.int32), np.diff(ptr))

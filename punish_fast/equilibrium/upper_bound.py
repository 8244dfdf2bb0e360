"""An upper bound on the win probability of any opponent of a policy.

Showing an exploiter more than the rules do can only help it, since it may ignore it. So let it have perfect
recall, and also show it

- before every deal, the hand that the enemy has kept,
- in every measure, the enemy's hand, after ``depth`` breaths of choices without it.

The best response with this information can be found exactly. Once the enemy's hand is shown, so is the full state, on
which all that follows depends, since the policy is a function of the enemy's information state: its value is the
maximum over actions, breath by breath. Before that, the exploiter has a belief, which starts with the deal and the kept
hand (``_upper_bound.py``) and follows from its observations in the measure; nothing older matters, as everything was
shown before the deal. The tree of its observations and actions over ``depth`` breaths is searched
(``_belief_tree.py``). Imperfect recall in the graph's information model does not matter: the tree has perfect recall,
and the model only determines the policy's play.

The *nodes* between measures carry values over. Let ``T u`` be their values if a measure is played best and the nodes
after it have values ``u``. ``T`` is monotone, and the best win probabilities with this information, over any number of
measures, are its least fixed point ``u*``. So ``u >= u*`` implies ``T u >= T u* = u*``: starting from 1, every
iteration gives an upper bound, up to rounding. A smaller depth shows more and its bounds are nowhere lower, so cheap
iterations of depth 0 come first.

In long games, the bounds fall slowly. Any ``v >= T v`` is above the least fixed point, too (Knaster and Tarski). So
after two iterations, ``v`` continues their falls as a geometric series, and replaces ``u`` if one iteration shows that
it is a bound (compare optimistic value iteration: A. Hartmanns and B. Kaminski, 2020).

With ``depth`` a whole measure, only the kept hand is shown. Where no hand is kept, or knowing it changes nothing, the
bound is the best win probability.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from punish_fast.duel.exact_evaluation import DuelError
from punish_fast.duel.graph import Graph, must_be_graph
from punish_fast.duel.policies import policy_of
from punish_fast.equilibrium import _belief_tree, _upper_bound
from punish_fast.equilibrium._belief_tree import BeliefTree
from punish_fast.equilibrium.belief_tree import BeliefTrees
from punish_fast.punish._codes import play_status
from punish_fast.punish.codes import split_pairs
from punish_fast.runtime.parallel import cumulated, for_chunks, for_each

# Each leap follows two iterations.
_MAX_LEAPS = 100
# Falls of nodes that may be rounding.
_NOISE = 1e-13
# Tolerance of the iterations of depth 0 before deeper ones.
_ROUGH = 3e-3

Progress = Callable[[str, int, float], None]


@dataclass(frozen=True)
class UpperBound:
    """An upper bound on the win probability against a policy."""

    win_probability: float  # the bound, before the cards are dealt
    # float64 ``[n_nodes]``, upper bounds from the nodes between measures, with the enemy's kept hand shown.
    nodes: np.ndarray
    bounds: list[float]  # the bound after each iteration, descending
    # False if the iterations stopped before their estimated rest was below the tolerance. Iterations count endless play
    # as a win, so the bound is not tight if an opponent can avoid every end.
    converged: bool


def upper_bound(
    graph: Graph,
    policy: Any,
    depth: int | None = None,
    opening_depth: int | None = None,
    tolerance: float = 1e-4,
    progress: Progress | None = None,
) -> UpperBound:
    """Compute an upper bound on the win probability of any opponent of a policy.

    Args:
        graph: The game under any information model in which the policy is defined.
        policy: The policy, float64 ``[n_rows]``, or another player that `policy_of` takes.
        depth: Breaths of a measure in which the exploiter chooses without seeing the enemy's hand, 0 to all. Each one
            more tightens the bound and takes ten to a hundred times as long. By default 2, or 1 if a measure has one.
        opening_depth: The same for the first measure of a game, which has few deals; by default ``depth``.
        tolerance: Stop when further iterations would lower the bound by less, as their falls suggest.
        progress: Called as ``progress("upper bound", iterations, win_probability)`` after every iteration.

    Raises:
        PolicyError: ``policy`` does not belong to the game.
        DuelError: a depth is out of range.
        MemoryError: the values of all actions of a breath would not fit into memory.
    """
    must_be_graph(graph)
    policy = policy_of(policy, graph.space)
    n_breaths = graph.space.rules.breaths
    depth = min(2, n_breaths) if depth is None else depth
    opening_depth = depth if opening_depth is None else opening_depth
    for value in (depth, opening_depth):
        if not 0 <= value <= n_breaths:
            raise DuelError(f"depth: {value} is not allowed, it must be 0 to {n_breaths}")
    search = _Bounds(graph, policy, progress)
    search.lower(0, _ROUGH if depth else tolerance)
    converged = search.lower(depth, tolerance)
    if opening_depth > depth:
        search.note(search.opening(opening_depth))
    return UpperBound(min(search.bounds), search.nodes, search.bounds, converged)


class _Bounds:
    """Descending bounds: ``nodes``, float64 ``[n_nodes]``, and ``bounds`` on the win probability by iteration."""

    def __init__(self, graph: Graph, policy: np.ndarray, progress: Progress | None) -> None:
        self.graph, self.progress = graph, progress
        self.nodes = np.ones(graph.n_nodes)
        self.bounds: list[float] = []
        self._trees = BeliefTrees(graph, policy)
        self._v = np.zeros(graph.n_values)
        self._v[-2] = 1.0
        self._kept = _KeptHands(graph)

    def note(self, bound: float) -> float:
        """Record a bound; return its distance below the last one."""
        before = self.bounds[-1] if self.bounds else 1.0
        self.bounds.append(bound)
        if self.progress is not None:
            self.progress("upper bound", len(self.bounds), bound)
        return before - bound

    def lower(self, depth: int, tolerance: float) -> bool:
        """Iterate with one depth; return False if further iterations may lower the bound by ``tolerance`` or more."""
        for _ in range(_MAX_LEAPS):
            first, second = self._fall(depth), self._fall(depth)
            one, two = float(first.max(initial=0.0)), float(second.max(initial=0.0))
            # The rest of a geometric series.
            if two**2 <= tolerance * (one - two):
                return True
            self._leap(depth, first, second)
        return False

    def _fall(self, depth: int) -> np.ndarray:
        """Iterate once; return by how much the nodes fell."""
        before = self.nodes
        nodes, bound = self._backed_up(depth)
        self.nodes = np.minimum(before, nodes)
        self.note(bound)
        return np.asarray(before - self.nodes)

    def _leap(self, depth: int, first: np.ndarray, second: np.ndarray) -> None:
        """Lower the nodes by all further falls, if these shrink like the last two, and one iteration confirms it."""
        ratio = float(np.divide(second, first, out=np.ones(len(first)), where=first > _NOISE).min())
        if not 0 < ratio < 1:
            return
        before = self.nodes
        self.nodes = np.maximum(before - second * (ratio / (1 - ratio)), 0.0)
        nodes, bound = self._backed_up(depth)
        if (nodes <= self.nodes).all():
            self.nodes = nodes
            self.note(bound)
        else:
            self.nodes = before

    def _backed_up(self, depth: int) -> tuple[np.ndarray, float]:
        """The values of the nodes and of the game from ``nodes`` after one more measure."""
        tree = self._show(depth)
        if depth == 0:
            return self._shown()
        values = self._kept.values(tree, depth)
        return self._kept.back_up(values), self._kept.opening(values)

    def opening(self, depth: int) -> float:
        """The bound with another depth in the first measure."""
        tree = self._show(depth)
        return self._kept.opening(self._kept.values(tree, depth, only_opening=True))

    def _show(self, depth: int) -> BeliefTree:
        """The tree of the first breaths, with the values of known full states, from ``nodes``, at its leaves."""
        self._v[self.graph.n_full : -2] = self.nodes
        return self._trees.best_tree(self._v, depth)

    def _shown(self) -> tuple[np.ndarray, float]:
        """Values of nodes and of the game if full states are known from the deal on."""
        numbers, p = self.graph.opening
        return self.graph.back_up_nodes(self._v[:, None])[:, 0], float(np.sum(p * self._v[numbers]))


class _KeptHands:
    """Beliefs in the first breath, by the hand that the enemy has kept.

    The kept hand 0 is empty: as in the first deal.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        space, redeal, layer = graph.space, graph.redeal, graph.space.layers[0]
        kept, of_pair = np.unique(split_pairs(space.layout, redeal.pair)[1], axis=0, return_inverse=True)
        self._kept_of = of_pair.reshape(-1).astype(np.int64)
        n_blocks = len(layer.cards)
        self._beliefs = np.zeros((n_blocks, len(kept), graph.most_decks))
        args = (space.layout, layer, graph.full, graph.draws.copies, kept, self._beliefs)
        for_each(_upper_bound.believe_kept, n_blocks, *args)
        self._row_of = np.searchsorted(graph.full.ptr, redeal.first, side="right") - 1
        rules = space.rules
        self._status = int(layer.rank[0, play_status(space.layout, rules.hp, rules.hp, 0, 0, 0, 0)])
        self._used = np.zeros((len(kept), int(np.diff(layer.first).max())), dtype=bool)
        self._used[self._kept_of[redeal.node_pair], redeal.node_status] = True

    def values(self, tree: BeliefTree, depth: int, only_opening: bool = False) -> np.ndarray:
        """Values of information states by kept hand, float64 ``[n_kept, n_states]``; 0 if impossible.

        ``depth`` breaths are played with a belief; the tables of ``tree`` must cover at least ``depth`` breaths.
        """
        used = np.zeros_like(self._used) if only_opening else self._used.copy()
        used[0, self._status] = True
        possible = self._beliefs.sum(axis=2) > 0
        block, kept, status = np.nonzero(possible[:, :, None] & used[None])
        layer = self.graph.space.layers[0]
        rows = layer.first[block].astype(np.int64) + status
        which = block * len(self._used) + kept
        value, choice = np.empty(len(rows)), np.empty(len(rows), dtype=np.int64)
        beliefs = self._beliefs.reshape(-1, self._beliefs.shape[2])
        for_each(_belief_tree.value_beliefs, len(rows), tree, depth, rows, which, beliefs, value, choice)
        values = np.zeros((len(self._used), int(layer.first[-1])))
        values[kept, rows] = value
        return values

    def back_up(self, values: np.ndarray) -> np.ndarray:
        """Values of the nodes, float64 ``[n_nodes]``."""
        redeal = self.graph.redeal
        out = np.empty(self.graph.n_nodes)
        lengths = np.diff(redeal.ptr)[redeal.node_pair]
        for_chunks(_upper_bound.back_up_kept, cumulated(lengths), redeal, self._kept_of, self._row_of, values, out)
        return out

    def opening(self, values: np.ndarray) -> float:
        """Value of a game before it is dealt."""
        redeal = self.graph.redeal
        deals = slice(0, redeal.ptr[1])
        return float(np.sum(redeal.p[deals] * values[0, self._row_of[redeal.deal[deals]] + self._status]))

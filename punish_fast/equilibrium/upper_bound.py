"""An upper bound on how often anybody at all can beat a policy.

Whoever is shown more than the rules show can only do better: it may still play as if it had not looked. So let the
exploiter remember everything, and besides show it

- before every deal, the hand that the enemy has kept,
- in every measure, the enemy's hand, after it has chosen in ``depth`` breaths without.

The best that can be done with this is found exactly. Once the enemy's hand is shown, so is the full state, on which all
that follows depends (the policy is a function of the enemy's information state): its value is the maximum over actions,
breath by breath. Before that, the exploiter has a belief, which begins with the deal and the kept hand (``_kept.py``)
and follows from all that it sees in the measure; nothing older matters, as all was shown before the deal. The tree of
all it may see and do over ``depth`` breaths is walked through (``_lookahead.py``). It does not matter what the model of
information of the graph forgets: the tree forgets nothing, and the model only has to say what the policy plays.

The *nodes* between measures are where values are carried over. Let ``T u`` be their values if a measure is played in
the best way and what follows it is worth ``u``. ``T`` is monotone. Let ``u*`` be the best chances to win with what is
shown, no matter how many measures that takes: ``u* = T u*``. So from ``u >= u*`` follows ``T u >= T u* = u*``, and
beginning with 1, the values of every round are an upper bound, up to rounding. A smaller depth shows more: its
operator is nowhere below. So rounds of depth 0, which are cheap, may come first.

With ``depth`` as long as a measure, all that is shown is the hand that is kept. Where nothing is kept, or what is known
of the kept hand changes nothing, the bound is the best chance to win.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from punish_fast.duel.exact_evaluation import DuelError, check_policy
from punish_fast.duel.graph import Graph
from punish_fast.equilibrium import _belief_tree, _upper_bound
from punish_fast.equilibrium._belief_tree import BeliefTree
from punish_fast.equilibrium.belief_tree import BeliefTrees
from punish_fast.punish._codes import play_status
from punish_fast.punish.codes import split_pairs
from punish_fast.runtime.parallel import cumulated, for_chunks, for_each

_MOST_ROUNDS = 100
# Rounds that show the hand at once end when no node gains more.
_ROUGH = 3e-3

Progress = Callable[[str, int, float], None]


@dataclass(frozen=True)
class UpperBound:
    """An upper bound on the chance to beat a policy.

    Attributes:
        win_probability: Nobody wins more often, from before the cards are dealt.
        nodes: float64 ``[n_nodes]``, upper bounds from the nodes between measures, with the enemy's kept hand shown.
        bounds: The bounds on ``win_probability`` after each round, descending.
    """

    win_probability: float
    nodes: np.ndarray
    bounds: list[float]


def upper_bound(
    graph: Graph,
    policy: np.ndarray,
    depth: int = 2,
    opening_depth: int | None = None,
    tolerance: float = 1e-4,
    progress: Progress | None = None,
) -> UpperBound:
    """Bound how often anybody beats a policy.

    Args:
        graph: The game, with information states of any model in which the policy can be stated.
        policy: float64 ``[n_rows]``, the policy to beat.
        depth: In how many breaths of a measure the exploiter chooses without being shown the enemy's hand, 0 to all.
            Each one more is tighter, and takes longer by a factor of ten to a hundred.
        opening_depth: The same for the first measure of a game, whose deals are few; by default ``depth``.
        tolerance: Stop when a round lowers the bound by less.
        progress: Called as ``progress("ceiling", rounds, win_probability)`` after every round.

    Raises:
        DuelError: ``policy`` is no policy, or a depth is out of range.
        MemoryError: the values of all actions of a breath would not fit into memory.
    """
    check_policy(graph, policy)
    n_breaths = graph.space.rules.breaths
    opening_depth = depth if opening_depth is None else opening_depth
    for value in (depth, opening_depth):
        if not 0 <= value <= n_breaths:
            raise DuelError(f"depth: {value} is not allowed, it must be 0 to {n_breaths}")
    search = _Search(graph, policy, progress)
    search.lower(0, _ROUGH if depth else tolerance)
    search.lower(depth, tolerance)
    if opening_depth > depth:
        search.note(search.opening(opening_depth))
    return UpperBound(min(search.bounds), search.nodes, search.bounds)


class _Search:
    """Bounds that sink.

    Attributes:
        nodes: float64 ``[n_nodes]``, bounds so far.
        bounds: Bounds on the chance to win.
    """

    def __init__(self, graph: Graph, policy: np.ndarray, progress: Progress | None) -> None:
        self.graph, self.progress = graph, progress
        self.nodes = np.ones(graph.n_nodes)
        self.bounds: list[float] = []
        self._lookahead = BeliefTrees(graph, policy)
        self._v = np.zeros(graph.n_values)
        self._v[-2] = 1.0
        self._kept = _Kept(graph)

    def note(self, bound: float) -> float:
        """Add a bound; return by how much it is lower than the last one."""
        before = self.bounds[-1] if self.bounds else 1.0
        self.bounds.append(bound)
        if self.progress is not None:
            self.progress("ceiling", len(self.bounds), bound)
        return before - bound

    def lower(self, depth: int, tolerance: float) -> None:
        """Rounds of one depth, until one lowers the bound by less than ``tolerance``."""
        for _ in range(_MOST_ROUNDS):
            tree = self._show(depth)
            if depth == 0:
                nodes, bound = self._shown()
            else:
                values = self._kept.values(tree, depth)
                nodes, bound = self._kept.back_up(values), self._kept.opening(values)
            self.nodes = np.minimum(self.nodes, nodes)
            if self.note(bound) < tolerance:
                return

    def opening(self, depth: int) -> float:
        """The bound if the first measure is played to another depth."""
        tree = self._show(depth)
        return self._kept.opening(self._kept.values(tree, depth, only_opening=True))

    def _show(self, depth: int) -> BeliefTree:
        """The tree of the first breaths, if full states are known and what follows a measure is worth ``nodes``."""
        self._v[self.graph.n_full : -2] = self.nodes
        return self._lookahead.best_tree(self._v, depth)

    def _shown(self) -> tuple[np.ndarray, float]:
        """Values of nodes and of the game, if full states are known from the deal on."""
        numbers, p = self.graph.opening
        return self.graph.back_up_nodes(self._v[:, None])[:, 0], float(np.sum(p * self._v[numbers]))


class _Kept:
    """Information states of the first breath, by the hand that the enemy has kept.

    The kept hand 0 is empty: that of the first deal.
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
        """What each kept hand is worth in each information state, float64 ``[n_kept, n_states]``; 0 if it cannot be.

        Args:
            tree: Its table holds at least so many breaths.
            depth: How many breaths are played with a belief.
            only_opening: Whether only the states that begin a game matter.
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
        """What a game is worth before it is dealt."""
        redeal = self.graph.redeal
        deals = slice(0, redeal.ptr[1])
        return float(np.sum(redeal.p[deals] * values[0, self._row_of[redeal.deal[deals]] + self._status]))

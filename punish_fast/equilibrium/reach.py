"""Reach probabilities of the full states of a measure, passed on from breath to breath (``_reach.py``)."""

import math

import numpy as np

from punish_fast.duel.layered_graph import LayeredGraph
from punish_fast.equilibrium import _reach
from punish_fast.runtime.parallel import for_chunks, for_each

Strategies = tuple[np.ndarray, np.ndarray]


class Reach:
    """Reach of full states and nodes: the probability, and a reach with a minimum weight for the player's choices."""

    def __init__(self, graph: LayeredGraph, has_response: bool = False) -> None:
        """Allocate the tables; ``has_response`` adds columns for the reaches of a response to the player."""
        self.graph = graph
        n_columns = 4 if has_response else 2
        self.table = np.zeros((graph.n_full, n_columns))  # columns as in ``_reach.py``
        self.nodes = np.empty((graph.n_nodes, n_columns))  # reaches of the nodes after the measure
        # Buffers for the parts of a breath, shared by all breaths; all elements are zero between breaths.
        self._shapes = [(*graph.room_after(number), n_columns) for number in range(graph.n_breaths)]
        self._room = np.zeros(max((math.prod(shape) for shape in self._shapes if shape[0] > 1), default=0))

    def begin(self, dealt: np.ndarray, response_dealt: np.ndarray | None = None) -> None:
        """Set both reaches of the full states of the first breath to ``dealt``, float64 ``[n]``.

        If ``response_dealt`` is given, set the reaches of the response to it.
        """
        self.table[: len(dealt), :2] = dealt[:, None]
        if response_dealt is not None:
            self.table[: len(dealt), 2:] = response_dealt[:, None]

    def spread(
        self,
        number: int,
        strategies: Strategies,
        off_policy_weight: float = 1.0,
        choice: np.ndarray | None = None,
        least: float = 0.0,
    ) -> None:
        """Pass on the reach of a breath to the full states of the next breath, or to the nodes.

        Args:
            number: Index of the breath.
            strategies: The player's and the enemy's strategy, float64 ``[n_rows]``.
            off_policy_weight: Minimum weight of the player's choices in the second reach; 1 gives counterfactual reach.
            choice: int64 ``[n_states]``, row that a response to the player chooses in each state, or None.
            least: Full states whose second reach is lower are skipped.
        """
        graph, shape = self.graph, self._shapes[number]
        parts, targets = graph.parts[number], graph.targets_of(number)
        is_last = number == len(self._shapes) - 1
        into = self.nodes if is_last else self.table[targets[0] : targets[0] + shape[1]]
        if shape[0] == 1:
            out = into[None]
            for_each(_reach.clear_rows, shape[1], into)
        else:
            out = self._room[: math.prod(shape)].reshape(shape)
        rows, weights, tables = (graph.state_ptr, graph.action), (off_policy_weight, least), (self.table, targets, out)
        args = (graph.full, graph.draws, rows, strategies, choice, weights, tables)
        for_chunks(_reach.spread_reach, graph.part_weights[number], parts, *args)
        if shape[0] > 1:
            for_each(_reach.sum_buffers, shape[1], out, into)

    def spread_all(self, strategies: Strategies, off_policy_weight: float = 1.0, least: float = 0.0) -> None:
        """Pass reach through all breaths of the measure; see `spread` for the arguments."""
        for number in range(len(self._shapes)):
            self.spread(number, strategies, off_policy_weight, least=least)

    def deal_again(self, column: int = 0) -> np.ndarray:
        """Return the reach of the next measure's first full states, float64 ``[n]``, given a column of ``nodes``."""
        return self.graph.deal_again(np.ascontiguousarray(self.nodes[:, column]))

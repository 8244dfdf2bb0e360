"""How likely a measure comes to each of its full states, passed on from breath to breath (``punish/_regret.py``)."""

from __future__ import annotations

import math

import numpy as np

from punish_fast.duel.layered_graph import LayeredGraph
from punish_fast.equilibrium import _regret_matching
from punish_fast.runtime.parallel import for_chunks, for_each

Strategies = tuple[np.ndarray, np.ndarray]


class Reach:
    """Two chances of each full state: with the own choices, and with those choices weighing more or left out.

    An answer to the own strategy may have both of its own beside them.

    Attributes:
        measure: The measure, whole or an excerpt.
        table: float64 ``[n_full, 2]``, both chances, or with those of an answer ``[n_full, 4]``.
        nodes: float64 ``[n_nodes, 2 or 4]``, those of the nodes after the measure.
    """

    def __init__(self, measure: LayeredGraph, has_answer: bool = False) -> None:
        """Make room for them."""
        self.measure = measure
        n_columns = 4 if has_answer else 2
        self.table = np.zeros((measure.n_full, n_columns))
        self.nodes = np.empty((measure.n_nodes, n_columns))
        # What parts pass on into several buffers, of any breath; empty between two breaths.
        self._shapes = [(*measure.room_after(number), n_columns) for number in range(measure.n_breaths)]
        self._room = np.zeros(max((math.prod(shape) for shape in self._shapes if shape[0] > 1), default=0))
        self._rows = (measure.state_ptr, measure.action)

    def begin(self, dealt: np.ndarray, answer_dealt: np.ndarray | None = None) -> None:
        """Both chances of the full states of the first breath, float64 ``[n]``."""
        self.table[: len(dealt), :2] = dealt[:, None]
        if answer_dealt is not None:
            self.table[: len(dealt), 2:] = answer_dealt[:, None]

    def spread(
        self,
        number: int,
        strategies: Strategies,
        off_policy_weight: float = 1.0,
        choice: np.ndarray | None = None,
        least: float = 0.0,
    ) -> None:
        """Go on to the full states that follow a breath, or to the nodes.

        Args:
            number: The breath, from 0.
            strategies: The own strategy and the enemy's, float64 ``[n_rows]``.
            off_policy_weight: The least weight of an own choice in the second chance; 1 leaves own choices out.
            choice: int64 ``[n_states]``, the rows that an answer to the own strategy takes, if there is one.
            least: Full states whose second chance is below it are not passed on.
        """
        measure, shape = self.measure, self._shapes[number]
        parts, targets = measure.parts_of(number), measure.targets_of(number)
        is_last = number == len(self._shapes) - 1
        into = self.nodes if is_last else self.table[targets[0] : targets[0] + shape[1]]
        if shape[0] == 1:
            out = into[None]
            for_each(_regret_matching.clear, shape[1], into)
        else:
            out = self._room[: math.prod(shape)].reshape(shape)
        args = (
            measure.full,
            measure.draws,
            self._rows,
            strategies,
            choice,
            off_policy_weight,
            least,
        )
        for_chunks(_regret_matching.spread_reach, measure.weights_of(number), parts, *args, self.table, targets, out)
        if shape[0] > 1:
            for_each(_regret_matching.empty_buffers, shape[1], out, into)

    def spread_all(self, strategies: Strategies, off_policy_weight: float = 1.0, least: float = 0.0) -> None:
        """Go on to the end of the measure, as in `spread`."""
        for number in range(len(self._shapes)):
            self.spread(number, strategies, off_policy_weight, least=least)

    def deal_again(self, column: int = 0) -> np.ndarray:
        """How likely each full state of the first breath is after the measure, float64 ``[n]``, by a column."""
        return self.measure.deal_again(np.ascontiguousarray(self.nodes[:, column]))

"""Strategies after several public states, learned at the same time on the workers of a Dask cluster.

A *batch* consists of the next public states in the order of a round, one for each worker. All strategies of a batch
are learned with the values and visits before the batch, as in a Jacobi step. Results therefore depend on the size of
the batches, but not on the worker that learns a strategy. A batch of one public state has the result of `learn`. The
strategy for the first measure is learned in this process, after all others.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from punish_fast.duel.graph import GameGraph
from punish_fast.duel.public_states import PublicStates
from punish_fast.equilibrium.public_equilibrium import Learned, PublicEquilibrium
from punish_fast.punish.rules import Rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime.cluster.tasks import finished, hand_out, submit


class BatchLearner(PublicEquilibrium):
    """A `PublicEquilibrium` that can learn batches on a cluster.

    Attributes:
        batch_size: Number of workers when learning began, or 1 without a cluster.
    """

    def __init__(self, client: Any, graph: GameGraph, base: Any, state: dict[str, np.ndarray] | None = None) -> None:
        """Begin or continue to learn. ``client`` is the client of a Dask cluster, or None to use only this process."""
        super().__init__(graph, base, state=state)
        self._client, self.batch_size = client, 1 if client is None else len(client.nthreads())
        # The strategy for the first measure is large, so it is sent to the cluster once in each round.
        self._first = lru_cache(1)(lambda _round: hand_out(client, [self._policies[0]])[0])

    def learn_next(self, indices: list[int], iterations: int) -> int:
        """Learn the first strategies of a list, see `learn`, and return their number.

        After an interrupt or an error, the finished strategies of the batch are kept.
        """
        batch, space = indices[: min(self.batch_size, [*indices, 0].index(0))], self.graph.space
        if self._client is None or not batch:
            self.learn(indices[0], iterations)
            return 1
        game = space.rules, space.information.name, tuple(map(tuple, self.graph.public.rows.tolist()))
        found: dict[int, Learned] = {}

        def submit_all(left: list[int]) -> list[Any]:
            first, states = self._first(int(self.rounds[0])), [self.state_dict(index) for index in left]
            tasks = zip(hand_out(self._client, states), left, strict=True)
            return [submit(self._client, learn_alone, game, first, *task, iterations) for task in tasks]

        try:
            found.update(finished(self._client, batch, submit_all, self._first.cache_clear))
        finally:
            for index in sorted(found, key=batch.index):
                self._apply(found[index])
        return len(batch)


def learn_alone(game: Any, first: np.ndarray, state: dict[str, np.ndarray], index: int, iterations: int) -> Learned:
    """Learn the strategies for a public state and its mirrored public state in a worker process."""
    # Arrays from other processes are read-only.
    return BatchLearner(None, _graph(*game), first.copy(), state)._learned(index, iterations)


@lru_cache(1)
def _graph(rules: Rules, information: str, rows: tuple[Any, ...]) -> GameGraph:
    return GameGraph(StateSpace(rules, information), public=PublicStates(np.array(rows)))

"""A player who learns the measure after a public state, between fixed deals and fixed values of the nodes.

Learning begins with a known strategy. Small steps keep it close to this strategy where the public state tells little.
All iterations run on a restricted game (``restricted_game.py``), except for the first and every sixteenth.
"""

from weakref import proxy

import numpy as np

from punish_fast.duel.graph import GameGraph
from punish_fast.duel.layered_graph import LayeredGraph
from punish_fast.equilibrium._reach import OWN
from punish_fast.equilibrium._restricted_game import INSIDE
from punish_fast.equilibrium.regret_iteration import CounterfactualResponse, Reach, RegretIteration, Strategies
from punish_fast.equilibrium.regret_minimizers import Hedge
from punish_fast.equilibrium.solver import Equilibrium


class MeasureSeat(Equilibrium):
    """One player of the measure after a public state."""

    def __init__(
        self, graph: GameGraph, share: float, index: int, known: Strategies, dealt: Strategies, nodes: np.ndarray
    ) -> None:
        """Begin with a known strategy.

        Args:
            index: Index of the public state.
            known: Strategy of the player, float64 ``[n_rows]``, and the rows of a response, int64 ``[n_states]``.
            dealt: Probabilities of full states of the first breath: for the player, and for a response to the player.
            nodes: Win probabilities at the nodes, float64 ``[2, n_nodes]``: of the player, and of the response.
        """
        self.index, self._known, self._dealt, self._fixed = index, known, dealt, nodes
        super().__init__(graph, share)
        self._opening = None

    @property
    def iteration(self) -> RegretIteration:
        """Iteration on the restricted game, or on the graph if iterations run on the whole graph."""
        return self._part or self._whole

    @property
    def learned(self) -> np.ndarray:
        """Information states in the restricted game, int64 ``[n]``."""
        return np.flatnonzero(self._marks.state == INSIDE)

    def begin(self, partner: "MeasureSeat") -> None:
        """Set the player of the other seat, or the same object if both seats have the same strategy."""
        # A strong reference would form a cycle, which keeps the tables in memory until a garbage collection.
        other = proxy(partner)
        self._whole.learn_measure(lambda: other.next_policy)

    def _begin(self) -> RegretIteration:
        graph, (policy, choice), (dealt, response_dealt) = self.graph, self._known, self._dealt
        v, response_v = (np.zeros(graph.n_values) for _ in range(2))
        v[graph.nodes], response_v[graph.nodes] = self._fixed
        v[-2] = 1.0
        response = CounterfactualResponse(graph, response_v[:, None], response_dealt)
        response.choice[:] = choice
        minimizer = Hedge(graph.state_ptr, self._marks.row, policy)
        return RegretIteration(graph, minimizer, dealt, v, self.share, response)


def visits_after(game: LayeredGraph, dealt: np.ndarray, strategies: Strategies) -> np.ndarray:
    """Return the visits to nodes at the end of a measure, float64 ``[n_nodes]``, given the deals."""
    reach = Reach(game)
    reach.propagate_all(dealt, strategies)
    return reach.nodes[:, OWN].copy()

"""One iteration of regret minimization: forward reach, backward regrets, the update, and the best response.

An iteration runs on the whole graph or on a restricted game, which reuses the deals of the whole graph.
"""

from collections.abc import Callable

import numpy as np

from punish_fast.duel.layered_graph import LayeredGraph
from punish_fast.equilibrium import _regret_matching
from punish_fast.equilibrium._reach import RESPONSE_OTHERS
from punish_fast.equilibrium.counterfactual_response import CounterfactualResponse
from punish_fast.equilibrium.reach import Reach
from punish_fast.equilibrium.regret_minimisers import RegretMinimiser


class RegretIteration:
    """Iterations over a measure, with the strategies of a player and its enemy."""

    def __init__(
        self,
        graph: LayeredGraph,
        minimiser: RegretMinimiser,
        dealt: np.ndarray,
        v: np.ndarray,
        share: float = 0.0,
        response: CounterfactualResponse | None = None,
    ) -> None:
        """Start with the strategy given by the minimiser's tables.

        Args:
            dealt: float64 ``[n]``, expected visits per game to each full state of the first breath; updated in place.
            v: float64 ``[n_values]``, win probabilities; updated in place.
            share: Share of games against the response.
            response: Response to the player, or None.
        """
        n_rows = len(minimiser.regret)
        self.graph, self.minimiser, self.share, self.response = graph, minimiser, share, response
        self.dealt, self.v = dealt, v
        self.reach = Reach(graph, has_response=response is not None)
        self.strategy = np.empty(n_rows)
        self.enemy = self.strategy if response is None else np.empty(n_rows)
        # R and C (``_reach.py``) of each information state in the last iteration
        self.state_reach = np.zeros((len(graph.state_ptr) - 1, 2))
        self.play()

    @property
    def nodes(self) -> np.ndarray:
        """Win probabilities at the nodes, float64 ``[n_nodes]``; a view of ``v``."""
        return self.v[self.graph.nodes]

    def play(self) -> None:
        """Compute both strategies from the tables."""
        self.minimiser.play(self.strategy)
        self._mix()

    def run(self, iteration: int, deal: Callable[[], None] | None = None) -> None:
        """Run an iteration; ``deal`` updates the deals after the forward pass, or is None to reuse previous deals."""
        graph, response, strategies = self.graph, self.response, (self.strategy, self.enemy)
        choice = None if response is None else response.choice
        self.reach.begin(self.dealt, None if response is None else response.dealt)
        for number in range(graph.n_breaths if deal is not None else graph.n_breaths - 1):
            self.reach.spread(number, strategies, self.minimiser.off_policy_weight, choice)
        if deal is not None:
            deal()
        args = (graph.full, graph.draws, (graph.state_ptr, graph.action), strategies)
        tables = (self.reach.table, self.v, self.minimiser.regret, self.state_reach)
        for number in reversed(range(graph.n_breaths)):
            graph.for_states(number, _regret_matching.regret_full, *args, *tables)
        self.nodes[:] = graph.back_up_nodes(self.v[:, None])[:, 0]
        self.minimiser.learn(iteration, self.state_reach, self.strategy)
        if response is not None:
            # Use beliefs under the previous strategy, which is nearly the same, to save another forward pass.
            response.choose(self.strategy, self.reach.table[:, RESPONSE_OTHERS])
            self._mix()

    def _mix(self) -> None:
        if self.response is not None:
            np.multiply(self.strategy, 1.0 - self.share, out=self.enemy)
            self.enemy[self.response.choice] += self.share

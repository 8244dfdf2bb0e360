"""Counterfactual best response: the best action in every information state, improved iteration by iteration.

In an information state ``s`` the enemy's hand ``e`` has the weight

    C(s, e) = sum over the paths from the deal to (s, e) of what chance and the enemy contribute to their probability,

its *counterfactual reach*: own moves say nothing about the enemy's hand. With these weights, an iteration finds the
best actions backward through a measure from the values of the nodes (``duel/_best_response.py``). Values of nodes and
the distribution of deals depend on the response itself, since hands are kept from measure to measure. Both carry over
to the next iteration, as in policy iteration.

Under perfect recall, an iteration gives the best response within a measure. With imperfect recall, the paths to
``(s, e)`` differ in own moves too, and those that the last response would not make should hardly count. So own moves
have a weight: 1 if the last response makes them, and a small one otherwise, so that states which the response
avoids still have beliefs. Under perfect recall the weight cancels out. No iteration is sure to improve.
"""

from __future__ import annotations

import numpy as np

from punish_fast.duel.layered_graph import LayeredGraph
from punish_fast.equilibrium._reach import OTHERS
from punish_fast.equilibrium.reach import Reach

# Weight of own off-policy moves.
OFF_POLICY_WEIGHT = 0.01
# Full states with less reach are skipped. Under `memory`, all of them together come up in less than one of a million
# games. With a lower weight of off-policy moves, full states behind them are less likely but matter no less.
_LEAST_REACH = 1e-12
# Deals that differ by less in all, in measures per game, have converged.
_SAME_DEALS = 1e-9


class CounterfactualResponse:
    """A response to an enemy and its values.

    Attributes:
        graph: The graph, whole or restricted.
        choice: int64 ``[n_states]``, the row taken in each information state.
        dealt: float64 ``[n]``, expected visits per game of each full state of the first breath.
        v: float64 ``[n_values, k]``, win probabilities of all numbers, in the first column.
        nodes: Win probabilities of the nodes, a view of ``v``.
    """

    def __init__(self, graph: LayeredGraph, v: np.ndarray, opening: np.ndarray) -> None:
        """Start with the first action of every state.

        Args:
            graph: The graph, whole or restricted.
            v: Initial win probabilities, of full states too: those that an iteration skips keep them.
            opening: float64 ``[n]``, probability that a game begins in each full state of the first breath.
        """
        self.graph = graph
        self.v = v
        self.v[-2:, 0] = 1.0, 0.0
        self.nodes = v[graph.nodes]
        self.choice = graph.state_ptr[:-1].astype(np.int64)
        self._opening = opening
        self.dealt = opening.copy()

    @property
    def policy(self) -> np.ndarray:
        """The policy that takes the rows ``choice``, float64 ``[n_rows]``."""
        weight = np.ones(len(self.graph.action))
        weight[: self.graph.state_ptr[-1]] = 0.0
        weight[self.choice] = 1.0
        return weight

    def improve(
        self, enemy: np.ndarray, reach: Reach, off_policy_weight: float = OFF_POLICY_WEIGHT, max_passes: int = 1
    ) -> None:
        """Make one iteration against a policy.

        Args:
            enemy: float64 ``[n_rows]``, the policy.
            reach: Working memory on the same graph.
            off_policy_weight: Weight of own moves off the last response; 1 is counterfactual reach.
            max_passes: Before it chooses, pass reach through the measure up to this often, each time from the deals of
                the pass before, until these converge.
        """
        least = _LEAST_REACH if off_policy_weight >= OFF_POLICY_WEIGHT else 0.0
        strategies = (self.policy, enemy)
        for _ in range(max_passes):
            before = self.dealt.copy()
            reach.begin(before)
            reach.spread_all(strategies, off_policy_weight, least)
            self.deal_again(reach.deal_again())
            if np.abs(self.dealt - before).sum() < _SAME_DEALS:
                break
        self.choose(enemy, reach.table[:, OTHERS], least)

    def deal_again(self, again: np.ndarray) -> None:
        """Take over the reach of each full state of the first breath after a measure, float64 ``[n]``."""
        self.dealt[:] = self._opening + again

    def choose(self, enemy: np.ndarray, belief: np.ndarray, least: float = 0.0) -> None:
        """Take the best actions against ``enemy`` under ``belief``, float64 ``[n_full]``.

        Full states with a belief below ``least`` are skipped.
        """
        self.graph.respond(enemy, belief, self.v, self.choice, least)
        self.nodes[:, 0] = self.graph.back_up_nodes(self.v)[:, 0]

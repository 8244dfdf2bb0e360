"""Counterfactual best response: the best action in every information state, improved iteration by iteration.

In an information state ``s`` the enemy's hand ``e`` has the weight

    C(s, e) = sum over all paths from the deal to (s, e) of the probability of the chance and enemy moves on the path,

its *counterfactual reach*. The player's moves are left out because they carry no information about the enemy's hand.
With these weights, an iteration goes backward through a measure, starting from the values of the nodes, and finds the
best actions (``duel/_best_response.py``). Node values and the distribution of deals depend on the response itself,
since hands are kept from measure to measure. Both are carried over to the next iteration, as in policy iteration.

Under perfect recall, an iteration finds the best response within a measure. With imperfect recall, the paths to
``(s, e)`` also differ in the player's moves, and paths that the last response would not take should hardly count.
Moves of the player therefore have weight 1 if the last response makes them, and a small weight otherwise, so that
beliefs are defined even in states that the response avoids. Under perfect recall, these weights cancel out; otherwise,
an iteration might not improve the response.
"""

import numpy as np

from punish_fast.duel.layered_graph import LayeredGraph
from punish_fast.equilibrium._reach import OTHERS
from punish_fast.equilibrium.reach import Reach

# Weight of the player's moves that the last response does not make.
OFF_POLICY_WEIGHT = 0.01
# Full states with less reach are skipped. Under the model ``memory``, all skipped states together occur in less than
# one game in a million.
_LEAST_REACH = 1e-12
# Deals have converged if their total change, in measures per game, is below this tolerance.
_SAME_DEALS = 1e-9


class CounterfactualResponse:
    """Response to an enemy, with the values of full states and nodes."""

    def __init__(self, graph: LayeredGraph, v: np.ndarray, opening: np.ndarray) -> None:
        """Start with the first action of every state, on the whole graph or a restricted game.

        Args:
            v: float64 ``[n_values, k]``, initial win probabilities in the first column; updated in place.
            opening: float64 ``[n]``, probability that a game begins in each full state of the first breath.
        """
        self.graph = graph
        self.v = v  # Full states that an iteration skips keep their values.
        self.v[-2:, 0] = 1.0, 0.0
        self.nodes = v[graph.nodes]  # view of the node values
        self.choice = graph.state_ptr[:-1].astype(np.int64)  # row chosen in each information state
        self._opening = opening
        self.dealt = opening.copy()  # float64 ``[n]``, expected visits per game to each full state of the first breath

    @property
    def policy(self) -> np.ndarray:
        """Deterministic policy that plays the rows `choice`, float64 ``[n_rows]``."""
        weight = np.ones(len(self.graph.action))
        weight[: self.graph.state_ptr[-1]] = 0.0
        weight[self.choice] = 1.0
        return weight

    def improve(self, enemy: np.ndarray, reach: Reach, max_passes: int = 1) -> None:
        """Run one iteration against the policy ``enemy``, float64 ``[n_rows]``.

        ``reach`` is working memory for the same graph. Before the actions are chosen, up to ``max_passes`` forward
        passes are made, each with the deals from the previous pass, until the deals converge.
        """
        strategies = (self.policy, enemy)
        for _ in range(max_passes):
            before = self.dealt.copy()
            reach.begin(before)
            reach.spread_all(strategies, OFF_POLICY_WEIGHT, _LEAST_REACH)
            self.deal_again(reach.deal_again())
            if np.abs(self.dealt - before).sum() < _SAME_DEALS:
                break
        self.choose(enemy, reach.table[:, OTHERS], _LEAST_REACH)

    def deal_again(self, again: np.ndarray) -> None:
        """Set `dealt` for the next iteration; ``again``, float64 ``[n]``, is the reach of deals after a measure."""
        self.dealt[:] = self._opening + again

    def choose(self, enemy: np.ndarray, belief: np.ndarray, least: float = 0.0) -> None:
        """Choose the best actions under ``belief``, float64 ``[n_full]``.

        Full states whose belief is below ``least`` are skipped.
        """
        self.graph.respond(enemy, belief, self.v, self.choice, least)
        self.nodes[:, 0] = self.graph.back_up_nodes(self.v)[:, 0]

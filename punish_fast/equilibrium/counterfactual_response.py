"""An answer to an enemy, improved round by round: the agent that wins most, as far as that can be told so far.

In an information state ``s`` the enemy's hand ``e`` has the weight

    C(s, e) = sum over the ways from the deal to (s, e) of what chance and the enemy contribute to their probability,

its *counterfactual reach*: a player's own moves say nothing about the enemy's hand. With these weights, a round works
out the best actions backward through a measure from the values of the nodes between measures
(``punish/_response.py``). Values of nodes and distribution of deals depend on the answer itself, since hands are kept
from measure to measure. So both are handed on from round to round, as in policy iteration.

If a player remembered everything, a round would give the best answer within a measure. But an information state forgets
some of what was played, and almost all before the last deal. Then the ways to ``(s, e)`` differ in one's own moves too,
and those that the last answer would not make should hardly count. So own moves have a weight after all: 1 for those of
the last answer, and a small one for all others, lest an information state that the answer avoids be without any belief.
Where nothing is forgotten it cancels out. No round is sure to be better than the one before.
"""

from __future__ import annotations

import numpy as np

from punish_fast.duel.layered_graph import LayeredGraph
from punish_fast.equilibrium._regret_matching import OTHERS
from punish_fast.equilibrium.reach import Reach

# Weight of own moves that the last answer does not make.
OFF_POLICY_WEIGHT = 0.01
# Full states that are less likely are passed over. In the model `memory`, all of them together come up in less than one
# of a million games. Where off-policy moves weigh less, what they lead to is less likely without mattering less.
_LEAST_REACH = 1e-12
# Deals that differ by less in all, in measures a game, are the same.
_SAME_DEALS = 1e-9


class CounterfactualResponse:
    """What is played against an enemy, and what it is worth.

    Attributes:
        measure: The measure, whole or an excerpt.
        choice: int64 ``[n_states]``, the row taken in each information state.
        dealt: float64 ``[n]``, how often a game is expected to come to each full state of the first breath.
        v: float64 ``[n_values, k]``, chances to win, in the first column, of full states, nodes, and what ends play.
        nodes: Those of the nodes, a view of ``v``.
    """

    def __init__(self, measure: LayeredGraph, v: np.ndarray, opening: np.ndarray) -> None:
        """Begin with the first action of every state.

        Args:
            measure: The measure, whole or an excerpt.
            v: Chances to win; those of the nodes are what the first round begins with, those of full states are what is
                known of them as long as a round passes them over.
            opening: float64 ``[n]``, how likely each full state of the first breath is at the beginning.
        """
        self.measure = measure
        self.v = v
        self.v[-2:, 0] = 1.0, 0.0
        self.nodes = v[measure.nodes]
        self.choice = measure.state_ptr[:-1].astype(np.int64)
        self._opening = opening
        self.dealt = opening.copy()

    @property
    def policy(self) -> np.ndarray:
        """The policy that takes the rows ``choice``, float64 ``[n_rows]``."""
        weight = np.ones(len(self.measure.action))
        weight[: self.measure.state_ptr[-1]] = 0.0
        weight[self.choice] = 1.0
        return weight

    def improve(
        self, enemy: np.ndarray, reach: Reach, off_policy_weight: float = OFF_POLICY_WEIGHT, most_walks: int = 1
    ) -> None:
        """A round against the policy ``enemy``, float64 ``[n_rows]``; what is in ``reach`` is written anew.

        Args:
            enemy: The policy.
            reach: Of the same measure.
            off_policy_weight: Weight of own moves off the last response; 1 is counterfactual reach.
            most_walks: Before it chooses, at most so many walks through the measure, each from the deals that followed
                the one before, until they repeat.
        """
        least = _LEAST_REACH if off_policy_weight >= OFF_POLICY_WEIGHT else 0.0
        strategies = (self.policy, enemy)
        for _ in range(most_walks):
            before = self.dealt.copy()
            reach.begin(before)
            reach.spread_all(strategies, off_policy_weight, least)
            self.deal_again(reach.deal_again())
            if np.abs(self.dealt - before).sum() < _SAME_DEALS:
                break
        self.choose(enemy, reach.table[:, OTHERS], least)

    def deal_again(self, again: np.ndarray) -> None:
        """Take over how likely each full state of the first breath is after a measure, float64 ``[n]``."""
        self.dealt[:] = self._opening + again

    def choose(self, enemy: np.ndarray, belief: np.ndarray, least: float = 0.0) -> None:
        """Take the best actions against ``enemy`` where its hands weigh ``belief``, float64 ``[n_full]``.

        Full states that weigh less than ``least`` are passed over.
        """
        self.measure.respond(enemy, belief, self.v, self.choice, least)
        self.nodes[:, 0] = self.measure.back_up_nodes(self.v)[:, 0]

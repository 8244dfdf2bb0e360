"""A policy that plays both sides of the real game: what every position is worth then, and how often it comes up.

Values come backward, from the exact duel of the policy with itself. Forward, the expected number of visits of a full
state in a game is the sum over all measures of how likely the game is there. The deals of all measures together are a
fixed point: those of the first, and what one pass through a measure makes of them all. So only deals are summed up,
and a single last pass tells the visits of every full state.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from punish_fast.duel.exact_evaluation import Duel, DuelError, head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.equilibrium._regret_matching import LEAST_CHANCE

_MOST_MEASURES = 1000
# A game that still goes on with less than this is over.
_REST = 1e-13


@dataclass(frozen=True)
class SelfPlay:
    """A policy against itself.

    Attributes:
        graph: The game.
        policy: float64 ``[n_rows]``, what both play.
        duel: What comes of it; its values are those of all full states and nodes.
        dealt: float64 ``[n]``, how often a game is expected to come to each full state of the first breath.
        visits: float64 ``[n_full]``, how often it is expected to come to each full state.
        nodes: float64 ``[n_nodes]``, how often it is expected to come to each node between two measures.
    """

    graph: Graph
    policy: np.ndarray
    duel: Duel
    dealt: np.ndarray
    visits: np.ndarray
    nodes: np.ndarray

    @cached_property
    def seen(self) -> np.ndarray:
        """How often a player is expected to come to each information state in a game, float64 ``[n_states]``."""
        return np.asarray(np.add.reduceat(self.visits, self.graph.full.ptr[:-1]))

    @cached_property
    def beliefs(self) -> np.ndarray:
        """How likely deals and enemy lead to each full state, float64 ``[n_full]``, in proportion.

        The own choices since the deal count nothing: they say nothing about the enemy's hand.
        """
        graph = self.graph
        belief = np.zeros(graph.n_full)
        belief[: len(self.dealt)] = self.dealt
        # So that beliefs are known where the policy never leads the enemy.
        enemy = np.maximum(self.policy, LEAST_CHANCE)
        graph.spread(np.ones(len(enemy)), enemy, belief)
        return belief

    @cached_property
    def action_values(self) -> np.ndarray:
        """Chances to win after each action, float64 ``[n_rows]``, if both go on by the policy.

        The enemy's hand is as likely as `beliefs` say.
        """
        return self.graph.action_values(self.policy, self.beliefs, self.duel.v)


def play_itself(graph: Graph, policy: np.ndarray) -> SelfPlay:
    """Let a policy play both sides.

    Args:
        graph: The game, of any model of information.
        policy: float64 ``[n_rows]``, the probability of each row of the state space in its state.

    Raises:
        DuelError: it is no policy, or the game may never end.
    """
    duel = head_to_head(graph, policy, policy)
    visits = np.zeros(graph.n_full)
    total = dealt = graph.dealt
    for _ in range(_MOST_MEASURES):
        visits[: len(dealt)] = dealt
        nodes, _ends = graph.spread(policy, policy, visits)
        if nodes.sum() <= _REST:
            visits[: len(total)] = total
            nodes, _ends = graph.spread(policy, policy, visits)
            return SelfPlay(graph, policy, duel, total, visits, nodes)
        dealt = graph.deal_again(nodes)
        total = total + dealt
    raise DuelError(f"duel: still going on after {_MOST_MEASURES} measures")

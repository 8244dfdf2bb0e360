"""Self-play: a policy that plays both sides of the real game, the value of every position and its expected visits.

Values come backward, from the exact duel of the policy with itself. Forward, the expected number of visits of a full
state is the sum over all measures of the probability that the game is there. Passing the deals of all measures together
through one measure yields the visits of every full state, so only deals have to be summed up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from punish_fast.duel.exact_evaluation import Duel, DuelError, head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.equilibrium._reach import LEAST_PROBABILITY

_MAX_MEASURES = 1000
# A game that continues with a smaller probability is over.
_NEGLIGIBLE = 1e-13


@dataclass(frozen=True)
class SelfPlay:
    """A policy against itself."""

    graph: Graph  # the game
    policy: np.ndarray  # float64 ``[n_rows]``, what both sides play
    duel: Duel  # its duel with itself
    dealt: np.ndarray  # float64 ``[n]``, expected visits of each full state of the first breath in a game
    visits: np.ndarray  # float64 ``[n_full]``, expected visits of each full state
    nodes: np.ndarray  # float64 ``[n_nodes]``, expected visits of each node between two measures

    @cached_property
    def state_visits(self) -> np.ndarray:
        """Expected visits of each information state by one player in a game, float64 ``[n_states]``."""
        return np.asarray(np.add.reduceat(self.visits, self.graph.full.ptr[:-1]))

    @cached_property
    def beliefs(self) -> np.ndarray:
        """Unnormalised probability that deals and enemy lead to each full state, float64 ``[n_full]``.

        Own choices since the deal do not count: they say nothing about the enemy's hand.
        """
        graph = self.graph
        belief = np.zeros(graph.n_full)
        belief[: len(self.dealt)] = self.dealt
        # Beliefs are then defined even where the policy never leads the enemy.
        enemy = np.maximum(self.policy, LEAST_PROBABILITY)
        graph.spread(np.ones(len(enemy)), enemy, belief)
        return belief

    @cached_property
    def action_values(self) -> np.ndarray:
        """Win probability after each action if both sides continue by the policy, float64 ``[n_rows]``.

        The enemy's hand is distributed as `beliefs` say.
        """
        return self.graph.action_values(self.policy, self.beliefs, self.duel.v)


def self_play(graph: Graph, policy: np.ndarray) -> SelfPlay:
    """Evaluate a policy that plays both sides.

    Args:
        graph: The game, of any information model.
        policy: float64 ``[n_rows]``, the probability of each row of the state space in its state.
    """
    duel = head_to_head(graph, policy, policy)
    visits = np.zeros(graph.n_full)
    total = dealt = graph.dealt
    for _ in range(_MAX_MEASURES):
        visits[: len(dealt)] = dealt
        nodes, _ends = graph.spread(policy, policy, visits)
        if nodes.sum() <= _NEGLIGIBLE:
            visits[: len(total)] = total
            nodes, _ends = graph.spread(policy, policy, visits)
            return SelfPlay(graph, policy, duel, total, visits, nodes)
        dealt = graph.deal_again(nodes)
        total = total + dealt
    raise DuelError(f"duel: a game may still continue after {_MAX_MEASURES} measures")

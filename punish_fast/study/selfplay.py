"""Self-play, with the same policy for both sides: values of all full states, and expected numbers of visits.

Values are computed backward, by an exact duel of the policy with itself. Visits are computed forward. The expected
number of visits to a full state is the probability that the game reaches this state, summed over all measures. Visits
depend linearly on the deals, so the deals of all measures are summed and then propagated through a single measure.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from punish_fast.duel.evaluation import Duel, head_to_head
from punish_fast.duel.graph import DuelError, GameGraph
from punish_fast.equilibrium._reach import LEAST_PROBABILITY

_MAX_MEASURES = 1000
# By default, stop when the probability of an undecided game is at most this.
_NEGLIGIBLE = 1e-13


@dataclass(frozen=True)
class SelfPlay:
    """Values and expected visits of a policy that plays against itself."""

    graph: GameGraph  # the game
    policy: np.ndarray  # float64 ``[n_rows]``, policy of both sides
    duel: Duel  # duel of the policy with itself
    dealt: np.ndarray  # float64 ``[n]``, expected visits per game to each full state of the first breath
    visits: np.ndarray  # float64 ``[n_full]``, expected visits per game to each full state
    nodes: np.ndarray  # float64 ``[n_nodes]``, expected visits per game to each node between two measures

    @cached_property
    def state_visits(self) -> np.ndarray:
        """Expected visits per game to each information state by one player, float64 ``[n_states]``.

        States between two measures are omitted.
        """
        return np.asarray(np.add.reduceat(self.visits, self.graph.full.ptr[:-1]))

    @cached_property
    def beliefs(self) -> np.ndarray:
        """Unnormalized probability that the deals and the enemy lead to each full state, float64 ``[n_full]``.

        The player's own choices since the deal are omitted, because they reveal nothing about the enemy's hand.
        """
        graph = self.graph
        belief = np.zeros(graph.n_full)
        belief[: len(self.dealt)] = self.dealt
        # With a minimum probability, beliefs exist even in states that the enemy's policy never reaches.
        enemy = np.maximum(self.policy, LEAST_PROBABILITY)
        graph.propagate_reach(np.ones(len(enemy)), enemy, belief)
        return belief

    @cached_property
    def action_values(self) -> np.ndarray:
        """Win probability after each action if both sides then follow the policy, float64 ``[n_rows]``.

        Rows between two measures are omitted. The distribution of the enemy's hand follows from `beliefs`.
        """
        return self.graph.action_values(self.policy, self.beliefs, self.duel.v)


def self_play(graph: GameGraph, policy: np.ndarray, negligible: float = _NEGLIGIBLE) -> SelfPlay:
    """Evaluate a policy that plays both sides.

    Args:
        graph: The game under any information model.
        policy: float64 ``[n_rows]``, the probability of each row's action in its state.
        negligible: Visits after a measure are ignored if at most this share of all games is then undecided.

    Raises:
        DuelError: If a game might not end.
    """
    duel = head_to_head(graph, policy, policy)
    visits = np.zeros(graph.n_full)
    total = dealt = graph.initial_reach
    for _ in range(_MAX_MEASURES):
        visits[: len(dealt)] = dealt
        nodes, _ends = graph.propagate_reach(policy, policy, visits)
        if nodes.sum() <= negligible:
            visits[: len(total)] = total
            nodes, _ends = graph.propagate_reach(policy, policy, visits)
            return SelfPlay(graph, policy, duel, total, visits, nodes)
        dealt = graph.deal_again(nodes)
        total = total + dealt
    raise DuelError(f"duel: a game may still continue after {_MAX_MEASURES} measures")


def one_measure(graph: GameGraph, policy: np.ndarray, values: np.ndarray, dealt: np.ndarray) -> SelfPlay:
    """Evaluate a policy that plays both sides, approximately, with given values after a measure and given deals.

    Args:
        graph: The game.
        policy: float64 ``[n_rows]``, the probability of each row's action in its state.
        values: float64 ``[n_nodes]``, win probabilities at the nodes between measures.
        dealt: float64 ``[n]``, expected visits per game to each full state of the first breath.
    """
    v, visits = np.zeros((graph.n_values, 2)), np.zeros(graph.n_full)
    v[-2, 0] = 1.0
    v[graph.nodes, 0] = values
    graph.back_up(policy, policy, v)
    visits[: len(dealt)] = dealt
    nodes, _ends = graph.propagate_reach(policy, policy, visits)
    return SelfPlay(graph, policy, Duel(math.nan, math.nan, math.nan, v, 1), dealt, visits, nodes)

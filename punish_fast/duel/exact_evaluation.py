"""Exact duels: how often one policy beats another in the real game.

Backward, the chance to win and the expected number of breaths are linear in themselves: a sweep through a measure maps
the values ``x`` of the nodes between measures to ``g(x) = c + M x``, where ``M`` is how likely the game gets from node
to node. Sweeps are accelerated. After a sweep with residual ``r`` the error is at most ``r`` times the largest expected
number of measures ``N = (I - M)^-1 1``; a measure that is completed takes all its breaths ``b``, so ``N`` is bounded by
the length ``L`` that is found on the way: ``N <= 1 + (L - 1) / b``, where ``L`` itself may be off by ``N`` times its
residual.

Forward, the distribution of full states is passed on from breath to breath, which gives the chances that the game ends
in each breath of each measure. Both ways must agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from punish_fast.duel.graph import Graph
from punish_fast.mdp.anderson import Anderson
from punish_fast.mdp.policy import flaw_of

_MOST_SWEEPS = 1000
# An error bound that grows again below this is as low as rounding allows.
_FLOOR = 1e-9
# Breaths; what is expected to last longer is taken for endless.
_LONGEST = 1e6


class DuelError(ValueError):
    """Policies that cannot meet; the message says why."""


@dataclass(frozen=True)
class Duel:
    """What comes of a duel.

    Attributes:
        win_probability: How likely the own side wins a game, from before the cards are dealt.
        length: Expected number of breaths of a game.
        error_bound: No probability and no length is further than this from the true one.
        v: float64 ``[n_full + n_nodes + 2, 2]``, chance to win and expected breaths from every number of the graph.
        sweeps: Sweeps made.
    """

    win_probability: float
    length: float
    error_bound: float
    v: np.ndarray
    sweeps: int


def head_to_head(
    graph: Graph, own: np.ndarray, enemy: np.ndarray, tolerance: float = 1e-12, start: np.ndarray | None = None
) -> Duel:
    """The exact duel of two policies.

    Args:
        graph: The game.
        own: float64 ``[n_rows]``, the own policy: the probability of each row of the state space in its state.
        enemy: float64 ``[n_rows]``, the enemy's.
        tolerance: Stop when nothing is further than this from the truth, or rounding allows no better.
        start: float64 ``[n_nodes, 2]``, chances to win and expected breaths from the nodes to begin with.

    Raises:
        DuelError: a policy is none, or the game may never end.
    """
    check_policy(graph, own)
    check_policy(graph, enemy)
    v = np.zeros((graph.n_values, 2))
    v[-2, 0] = 1.0
    nodes = v[graph.n_full : -2]
    nodes[:] = [0.5, 0.0] if start is None else start
    accelerations = Anderson(), Anderson()
    best = np.inf
    for sweeps in range(1, _MOST_SWEEPS + 1):
        image = graph.back_up(own, enemy, v)
        error = _error_bound(image, nodes, graph.space.rules.breaths)
        if error <= tolerance or best <= error <= _FLOOR:
            nodes[:] = image
            return _finish(graph, v, error, sweeps)
        best = min(best, error)
        for k, acceleration in enumerate(accelerations):
            nodes[:, k] = acceleration.next(nodes[:, k].copy(), image[:, k].copy())
        np.clip(nodes, 0.0, [1.0, _LONGEST], out=nodes)
    raise DuelError(f"duel: not decided after {_MOST_SWEEPS} sweeps, so these policies may never end a game")


def _error_bound(image: np.ndarray, nodes: np.ndarray, breaths: int) -> float:
    """How far a value of ``image`` may be off, in games or in breaths."""
    residual = np.abs(image - nodes).max(axis=0, initial=0.0)
    slack = residual[1] / breaths
    if slack >= 1 or image[:, 1].max(initial=0.0) > _LONGEST / 2:
        return np.inf
    measures = (1 + (float(image[:, 1].max(initial=1.0)) - 1) / breaths) / (1 - slack)
    return float(residual.max() * measures)


def _finish(graph: Graph, v: np.ndarray, error: float, sweeps: int) -> Duel:
    numbers, p = graph.opening
    # Not by a BLAS, whose number of threads would change the last bits.
    win_probability, length = np.einsum("i,ik->k", p, v[numbers]).tolist()
    return Duel(
        win_probability=win_probability,
        length=length,
        error_bound=error,
        v=v,
        sweeps=sweeps,
    )


def outcome_distribution(graph: Graph, own: np.ndarray, enemy: np.ndarray, rest: float = 1e-15) -> np.ndarray:
    """When and how a game ends, forward from the deal.

    Args:
        graph: The game.
        own: float64 ``[n_rows]``, the own policy.
        enemy: float64 ``[n_rows]``, the enemy's.
        rest: Stop when a game is still going on with at most this probability.

    Returns:
        float64 ``[measures, breaths, 2]``, the probabilities of a win and of a loss in each breath.

    Raises:
        DuelError: a policy is none, or the game may never end.
    """
    check_policy(graph, own)
    check_policy(graph, enemy)
    dealt = graph.dealt
    reach = np.zeros(graph.n_full)
    measures = []
    for _ in range(_MOST_SWEEPS):
        reach[: len(dealt)] = dealt
        nodes, ended = graph.spread(own, enemy, reach)
        measures.append(ended)
        if nodes.sum() <= rest:
            return np.array(measures)
        dealt = graph.deal_again(nodes)
    raise DuelError(f"duel: still going on after {_MOST_SWEEPS} measures")


def check_policy(graph: Graph, weight: np.ndarray) -> None:
    """Insist that ``weight`` is a policy.

    Raises:
        DuelError: it is none.
    """
    flaw = flaw_of(graph.space.state_ptr, weight)
    if flaw is not None:
        raise DuelError(f"policy: {flaw}")

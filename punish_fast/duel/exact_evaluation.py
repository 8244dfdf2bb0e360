"""Exact evaluation: the probability that one policy beats another in the real game.

The backward computation is linear: a sweep through a measure maps the values ``x`` of the nodes between measures to
``g(x) = c + M x``, where ``M`` contains the transition probabilities between nodes. Sweeps are accelerated
(``anderson.py``). After a sweep with residual ``r``, the error is at most ``r`` times the maximum expected number of
measures, ``N = (I - M)^-1 1``. Since every completed measure has ``b`` breaths, ``N`` is at most ``1 + (L - 1) / b``,
where ``L`` is the expected number of breaths of a game. ``L`` is also computed by the sweeps; its error is at most
``N`` times its residual.

The forward computation propagates the distribution of full states from breath to breath, which gives the probability
that the game ends in each breath of each measure. The two computations must agree.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from punish_fast.duel.graph import Graph, must_be_graph
from punish_fast.duel.policies import policy_of
from punish_fast.mdp.methods.anderson import Anderson
from punish_fast.runtime.errors import PunishFastError

_MAX_SWEEPS = 1000
# Below this value, an error bound that no longer decreases has reached the limit of rounding.
_FLOOR = 1e-9
# Maximum expected number of breaths; longer games are assumed to never end.
_LONGEST = 1e6


class DuelError(PunishFastError, ValueError):
    """Raised when a duel cannot be evaluated with the given policies or settings."""


@dataclass(frozen=True)
class Duel:
    """Exact evaluation of one policy against another."""

    win_probability: float  # Probability that the player wins, before the cards are dealt
    length: float  # Expected number of breaths of a game
    error_bound: float  # Bound on the error of all probabilities and lengths
    # float64 ``[n_values, 2]``, win probability and expected number of breaths from each full state, node and result
    v: np.ndarray = field(repr=False)
    sweeps: int  # Number of sweeps


def head_to_head(graph: Graph, own: Any, enemy: Any, tolerance: float = 1e-12, start: np.ndarray | None = None) -> Duel:
    """Evaluate two policies against each other exactly.

    Args:
        own: The player's policy, float64 ``[n_rows]``, or another type that `policy_of` accepts.
        enemy: The enemy's policy, in the same form.
        tolerance: Stop at this error bound, or at the limit of rounding.
        start: float64 ``[n_nodes, 2]``, initial win probabilities and expected numbers of breaths of the nodes.

    Raises:
        PolicyError: If a policy is invalid or does not belong to the game.
        DuelError: If 1,000 sweeps do not converge, because the game might never end.
    """
    must_be_graph(graph)
    own, enemy = (policy_of(player, graph.space) for player in (own, enemy))
    v = np.zeros((graph.n_values, 2))
    v[-2, 0] = 1.0
    nodes = v[graph.nodes]
    nodes[:] = [0.5, 0.0] if start is None else start
    accelerations = Anderson(), Anderson()
    best = np.inf
    for sweeps in range(1, _MAX_SWEEPS + 1):
        image = graph.back_up(own, enemy, v)
        error = _error_bound(image, nodes, graph.n_breaths)
        if error <= tolerance or best <= error <= _FLOOR:
            nodes[:] = image
            numbers, p = graph.opening
            # BLAS is not used, because its number of threads would change the last bits.
            win_probability, length = np.einsum("i,ik->k", p, v[numbers]).tolist()
            return Duel(win_probability, length, error, v, sweeps)
        best = min(best, error)
        for k, acceleration in enumerate(accelerations):
            nodes[:, k] = acceleration.next(nodes[:, k].copy(), image[:, k].copy())
        np.clip(nodes, 0.0, [1.0, _LONGEST], out=nodes)
    raise DuelError(f"duel: not converged after {_MAX_SWEEPS} sweeps; with these policies, games may never end")


def _error_bound(image: np.ndarray, nodes: np.ndarray, breaths: int) -> float:
    """Return a bound on the error of ``image``, which contains probabilities and numbers of breaths."""
    residual = np.abs(image - nodes).max(axis=0, initial=0.0)
    slack = residual[1] / breaths
    if slack >= 1 or image[:, 1].max(initial=0.0) > _LONGEST / 2:
        return np.inf
    measures = (1 + (float(image[:, 1].max(initial=1.0)) - 1) / breaths) / (1 - slack)
    return float(residual.max() * measures)


def outcome_distribution(graph: Graph, own: Any, enemy: Any, rest: float = 1e-15) -> np.ndarray:
    """Return the probabilities of a win and of a loss in each breath, float64 ``[measures, breaths, 2]``.

    Measures are added until the probability of an undecided game is at most ``rest``. Raise `DuelError` if 1,000
    measures are not sufficient.
    """
    own, enemy = (policy_of(player, graph.space) for player in (own, enemy))
    dealt = graph.dealt
    reach = np.zeros(graph.n_full)
    measures = []
    for _ in range(_MAX_SWEEPS):
        reach[: len(dealt)] = dealt
        nodes, ended = graph.spread(own, enemy, reach)
        measures.append(ended)
        if nodes.sum() <= rest:
            return np.array(measures)
        dealt = graph.deal_again(nodes)
    raise DuelError(f"duel: undecided after {_MAX_SWEEPS} measures; with these policies, games may never end")

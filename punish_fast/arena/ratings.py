"""Ranking agents by how often they beat each other.

Two measures. The *win rate* of an agent is its mean chance to win against each of the others. Its *rating* is a
strength by Bradley and Terry (1952): numbers ``t`` for which ``1 / (1 + exp(t[j] - t[i]))`` is as near as can be to the
chance ``w[i, j]`` that ``i`` beats ``j``, in that they make

    sum over pairs of w[i, j] log p[i, j] + w[j, i] log p[j, i]

largest. Ratings are on Elo's scale, where 400 points more are ten wins to one loss, and their mean is 0. They leave out
what no single number can say: that ``i`` may beat ``j``, ``j`` beat ``k`` and ``k`` beat ``i``.

When chances are known from games only, with standard errors ``e[i, j]``, the ratings inherit them: at the maximum the
gradient is 0, so to first order the covariance of ``t`` is ``H^-1 B H^-1`` with the Hessian ``H`` and the covariance
``B`` of the gradient. It holds whether or not the model fits, and for games that come in pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# Elo's points for a natural unit of strength.
_POINTS = 400 / np.log(10)
# Keeps strengths finite where an agent never loses; otherwise too small to be seen.
_RIDGE = 1e-9
# Where the gradient is no longer than this, in games, strengths are found.
_GRADIENT = 1e-10
# The normal quantile of intervals with 95 % confidence.
_Z = 1.959963984540054


@dataclass(frozen=True)
class Standing:
    """The place of an agent.

    Attributes:
        agent: Its name.
        win_rate: Mean chance to win against each of the others.
        rating: Strength in Elo's points.
        win_rate_margin: Half the 95 % interval of the win rate; 0 if chances are exact.
        rating_margin: Half the 95 % interval of the rating; 0 if chances are exact.
    """

    agent: str
    win_rate: float
    rating: float
    win_rate_margin: float
    rating_margin: float


def rank(agents: list[str], win: np.ndarray, error: np.ndarray) -> list[Standing]:
    """Agents by rating, the best one first.

    Args:
        agents: Names of two agents or more.
        win: float64 ``[n, n]``, how likely the agent of the row beats that of the column; ``win + win.T`` is 1.
        error: float64 ``[n, n]``, standard errors of ``win``.
    """
    others = ~np.eye(len(agents), dtype=np.bool_)
    strength = strengths(win)
    win_rates = win.mean(axis=1, where=others)
    win_rate_margins = _Z * np.sqrt((error**2).sum(axis=1, where=others)) / (len(agents) - 1)
    rating_margins = _Z * _POINTS * np.sqrt(np.diag(_covariance(strength, error)))
    columns = (win_rates, _POINTS * strength, win_rate_margins, rating_margins)
    standings = [
        Standing(agent, *numbers)
        for agent, *numbers in zip(agents, *(column.tolist() for column in columns), strict=True)
    ]
    return sorted(standings, key=lambda standing: -standing.rating)


def strengths(win: np.ndarray) -> np.ndarray:
    """Strengths by Bradley and Terry in natural units, float64 ``[n]``, with mean 0; ``win`` as in `rank`."""
    from scipy.optimize import minimize

    win = win * ~np.eye(len(win), dtype=np.bool_)

    def loss(strength: np.ndarray) -> float:
        behind = strength[np.newaxis] - strength[:, np.newaxis]
        return float((win * np.logaddexp(0, behind)).sum() + _RIDGE / 2 * strength @ strength)

    def gradient(strength: np.ndarray) -> np.ndarray:
        surprise = (win + win.T) * _chances(strength) - win
        return np.asarray(surprise.sum(axis=1) + _RIDGE * strength)

    # The stubs of SciPy know fewer options than this method has.
    settings: dict[str, Any] = {"method": "trust-exact", "jac": gradient, "hess": _hessian}
    found: Any = minimize(loss, np.zeros(len(win)), options={"gtol": _GRADIENT}, **settings)
    return np.asarray(found.x - found.x.mean())


def _chances(strength: np.ndarray) -> np.ndarray:
    """The chances to win that strengths stand for, float64 ``[n, n]``."""
    return np.asarray(np.exp(-np.logaddexp(0, strength[np.newaxis] - strength[:, np.newaxis])))


def _hessian(strength: np.ndarray) -> np.ndarray:
    p = _chances(strength)
    return _laplacian(p * (1 - p)) + _RIDGE * np.eye(len(strength))


def _laplacian(weight: np.ndarray) -> np.ndarray:
    """The sum over pairs of ``weight[i, j] (e_i - e_j) (e_i - e_j)^T``; the diagonal does not count."""
    weight = weight * ~np.eye(len(weight), dtype=np.bool_)
    return np.asarray(np.diag(weight.sum(axis=1)) - weight)


def _covariance(strength: np.ndarray, error: np.ndarray) -> np.ndarray:
    # Strengths are known up to a constant: its direction is left out.
    inverse = np.linalg.pinv(_hessian(strength) - _RIDGE * np.eye(len(strength)), hermitian=True)
    return np.asarray(inverse @ _laplacian(error**2) @ inverse)

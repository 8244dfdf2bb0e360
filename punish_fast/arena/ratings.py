"""Win rates and Elo ratings of agents, from how often they beat each other.

The *win rate* of an agent is its mean win probability against each of the others. Its *rating* is a Bradley-Terry
strength (1952): with ``p[i, j] = 1 / (1 + exp(t[j] - t[i]))``, the strengths ``t`` maximise

    sum over pairs of w[i, j] log p[i, j] + w[j, i] log p[j, i]

where ``w[i, j]`` is the probability that ``i`` beats ``j``. Ratings are on Elo's scale, where 400 points more are ten
wins to one loss, and their mean is 0. One number per agent cannot show cycles: ``i`` may beat ``j``, ``j`` beat ``k``
and ``k`` beat ``i``.

If ``w`` is estimated from games, with standard errors ``e[i, j]``, so are the ratings. At the maximum the gradient is
0, so to first order the covariance of ``t`` is ``H^-1 B H^-1`` with the Hessian ``H`` and the covariance ``B`` of the
gradient. This holds whether or not the model fits, and for paired games.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# Elo points per natural unit of strength.
_POINTS = 400 / np.log(10)
# Keeps strengths finite where an agent never loses; otherwise negligible.
_RIDGE = 1e-9
# The optimiser stops at a gradient of this norm, in games.
_GRADIENT = 1e-10
# The normal quantile of intervals with 95 % confidence.
_Z = 1.959963984540054


@dataclass(frozen=True)
class Standing:
    """An agent's place in the ranking.

    Attributes:
        agent: Its name.
        win_rate: Mean win probability against each of the others.
        rating: Strength in Elo points.
        win_rate_margin: Half the 95 % confidence interval of the win rate; 0 for exact results.
        rating_margin: Half the 95 % confidence interval of the rating; 0 for exact results.
    """

    agent: str
    win_rate: float
    rating: float
    win_rate_margin: float
    rating_margin: float


def rank(agents: list[str], win: np.ndarray, error: np.ndarray) -> list[Standing]:
    """Agents by rating, the best one first.

    Args:
        agents: Two or more names.
        win: float64 ``[n, n]``, probability that the agent of the row beats the agent of the column;
            ``win + win.T`` is 1.
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
    """Bradley-Terry strengths in natural units, float64 ``[n]``, with mean 0; ``win`` as in `rank`."""
    from scipy.optimize import minimize

    win = win * ~np.eye(len(win), dtype=np.bool_)

    def loss(strength: np.ndarray) -> float:
        behind = strength[np.newaxis] - strength[:, np.newaxis]
        return float((win * np.logaddexp(0, behind)).sum() + _RIDGE / 2 * strength @ strength)

    def gradient(strength: np.ndarray) -> np.ndarray:
        surprise = (win + win.T) * _probabilities(strength) - win
        return np.asarray(surprise.sum(axis=1) + _RIDGE * strength)

    # SciPy's stubs lack some options of this method.
    settings: dict[str, Any] = {"method": "trust-exact", "jac": gradient, "hess": _hessian}
    found: Any = minimize(loss, np.zeros(len(win)), options={"gtol": _GRADIENT}, **settings)
    return np.asarray(found.x - found.x.mean())


def _probabilities(strength: np.ndarray) -> np.ndarray:
    """Win probabilities under the model, float64 ``[n, n]``."""
    return np.asarray(np.exp(-np.logaddexp(0, strength[np.newaxis] - strength[:, np.newaxis])))


def _hessian(strength: np.ndarray) -> np.ndarray:
    p = _probabilities(strength)
    return _laplacian(p * (1 - p)) + _RIDGE * np.eye(len(strength))


def _laplacian(weight: np.ndarray) -> np.ndarray:
    """The sum over pairs of ``weight[i, j] (e_i - e_j) (e_i - e_j)^T``; the diagonal is ignored."""
    weight = weight * ~np.eye(len(weight), dtype=np.bool_)
    return np.asarray(np.diag(weight.sum(axis=1)) - weight)


def _covariance(strength: np.ndarray, error: np.ndarray) -> np.ndarray:
    # Strengths are determined up to a constant, whose direction is left out.
    inverse = np.linalg.pinv(_hessian(strength) - _RIDGE * np.eye(len(strength)), hermitian=True)
    return np.asarray(inverse @ _laplacian(error**2) @ inverse)

"""Win rates and Elo ratings of agents, computed from their win probabilities against each other.

The *win rate* of an agent is its mean win probability against each of the others. Its *rating* is a Bradley-Terry
strength (1952): with ``p[i, j] = 1 / (1 + exp(t[j] - t[i]))``, the strengths ``t`` maximize

    sum over pairs of w[i, j] log p[i, j] + w[j, i] log p[j, i]

where ``w[i, j]`` is the probability that ``i`` beats ``j``. Ratings are on the Elo scale: a difference of 400 points
means ten wins per loss. The mean rating is 0. A single number per agent cannot represent cycles, in which ``i`` beats
``j``, ``j`` beats ``k`` and ``k`` beats ``i``.

*Prior.* Finite strengths maximize this sum only if no group of agents wins all of its games against the others (Ford,
1957). Therefore, half a win and half a loss are added to the games of each pair: for ``n`` games with a share ``s`` of
wins, ``w = (n s + 1/2) / (n + 1)``. Exact probabilities count as 10^12 games, so an agent that cannot lose is rated as
if it lost one game in 2 * 10^12. If there are only two agents, their ratings then differ by 4,920 points.

*Margins.* If ``w`` is estimated from games, with standard errors ``e[i, j]``, ratings also have standard errors. The
gradient is 0 at the maximum, so to first order the covariance of ``t`` is ``H^-1 B H^-1``, where ``H`` is the Hessian
and ``B`` is the covariance of the gradient. The formula holds even if the model does not fit, and also for paired
games. The Wilson interval (1927) of a win rate uses the number of independent games with the same standard error.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from punish_fast.runtime.errors import ArgumentError, check_allowed
from punish_fast.runtime.results import Z_95, wilson_interval

# Elo points per natural unit of strength.
_POINTS = 400 / np.log(10)
# An exact probability counts as this number of games in the prior. Much larger numbers exceed the accuracy of float64.
_EXACT_GAMES = 1e12
# Newton's method stops when a step changes differences of strengths by less than _CHANGE, or after _ITERATIONS steps.
_CHANGE = 1e-10
_ITERATIONS = 1000


@dataclass(frozen=True)
class Standing:
    """Win rate and rating of an agent.

    Attributes:
        agent: Name of the agent.
        win_rate: Mean win probability against the other agents.
        rating: Strength in Elo points. The mean rating is 0.
        win_rate_margin: Half the width of the 95 % confidence interval of the win rate, or 0 if results are exact.
        rating_margin: Half the width of the 95 % confidence interval of the rating, or 0 if results are exact.
        win_rate_interval: 95 % confidence interval of the win rate, within [0, 1] and usually asymmetric.
    """

    agent: str
    win_rate: float
    rating: float
    win_rate_margin: float
    rating_margin: float
    win_rate_interval: tuple[float, float]


def rank(agents: list[str], win: np.ndarray, error: np.ndarray) -> list[Standing]:
    """Rank agents by rating, best first.

    Args:
        agents: Names of the agents, at least two.
        win: float64 ``[n, n]``, probability that the row agent beats the column agent. ``win + win.T`` is 1.
        error: float64 ``[n, n]``, standard errors of ``win``: 0 for exact results, above 0 for simulated results, and
            1 divided by the number of games if one agent won them all.

    Returns:
        Win rate and rating of each agent, with confidence intervals.

    Raises:
        ArgumentError: If there are fewer than two agents, or an array has the wrong shape or wrong entries.

    Examples:
        >>> import numpy as np
        >>> from punish_fast import rank
        >>> standings = rank(["one", "two"], np.array([[0.5, 0.25], [0.75, 0.5]]), error=np.zeros((2, 2)))
        >>> [(standing.agent, round(standing.rating, 1)) for standing in standings]
        [('two', 95.4), ('one', -95.4)]
    """
    n, others = len(agents), ~np.eye(len(agents), dtype=np.bool_)
    are_square = n > 1 and np.shape(win) == np.shape(error) == (n, n)
    # Exact probabilities contain rounding errors.
    fits = are_square and np.allclose(win + win.T, 1) and win.min() > -1e-9 and error.min() >= 0
    allowed = f"({n}, {n}) for at least 2 agents, with win + win.T = 1 and no entry below 0"
    check_allowed(fits, ArgumentError, "win, error", f"{np.shape(win)}, {np.shape(error)}", allowed)
    games = _games(win, error)
    prior_win = (games * win + 0.5) / (games + 1)
    prior_error = np.where(error > 0, np.sqrt(prior_win * prior_win.T / (games + 1)), 0) * others
    strength = strengths(prior_win)
    margins = Z_95 * _POINTS * _strength_errors(strength, prior_error)
    win_rates, variances = win.mean(axis=1, where=others), (prior_error**2).sum(axis=1) / (n - 1) ** 2
    standings = []
    for i, (rate, variance) in enumerate(zip(win_rates.tolist(), variances.tolist(), strict=True)):
        interval = (rate, rate)
        if variance:
            share = float(prior_win[i].mean(where=others[i]))
            interval = wilson_interval(rate, share * (1 - share) / variance - (n - 1))
        margin, points = (interval[1] - interval[0]) / 2, float(_POINTS * strength[i])
        standings.append(Standing(agents[i], rate, points, margin, float(margins[i]), interval))
    return sorted(standings, key=lambda standing: -standing.rating)


def rank_results(winners: np.ndarray, losers: np.ndarray) -> list[Standing]:
    """Rank the players of recorded games by rating, best first.

    The prior of `rank` also applies to players who never met, so ratings of few games are near the mean.

    Args:
        winners: str ``[n]``, names of the winners.
        losers: str ``[n]``, names of the losers.

    Examples:
        >>> import numpy as np
        >>> found = rank_results(np.array(["Ann", "Ann", "Ben"]), np.array(["Ben", "Cleo", "Cleo"]))
        >>> [(standing.agent, round(standing.rating)) for standing in found]
        [('Ann', 131), ('Ben', 0), ('Cleo', -131)]
    """
    players, indices = np.unique(np.concatenate([winners, losers]), return_inverse=True)
    wins = np.zeros((len(players), len(players)))
    np.add.at(wins, tuple(indices.reshape(2, -1)), 1.0)
    games = wins + wins.T
    win = np.divide(wins, games, out=np.full_like(wins, 0.5), where=games > 0)
    is_mixed = (win > 0) & (win < 1)
    # Unmet players have the error of a tiny fraction of a game.
    error = np.where(is_mixed, np.sqrt(win * win.T / np.maximum(games, 1e-9)), 1 / np.maximum(games, 1))
    return rank(players.tolist(), win, error)


def rate_against(ratings: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """Rate a player by games against opponents of known strength.

    As in `rank`, the rating maximizes the likelihood, and half a win and half a loss are added: a draw with an opponent
    of rating 0. The margin follows from the Fisher information.

    Args:
        ratings: float64 ``[n]``, Elo ratings of the opponents.
        scores: float64 ``[n]``, 1 for a win and 0 for a loss.

    Returns:
        Elo rating, and half the width of its 95 % confidence interval.

    Examples:
        >>> import numpy as np
        >>> rating, margin = rate_against(np.full(15, 200.0), np.array([1.0] * 5 + [0.0] * 10))
        >>> round(rating), round(margin)
        (74, 181)
    """
    # Importing `scipy.optimize` is slow.
    from scipy.optimize import brentq

    opponents, won = np.append(ratings, 0.0) / _POINTS, np.append(scores, 0.5)

    def surplus(strength: float) -> float:
        return float((won - expit(strength - opponents)).sum())

    # At these limits, the surplus has the sign of the added draw.
    reach = np.log(2 * len(won))
    strength = brentq(surplus, opponents.min() - reach, opponents.max() + reach)
    p = expit(strength - opponents)
    return float(_POINTS * strength), float(Z_95 * _POINTS / np.sqrt((p * (1 - p)).sum()))


def strengths(win: np.ndarray) -> np.ndarray:
    """Return Bradley-Terry strengths in natural units, float64 ``[n]``, with mean 0.

    ``win``, float64 ``[n, n]``, contains win probabilities strictly between 0 and 1. The diagonal is ignored. The
    algorithm is Newton's method with step lengths that guarantee convergence by generalized self-concordance (Sun and
    Tran-Dinh, 2019). Steps depend only on gradients, which stay accurate even if rounding hides differences of the
    likelihood.
    """
    strength = np.zeros(len(win))
    for _ in range(_ITERATIONS):
        p = _probabilities(strength)
        gradient = _off_diagonal(win * p.T - win.T * p).sum(axis=1)
        step = np.linalg.solve(_hessian(p), gradient)
        length = float(np.ptp(step))
        if length < _CHANGE:
            break
        strength += step * (np.log1p(length) / length)
    return np.asarray(strength - strength.mean())


def _games(win: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Return the number of independent games with the standard error of each pair, float64 ``[n, n]``."""
    is_sampled, is_mixed = error > 0, (win > 0) & (win < 1)
    games = np.full(win.shape, _EXACT_GAMES)
    np.divide(win * win.T, error**2, out=games, where=is_sampled & is_mixed)
    np.divide(1, error, out=games, where=is_sampled & ~is_mixed)
    return games


def _probabilities(strength: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(-np.logaddexp(0, strength[np.newaxis] - strength[:, np.newaxis])))


def _hessian(p: np.ndarray) -> np.ndarray:
    """Return the Hessian of the negative log-likelihood, float64 ``[n, n]``, given win probabilities ``p``.

    Strengths are determined only up to an additive constant, so the Hessian is singular. The added constant matrix
    makes it invertible and fixes the sum of the strengths.
    """
    weight = _off_diagonal(p * p.T)
    return np.asarray(np.diag(weight.sum(axis=1)) - weight + weight.max())


def _strength_errors(strength: np.ndarray, error: np.ndarray) -> np.ndarray:
    inverse = np.linalg.inv(_hessian(_probabilities(strength)))
    # Sums of squares cannot become negative by rounding.
    effects = (inverse[:, :, np.newaxis] - inverse[:, np.newaxis]) * error
    return np.asarray(np.sqrt((effects**2).sum(axis=(1, 2)) / 2))


def _off_diagonal(matrix: np.ndarray) -> np.ndarray:
    return np.asarray(matrix * ~np.eye(len(matrix), dtype=np.bool_))

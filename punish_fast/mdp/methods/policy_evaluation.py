"""Evaluation of the greedy policy: by sweeps, or by a Krylov method.

**Sweeps** over the rows of the policy between backups of all rows are modified policy iteration [Puterman and Shin
1978]. Such a sweep reads one row of each state, so it costs a fraction of a backup. Sweeps of one policy end when the
span of their changes has fallen by a factor, since the policy is about to change, or at a limit that adapts: it doubles
while the policy hardly changes, and is halved while it changes much.

**Krylov.** The values of a policy with transitions ``P`` and rewards ``r`` solve ``(I - g P) v = r``. Sweeps need about
``1 / (1 - g)`` steps for each digit unless play forgets quickly where it began; BiCGSTAB [van der Vorst 1992] needs
about the square root of that on chains that wander like a random walk. It starts from the backed up values and ends at
a residual that is a factor smaller [inexact policy iteration: Gargiani et al. 2024]. Two Gauss-Seidel sweeps from zero,
in both directions, precondition it from the right. So a step takes six sweeps over the rows of the policy, four of them
slower ones. Scalar products are sums in a fixed order by `numpy.einsum`: those of a BLAS depend on its threads.
"""

from __future__ import annotations

import numpy as np

from punish_fast.mdp.bounds.improvement import Improvement
from punish_fast.mdp.chain.policy_chain import PolicyChain

# Factors by which sweeps and the Krylov method reduce a residual.
_FORCING, _KRYLOV_FORCING = 0.1, 0.01
_FEWEST_SWEEPS, _MOST_SWEEPS = 8, 512
# Shares of states whose choice changed.
_FEW, _MANY = 0.01, 0.2
_MOST_STEPS = 50
# The time of a Krylov step, with its scalar products, in plain sweeps over the rows of the policy.
_SWEEPS_OF_STEP = 12


class ModifiedPolicyIteration:
    """Evaluation of the greedy policy by sweeps."""

    def __init__(self) -> None:
        self._limit = _FEWEST_SWEEPS

    def advance(self, point: Improvement) -> float:
        """Sweep until the span of the changes is small, or the limit is reached; return the digits that it lost."""
        assert point.bound is not None
        chain, n = point.greedy_chain(), point.mdp.n_states
        if point.n_changed <= _FEW * n:
            self._limit = min(2 * self._limit, _MOST_SWEEPS)
        elif point.n_changed >= _MANY * n:
            self._limit = max(self._limit // 2, _FEWEST_SWEEPS)
        goal = max(_FORCING * point.bound.span, point.goal_of_changes)
        v, out = point.v, point.v.copy()
        for _ in range(self._limit):
            low, high = point.with_terminals(*chain.back_up(v, out))
            v, out = out, v
            point.work += chain.n_entries
            if high - low <= goal:
                break
        point.v = v
        return _digits_lost(point.bound.span, high - low)


class KrylovPolicyIteration:
    """Evaluation of the greedy policy by BiCGSTAB."""

    def advance(self, point: Improvement) -> float:
        """Correct the values until the residual has fallen enough; return the digits that it lost."""
        chain, n = point.greedy_chain(), point.mdp.n_states
        backed_up = point.v.copy()
        low, high = chain.back_up(point.v, backed_up)
        residual = backed_up[:n] - point.v[:n]
        goal = max(_KRYLOV_FORCING * (high - low) / 2, point.goal_of_changes / 2)
        allowed = (point.most_work - point.work) / (_SWEEPS_OF_STEP * max(chain.n_entries, 1))
        most = int(min(max(allowed, 1), _MOST_STEPS))
        correction, n_steps, digits = _bicgstab(chain, residual, goal, most)
        point.work += chain.n_entries * (1 + _SWEEPS_OF_STEP * n_steps)
        point.v[:n] += correction
        return digits


def _bicgstab(chain: PolicyChain, residual: np.ndarray, goal: float, most: int) -> tuple[np.ndarray, int, float]:
    """Solve ``x - g P x = residual`` to a residual of ``goal``, in at most ``most`` steps.

    Returns:
        float64 ``[n_states]``, the solution; the number of steps; and the digits gained.
    """
    n = len(residual)

    def times(x: np.ndarray) -> np.ndarray:
        image: np.ndarray = x[:n] - chain.discounted_successors(x)
        return image

    x, r = np.zeros(n), residual.copy()
    shadow, direction = residual, r.copy()
    rho = _product(shadow, r)
    n_steps = 0
    while n_steps < most and np.abs(r).max(initial=0) > goal and rho != 0:
        n_steps += 1
        far = chain.relaxed(direction)
        image = times(far)
        alpha = rho / (_product(shadow, image) or np.inf)
        r -= alpha * image
        near = chain.relaxed(r)
        smoothed = times(near)
        omega = _product(smoothed, r) / (_product(smoothed, smoothed) or np.inf)
        x += alpha * far[:n] + omega * near[:n]
        r -= omega * smoothed
        before, rho = rho, _product(shadow, r)
        direction -= omega * image
        direction *= rho / before * (alpha / omega if omega else 0.0)
        direction += r
    sizes = [float(np.abs(y).max(initial=0)) for y in (residual, r)]
    return (x if sizes[1] < sizes[0] else np.zeros(n)), n_steps, _digits_lost(*sizes)


def _product(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.einsum("i,i->", a, b))


def _digits_lost(before: float, after: float) -> float:
    """By how many decimal digits a residual became smaller."""
    least = float(np.finfo(np.float64).tiny)
    return float(np.log10(max(before, least)) - np.log10(max(after, least)))

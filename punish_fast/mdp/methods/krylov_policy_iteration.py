"""Policy iteration whose policies are evaluated by a Krylov method.

The values of a policy with transitions ``P`` and rewards ``r`` solve ``(I - g P) v = r``. Sweeps need some ``1 / (1 -
g)`` steps for each digit unless play forgets quickly where it began; BiCGSTAB [van der Vorst 1992] needs about the
square root of that on chains that wander like a random walk. It starts from the backed up values and ends at a
residual that is a factor smaller [inexact policy iteration: Gargiani et al. 2024], since the policy is about to
change.

Two Gauss-Seidel sweeps from zero, there and back, precondition it from the right, so that values travel through all
states in a step, not from one to the next. So a step takes six sweeps over the rows of the policy, four of them slower
ones. Scalar products are sums in a fixed order by `numpy.einsum`: those of a BLAS depend on its threads.
"""

from __future__ import annotations

import numpy as np

from punish_fast.mdp.bounds.improvement import Improvement, digits_lost
from punish_fast.mdp.chain.policy_chain import PolicyChain

_FORCING = 0.01
_MOST_STEPS = 50
# The time of a step, with its scalar products, in plain sweeps over the rows of the policy.
_SWEEPS_OF_STEP = 12


class KrylovPolicyIteration:
    """Evaluation of the greedy policy by BiCGSTAB."""

    def advance(self, point: Improvement) -> float:
        """Correct the values until the residual has fallen enough; return the digits that it lost."""
        chain, n = point.greedy_chain(), point.mdp.n_states
        backed_up = point.v.copy()
        low, high = chain.back_up(point.v, backed_up)
        residual = backed_up[:n] - point.v[:n]
        goal = max(_FORCING * (high - low) / 2, point.goal_of_changes / 2)
        allowed = (point.most_work - point.work) / (_SWEEPS_OF_STEP * max(chain.n_entries, 1))
        most = int(min(max(allowed, 1), _MOST_STEPS))
        correction, n_steps, digits = _bicgstab(chain, residual, goal, most)
        point.work += chain.n_entries * (1 + _SWEEPS_OF_STEP * n_steps)
        point.v[:n] += correction
        return digits


def _bicgstab(chain: PolicyChain, residual: np.ndarray, goal: float, most: int) -> tuple[np.ndarray, int, float]:
    """A solution of ``x - g P x = residual``, to a residual of ``goal`` if ``most`` steps are enough.

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
    return (x if sizes[1] < sizes[0] else np.zeros(n)), n_steps, digits_lost(*sizes)


def _product(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.einsum("i,i->", a, b))

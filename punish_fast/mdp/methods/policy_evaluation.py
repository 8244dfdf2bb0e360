"""Policy iteration for discounted MDPs without layers, with policies evaluated by sweeps or by a Krylov method.

Each step evaluates the greedy policy to *advance* the values, and then backs up all states to prove an error bound
(``improvement.py``). ``modified-policy-iteration`` evaluates policies by sweeps. ``policy-iteration`` uses a Krylov
method.

**Sweeps.** Between backups of all rows, modified policy iteration [Puterman and Shin 1978] sweeps over the rows of the
policy. A sweep reads only one row per state, so it costs a fraction of a backup. Sweeps stop when the span of their
changes is at most a tenth of the span in the last backup (the policy is then likely to change), when the span is small
enough for the tolerance, or when a limit on their number is reached. The limit is doubled if few choices change and
halved if many do.

**Krylov.** The values of a policy with transitions ``P`` and rewards ``r`` solve ``(I - g P) v = r``. Sweeps need about
``1 / (1 - g)`` steps per digit unless the chain mixes fast. BiCGSTAB [van der Vorst 1992] needs about the square root
of that number for chains that resemble a random walk. It starts from the backed-up values and stops when no residual
exceeds 1 % of half the initial span [inexact policy iteration: Gargiani et al. 2024]. The right preconditioner consists
of two Gauss-Seidel sweeps from zero, one in each direction. A step therefore takes six sweeps over the rows of the
policy. The four Gauss-Seidel sweeps are slower than plain sweeps. `numpy.einsum` sums inner products in a fixed order,
whereas the order in BLAS depends on the number of threads.

**Choice of the method.** ``auto`` starts with sweeps and keeps using them while they gain at least one decimal digit
per *pass*, that is, per ``nnz`` entries read. Otherwise, it tries the Krylov method, and from then on it uses the
method that recently gained more digits per pass. The recorded gain of a method grows with every step of the other
method, so an unused method is tried again eventually. The choice depends on the number of entries read, not on time, so
it is the same in every run and for every number of threads.

**Failing methods.** An evaluation might increase the error. After 32 steps without a new smallest error bound, up to 32
plain backups follow. If none of them lowers the bound, both limits are doubled. Every method converges because plain
backups converge.
"""

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from punish_fast.mdp.bounds.improvement import Improvement
from punish_fast.mdp.chain.elimination import operations
from punish_fast.mdp.methods.totals import Total, least_bound
from punish_fast.mdp.model.limits import GENERAL_METHODS, SolverOptions
from punish_fast.mdp.model.solution import Exact, Log, Unsolved

# An evaluation reduces the span of changes (sweeps) or the residual (Krylov method) by these factors.
_FORCING, _KRYLOV_FORCING = 0.1, 0.01
_FEWEST_SWEEPS, _MOST_SWEEPS = 8, 512
# The sweep limit is doubled if at most the fraction _FEW of the choices changed, and halved if at least _MANY did.
_FEW, _MANY = 0.01, 0.2
_MOST_STEPS = 50
# Cost of a Krylov step, including inner products, relative to a plain sweep over the rows of the policy.
_SWEEPS_OF_STEP = 12
# Number of steps without a new smallest error bound before plain backups are tried.
_PATIENCE = 32
# Minimum gain, in digits per pass, for auto to keep using sweeps.
_CONTENT = 1.0
# Minimum recorded gain of a method, and the factor by which the gain grows with every step of the other method.
_LEAST_RATE, _HOPE = 0.001, 1.1


def _sweep(point: Improvement, steps: "PolicyEvaluations", limits: SolverOptions) -> float:
    """Sweep over the rows of the greedy policy until the span of the changes is small or a limit is reached.

    Return the reduction of the span since the last backup, in decimal digits.
    """
    assert point.bound is not None
    chain = point.greedy_chain()
    goal = max(_FORCING * point.bound.span, point.goal_of_changes)
    v, out = point.v, point.v.copy()
    for _ in range(steps.limit_of(point)):
        low, high = point.with_terminals(*chain.back_up(v, out))
        v, out = out, v
        point.work += chain.nnz
        if high - low <= goal or limits.is_over:
            break
    point.v = v
    return _digits_lost(point.bound.span, high - low)


def _correct(point: Improvement, limits: SolverOptions) -> float:
    """Correct the values by BiCGSTAB until the residual of the greedy policy is small, in at most 50 steps.

    Return the reduction of the residual, in decimal digits. Values do not change if the residual does not decrease.
    """
    chain, n, n_steps = point.greedy_chain(), point.mdp.n_states, 0
    backed_up = point.v.copy()
    low, high = chain.back_up(point.v, backed_up)
    goal = max(_KRYLOV_FORCING * (high - low) / 2, point.goal_of_changes / 2)
    shadow = backed_up[:n] - point.v[:n]
    x, r, direction = np.zeros(n), shadow.copy(), shadow.copy()
    rho = _product(shadow, r)
    while n_steps < _MOST_STEPS and np.abs(r).max(initial=0) > goal and rho != 0 and not limits.is_over:
        n_steps += 1
        far = chain.relaxed(direction)
        image = far[:n] - chain.discounted_successors(far)
        alpha = rho / (_product(shadow, image) or np.inf)
        r -= alpha * image
        near = chain.relaxed(r)
        smoothed = near[:n] - chain.discounted_successors(near)
        omega = _product(smoothed, r) / (_product(smoothed, smoothed) or np.inf)
        x += alpha * far[:n] + omega * near[:n]
        r -= omega * smoothed
        before, rho = rho, _product(shadow, r)
        direction -= omega * image
        direction *= rho / before * (alpha / omega if omega else 0.0)
        direction += r
    point.work += chain.nnz * (1 + _SWEEPS_OF_STEP * n_steps)
    first, last = (float(np.abs(y).max(initial=0)) for y in (shadow, r))
    if last < first:
        point.v[:n] += x
    return _digits_lost(first, last)


def _product(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.einsum("i,i->", a, b))


def _digits_lost(before: float, after: float) -> float:
    """Return the reduction of a residual, in decimal digits. It is negative if the residual increased."""
    least = float(np.finfo(np.float64).tiny)
    return float(np.log10(max(before, least)) - np.log10(max(after, least)))


class PolicyEvaluations:
    """Choice between methods of policy evaluation by their recent gains (see the module docstring)."""

    def __init__(self, names: Sequence[str] = GENERAL_METHODS) -> None:
        self._limit = _FEWEST_SWEEPS  # maximum number of sweeps
        # Recent gain of each method, in digits per pass. The second method is tried if the first gains less than 1.
        self.rate = dict(zip(names, (np.inf, _CONTENT), strict=False))
        self.used = Counter[str]()  # number of steps by method

    def limit_of(self, point: Improvement) -> int:
        """Return the maximum number of sweeps. It depends on the number of choices changed by the last backup."""
        if point.n_changed <= _FEW * point.mdp.n_states:
            self._limit = min(2 * self._limit, _MOST_SWEEPS)
        elif point.n_changed >= _MANY * point.mdp.n_states:
            self._limit = max(self._limit // 2, _FEWEST_SWEEPS)
        return self._limit

    def record(self, name: str, rate: float) -> None:
        """Record the gain of a step, in digits per pass."""
        self.used[name] += 1
        for other in self.used:
            self.rate[other] *= _HOPE
        self.rate[name] = max(rate, _LEAST_RATE)

    @property
    def reason(self) -> str:
        """Methods used, with their step counts, or ``"value-iteration"`` if no policy was evaluated."""
        steps = ", ".join(f"{name} ({n} {'step' if n == 1 else 'steps'})" for name, n in self.used.items())
        return steps or "value-iteration"


# Work, in sweeps over the MDP, after which evaluation stops if an elimination is cheap, and in the last case anyway. An
# elimination is cheap if its number of operations is at most `_SHARE_OF_WORK` times the number of entries read so far.
_CHECKS, _SHARE_OF_WORK = (50, 1000, 20_000), 0.1
# Maximum number of further backups if the error bound exceeds the goal by at most a factor of two.
_FURTHER_BACKUPS = 8


def evaluate_policies(problem: Total, is_further: bool = False) -> Exact | Unsolved:
    """Alternate evaluations and backups until the goal is reached or an elimination becomes cheap in comparison.

    If ``is_further`` is True, continue until a limit is reached, unless an elimination has a smaller bound.
    """
    mdp, limits = problem.mdp, problem.limits
    if not is_further:
        point = Improvement(mdp, problem.discount, limits.tolerance, limits.initial_values)
        problem.evaluation = point, PolicyEvaluations(problem.methods), Log()
    point, steps, log = problem.evaluation
    best = min(problem.found, problem.eliminated, key=lambda each: each.error_bound)
    if is_further and (point.is_done or best is not problem.found):
        return best
    checks = iter(_CHECKS if problem.eliminates and not is_further else (math.inf,))
    check, least, n_stalled, patience = next(checks), np.inf, 0, _PATIENCE
    while len(log.seconds) < limits.max_sweeps:
        begin = time.perf_counter()
        if point.bound is not None and n_stalled < patience:
            name, work = max(steps.rate, key=steps.rate.__getitem__), point.work
            digits = _correct(point, limits) if name == GENERAL_METHODS[1] else _sweep(point, steps, limits)
            steps.record(name, digits * mdp.nnz / max(point.work - work, 1))
            point.clip()
        point.improve()
        assert point.bound is not None
        n_stalled = 0 if point.bound.error < least else n_stalled + 1
        least = min(least, point.bound.error)
        if point.bound.error < point.best[0] and limits.max_seconds < math.inf:
            point.best = point.bound.error, point.v.copy()
        if n_stalled == 2 * patience:
            n_stalled, patience = 0, 2 * patience
        log.residual.append(max(abs(point.bound.low), abs(point.bound.high)))
        log.seconds.append(time.perf_counter() - begin)
        limits.progress(len(log.seconds), point.bound.error)
        if point.is_done or limits.is_over:
            break
        if point.work > check * mdp.nnz:
            check = next(checks, 0)
            if check == 0 or operations(mdp, _SHARE_OF_WORK * point.work) < np.inf:
                break
    if not point.is_done and point.bound.error > point.best[0]:
        point.v = point.best[1]
    return _closed(problem, is_last=is_further or not problem.eliminates)


def _closed(problem: Total, is_last: bool) -> Exact | Unsolved:
    """Compute the final values, after further backups if the error bound is just above the goal."""
    point, steps, log = problem.evaluation
    closed: Exact = point.close()
    for _ in range(_FURTHER_BACKUPS):
        if point.goal < closed.error_bound <= 2 * point.goal:
            point.improve()
            closed = min(closed, point.close(), key=lambda each: each.error_bound)
    n, bound = len(log.residual), closed.error_bound
    problem.found = found = replace(closed, rounds=n, reason=steps.reason, log=log)
    if bound <= point.goal or (point.is_done and (is_last or bound <= least_bound(found))):
        return found
    return Unsolved(f"error bound {bound:.1e} after backup {n:,}", found)

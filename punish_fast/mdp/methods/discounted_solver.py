"""Discounted values of MDPs without layers.

The methods of ``policy_evaluation.py`` are tried first. With ``auto``, exact policy iteration (``rational.py``) follows
if these methods do not reach the tolerance with the work of 50 to 20,000 sweeps, depending on the cost of an
elimination, or if rounding leaves an error bound above both the tolerance and 1e-9 of the largest value. If values may
exceed 1e150, only exact policy iteration is used. The policy takes the first of tied rows if it still provably earns
its values (``improvement.py``, ``component_solver.py``).
"""

import math
import time
from dataclasses import replace
from functools import partial

import numpy as np

from punish_fast.mdp.bounds.improvement import Closed, Improvement
from punish_fast.mdp.bounds.stopping_rule import terminal_values
from punish_fast.mdp.chain.elimination import operations, patience
from punish_fast.mdp.graph.row_selection import first_marked
from punish_fast.mdp.methods.component_solver import settle_ties
from punish_fast.mdp.methods.exact_iteration import Exact, Payoff, values_of_rows
from punish_fast.mdp.methods.policy_evaluation import PolicyEvaluations, iterate
from punish_fast.mdp.methods.rational import solve_certified
from punish_fast.mdp.model.limits import GENERAL_METHODS, PRECISION, SolveError, SolverLimits
from punish_fast.mdp.model.mdp import MDP, normalized
from punish_fast.mdp.model.solution import Log, Solution

# Work, in sweeps over the MDP, after which exact policy iteration is tried: `_CHECKS` if an elimination is cheap, and
# `_PATIENCE` in any case.
_CHECKS, _PATIENCE = (200, 1000), 20_000
# An elimination is cheap if it takes at most as many operations as the number of entries read so far, or, after more
# than `_FEW` sweeps, at most this fraction of that number.
_SHARE_OF_WORK, _FEW = 0.1, 100
# Maximum number of further backups if the error bound exceeds the goal by at most a factor of two.
_FURTHER_BACKUPS = 8
# Larger values require exact policy iteration, because their squares would overflow.
_LARGE_VALUE = 1e150


def solve_discounted(
    mdp: MDP, discount: float, method: str, limits: SolverLimits, initial_values: np.ndarray | None = None
) -> Solution:
    """Solve an MDP with one layer.

    ``method`` is ``"auto"`` or a method of ``policy_evaluation.py``. Exact policy iteration is used if values may
    exceed 1e150 or, with ``"auto"``, if the other methods do not reach the tolerance. ``initial_values``, float64
    ``[n_states]``, contains initial values, 0 by default.
    """
    mdp, begin, goal = normalized(mdp.expanded()), time.perf_counter(), limits.tolerance
    point = Improvement(mdp, discount, goal, initial_values)
    log, is_auto = Log(), method == "auto"
    steps = PolicyEvaluations(GENERAL_METHODS if is_auto else (method,))
    is_large = point.contraction.largest_value > _LARGE_VALUE
    found = Closed(np.zeros(mdp.n_states), np.zeros(mdp.n_rows), mdp.state_ptr[:-1], np.inf)
    exact, is_done = None, False
    few = patience(mdp) if is_auto else math.inf
    for limit in (few, *(k for k in (*_CHECKS, _PATIENCE, math.inf) if k > few)):
        if not is_large:
            point.most_work = limit * mdp.nnz if limit <= _FEW else math.inf
            iterate(point, steps, log, limits.max_sweeps, limit, limits.progress)
            is_done, cheap = point.is_done, point.work * (1.0 if limit <= _FEW else _SHARE_OF_WORK)
            if not is_done and limit < _PATIENCE and operations(mdp, cheap) > cheap:
                continue
            found = _closed(point)
        least = PRECISION * float(np.abs(found.v).max(initial=0))
        if found.error_bound <= goal or (is_done and (found.error_bound <= least or not (is_auto or is_large))):
            break
        if is_auto or is_large:
            exact = _solve_exactly(mdp, found.choice, discount, limits)
        if exact is not None and not exact.error_bound >= found.error_bound:
            found = exact
            log.residual.append(exact.error_bound)
            log.seconds.append(time.perf_counter() - begin)
            break
        if is_large:
            raise SolveError(f"reward: values can reach {point.contraction.largest_value:g}, too large for this MDP")
        if is_done:
            break
    else:
        raise SolveError(
            f"max_sweeps: {limits.max_sweeps:,} sweeps leave an error bound of {found.error_bound:.1e}; use more, or a "
            f"tolerance above {goal:g}"
        )
    reason = steps.reason if is_auto else ""
    return Solution(
        **found._asdict(),
        state_ptr=mdp.state_ptr,
        objective="discounted",
        discount=discount,
        method=method,
        tolerance=goal,
        sweeps=len(log.residual),
        residual=log.residual[-1],
        log=log,
        reason=reason if exact is None else "exact policy iteration",
    )


def _closed(point: Improvement) -> Closed:
    """Compute the final values of ``point``, after further backups if the error bound is just above the goal."""
    found = point.close()
    for _ in range(_FURTHER_BACKUPS):
        if point.goal < found.error_bound <= 2 * point.goal:
            point.improve()
            found = min(found, point.close(), key=lambda closed: closed.error_bound)
    return found


def _solve_exactly(mdp: MDP, choice: np.ndarray, discount: float, limits: SolverLimits) -> Closed | None:
    """Solve by exact policy iteration, starting with ``choice``. Return None if no error bound could be proved."""
    inner = replace(limits, tolerance=limits.tolerance / 2)

    def solved(process: MDP, rows: np.ndarray) -> Exact | None:
        return solve_certified(process, Payoff(process.reward, mdp.terminal_reward), rows, inner, discount)

    found = solved(mdp, choice)
    if found is None:
        return None
    q = values_of_rows(mdp, Payoff(mdp.reward, terminal_values(mdp, discount)), found, discount)
    first = partial(first_marked, mdp.state_ptr)
    found = settle_ties(mdp, q, found, limits.tolerance, first, partial(solved, rows=np.arange(mdp.n_states)))
    return Closed(found.v, q, found.choice, found.error_bound, found.policies)

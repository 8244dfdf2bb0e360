"""Solver of sparse Markov decision processes: optimal values, or values of a policy, with a certified error bound.

There are two objectives. ``"discounted"`` maximizes the expected discounted reward. With discount 1, this is the total
reward, including the reward or value of the terminal reached, and trajectories that never end must have unbounded costs
or no rewards. ``"reach-probability"`` maximizes the probability of reaching a terminal with a positive reward or value.
This objective ignores all other rewards and has no discount.

The ladder (``ladder.py``) solves MDPs with layers by sweeps over layers. If these sweeps fail, and for other MDPs, its
other rungs solve the MDP as a single layer. The error bound exceeds the tolerance only if rounding prevents a smaller
one or a limit is reached. The bound is then usually at most 1e-9 times the largest value.

**The policy.** The expected reward of `Solution.choice` is provably at least ``v`` minus the error bound. With a
discount, the last backup proves this (``improvement.py``). Otherwise, the proof consists of lower bounds that were
raised by backups of the policy's rows, or of sweeps under the policy (``value_iteration.py``). If possible, the policy
takes the first of tied rows (``policy.py``, ``component_solver.py``). If the discount is 1, nothing is proved for the
policies of ``"jacobi"`` and of processes that compute their transitions. They always take the first of tied rows.
"""

from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from punish_fast.mdp.arrays.construction import finite_numbers
from punish_fast.mdp.ladder import climb
from punish_fast.mdp.methods.layered_sweeps import Layers
from punish_fast.mdp.methods.totals import least_bound
from punish_fast.mdp.model import _bellman
from punish_fast.mdp.model import limits as options
from punish_fast.mdp.model.limits import DEFAULT_DISCOUNT, DEFAULT_TOLERANCE, SolveError, SolverLimits
from punish_fast.mdp.model.mdp import MDP, check_arrays, negated, normalized
from punish_fast.mdp.model.process import Process
from punish_fast.mdp.model.results import row_probabilities, rows_of
from punish_fast.mdp.model.solution import Exact, Solution
from punish_fast.runtime.compilation.kernel_files import KernelGroup


def solve(
    mdp: Process,
    discount: float | None = None,
    method: str = "auto",
    tolerance: float = DEFAULT_TOLERANCE,
    sweeps: int | None = None,
    initial_values: np.ndarray | None = None,
    objective: str = "discounted",
    maximize: bool = True,
    **limits: Unpack[SolverLimits],
) -> Solution:
    """Find the optimal values of a Markov decision process and an optimal policy.

    The objective ``"discounted"`` maximizes the expected discounted reward, or the expected total reward if the
    discount is 1. The total includes the reward or value of the terminal reached. Trajectories that never end must have
    unbounded costs or no rewards. Policies avoid unbounded costs if possible. Otherwise, the value is minus infinity.
    The objective ``"reach-probability"`` maximizes the probability of reaching a terminal with a positive reward or
    value, and ignores all other rewards.

    Args:
        mdp: An `MDP`, or a process that computes its transitions. Use `validate` to check an `MDP` of unknown origin.
        discount: Discount factor from 0 to 1, by default 0.95. With 1, values are total rewards.
            ``"reach-probability"`` requires None or 1.
        method: ``"layered"`` sweeps through the layers from the last to the first. ``"jacobi"`` updates all states
            simultaneously. ``"modified-policy-iteration"`` and ``"policy-iteration"`` need a discount below 1.
            ``"auto"`` tries several solvers. `Solution.reason` names those that were tried.
        tolerance: Stop at this error bound, in the unit of the values, by default 1e-10. If rounding or a limit keeps
            the tolerance out of reach, the returned bound is larger (see `Solution.converged`).
        sweeps: Number of sweeps, regardless of the error bound.
        initial_values: float64 ``[n_states]``, initial values. Not allowed with ``"jacobi"``.
        objective: ``"discounted"``, or ``"reach-probability"`` (method ``"auto"`` or ``"layered"``).
        maximize: If False, find the minimum of the objective ``"discounted"``, for example of costs.
        **limits: Maximum number of sweeps, maximum duration, progress, and a function that saves the values (see
            `SolverLimits`).

    Returns:
        Values and policy, with an error bound that holds for both. If the discount is 1, the bound is not proved for
        the policies of ``"jacobi"`` and of processes that compute their transitions.

    Raises:
        SolveError: If an option is out of range, the discount is 1 and the total reward of an endless trajectory can be
            undefined, or unbounded in the direction of the objective, a value is too large for floating point, or a
            limit is reached before an error bound is proved.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        A gambler with 1 or 2 of 3 coins bets one coin at even odds until he has 0 or 3:

        >>> from punish_fast.mdp import from_rows
        >>> broke, rich = 2, 3
        >>> mdp = from_rows([[(0, {broke: 0.5, 1: 0.5})], [(0, {0: 0.5, rich: 0.5})]], terminals=[0, 1])
        >>> solve(mdp, objective="reach-probability").v.round(6)
        array([0.333333, 0.666667])

        A coin is tossed until it shows heads, and each toss costs 1:

        >>> solve(from_rows([[(1, {0: 0.5, 1: 0.5})]], terminals=[0]), discount=1, maximize=False).v.round(6)
        array([2.])
    """
    paid: Any = _checked(mdp, maximize)
    discount = options.check_options(discount, method, sweeps=sweeps, objective=objective)
    if method in options.GENERAL_METHODS and not isinstance(mdp, MDP):
        raise SolveError(f"method: {method} needs stored transitions; use auto, {options.LAYERED} or {options.JACOBI}")
    within = options.limits_of(tolerance, limits)
    if initial_values is not None:
        initial_values = finite_numbers("initial_values", initial_values, (mdp.n_states,), SolveError)
        if method == options.JACOBI:
            raise SolveError("initial_values: not allowed with the method jacobi")
    if discount is None:
        discount = 1.0 if objective == "reach-probability" else DEFAULT_DISCOUNT
    if not maximize:
        if objective == "reach-probability":
            raise SolveError(f"maximize: False is not allowed with the objective {objective}; use reach_probability")
        # The minimum is minus the maximum of the negated rewards.
        paid, save = negated(paid), within.save
        initial_values = None if initial_values is None else -initial_values
        within = replace(within, save=None if save is None else lambda v: save(-v))
    problem = Layers(paid, discount, within, objective, method, sweeps, initial_values)
    found = climb(problem)
    v, q = (found.v, found.q) if maximize else (0.0 - found.v, 0.0 - found.q)
    # If nothing is paid, no value is rounded.
    bound = found.error_bound if v.any() or any(map(np.any, problem.payoff_of(paid)[:2])) else 0.0
    used = method if method == options.JACOBI or problem.is_flat else options.LAYERED
    proof = found.rounds, found.log.residual[-1], bound, found.choice, found.log, rows_of(mdp)
    return Solution(v, q, objective, discount, used, problem.goal, *proof, found.policies, found.reason, maximize)


def evaluate(
    mdp: Process,
    policy: Any,
    discount: float = DEFAULT_DISCOUNT,
    tolerance: float = DEFAULT_TOLERANCE,
    **limits: Unpack[SolverLimits],
) -> np.ndarray:
    """Compute the values of a policy.

    Args:
        mdp: An `MDP`, or a process that computes its transitions.
        policy: Policy in a form that `MDP.under` accepts.
        discount: Discount factor from 0 to 1, by default 0.95. With 1, values are total rewards.
        tolerance: Maximum error of a value, in the unit of the rewards, by default 1e-10.
        **limits: Maximum number of sweeps, maximum duration and progress (see `SolverLimits`).

    Returns:
        Expected discounted reward from each state, float64 ``[n_states]``, within ``tolerance`` or as close as rounding
        allows.

    Raises:
        SolveError: If an option is out of range, ``policy`` is invalid, the discount is 1 and a trajectory might never
            end under the policy, a value is too large for floating point, or a limit is reached first.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        A machine pays 1 per step while it runs, and breaks down with probability 0.5 after each step. The policy
        repairs it for 0.5 with probability 0.8:

        >>> from punish_fast.mdp import from_rows
        >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})], [(0, {1: 1.0}), (-0.5, {0: 1.0})]])
        >>> evaluate(mdp, np.array([1.0, 0.2, 0.8]), discount=0.9).round(4)
        array([5.0394, 3.937 ])
    """
    mdp, discount = _checked(mdp), options.discount_of(discount)
    within = options.limits_of(tolerance, limits)
    found: Exact = climb(Layers(mdp, discount, within, policy=row_probabilities(mdp, policy)))
    if within.is_over and found.error_bound > max(tolerance, least_bound(found)):
        raise SolveError(f"max_seconds: {within.max_seconds:g} seconds leave an error bound of {found.error_bound:.1e}")
    return found.v


def _checked(mdp: Process, maximize: object = True) -> Process:
    """Check and normalize an MDP. Return other processes unchanged unless their rewards are minimized."""
    if isinstance(mdp, MDP) or not isinstance(mdp, Process) or maximize is not True:
        check_arrays(mdp, maximize)
    return normalized(mdp) if isinstance(mdp, MDP) else mdp


def compile_sweeps() -> None:
    """Compile the kernels that solve and evaluate an MDP with several layers."""
    ends, ones = np.arange(3, dtype=np.int64), np.ones(2)
    mdp = MDP(ends, ends, np.array([1, 2], np.int32), ones, np.zeros(2), ones[:1], ends, np.zeros(2, np.uint8))
    evaluate(mdp, solve(mdp).policy, discount=1.0)


SWEEPS = KernelGroup(compile_sweeps, (_bellman.sweep, _bellman.back_up_rows, _bellman.evaluate_policy))

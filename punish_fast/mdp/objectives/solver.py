"""Solver of sparse Markov decision processes: optimal values, or values of a policy, with a certified error bound.

There are two objectives. ``"discounted"`` maximizes the expected discounted reward. With discount 1, this is the total
reward, including the reward of the terminal reached, and trajectories that never end must have no rewards.
``"reach-probability"`` maximizes the probability of reaching a terminal with a positive reward. It ignores all other
rewards and has no discount.

MDPs with layers are solved by sweeps (``value_iteration.py``, ``interval_iteration.py``), other MDPs by
``discounted_solver.py`` or, without a discount, component by component (``component_solver.py``). If sweeps do not
reach the tolerance, policy iteration (``exact_iteration.py``, ``rational.py``) takes over. The error bound exceeds the
tolerance only if rounding prevents a smaller one. In this case, the bound is at most 1e-9 times the largest value,
unless rounded probabilities of the MDP cause a larger error or the MDP is too large for policy iteration.

**The policy.** The expected reward of `Solution.choice` is provably at least ``v`` minus the error bound. With a
discount, the last backup proves this (``improvement.py``). Otherwise, the proof consists of lower bounds that were
raised by backups of the policy's rows, or of sweeps under the policy (``attainment.py``). If possible, the policy takes
the first of tied rows (``policy.py``, ``component_solver.py``).
"""

import time
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from punish_fast.mdp.arrays.policy import first_best, refuse_mask
from punish_fast.mdp.bounds.stopping_rule import LargeValueError, terminal_values
from punish_fast.mdp.chain.induced_chain import checked_policy, induced_chain
from punish_fast.mdp.methods.value_iteration import Evaluation, Jacobi, Layered
from punish_fast.mdp.model import _bellman
from punish_fast.mdp.model.limits import (
    DEFAULT_DISCOUNT,
    DEFAULT_TOLERANCE,
    GENERAL_METHODS,
    JACOBI,
    LAYERED,
    MAX_SWEEPS,
    PRECISION,
    Progress,
    SolveError,
    SolverLimits,
    check_options,
    discount_of,
)
from punish_fast.mdp.model.mdp import MDP, check_arrays, normalized
from punish_fast.mdp.model.process import Process
from punish_fast.mdp.model.solution import Log, Solution
from punish_fast.runtime.compilation.kernel_files import KernelGroup

# Maximum number of sweeps over layers before other methods are tried.
_PATIENCE = 1000
# If an MDP has at least `_FEW_STATES` states, sweeps may end with an error bound of `_LEAST_PRECISION` times the
# largest value.
_FEW_STATES, _LEAST_PRECISION = 10_000, 1e-6


class _Options(NamedTuple):
    """Options of `solve`."""

    objective: str
    discount: float
    method: str
    sweeps: int | None
    limits: SolverLimits

    @property
    def goal(self) -> float | None:
        """Error bound to reach, or None if a number of sweeps was requested."""
        return self.limits.tolerance if self.sweeps is None else None


def solve(
    mdp: Process,
    discount: float | None = None,
    method: str = "auto",
    tolerance: float | SolverLimits = DEFAULT_TOLERANCE,
    sweeps: int | None = None,
    initial_values: np.ndarray | None = None,
    progress: Progress | None = None,
    objective: str = "discounted",
) -> Solution:
    """Find the optimal values of a Markov decision process and an optimal policy.

    The objective ``"discounted"`` maximizes the expected discounted reward, or the expected total reward if the
    discount is 1. The total includes the reward of the terminal reached, and trajectories that never end must have no
    rewards. The objective ``"reach-probability"`` maximizes the probability of reaching a terminal with a positive
    reward, and ignores all other rewards.

    Args:
        mdp: An `MDP`, or a process that computes its transitions. Use `validate` to check an `MDP` of unknown origin.
        discount: Discount factor from 0 to 1, by default 0.95. With 1, values are total rewards. Must be None or 1 for
            ``"reach-probability"``.
        method: ``"layered"`` sweeps through the layers from the last to the first. ``"jacobi"`` updates all states
            simultaneously. ``"modified-policy-iteration"`` and ``"policy-iteration"`` need a discount below 1.
            ``"auto"`` chooses a method and records the reason in `Solution.reason`.
        tolerance: Stop at this error bound, in the unit of the values, by default 1e-10. `SolverLimits` also set the
            maximum number of sweeps (by default 100,000). Policy iteration evaluates up to 100 policies. If rounding
            keeps the tolerance out of reach, the returned bound is larger (see `Solution.converged`).
        sweeps: Number of sweeps, regardless of the error bound.
        initial_values: float64 ``[n_states]``, initial values. Not allowed with ``"jacobi"``.
        progress: Called as ``progress("solve", sweeps, error_bound)`` after every sweep.
        objective: ``"discounted"``, or ``"reach-probability"`` (method ``"auto"`` or ``"layered"``).

    Returns:
        Values and policy, with an error bound that holds for both.

    Raises:
        SolveError: If an option is out of range, the discount is 1 and a trajectory can collect nonzero rewards
            forever, a value is too large for floating point, or the maximum number of sweeps is not sufficient.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        A gambler with 1 or 2 of 3 coins bets one coin at even odds until he has 0 or 3:

        >>> from punish_fast.mdp import from_rows
        >>> broke, rich = 2, 3
        >>> mdp = from_rows([[(0, {broke: 0.5, 1: 0.5})], [(0, {0: 0.5, rich: 0.5})]], terminals=[0, 1])
        >>> solve(mdp, objective="reach-probability").v.round(6)
        array([0.333333, 0.666667])
    """
    limits = tolerance if isinstance(tolerance, SolverLimits) else SolverLimits(tolerance)
    mdp = _checked(mdp)
    discount, goal = check_options(discount, method, limits.tolerance, sweeps, objective)
    limits = replace(limits, tolerance=goal)
    if initial_values is not None:
        refuse_mask("initial_values", initial_values, SolveError)
        initial_values = np.asarray(initial_values, dtype=np.float64)
        if method == JACOBI:
            raise SolveError("initial_values: not allowed with the method jacobi")
        if initial_values.shape != (mdp.n_states,) or not np.isfinite(initial_values).all():
            raise SolveError(f"initial_values: must be {mdp.n_states} finite numbers")
    if objective == "reach-probability":
        discount = 1.0
    elif discount is None:
        discount = DEFAULT_DISCOUNT
    if progress is not None:
        limits = replace(limits, progress=partial(progress, "solve"))
    options = _Options(objective, discount, method, sweeps, limits)
    with np.errstate(all="ignore"):
        if isinstance(mdp, MDP):
            is_plain = method == "auto" and mdp.n_layers == 1 and sweeps is None
            if method in GENERAL_METHODS or (is_plain and discount < 1 and mdp.data_ptr is None):
                from punish_fast.mdp.methods.discounted_solver import solve_discounted

                return solve_discounted(mdp, discount, method, limits, initial_values)
            if is_plain and discount == 1 and mdp.n_states > 0 and initial_values is None:
                return _solve_without_layers(mdp, None, options)
        return _solve_by_sweeps(mdp, options, initial_values)


def _solve_by_sweeps(mdp: Process, options: _Options, initial_values: np.ndarray | None) -> Solution:
    """Solve by sweeps over layers, or by ``jacobi`` sweeps. Use other methods if these fail."""
    options = options._replace(method=JACOBI if options.method == JACOBI else LAYERED)
    try:
        iteration = _begin(mdp, options, initial_values)
    except LargeValueError:
        if not isinstance(mdp, MDP) or options.goal is None or options.method == JACOBI:
            raise
        return _solve_without_layers(mdp, None, options)
    if (endless := iteration.endless) is None:
        found = _finish(iteration, options)
        return found or _solve_instead(mdp, np.zeros(mdp.n_states, dtype=bool), iteration, options)
    if not isinstance(mdp, MDP):
        raise SolveError(
            f"discount: from {endless.sum():,} states play might never end; without a tensor in memory, "
            "the discount must be below 1"
        )
    from punish_fast.mdp.graph.end_components import collapsed
    from punish_fast.mdp.methods.component_solver import endless_error

    quotient = collapsed(mdp, endless, pays=options.objective == "discounted")
    # Values of the quotient cannot be saved, because its states are sets of states.
    options = options._replace(limits=replace(options.limits, save=None))
    iteration = _begin(quotient.mdp, options, None if initial_values is None else initial_values[quotient.first])
    if iteration.endless is not None:
        raise endless_error(iteration.endless[quotient.number])
    found = _finish(iteration, options)
    if found is None:
        return _solve_instead(mdp, endless, iteration, options)
    v, q, choice = quotient.lifted(found.v, found.q, found.choice)
    return replace(found, v=v, q=q, state_ptr=mdp.state_ptr, choice=choice)


def _solve_instead(mdp: Process, endless: np.ndarray, iteration: Layered | Jacobi, options: _Options) -> Solution:
    """Solve without layers after sweeps did not reach the goal, and extend the log of the sweeps."""
    found, log = _solve_without_layers(mdp, endless, options), iteration.log
    log.residual.append(found.residual)
    log.seconds.append(sum(found.log.seconds))
    return replace(found, log=log, sweeps=len(log.residual))


def _solve_without_layers(mdp: Process, endless: np.ndarray | None, options: _Options) -> Solution:
    """Solve without layers.

    ``endless`` marks the states whose trajectories might never end, or is None if these are unknown.
    """
    from punish_fast.mdp.graph.qualitative import endless_states
    from punish_fast.mdp.methods.component_solver import solve_by_component
    from punish_fast.mdp.methods.discounted_solver import solve_discounted
    from punish_fast.mdp.methods.exact_iteration import Payoff, values_of_rows
    from punish_fast.mdp.objectives.reachability import largest_probability

    assert isinstance(mdp, MDP) and options.goal is not None
    mdp = mdp.expanded().in_one_layer()
    if options.discount < 1:
        return replace(solve_discounted(mdp, options.discount, "auto", options.limits), method=options.method)
    limits, begin = options.limits, time.perf_counter()
    if options.objective == "reach-probability":
        goal = np.concatenate([np.zeros(mdp.n_states, dtype=bool), mdp.terminal_reward > 0])
        found, _ = largest_probability(mdp, goal, np.zeros(mdp.n_columns, dtype=bool), limits)
        q = values_of_rows(mdp, Payoff(np.zeros(mdp.n_rows), (mdp.terminal_reward > 0).astype(np.float64)), found)
    else:
        endless = endless_states(mdp) if endless is None else endless
        payoff = Payoff(mdp.reward, terminal_values(mdp, 1.0))
        found, q = solve_by_component(mdp, endless, payoff, limits)
    return Solution(
        v=found.v,
        q=q,
        state_ptr=mdp.state_ptr,
        objective=options.objective,
        discount=1.0,
        method=options.method,
        tolerance=options.goal,
        sweeps=found.rounds,
        residual=found.error_bound,
        error_bound=found.error_bound,
        choice=found.choice,
        log=Log(residual=[found.error_bound], seconds=[time.perf_counter() - begin]),
        policies=found.policies,
        reason="topological",
    )


def _begin(mdp: Process, options: _Options, initial_values: np.ndarray | None) -> Layered | Jacobi:
    """Return the iteration, ready for its first sweep."""
    if options.objective == "reach-probability":
        from punish_fast.mdp.methods.interval_iteration import Reachability

        return Reachability(mdp, options.goal, initial_values)
    if options.method == LAYERED:
        return Layered(mdp, options.discount, initial_values)
    return Jacobi(mdp, options.discount)


def _finish(iteration: Layered | Jacobi, options: _Options) -> Solution | None:
    """Sweep until the goal is reached. Return None if sweeps fail and other methods can take over."""
    goal, n_states = options.goal, iteration.mdp.n_states
    if not iteration.contraction.is_known and (goal is None or options.method == JACOBI):
        option = "sweeps" if goal is None else "method"
        raise SolveError(f"{option}: play may be too long for sweeps alone; use layered with a tolerance")
    limit = options.limits.max_sweeps if options.sweeps is None else options.sweeps
    is_stored = isinstance(iteration.mdp, MDP) and goal is not None
    if is_stored and options.method == LAYERED:
        limit = min(limit, _PATIENCE)
    bound = _iterate(iteration, goal, limit, options.limits)
    if goal is not None and not (bound <= goal or iteration.is_at_floor) and not is_stored:
        raise SolveError(f"max_sweeps: {limit:,} sweeps leave an error bound of {bound:.1e}; use more, or a discount")
    iteration.close()
    bound = max(bound, iteration.settle([bound] if goal is None or bound >= goal else [bound, goal]))
    precision = PRECISION if n_states < _FEW_STATES else _LEAST_PRECISION
    if is_stored and not bound <= max(goal or 0.0, precision * float(np.abs(iteration.v[:n_states]).max(initial=0))):
        return None
    state_ptr, proved = iteration.mdp.state_ptr, iteration.proved_choice
    return Solution(
        v=iteration.v[:n_states].copy(),
        q=iteration.q,
        state_ptr=state_ptr,
        objective=options.objective,
        discount=iteration.discount,
        method=options.method,
        tolerance=goal,
        sweeps=len(iteration.log.residual),
        residual=iteration.log.residual[-1],
        error_bound=bound,
        choice=first_best(state_ptr, iteration.q) if proved is None else proved,
        log=iteration.log,
    )


def evaluate(
    mdp: Process,
    policy: np.ndarray,
    discount: float = DEFAULT_DISCOUNT,
    tolerance: float = DEFAULT_TOLERANCE,
    max_sweeps: int = MAX_SWEEPS,
) -> np.ndarray:
    """Compute the values of a policy.

    Args:
        mdp: An `MDP`, or a process that computes its transitions.
        policy: float64 ``[n_rows]``, probability of each row in its state.
        discount: Discount factor from 0 to 1, by default 0.95. With 1, values are total rewards.
        tolerance: Maximum error of a value, in the unit of the rewards, by default 1e-10.
        max_sweeps: Maximum number of sweeps over a component, or of steps if the MDP has a discount and no layers, by
            default 100,000.

    Returns:
        Expected discounted reward from each state, float64 ``[n_states]``, within ``tolerance`` or as close as rounding
        allows.

    Raises:
        SolveError: If an option is out of range, ``policy`` is invalid, the discount is 1 and a trajectory might never
            end under the policy, or ``max_sweeps`` is not sufficient.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        A machine pays 1 per step while it runs, and breaks down with probability 0.5 after each step. The policy
        repairs it for 0.5 with probability 0.8:

        >>> from punish_fast.mdp import from_rows
        >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})], [(0, {1: 1.0}), (-0.5, {0: 1.0})]])
        >>> evaluate(mdp, np.array([1.0, 0.2, 0.8]), discount=0.9).round(4)
        array([5.0394, 3.937 ])
    """
    mdp = _checked(mdp)
    discount, (_, tolerance) = discount_of(discount), check_options(tolerance=tolerance)
    policy = checked_policy(mdp, policy)
    if isinstance(mdp, MDP) and mdp.n_layers == 1:
        return _evaluate_chain(mdp, policy, discount, tolerance, max_sweeps)
    with np.errstate(all="ignore"):
        iteration = Evaluation(mdp, discount, policy)
        if iteration.endless is not None:
            from punish_fast.mdp.methods.component_solver import endless_error

            raise endless_error(iteration.endless, of_policy=True)
        limit = min(max_sweeps, _PATIENCE) if isinstance(mdp, MDP) else max_sweeps
        limits = SolverLimits(tolerance, max_sweeps)
        bound = _iterate(iteration, tolerance, limit, limits) if iteration.contraction.is_known else np.inf
    if bound <= max(tolerance, PRECISION * float(np.abs(iteration.v[: mdp.n_states]).max(initial=0))):
        return iteration.v[: mdp.n_states].copy()
    if isinstance(mdp, MDP):
        return _evaluate_chain(mdp, policy, discount, tolerance, max_sweeps)
    raise SolveError(f"max_sweeps: {limit:,} sweeps leave an error bound of {bound:.1e}; use more, or a discount")


def _evaluate_chain(mdp: MDP, policy: np.ndarray, discount: float, tolerance: float, max_sweeps: int) -> np.ndarray:
    """Evaluate a policy by solving its chain, an MDP with one row per state and no layers."""
    from punish_fast.mdp.graph.qualitative import endless_states
    from punish_fast.mdp.methods.component_solver import endless_error

    chain = induced_chain(mdp, policy)
    endless = endless_states(chain) if discount == 1 else np.zeros(1, dtype=bool)
    if endless.any():
        raise endless_error(endless, of_policy=True)
    return solve(chain.in_one_layer(), discount, tolerance=SolverLimits(tolerance, max_sweeps)).v


def _iterate(iteration: Layered | Jacobi, goal: float | None, sweeps: int, limits: SolverLimits) -> float:
    """Sweep up to ``sweeps`` times until the error bound reaches ``goal`` or its floor. Return the bound."""
    for n_done in range(1, sweeps + 1):
        if goal is not None and (iteration.bound <= goal or iteration.is_at_floor):
            break
        begin = time.perf_counter()
        iteration.bound = iteration.sweep()
        iteration.log.seconds.append(time.perf_counter() - begin)
        limits.progress(n_done, iteration.bound)
        if limits.save is not None:
            limits.save(iteration.v[: iteration.mdp.n_states])
    return iteration.bound


def _checked(mdp: Process) -> Process:
    """Check and normalize an MDP. Return other processes unchanged."""
    if isinstance(mdp, MDP) or not isinstance(mdp, Process):
        check_arrays(mdp)
    return normalized(mdp) if isinstance(mdp, MDP) else mdp


def compile_sweeps() -> None:
    """Compile the kernels that solve and evaluate an MDP with several layers."""
    ends, ones = np.arange(3, dtype=np.int64), np.ones(2)
    mdp = MDP(ends, ends, np.array([1, 2], np.int32), ones, np.zeros(2), ones[:1], ends, np.zeros(2, np.uint8))
    evaluate(mdp, solve(mdp).greedy(), discount=1.0)


SWEEPS = KernelGroup(compile_sweeps, (_bellman.sweep, _bellman.back_up_rows, _bellman.evaluate_policy))

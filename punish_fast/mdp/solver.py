"""Solving a sparse Markov decision process: optimal values, or the values of a policy, within a certified error.

There are two objectives. ``"discounted"`` maximises the expected discounted reward; with discount 1 this is the total
reward until a terminal is reached, and play that can go on for ever must pay nothing for it. ``"win-probability"``
maximises the probability of reaching a terminal that pays more than nothing, whatever else is paid; it has no discount.

The sweeps are in ``value_iteration.py``, the error bound that stops them in ``stopping_rule.py``, and the brackets of
win probabilities in ``interval_iteration.py``. Without a discount, states between which play can go on for ever are
first made into one (``end_components.py``), and the policy iteration of ``exact_iteration.py`` takes over if 1,000
sweeps do not reach the tolerance or rounding keeps them above it, unless too many states lead to each other. Then
``attainment.py`` checks that the greedy policy earns its values up to their error bound, or the tolerance if that is
more, and finds another one if not.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from punish_fast.mdp.checkpoints import Checkpoints
from punish_fast.mdp.end_components import collapsed
from punish_fast.mdp.exact_iteration import is_small_enough, solve_exactly
from punish_fast.mdp.interval_iteration import Reachability
from punish_fast.mdp.model import MDP, check_process
from punish_fast.mdp.policy import first_best, flaw_of
from punish_fast.mdp.process import Process
from punish_fast.mdp.stopping_rule import SolveError
from punish_fast.mdp.value_iteration import Evaluation, Iteration, Jacobi, Layered, Log

SCHEDULES = ("layered", "jacobi")
OBJECTIVES = ("discounted", "win-probability")
DEFAULT_DISCOUNT = 0.95
DEFAULT_TOLERANCE = 1e-10

# Without a discount: sweeps before the exact method is tried, and, where it cannot be, before the solver gives up.
_PATIENCE = 1000
_MOST_SWEEPS = 100_000
# The largest share of a value that rounding alone may put it off by.
_LEAST_PRECISION = 1e-3

Progress = Callable[[str, int, float], None]
AfterSweep = Callable[[Layered | Jacobi], None]


class _Method(NamedTuple):
    """How to solve: what `solve` takes besides the process; ``goal`` is the error bound to reach, None with sweeps."""

    objective: str
    discount: float
    schedule: str
    goal: float | None
    sweeps: int | None
    progress: Progress | None
    checkpoints: Checkpoints | None = None

    def after_sweep(self, iteration: Layered | Jacobi) -> None:
        """Tell and save what was reached."""
        if self.progress is not None:
            self.progress("solve", len(iteration.log.seconds), iteration.bound)
        if self.checkpoints is not None:
            self.checkpoints.after_sweep(iteration)


@dataclass(frozen=True)
class Solution:
    """Values of a Markov decision process and how they were found.

    Attributes:
        v: float64 ``[n_states]``, values; ``v[s]`` is the largest ``q`` of the rows of ``s``.
        q: float64 ``[n_rows]``, values of state-action pairs.
        state_ptr: int64 ``[n_states + 1]``, where the rows of each state begin.
        objective: ``"discounted"``, or ``"win-probability"``, whose values are probabilities.
        discount: From 0 to 1; 1 for total rewards and for win probabilities.
        schedule: ``"layered"`` or ``"jacobi"``.
        tolerance: The error bound asked for, or None if a number of sweeps was.
        sweeps: Number of sweeps.
        residual: Largest change of a state's value in the last sweep.
        error_bound: Upper bound on the error of ``v`` in the sup norm.
        log: One entry for each sweep, and one for policy iteration.
        policies: Number of policies that policy iteration evaluated; 0 if sweeps were enough.
    """

    v: np.ndarray
    q: np.ndarray
    state_ptr: np.ndarray
    objective: str
    discount: float
    schedule: str
    tolerance: float | None
    sweeps: int
    residual: float
    error_bound: float
    log: Log
    policies: int = 0

    def __repr__(self) -> str:
        aim = f"discount {self.discount:g}" if self.objective == "discounted" else self.objective
        return f"Solution({len(self.v):,} states, {aim}, error bound {self.error_bound:.1e})"

    @property
    def converged(self) -> bool:
        """Whether the error bound reached the tolerance; true if a number of sweeps was asked for."""
        return self.tolerance is None or self.error_bound <= self.tolerance

    @cached_property
    def choice(self) -> np.ndarray:
        """int64 ``[n_states]``, the best row of each state, the first one of ties (``policy.py``)."""
        return first_best(self.state_ptr, self.q)

    @property
    def lower(self) -> np.ndarray:
        """float64 ``[n_states]``, lower bounds of the optimal values."""
        return self._within(self.v - self.error_bound)

    @property
    def upper(self) -> np.ndarray:
        """float64 ``[n_states]``, upper bounds of the optimal values."""
        return self._within(self.v + self.error_bound)

    def _within(self, values: np.ndarray) -> np.ndarray:
        return np.clip(values, 0.0, 1.0) if self.objective == "win-probability" else values

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the values: equal for equal bits."""
        return hashlib.sha256(np.ascontiguousarray(self.v, dtype="<f8").tobytes()).hexdigest()[:16]


def solve(
    mdp: Process,
    discount: float | None = None,
    schedule: str = "layered",
    tolerance: float = DEFAULT_TOLERANCE,
    sweeps: int | None = None,
    start: np.ndarray | Checkpoints | None = None,
    progress: Progress | None = None,
    objective: str = "discounted",
) -> Solution:
    """Find the optimal values of a Markov decision process.

    Args:
        mdp: The process, an `MDP` or one that makes its transitions; `check` validates an `MDP` of unknown origin.
        discount: From 0 to 1, by default 0.95; 1 gives total rewards. Win probabilities have none.
        schedule: ``"layered"`` or ``"jacobi"``.
        tolerance: Stop at this error bound.
        sweeps: Make exactly this many sweeps instead.
        start: float64 ``[n_states]``, initial values (``layered`` only); or checkpoints, which have initial values or a
            state to resume from, and are given the states after sweeps.
        progress: Called as ``progress("solve", sweeps, error_bound)`` after every sweep.
        objective: ``"discounted"``, or ``"win-probability"`` (``layered`` only).

    Raises:
        SolveError: an option is out of range, or there is no discount and play can go on for ever and be paid for it.
        ModelError: the arrays of ``mdp`` do not fit together.

    Examples:
        A gambler with 1 or 2 of 3 coins bets one coin at even odds until he has 0 or 3:

        >>> from punish_fast.mdp.model import from_rows
        >>> broke, rich = 2, 3
        >>> mdp = from_rows([[(0, {broke: 0.5, 1: 0.5})], [(0, {0: 0.5, rich: 0.5})]], terminals=[0, 1])
        >>> solve(mdp, objective="win-probability").v.round(6)
        array([0.333333, 0.666667])
    """
    check_options(discount, schedule, tolerance, sweeps, objective)
    check_process(mdp)
    checkpoints = start if isinstance(start, Checkpoints) else None
    values = start if checkpoints is None else checkpoints.values
    start = None if values is None else np.asarray(values, dtype=np.float64)
    _check_start(mdp, schedule, start)
    goal = None if sweeps is not None else tolerance
    if objective == "win-probability":
        discount = 1.0
    elif discount is None:
        discount = DEFAULT_DISCOUNT
    method = _Method(objective, discount, schedule, goal, sweeps, progress, checkpoints)
    iteration = _begin(mdp, method, start)
    if iteration.endless is None:
        return _finish(iteration, method)
    if not isinstance(mdp, MDP):
        raise SolveError(
            f"discount: from {iteration.endless.sum():,} states play can go on for ever; without a tensor in memory, "
            "the discount must be below 1"
        )
    quotient = collapsed(mdp, iteration.endless, pays=objective == "discounted")
    iteration = _begin(quotient.mdp, method, None if start is None else start[quotient.first])
    if iteration.endless is not None:
        endless = iteration.endless[quotient.number]
        raise SolveError(
            f"discount: 1 is allowed only if play ends or goes on for nothing, but from {endless.sum()} states (the "
            f"first is number {endless.argmax()}) it can be paid for ever, so values may be infinite"
        )
    solution = _finish(iteration, method)
    v, q = quotient.lifted(solution.v, solution.q)
    return replace(solution, v=v, q=q, state_ptr=mdp.state_ptr)


def _begin(mdp: Process, method: _Method, start: np.ndarray | None) -> Layered | Jacobi:
    """The iteration before its first sweep."""
    if method.objective == "win-probability":
        return Reachability(mdp, method.goal, start)
    if method.schedule == "layered":
        return Layered(mdp, method.discount, start)
    return Jacobi(mdp, method.discount)


def _finish(iteration: Layered | Jacobi, method: _Method) -> Solution:
    """Sweep until the goal is reached.

    Raises:
        SolveError: it cannot be reached.
    """
    goal, n_states = method.goal, iteration.mdp.n_states
    if method.checkpoints is not None:
        names = ("objective", "discount", "schedule", "sweeps")
        method.checkpoints.begin(iteration, {name: getattr(method, name) for name in names} | {"tolerance": goal})
    _check_precision(iteration)
    if not iteration.contraction.is_known and (goal is None or method.schedule == "jacobi"):
        option = "sweeps" if goal is None else "schedule"
        raise SolveError(f"{option}: play may be too long for sweeps alone, allowed is layered with a tolerance")
    if isinstance(iteration, Layered) and iteration.discount == 1 and goal is not None:
        bound = _solve_undiscounted(iteration, goal, method)
    else:
        bound = _iterate(iteration, goal, method.sweeps, method.after_sweep)
        iteration.close()
    return Solution(
        v=iteration.v[:n_states].copy(),
        q=iteration.q,
        state_ptr=iteration.mdp.state_ptr,
        objective=method.objective,
        discount=iteration.discount,
        schedule=method.schedule,
        tolerance=goal,
        sweeps=len(iteration.log.residual),
        residual=iteration.log.residual[-1],
        error_bound=bound,
        log=iteration.log,
        policies=iteration.policies,
    )


def evaluate(
    mdp: Process, weight: np.ndarray, discount: float = DEFAULT_DISCOUNT, tolerance: float = DEFAULT_TOLERANCE
) -> np.ndarray:
    """Evaluate a policy: its values, float64 ``[n_states]``, within ``tolerance`` or as close as rounding allows.

    Args:
        mdp: The process.
        weight: float64 ``[n_rows]``, the probability of each row in its state.
        discount: From 0 to 1; 1 gives total rewards.
        tolerance: Largest error of a value.

    Raises:
        SolveError: an option is out of range, ``weight`` is no policy, or the discount is 1 and play may never end
            under this policy.
        ModelError: the arrays of ``mdp`` do not fit together.
    """
    check_options(discount, tolerance=tolerance)
    check_process(mdp)
    weight = np.asarray(weight, dtype=np.float64)
    flaw = flaw_of(mdp.state_ptr, weight)
    if flaw is not None:
        raise SolveError(f"weight: {flaw}")
    iteration = Evaluation(mdp, discount, weight)
    if iteration.endless is not None:
        raise SolveError(
            f"discount: 1 is allowed only if play ends, but from {iteration.endless.sum()} states (the first is number "
            f"{iteration.endless.argmax()}) it goes on for ever under this policy"
        )
    _check_precision(iteration)
    if not iteration.contraction.is_known:
        raise SolveError("discount: 1 is allowed only if play ends soon, but it may go on for very long")
    _iterate(iteration, tolerance, None)
    return iteration.v[: mdp.n_states].copy()


def _solve_undiscounted(iteration: Layered, goal: float, method: _Method) -> float:
    """Sweep, but solve exactly what takes many sweeps; return the error bound.

    Raises:
        SolveError: neither leads to an end.
    """
    bound = _iterate(iteration, goal, _PATIENCE, method.after_sweep)
    is_small = bound <= goal or _is_small(iteration.mdp)
    if not is_small and not iteration.is_at_floor:
        bound = _iterate(iteration, goal, _MOST_SWEEPS, method.after_sweep)
    iteration.close()
    is_long = bound > goal and is_small
    if is_long or (not iteration.attain(max(bound, goal)) and _is_small(iteration.mdp)):
        bound = _improved(iteration, bound, method.progress)
    if bound > goal and not iteration.is_at_floor:
        why = (
            "play is too long for floating point"
            if is_small
            else "too many states lead to each other to solve it exactly"
        )
        raise SolveError(f"tolerance: sweeps leave an error bound of {bound:.1e}, and {why}; a discount helps")
    return bound


def _is_small(mdp: Process) -> bool:
    return isinstance(mdp, MDP) and is_small_enough(mdp)


def _improved(iteration: Layered, bound: float, progress: Progress | None) -> float:
    """Solve exactly, and take that over if its error bound is below the one of the sweeps; return the bound."""
    begin = time.perf_counter()

    def tell(rounds: int) -> None:
        if progress is not None:
            progress("policy iteration", rounds, bound)

    assert isinstance(iteration.mdp, MDP)
    found = solve_exactly(iteration.mdp, *iteration.payments, iteration.choice, tell)
    if not found.error_bound < bound:
        if math.isfinite(found.error_bound):
            iteration.prefer(found.choice)
        return bound
    exact_bound = iteration.settle(found)
    iteration.log.seconds.append(time.perf_counter() - begin)
    return exact_bound


def _check_precision(iteration: Iteration) -> None:
    """Refuse a discount so near 1 that no error bound would say much."""
    floor, largest = iteration.floor, iteration.contraction.largest_value
    if iteration.discount < 1 and floor > _LEAST_PRECISION * largest:
        raise SolveError(
            f"discount: {iteration.discount!r} is too near 1 for floating point, where values of up to {largest:.1e} "
            f"may be off by {floor:.1e}; it must be lower, or 1"
        )


def _iterate(
    iteration: Layered | Jacobi, goal: float | None, sweeps: int | None, after: AfterSweep | None = None
) -> float:
    """Sweep until the error bound reaches ``goal`` or its floor, or until the ``sweeps``-th; return the bound."""
    n_done = len(iteration.log.seconds)
    while sweeps is None or n_done < sweeps:
        # A state that is resumed from may be the last one.
        if goal is not None and (iteration.bound <= goal or iteration.is_at_floor):
            break
        begin = time.perf_counter()
        iteration.bound = iteration.sweep()
        iteration.log.seconds.append(time.perf_counter() - begin)
        n_done += 1
        if after is not None:
            after(iteration)
    return iteration.bound


def check_options(
    discount: float | None = None,
    schedule: str = "layered",
    tolerance: float = DEFAULT_TOLERANCE,
    sweeps: int | None = None,
    objective: str = "discounted",
) -> None:
    """Check options of `solve` before any work is done.

    Raises:
        SolveError: an option is out of range, or does not go with the objective.
    """
    _check_choice("objective", objective, OBJECTIVES)
    _check_choice("schedule", schedule, SCHEDULES)
    if objective == "win-probability" and discount not in (None, 1):
        raise SolveError(f"discount: {discount} is not allowed with the objective win-probability, which has none")
    if objective == "win-probability" and schedule == "jacobi":
        raise SolveError("schedule: jacobi is not allowed with the objective win-probability, it must be layered")
    if discount is not None and not 0 <= discount <= 1:
        raise SolveError(f"discount: {discount} is not allowed, it must be from 0 to 1")
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise SolveError(f"tolerance: {tolerance} is not allowed, it must be above 0")
    if sweeps is not None and (not isinstance(sweeps, int | np.integer) or sweeps < 1):
        raise SolveError(f"sweeps: {sweeps} is not allowed, it must be a whole number from 1")


def _check_choice(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise SolveError(f"{option}: {value!r} is not allowed, it must be one of {', '.join(allowed)}")


def _check_start(mdp: Process, schedule: str, start: np.ndarray | None) -> None:
    if start is None:
        return
    if schedule != "layered":
        raise SolveError("start: initial values need the layered schedule")
    if start.shape != (mdp.n_states,) or not np.isfinite(start).all():
        raise SolveError(f"start: must be {mdp.n_states} finite numbers")

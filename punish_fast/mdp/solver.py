"""Solving a sparse Markov decision process: optimal values, or the values of a policy, within a certified error.

There are two objectives. ``"discounted"`` maximises the expected discounted reward; with discount 1 this is the total
reward until a terminal is reached, and play that can go on for ever must pay nothing for it. ``"win-probability"``
maximises the probability of reaching a terminal that pays more than nothing, whatever else is paid; it has no discount.

The sweeps are in ``value_iteration.py``, the error bound that stops them in ``stopping_rule.py``, and the brackets of
win probabilities in ``interval_iteration.py``. Without a discount, states between which play can go on for ever are
first made into one (``end_components.py``). If there are no layers, components follow one after the other
(``component_solver.py``). If there are, or no bound was found so, layers are swept, and the policy iteration of
``exact_iteration.py`` takes over if 1,000 sweeps do not reach the tolerance or rounding keeps them above it, unless too
many states lead to each other. Of layers, ``attainment.py`` checks that the greedy policy earns its values up to their
error bound, or the tolerance if that is more, and finds another one if not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from punish_fast.mdp.checkpoints import Checkpoints
from punish_fast.mdp.component_solver import solve_by_component
from punish_fast.mdp.end_components import collapsed
from punish_fast.mdp.exact_iteration import is_small_enough, solve_exactly
from punish_fast.mdp.graph import endless_states
from punish_fast.mdp.improvement import Improvement
from punish_fast.mdp.interval_iteration import Reachability
from punish_fast.mdp.methods import GENERAL_METHODS, iterate, method_of
from punish_fast.mdp.model import MDP, check_arrays, check_finite
from punish_fast.mdp.policy import flaw_of
from punish_fast.mdp.process import Process
from punish_fast.mdp.solution import Solution
from punish_fast.mdp.solve_options import DEFAULT_DISCOUNT, DEFAULT_TOLERANCE, JACOBI, LAYERED, check_options
from punish_fast.mdp.stopping_rule import SolveError
from punish_fast.mdp.value_iteration import Evaluation, Iteration, Jacobi, Layered

# Without a discount: sweeps before the exact method is tried, and, where it cannot be, before the solver gives up.
_PATIENCE = 1000
_MOST_SWEEPS = 100_000
# The largest share of a value that rounding alone may put it off by.
_LEAST_PRECISION = 1e-3

Progress = Callable[[str, int, float], None]
AfterSweep = Callable[[Layered | Jacobi], None]


class _Options(NamedTuple):
    """How to solve: what `solve` takes besides the process; ``goal`` is the error bound to reach, None with sweeps."""

    objective: str
    discount: float
    method: str
    goal: float | None
    sweeps: int | None
    progress: Progress | None
    checkpoints: Checkpoints | None = None

    def tell(self, sweeps: int, bound: float) -> None:
        """Tell what was reached."""
        if self.progress is not None:
            self.progress("solve", sweeps, bound)

    def after_sweep(self, iteration: Layered | Jacobi) -> None:
        """Tell and save what was reached."""
        self.tell(len(iteration.log.seconds), iteration.bound)
        if self.checkpoints is not None:
            self.checkpoints.after_sweep(iteration)


def solve(
    mdp: Process,
    discount: float | None = None,
    method: str = "auto",
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
        method: ``"layered"`` sweeps through the layers, from the last to the first; ``"jacobi"`` as in the published
            runs; those of ``methods.py`` are for processes without layers. ``"auto"`` chooses, and says why.
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
    check_options(discount, method, tolerance, sweeps, objective)
    _check_process(mdp)
    checkpoints = start if isinstance(start, Checkpoints) else None
    values = start if checkpoints is None else checkpoints.values
    start = None if values is None else np.asarray(values, dtype=np.float64)
    _check_start(mdp, method, start)
    goal = None if sweeps is not None else tolerance
    if objective == "win-probability":
        discount = 1.0
    elif discount is None:
        discount = DEFAULT_DISCOUNT
    options = _Options(objective, discount, method, goal, sweeps, progress, checkpoints)
    if isinstance(mdp, MDP) and _is_general(mdp, options):
        return _solve_generally(mdp, options, start)
    if isinstance(mdp, MDP) and _is_by_component(mdp, options, start):
        mdp = mdp.expanded()
        return _solve_without_layers(mdp, endless_states(mdp), options)
    return _solve_by_sweeps(mdp, options, start)


def solve_total(
    mdp: MDP, endless: np.ndarray, objective: str, tolerance: float, progress: Progress | None = None
) -> Solution:
    """Like `solve` without a discount, where it is known from which states play may go on for ever.

    Args:
        mdp: The process, not compact; its arrays are not checked.
        endless: bool ``[n_states]``, the states from which some policy goes on for ever.
        objective: As in `solve`, like the other arguments and errors.
        tolerance: Likewise.
        progress: Likewise.
    """
    options = _Options(objective, 1.0, "auto", tolerance, None, progress)
    if _is_by_component(mdp, options, None):
        return _solve_without_layers(mdp, endless, options)
    return _solve_by_sweeps(mdp, options, None)


def _solve_without_layers(mdp: MDP, endless: np.ndarray, options: _Options) -> Solution:
    """Solve one component after the other, or by sweeps if that proves no bound."""
    assert options.goal is not None
    found = solve_by_component(mdp, endless, options.objective, options.goal, options.tell)
    return _solve_by_sweeps(mdp, options, None) if found is None else found


def _solve_by_sweeps(mdp: Process, options: _Options, start: np.ndarray | None) -> Solution:
    """Sweep through layers, or as the published runs did."""
    options = options._replace(method=JACOBI if options.method == JACOBI else LAYERED)
    iteration = _begin(mdp, options, start)
    if iteration.endless is None:
        return _finish(iteration, options)
    if not isinstance(mdp, MDP):
        raise SolveError(
            f"discount: from {iteration.endless.sum():,} states play can go on for ever; without a tensor in memory, "
            "the discount must be below 1"
        )
    quotient = collapsed(mdp, iteration.endless, pays=options.objective == "discounted")
    iteration = _begin(quotient.mdp, options, None if start is None else start[quotient.first])
    if iteration.endless is not None:
        endless = iteration.endless[quotient.number]
        raise SolveError(
            f"discount: 1 is allowed only if play ends or goes on for nothing, but from {endless.sum()} states (the "
            f"first is number {endless.argmax()}) it can be paid for ever, so values may be infinite"
        )
    solution = _finish(iteration, options)
    v, q = quotient.lifted(solution.v, solution.q)
    return replace(solution, v=v, q=q, state_ptr=mdp.state_ptr)


def _is_general(mdp: MDP, options: _Options) -> bool:
    """Whether a method of ``methods.py`` solves it: one that was asked for, or any where layers give no order."""
    if options.method in GENERAL_METHODS:
        return True
    is_plain = mdp.n_layers == 1 and mdp.data_ptr is None and options.checkpoints is None
    return options.method == "auto" and is_plain and options.discount < 1 and options.goal is not None


def _solve_generally(mdp: MDP, options: _Options, start: np.ndarray | None) -> Solution:
    """Solve by a method that needs no layers, and back up every state once more for values of rows."""
    mdp = mdp.expanded()
    assert options.goal is not None
    point = Improvement(mdp, options.discount, options.goal, start)
    _check_precision(point)
    steps = iterate(point, method_of(options.method, mdp, options.discount), options.tell)
    q, bound = point.close()
    return Solution(
        v=point.v[: mdp.n_states],
        q=q,
        state_ptr=mdp.state_ptr,
        objective=options.objective,
        discount=options.discount,
        method=options.method,
        tolerance=options.goal,
        sweeps=len(steps.log.residual),
        residual=steps.log.residual[-1],
        error_bound=bound,
        log=steps.log,
        reason=steps.reason,
    )


def _is_by_component(mdp: MDP, options: _Options, start: np.ndarray | None) -> bool:
    """Whether components are to be tried, since there is neither a discount nor an order of layers."""
    is_plain = mdp.n_layers == 1 and mdp.n_states > 0 and start is None and options.checkpoints is None
    return options.method == "auto" and is_plain and options.discount == 1 and options.goal is not None


def _begin(mdp: Process, options: _Options, start: np.ndarray | None) -> Layered | Jacobi:
    """The iteration before its first sweep."""
    if options.objective == "win-probability":
        return Reachability(mdp, options.goal, start)
    if options.method == LAYERED:
        return Layered(mdp, options.discount, start)
    return Jacobi(mdp, options.discount)


def _finish(iteration: Layered | Jacobi, options: _Options) -> Solution:
    """Sweep until the goal is reached.

    Raises:
        SolveError: it cannot be reached.
    """
    goal, n_states = options.goal, iteration.mdp.n_states
    if options.checkpoints is not None:
        settings = {"objective": options.objective, "discount": options.discount, "schedule": options.method}
        options.checkpoints.begin(iteration, settings | {"sweeps": options.sweeps, "tolerance": goal})
    _check_precision(iteration)
    if not iteration.contraction.is_known and (goal is None or options.method == JACOBI):
        option = "sweeps" if goal is None else "method"
        raise SolveError(f"{option}: play may be too long for sweeps alone, allowed is layered with a tolerance")
    if isinstance(iteration, Layered) and iteration.discount == 1 and goal is not None:
        bound = _solve_undiscounted(iteration, goal, options)
    else:
        bound = _iterate(iteration, goal, options.sweeps, options.after_sweep)
        iteration.close()
    return Solution(
        v=iteration.v[:n_states].copy(),
        q=iteration.q,
        state_ptr=iteration.mdp.state_ptr,
        objective=options.objective,
        discount=iteration.discount,
        method=options.method,
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
    _check_process(mdp)
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


def _solve_undiscounted(iteration: Layered, goal: float, options: _Options) -> float:
    """Sweep, but solve exactly what takes many sweeps; return the error bound.

    Raises:
        SolveError: neither leads to an end.
    """
    bound = _iterate(iteration, goal, _PATIENCE, options.after_sweep)
    is_small = bound <= goal or _is_small(iteration.mdp)
    if not is_small and not iteration.is_at_floor:
        bound = _iterate(iteration, goal, _MOST_SWEEPS, options.after_sweep)
    iteration.close()
    is_long = bound > goal and is_small
    if is_long or (not iteration.attain(max(bound, goal)) and _is_small(iteration.mdp)):
        bound = _improved(iteration, bound, options.progress)
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


def _check_precision(iteration: Iteration | Improvement) -> None:
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


def _check_process(mdp: Process) -> None:
    """Check the arrays of a process that stores its transitions; another one has made its own."""
    if isinstance(mdp, MDP):
        check_arrays(mdp)
        check_finite(mdp.data)
    elif not hasattr(mdp, "backups"):
        check_arrays(mdp)


def _check_start(mdp: Process, method: str, start: np.ndarray | None) -> None:
    if start is None:
        return
    if method == JACOBI:
        raise SolveError("start: initial values are not allowed with the method jacobi")
    if start.shape != (mdp.n_states,) or not np.isfinite(start).all():
        raise SolveError(f"start: must be {mdp.n_states} finite numbers")

"""Solving a sparse Markov decision process: optimal values, values of a policy, and a bound on their error.

The schedules, and why the bound holds, are in ``sweeps.py``, and for chances to win in ``reachability.py``.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from punish_fast.mdp.contraction import SolveError
from punish_fast.mdp.interval_iteration import Reachability
from punish_fast.mdp.model import Process, check_arrays
from punish_fast.mdp.policy import flaw_of
from punish_fast.mdp.value_iteration import Evaluation, Jacobi, Layered, Log

SCHEDULES = ("layered", "jacobi")
# What can be asked for; a total reward without a discount is told apart as "undiscounted".
OBJECTIVES = ("discounted", "win-probability")
DEFAULT_DISCOUNT = 0.95

Progress = Callable[[str, int, float], None]


@dataclass(frozen=True)
class Solution:
    """Values of a Markov decision process and how they were found.

    Attributes:
        v: float64 ``[n_states]``, values; ``v[s]`` is the largest ``q`` of the rows of ``s``.
        q: float64 ``[n_rows]``, values of state-action pairs.
        choice: int64 ``[n_states]``, the first best row of each state.
        objective: ``"discounted"``; ``"undiscounted"`` if the discount is 1; or ``"win-probability"``, whose values are
            chances to reach a win, from 0 to 1.
        discount: The discount.
        schedule: ``"layered"`` or ``"jacobi"``.
        tolerance: The error bound asked for, or None if a number of sweeps was.
        sweeps: Sweeps made.
        residual: Largest change of a state's value in the last sweep.
        error_bound: No value of ``v`` is further than this from the optimal one.
        log: One entry for each sweep.
    """

    v: np.ndarray
    q: np.ndarray
    choice: np.ndarray
    objective: str
    discount: float
    schedule: str
    tolerance: float | None
    sweeps: int
    residual: float
    error_bound: float
    log: Log

    @property
    def converged(self) -> bool:
        """Whether the error bound asked for was reached (always, if none was)."""
        return self.tolerance is None or self.error_bound <= self.tolerance

    @property
    def lower(self) -> np.ndarray:
        """float64 ``[n_states]``, what the optimal values are not below."""
        return self._within(self.v - self.error_bound)

    @property
    def upper(self) -> np.ndarray:
        """float64 ``[n_states]``, what the optimal values are not above."""
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
    tolerance: float = 1e-10,
    sweeps: int | None = None,
    start: np.ndarray | None = None,
    progress: Progress | None = None,
    objective: str = "discounted",
) -> Solution:
    """The optimal values of ``mdp``.

    Args:
        mdp: The process; `check` finds out whether one of unknown origin is sound.
        discount: From 0 to 1; 1 needs a process that ends, and values are total rewards until then. By default 0.95,
            and 1 for chances to win, which know no other.
        schedule: ``"layered"`` or ``"jacobi"``.
        tolerance: Stop when no value is further than this from the optimal one.
        sweeps: Make exactly so many sweeps instead.
        start: float64 ``[n_states]``, values to start from (``layered`` only).
        progress: Called as ``progress("solve", sweeps, error_bound)`` after every sweep.
        objective: ``"discounted"``, or ``"win-probability"``: the largest chance to reach a terminal that pays more
            than nothing, whatever else is paid (``layered`` only).

    Raises:
        SolveError: an option is out of range, or there is no discount and play may go on for ever.
        ModelError: the arrays of ``mdp`` do not fit together.
    """
    discount = settle_discount(objective, discount)
    check_options(discount, schedule, tolerance, sweeps, objective)
    check_arrays(mdp)
    start = None if start is None else np.asarray(start, dtype=np.float64)
    _check_start(mdp, schedule, start)
    goal = None if sweeps is not None else tolerance
    iteration: Layered | Jacobi
    if objective == "win-probability":
        iteration = Reachability(mdp, goal, start)
    else:
        iteration = Layered(mdp, discount, start) if schedule == "layered" else Jacobi(mdp, discount)
    bound = _iterate(iteration, goal, sweeps, progress)
    iteration.close()
    return Solution(
        v=iteration.v[: mdp.n_states].copy(),
        q=iteration.q,
        choice=iteration.choice,
        objective="undiscounted" if objective == "discounted" and discount == 1 else objective,
        discount=discount,
        schedule=schedule,
        tolerance=goal,
        sweeps=len(iteration.log.residual),
        residual=iteration.log.residual[-1],
        error_bound=bound,
        log=iteration.log,
    )


def evaluate(mdp: Process, weight: np.ndarray, discount: float = 0.95, tolerance: float = 1e-10) -> np.ndarray:
    """The values of a policy, float64 ``[n_states]``, to within ``tolerance`` (or as near as rounding allows).

    Args:
        mdp: The process.
        weight: float64 ``[n_rows]``, the probability of each row in its state.
        discount: From 0 to 1; 1 needs a process that ends, and values are total rewards until then.
        tolerance: Largest error of a value.

    Raises:
        SolveError: an option is out of range, ``weight`` is no policy, or discount is 1 and play may go on for ever
            under some policy, though it need not be this one.
        ModelError: the arrays of ``mdp`` do not fit together.
    """
    check_options(discount, tolerance=tolerance)
    check_arrays(mdp)
    weight = np.asarray(weight, dtype=np.float64)
    flaw = flaw_of(mdp.state_ptr, weight)
    if flaw is not None:
        raise SolveError(f"weight: {flaw}")
    iteration = Evaluation(mdp, discount, weight)
    _iterate(iteration, tolerance, None, None)
    return iteration.v[: mdp.n_states].copy()


def _iterate(iteration: Layered | Jacobi, goal: float | None, sweeps: int | None, progress: Progress | None) -> float:
    """Sweep until the error bound reaches ``goal`` or its floor, or ``sweeps`` times; return the bound."""
    while True:
        begin = time.perf_counter()
        bound = iteration.sweep()
        iteration.log.seconds.append(time.perf_counter() - begin)
        n_done = len(iteration.log.seconds)
        if progress is not None:
            progress("solve", n_done, bound)
        if n_done == sweeps or (goal is not None and (bound <= goal or iteration.is_at_floor)):
            return bound


def settle_discount(objective: str, discount: float | None) -> float:
    """The discount that an objective has if it is given none.

    Raises:
        SolveError: there is no such objective.
    """
    if objective not in OBJECTIVES:
        raise SolveError(f"objective: {objective!r} is not allowed, it must be one of {', '.join(OBJECTIVES)}")
    if discount is not None:
        return discount
    return DEFAULT_DISCOUNT if objective == "discounted" else 1.0


def check_options(
    discount: float,
    schedule: str = "layered",
    tolerance: float = 1e-10,
    sweeps: int | None = None,
    objective: str = "discounted",
) -> None:
    """Check options of `solve` before any work is done.

    Raises:
        SolveError: an option is out of range, or one does not go with the objective.
    """
    if objective == "win-probability" and discount != 1:
        raise SolveError(f"discount: {discount} is not allowed with the objective win-probability, which has none")
    if objective == "win-probability" and schedule == "jacobi":
        raise SolveError("schedule: jacobi is not allowed with the objective win-probability, it must be layered")
    if not 0 <= discount <= 1:
        raise SolveError(f"discount: {discount} is not allowed, it must be from 0 to 1")
    if schedule not in SCHEDULES:
        raise SolveError(f"schedule: {schedule!r} is not allowed, it must be one of {', '.join(SCHEDULES)}")
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise SolveError(f"tolerance: {tolerance} is not allowed, it must be above 0")
    if sweeps is not None and sweeps < 1:
        raise SolveError(f"sweeps: {sweeps} is not allowed, it must be 1 or more")


def _check_start(mdp: Process, schedule: str, start: np.ndarray | None) -> None:
    if start is None:
        return
    if schedule != "layered":
        raise SolveError("start: values to start from go with the layered schedule only")
    if start.shape != (mdp.n_states,) or not np.isfinite(start).all():
        raise SolveError(f"start: must be {mdp.n_states} finite numbers")

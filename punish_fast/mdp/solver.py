"""Solving a sparse Markov decision process: optimal values, values of a policy, and a bound on their error.

The schedules, and why the bound holds, are in ``sweeps.py``.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from punish_fast.mdp.contraction import SolveError
from punish_fast.mdp.model import MDP, check_arrays
from punish_fast.mdp.sweeps import Evaluation, Jacobi, Layered, Log

SCHEDULES = ("layered", "jacobi")

Progress = Callable[[str, int, float], None]


@dataclass(frozen=True)
class Solution:
    """Values of a Markov decision process and how they were found.

    Attributes:
        v: float64 ``[n_states]``, values; ``v[s]`` is the largest ``q`` of the rows of ``s``.
        q: float64 ``[n_rows]``, values of state-action pairs.
        choice: int64 ``[n_states]``, the first best row of each state.
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
    def objective(self) -> str:
        """``"discounted"`` or ``"undiscounted"``."""
        return "discounted" if self.discount < 1 else "undiscounted"

    @property
    def fingerprint(self) -> str:
        """A digest of the values: equal for equal bits."""
        return hashlib.sha256(np.ascontiguousarray(self.v, dtype="<f8").tobytes()).hexdigest()[:16]


def solve(
    mdp: MDP,
    discount: float = 0.95,
    schedule: str = "layered",
    tolerance: float = 1e-10,
    sweeps: int | None = None,
    start: np.ndarray | None = None,
    progress: Progress | None = None,
) -> Solution:
    """The optimal values of ``mdp``.

    Args:
        mdp: The process; `check` finds out whether one of unknown origin is sound.
        discount: From 0 to 1; 1 needs a process that ends, and values are total rewards until then.
        schedule: ``"layered"`` or ``"jacobi"``.
        tolerance: Stop when no value is further than this from the optimal one.
        sweeps: Make exactly so many sweeps instead.
        start: float64 ``[n_states]``, values to start from (``layered`` only).
        progress: Called as ``progress("solve", sweeps, error_bound)`` after every sweep.

    Raises:
        SolveError: an option is out of range, or discount is 1 and play may go on for ever.
        ModelError: the arrays of ``mdp`` do not fit together.
    """
    check_options(discount, schedule, tolerance, sweeps)
    check_arrays(mdp)
    start = None if start is None else np.asarray(start, dtype=np.float64)
    _check_start(mdp, schedule, start)
    iteration: Layered | Jacobi
    iteration = Layered(mdp, discount, start) if schedule == "layered" else Jacobi(mdp, discount)
    goal = None if sweeps is not None else tolerance
    bound = _iterate(iteration, goal, sweeps, progress)
    iteration.close()
    return Solution(
        v=iteration.v[: mdp.n_states].copy(),
        q=iteration.q,
        choice=iteration.choice,
        discount=discount,
        schedule=schedule,
        tolerance=goal,
        sweeps=len(iteration.log.residual),
        residual=iteration.log.residual[-1],
        error_bound=bound,
        log=iteration.log,
    )


def evaluate(mdp: MDP, weight: np.ndarray, discount: float = 0.95, tolerance: float = 1e-10) -> np.ndarray:
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
    if weight.shape != (mdp.n_rows,) or not (weight >= 0).all():
        raise SolveError(f"weight: must be {mdp.n_rows} numbers, none negative")
    sums = np.add.reduceat(weight, mdp.state_ptr[:-1])
    if np.abs(sums - 1).max(initial=0) > 1e-9:
        raise SolveError("weight: must add up to 1 in every state")
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


def check_options(
    discount: float, schedule: str = "layered", tolerance: float = 1e-10, sweeps: int | None = None
) -> None:
    """Check options of `solve` before any work is done.

    Raises:
        SolveError: an option is out of range.
    """
    if not 0 <= discount <= 1:
        raise SolveError(f"discount: {discount} is not allowed, it must be from 0 to 1")
    if schedule not in SCHEDULES:
        raise SolveError(f"schedule: {schedule!r} is not allowed, it must be one of {', '.join(SCHEDULES)}")
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise SolveError(f"tolerance: {tolerance} is not allowed, it must be above 0")
    if sweeps is not None and sweeps < 1:
        raise SolveError(f"sweeps: {sweeps} is not allowed, it must be 1 or more")


def _check_start(mdp: MDP, schedule: str, start: np.ndarray | None) -> None:
    if start is None:
        return
    if schedule != "layered":
        raise SolveError("start: values to start from go with the layered schedule only")
    if start.shape != (mdp.n_states,) or not np.isfinite(start).all():
        raise SolveError(f"start: must be {mdp.n_states} finite numbers")

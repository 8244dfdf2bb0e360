"""Options and limits of solvers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypedDict

import numpy as np

from punish_fast.runtime.errors import PunishFastError, as_float, check_allowed, shown

LAYERED, JACOBI = "layered", "jacobi"
SWEEP_METHODS = (LAYERED, JACOBI)
GENERAL_METHODS = "modified-policy-iteration", "policy-iteration"
METHODS = ("auto", *SWEEP_METHODS, *GENERAL_METHODS)
OBJECTIVES = ("discounted", "reach-probability")
DEFAULT_DISCOUNT = 0.95
DEFAULT_TOLERANCE = 1e-10
# Error bound that most solvers accept if they do not reach the tolerance, as a fraction of the largest value.
PRECISION = 1e-9
# Called with the name of the stage, the number of sweeps or policies, and the error bound.
Progress = Callable[[str, int, float], None]


MAX_SWEEPS = 100_000


def keep_quiet(_sweeps: int, _bound: float) -> None:
    """Ignore progress."""


class SolveError(PunishFastError, ValueError):
    """Raised if an MDP cannot be solved with the given options. The message begins with the option or array."""


class SolverLimits(TypedDict, total=False):
    """Keyword arguments of `solve`, `evaluate`, `average_reward`, `reach_probability` and `total_reward`.

    All are optional.

    Attributes:
        max_sweeps: Maximum number of sweeps, by default 100,000. For MDPs without layers, this is the number of sweeps
            over a component or, with a discount, the number of backups of all states. If 50 to 1,000 sweeps (depending
            on the MDP) are not sufficient, policy iteration is tried before further sweeps.
        max_seconds: Maximum duration of the computation in seconds, unlimited by default. It is not checked during a
            search of the graph. After this time, the solver returns the best values found, or raises `SolveError` if no
            error bound is proved.
        progress: Called as ``progress("solve", sweeps, error_bound)`` from time to time, and by `average_reward` as
            ``progress("gain", sweeps, error_bound)`` for sweeps within end components. Evaluated policies count as
            sweeps, and the bound is infinite until one is proved.
        save: Called after every sweep of `solve` over layers with the current values, float64 ``[n_states]``, unless
            end components were collapsed. The next sweep might change this array in place. To resume, pass a saved copy
            as ``initial_values``.

    Examples:
        Solve in at most 10 sweeps, and keep the values of the last one:

        >>> from punish_fast.mdp import from_rows, solve
        >>> mdp = from_rows([[(1, {1: 1.0})], [(2, {2: 1.0})]], layers=[1, 1], terminals=[0])
        >>> saved = []
        >>> solve(mdp, discount=1, max_sweeps=10, save=lambda v: saved.append(v.copy())).v
        array([3., 2.])
        >>> saved[-1]
        array([3., 2.])
    """

    max_sweeps: int
    max_seconds: float
    progress: Progress | None
    save: Callable[[np.ndarray], None] | None


@dataclass(frozen=True)
class SolverOptions:
    """Tolerance, limits and callbacks of a solver.

    Attributes:
        tolerance: Error bound to reach, in the unit of the values.
        max_sweeps: See `SolverLimits`.
        max_seconds: See `SolverLimits`.
        progress: Called as ``progress(sweeps, error_bound)`` (see `SolverLimits`).
        initial_values: float64 ``[n_states]``, initial values of a solver without layers. If None, the solver chooses
            them.
        save: See `SolverLimits`.
        deadline: Value of ``time.monotonic()`` at which the computation stops.

    Raises:
        SolveError: If ``max_sweeps`` is not a whole number of at least 1, or ``max_seconds`` is not a number above 0.
    """

    tolerance: float
    max_sweeps: int = MAX_SWEEPS
    max_seconds: float = math.inf
    progress: Callable[[int, float], None] = field(default_factory=lambda: keep_quiet)
    initial_values: np.ndarray | None = None
    save: Callable[[np.ndarray], None] | None = None
    deadline: float = math.inf

    def __post_init__(self) -> None:
        """Check ``max_sweeps`` and ``max_seconds``."""
        check_whole("max_sweeps", self.max_sweeps)
        if not as_float(self.max_seconds) > 0:
            raise SolveError(f"max_seconds: {shown(self.max_seconds)} is not allowed; it must be a number above 0")

    @property
    def is_over(self) -> bool:
        """True if the deadline has passed."""
        return time.monotonic() >= self.deadline


def limits_of(tolerance: float, given: SolverLimits, stage: str = "solve") -> SolverOptions:
    """Check limits, and set their deadline. ``progress`` is called with a stage.

    Raises:
        TypeError: If an argument is unknown.
    """
    if unknown := given.keys() - SolverLimits.__annotations__.keys():
        known = ", ".join(SolverLimits.__annotations__)
        raise TypeError(f"{min(unknown)}: unknown argument; the optional limits are {known}")
    progress, seconds = given.get("progress"), given.get("max_seconds", math.inf)
    told: dict[str, Any] = {**given, "progress": keep_quiet if progress is None else partial(progress, stage)}
    return SolverOptions(tolerance_of(tolerance), **told, deadline=time.monotonic() + as_float(seconds))


def quiet(limits: SolverOptions, tolerance: float, max_sweeps: int | None = None) -> SolverOptions:
    """Return limits for a part of the computation that reports no progress."""
    return replace(limits, tolerance=tolerance, max_sweeps=max_sweeps or limits.max_sweeps, progress=keep_quiet)


def check_options(
    discount: float | None = None,
    method: str = "auto",
    tolerance: float = DEFAULT_TOLERANCE,
    sweeps: int | None = None,
    objective: str = "discounted",
) -> float | None:
    """Check options of `solve` and their combination. Return the discount as a float."""
    others = "; other objectives are functions, such as average_reward, or texts for NamedProcess.solve"
    for option, value, allowed, more in (("objective", objective, OBJECTIVES, others), ("method", method, METHODS, "")):
        check_allowed(value in allowed, SolveError, option, shown(value), f"one of {', '.join(allowed)}{more}")
    discount = None if discount is None else discount_of(discount)
    if objective == "reach-probability" and discount not in (None, 1):
        raise SolveError(f"discount: {discount} is not allowed with the objective reach-probability, which has none")
    if objective == "reach-probability" and method not in ("auto", LAYERED):
        raise SolveError(f"method: {method} is not allowed with the objective reach-probability; use auto or {LAYERED}")
    if method in GENERAL_METHODS and discount == 1:
        raise SolveError(f"method: {method} needs a discount below 1; without one, use auto or {LAYERED}")
    if method in GENERAL_METHODS and sweeps is not None:
        raise SolveError(f"sweeps: not allowed with {method}; use auto, {LAYERED} or {JACOBI}")
    tolerance_of(tolerance)
    if sweeps is not None:
        check_whole("sweeps", sweeps, most=MAX_SWEEPS)
    return discount


def tolerance_of(given: Any) -> float:
    """Convert a tolerance, a positive number of any type, to float."""
    tolerance = as_float(given)
    check_allowed(0 < tolerance < math.inf, SolveError, "tolerance", shown(given), "a number above 0")
    return tolerance


def discount_of(given: Any) -> float:
    """Convert a discount, a real number of any type, to float.

    Raises:
        SolveError: If the discount is not a number from 0 to 1, or is below 1 but rounds to 1.
    """
    discount = as_float(given)
    check_allowed(bool(0 <= discount <= 1 and given >= 0), SolveError, "discount", shown(given), "a number from 0 to 1")
    if discount == 1 and given != 1:
        raise SolveError(f"discount: {shown(given)} rounds to 1; it must be 1 or at most 1 - 2**-53")
    return discount


def check_whole(name: str, number: Any, least: int = 1, most: float = math.inf) -> None:
    """Check that an option is a whole number in a range."""
    is_valid = isinstance(number, int | np.integer) and not isinstance(number, bool) and least <= number <= most
    limit = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
    check_allowed(bool(is_valid), SolveError, name, number, f"a whole number {limit}")

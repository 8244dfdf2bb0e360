"""Options of `solve` and their valid combinations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from punish_fast.mdp.bounds.stopping_rule import SolveError
from punish_fast.mdp.methods.policy_evaluation import GENERAL_METHODS

LAYERED, JACOBI = "layered", "jacobi"
SCHEDULES = (LAYERED, JACOBI)
METHODS = ("auto", *SCHEDULES, *GENERAL_METHODS)
OBJECTIVES = ("discounted", "win-probability")
DEFAULT_DISCOUNT = 0.95
DEFAULT_TOLERANCE = 1e-10
# Called with the name of the stage, the number of sweeps or policies, and the error bound.
Progress = Callable[[str, int, float], None]


MAX_SWEEPS = 100_000


def keep_quiet(_sweeps: int, _bound: float) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class Effort:
    """Error bound to reach, and limits on the computation.

    Attributes:
        tolerance: Error bound to reach.
        max_sweeps: Maximum number of sweeps over a component, or of steps of a method with a discount.
        progress: Called with the number of sweeps so far and the error bound.
        is_patient: True to try bounds whose distance from the values grows with the number of remaining steps if a
            constant distance fails (``component_brackets.py``).
        start: float64 ``[n_states]``, initial values; zeros if None.
        save: Called after every sweep over layers with the current values, float64 ``[n_states]``. The next sweep
            changes this array in place. To resume, pass a saved copy as the argument ``start`` of `solve`.
    """

    tolerance: float
    max_sweeps: int = MAX_SWEEPS
    progress: Callable[[int, float], None] = keep_quiet
    is_patient: bool = True
    start: np.ndarray | None = None
    save: Callable[[np.ndarray], None] | None = None

    def __post_init__(self) -> None:
        """Check ``max_sweeps``."""
        if not _is_whole(self.max_sweeps):
            raise SolveError(f"max_sweeps: {self.max_sweeps} is not allowed; it must be a whole number of at least 1")

    @classmethod
    def of(cls, tolerance: float, max_sweeps: int, progress: Progress | None) -> Effort:
        """Build an effort that reports progress under the name ``"solve"``."""
        return cls(tolerance, max_sweeps, keep_quiet if progress is None else partial(progress, "solve"))


def check_options(
    discount: float | None = None,
    method: str = "auto",
    tolerance: float = DEFAULT_TOLERANCE,
    sweeps: int | None = None,
    objective: str = "discounted",
) -> None:
    """Check options of `solve` and their combination."""
    _check_choice("objective", objective, OBJECTIVES)
    _check_choice("method", method, METHODS)
    if objective == "win-probability" and discount not in (None, 1):
        raise SolveError(f"discount: {discount} is not allowed with the objective win-probability, which has none")
    if objective == "win-probability" and method not in ("auto", LAYERED):
        raise SolveError(f"method: {method} is not allowed with the objective win-probability; it must be {LAYERED}")
    if method in GENERAL_METHODS and discount == 1:
        raise SolveError(f"method: {method} needs a discount below 1; without one, it must be {LAYERED}")
    if method in GENERAL_METHODS and sweeps is not None:
        raise SolveError(f"sweeps: not allowed with {method}; the method must be {LAYERED} or {JACOBI}")
    if discount is not None and not (_is_real(discount) and 0 <= discount <= 1):
        raise SolveError(f"discount: {discount!r} is not allowed; it must be from 0 to 1")
    if not (_is_real(tolerance) and 0 < tolerance < math.inf):
        raise SolveError(f"tolerance: {tolerance!r} is not allowed; it must be above 0")
    if sweeps is not None and not (_is_whole(sweeps) and sweeps <= MAX_SWEEPS):
        raise SolveError(f"sweeps: {sweeps} is not allowed; it must be a whole number from 1 to {MAX_SWEEPS}")


def _is_real(number: object) -> bool:
    return isinstance(number, int | float | np.integer | np.floating) and not isinstance(number, bool)


def _is_whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool) and bool(number >= 1)


def _check_choice(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise SolveError(f"{option}: {value!r} is not allowed; it must be one of {', '.join(allowed)}")

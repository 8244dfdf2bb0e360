"""The options of `solve`, and what goes together."""

from __future__ import annotations

import math

import numpy as np

from punish_fast.mdp.methods import GENERAL_METHODS
from punish_fast.mdp.stopping_rule import SolveError

LAYERED, JACOBI = "layered", "jacobi"
SCHEDULES = (LAYERED, JACOBI)
METHODS = ("auto", *SCHEDULES, *GENERAL_METHODS)
OBJECTIVES = ("discounted", "win-probability")
DEFAULT_DISCOUNT = 0.95
DEFAULT_TOLERANCE = 1e-10


def check_options(
    discount: float | None = None,
    method: str = "auto",
    tolerance: float = DEFAULT_TOLERANCE,
    sweeps: int | None = None,
    objective: str = "discounted",
) -> None:
    """Check options of `solve` before any work is done.

    Raises:
        SolveError: an option is out of range, or does not go with the objective.
    """
    _check_choice("objective", objective, OBJECTIVES)
    _check_choice("method", method, METHODS)
    if objective == "win-probability" and discount not in (None, 1):
        raise SolveError(f"discount: {discount} is not allowed with the objective win-probability, which has none")
    if objective == "win-probability" and method not in ("auto", LAYERED):
        raise SolveError(f"method: {method} is not allowed with the objective win-probability, it must be {LAYERED}")
    if method in GENERAL_METHODS and discount == 1:
        raise SolveError(f"method: {method} needs a discount below 1, without one it must be {LAYERED}")
    if method in GENERAL_METHODS and sweeps is not None:
        raise SolveError(f"sweeps: not allowed with {method}, the method must be {LAYERED} or {JACOBI}")
    if discount is not None and not 0 <= discount <= 1:
        raise SolveError(f"discount: {discount} is not allowed, it must be from 0 to 1")
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise SolveError(f"tolerance: {tolerance} is not allowed, it must be above 0")
    if sweeps is not None and (not isinstance(sweeps, int | np.integer) or sweeps < 1):
        raise SolveError(f"sweeps: {sweeps} is not allowed, it must be a whole number from 1")


def _check_choice(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise SolveError(f"{option}: {value!r} is not allowed, it must be one of {', '.join(allowed)}")

"""Solutions of Markov decision processes, and options of solvers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.policy import softmax, taking
from punish_fast.mdp.bounds.stopping_rule import SolveError
from punish_fast.mdp.methods.value_iteration import Log
from punish_fast.runtime.errors import as_float, check_allowed, shown


@dataclass(frozen=True)
class Solution:
    """Values and policy of a Markov decision process, and statistics of the solver. `solve` returns it.

    Values are in the unit of the rewards, or probabilities if the objective is ``"reach-probability"``.

    Attributes:
        v: float64 ``[n_states]``, state values. ``v[s]`` is the largest ``q`` among the rows of ``s``.
        q: float64 ``[n_rows]``, values of state-action pairs.
        state_ptr: int64 ``[n_states + 1]``, row offsets of the states.
        objective: ``"discounted"`` or ``"reach-probability"``.
        discount: Discount factor from 0 to 1. It is 1 for total rewards and reach probabilities.
        method: ``"auto"``, ``"layered"``, ``"jacobi"``, ``"modified-policy-iteration"`` or ``"policy-iteration"``.
        tolerance: Requested error bound, or None if a number of sweeps was requested.
        sweeps: Number of sweeps. For both methods of policy iteration, this is the number of backups of all states. For
            MDPs solved by component, it is 1 plus the number of sweeps over large or slow components. Each policy
            evaluated counts as a sweep.
        residual: Largest absolute change of a state value in the last sweep. If the solver finished with policy
            iteration or solved the MDP by component, the residual is the error bound.
        error_bound: Upper bound on the error of ``v`` in the sup norm. The expected reward of the policy `choice` is at
            least ``v`` minus this bound, so it is below the optimum by at most twice the bound.
        choice: int64 ``[n_states]``, row that the policy takes in each state.
        log: Statistics of each sweep, with one more entry if other methods took over from sweeps.
        policies: Number of policies that exact policy iteration evaluated, or 0 if sweeps were sufficient.
        reason: Reason for the choice of the method, or a summary of its steps. Empty if the method was requested.
    """

    v: np.ndarray
    q: np.ndarray
    state_ptr: np.ndarray
    objective: str
    discount: float
    method: str
    tolerance: float | None
    sweeps: int
    residual: float
    error_bound: float
    choice: np.ndarray
    log: Log
    policies: int = 0
    reason: str = ""

    def __repr__(self) -> str:
        aim = f"discount {self.discount:g}" if self.objective == "discounted" else self.objective
        return f"Solution({len(self.v):,} states, {aim}, error bound {self.error_bound:.1e})"

    @property
    def converged(self) -> bool:
        """True if the error bound reached the tolerance or a number of sweeps was requested."""
        return self.tolerance is None or self.error_bound <= self.tolerance

    def greedy(self) -> np.ndarray:
        """Return the policy that takes the row `choice` of each state.

        Returns:
            Probability of each row in its state, 0 or 1, float64 ``[n_rows]``.

        Examples:
            >>> from punish_fast.mdp import from_rows, solve
            >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})], [(0, {1: 1.0}), (-0.5, {0: 1.0})]])
            >>> solution = solve(mdp, discount=0.9)
            >>> solution.greedy()
            array([1., 0., 1.])
        """
        return taking(len(self.q), self.choice)

    def softmax(self, temperature: float) -> np.ndarray:
        """Return the policy with row probabilities proportional to ``exp(q / temperature)``.

        Args:
            temperature: Positive number in the unit of ``q``. At lower temperatures, the policy is closer to greedy.

        Returns:
            Probability of each row in its state, float64 ``[n_rows]``.

        Raises:
            PolicyError: If the temperature is not positive and finite.

        Examples:
            >>> from punish_fast.mdp import from_rows, solve
            >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})], [(0, {1: 1.0}), (-0.5, {0: 1.0})]])
            >>> solution = solve(mdp, discount=0.9)
            >>> solution.softmax(temperature=0.5).round(2)
            array([1. , 0.3, 0.7])
        """
        return softmax(self.state_ptr, self.q, temperature)

    def policy(self, temperature: float | None) -> np.ndarray:
        """Return the `softmax` policy at a temperature, or the `greedy` policy if the temperature is None.

        Args:
            temperature: Positive number in the unit of ``q``, or None.

        Returns:
            Probability of each row in its state, float64 ``[n_rows]``.

        Raises:
            PolicyError: If the temperature is not positive and finite.

        Examples:
            >>> from punish_fast.mdp import from_rows, solve
            >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})], [(0, {1: 1.0}), (-0.5, {0: 1.0})]])
            >>> solution = solve(mdp, discount=0.9)
            >>> solution.policy(None)
            array([1., 0., 1.])
        """
        return self.greedy() if temperature is None else self.softmax(temperature)

    @property
    def lower(self) -> np.ndarray:
        """Lower bounds on the optimal values, float64 ``[n_states]``."""
        return self._within(self.v - self.error_bound, -np.inf)

    @property
    def upper(self) -> np.ndarray:
        """Upper bounds on the optimal values, float64 ``[n_states]``."""
        return self._within(self.v + self.error_bound, np.inf)

    def _within(self, values: np.ndarray, direction: float) -> np.ndarray:
        # The sum was rounded once, so one step to the next float restores the bound.
        values = np.nextafter(values, direction) if self.error_bound > 0 else values
        return np.clip(values, 0.0, 1.0) if self.objective == "reach-probability" else values

    @cached_property
    def digest(self) -> str:
        """First 16 hexadecimal digits of the SHA-256 digest of ``v``."""
        return hashlib.sha256(np.ascontiguousarray(self.v, dtype="<f8").tobytes()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class BoundedValues:
    """Optimal values of an objective, or the values of a policy, with proved bounds.

    `reach_probability` and `total_reward` return it.

    Attributes:
        v: float64 ``[n_states]``, values: probabilities, or rewards in the unit of the MDP's rewards.
        lower: float64 ``[n_states]``, lower bounds on the values.
        upper: float64 ``[n_states]``, upper bounds on the values.
        error_bound: Upper bound on the error of finite values, and on the difference between ``v`` and the values of
            the policy.
        choice: int64 ``[n_states]``, row that the policy takes in each state.
    """

    v: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    error_bound: float
    choice: np.ndarray

    def __repr__(self) -> str:
        infinite = f"{n:,} infinite, " if (n := int(np.isinf(self.v).sum())) else ""
        return f"BoundedValues({len(self.v):,} states, {infinite}error bound {self.error_bound:.1e})"


LAYERED, JACOBI = "layered", "jacobi"
SWEEP_METHODS = (LAYERED, JACOBI)
GENERAL_METHODS = "modified-policy-iteration", "policy-iteration"
METHODS = ("auto", *SWEEP_METHODS, *GENERAL_METHODS)
OBJECTIVES = ("discounted", "reach-probability")
DEFAULT_DISCOUNT = 0.95
DEFAULT_TOLERANCE = 1e-10
# Error bound, as a share of the largest value, that is accepted as the limit set by rounding.
PRECISION = 1e-9
# Called with the name of the stage, the number of sweeps or policies, and the error bound.
Progress = Callable[[str, int, float], None]


MAX_SWEEPS = 100_000


def keep_quiet(_sweeps: int, _bound: float) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class SolverLimits:
    """Error bound to reach, limits on the computation, and its callbacks. Pass it to `solve` as ``tolerance``.

    Attributes:
        tolerance: Error bound to reach, in the unit of the values.
        max_sweeps: Maximum number of sweeps over a component, or of steps if the MDP has a discount and no layers, by
            default 100,000.
        progress: Called as ``progress(sweeps, error_bound)`` after every sweep.
        is_patient: True to try bounds whose distance from the values grows with the number of remaining steps if a
            constant distance fails.
        initial_values: float64 ``[n_states]``, initial values of a solver without layers. Zeros if None.
        save: Called after every sweep over layers with the current values, float64 ``[n_states]``. The next sweep
            changes this array in place. To resume, pass a saved copy as the argument ``initial_values`` of `solve`.

    Raises:
        SolveError: If ``max_sweeps`` is not a whole number of at least 1.

    Examples:
        Solve in at most 10 sweeps, and keep the values of the last one:

        >>> from punish_fast.mdp import from_rows, solve
        >>> mdp = from_rows([[(1, {1: 1.0})], [(2, {2: 1.0})]], layers=[1, 1], terminals=[0])
        >>> saved = []
        >>> limits = SolverLimits(tolerance=1e-6, max_sweeps=10, save=lambda v: saved.append(v.copy()))
        >>> solve(mdp, discount=1, tolerance=limits).v
        array([3., 2.])
        >>> saved[-1]
        array([3., 2.])
    """

    tolerance: float
    max_sweeps: int = MAX_SWEEPS
    progress: Callable[[int, float], None] = field(default_factory=lambda: keep_quiet)
    is_patient: bool = True
    initial_values: np.ndarray | None = None
    save: Callable[[np.ndarray], None] | None = None

    def __post_init__(self) -> None:
        """Check ``max_sweeps``."""
        if not _is_whole(self.max_sweeps):
            raise SolveError(f"max_sweeps: {self.max_sweeps} is not allowed; it must be a whole number of at least 1")

    @classmethod
    def of(cls, tolerance: float, max_sweeps: int, progress: Progress | None, stage: str = "solve") -> SolverLimits:
        """Build limits that report progress under the name of a stage.

        Args:
            tolerance: Error bound to reach, in the unit of the values.
            max_sweeps: Maximum number of sweeps.
            progress: Called as ``progress(stage, sweeps, error_bound)`` after every sweep, or None.
            stage: Name of the stage.

        Returns:
            The limits.

        Raises:
            SolveError: If ``max_sweeps`` is not a whole number of at least 1.

        Examples:
            >>> limits = SolverLimits.of(1e-6, 100, print, "gain")
            >>> limits.progress(1, 0.5)
            gain 1 0.5
        """
        return cls(tolerance, max_sweeps, keep_quiet if progress is None else partial(progress, stage))


def check_options(
    discount: float | None = None,
    method: str = "auto",
    tolerance: float = DEFAULT_TOLERANCE,
    sweeps: int | None = None,
    objective: str = "discounted",
) -> tuple[float | None, float]:
    """Check options of `solve` and their combination. Return the discount and the tolerance as floats."""
    for option, value, allowed in (("objective", objective, OBJECTIVES), ("method", method, METHODS)):
        check_allowed(value in allowed, SolveError, option, shown(value), f"one of {', '.join(allowed)}")
    discount, bound = None if discount is None else discount_of(discount), as_float(tolerance)
    if objective == "reach-probability" and discount not in (None, 1):
        raise SolveError(f"discount: {discount} is not allowed with the objective reach-probability, which has none")
    if objective == "reach-probability" and method not in ("auto", LAYERED):
        raise SolveError(f"method: {method} is not allowed with the objective reach-probability; it must be {LAYERED}")
    if method in GENERAL_METHODS and discount == 1:
        raise SolveError(f"method: {method} needs a discount below 1; without one, it must be {LAYERED}")
    if method in GENERAL_METHODS and sweeps is not None:
        raise SolveError(f"sweeps: not allowed with {method}; the method must be {LAYERED} or {JACOBI}")
    check_allowed(0 < bound < math.inf, SolveError, "tolerance", shown(tolerance), "a number above 0")
    if sweeps is not None and not (_is_whole(sweeps) and sweeps <= MAX_SWEEPS):
        raise SolveError(f"sweeps: {sweeps} is not allowed; it must be a whole number from 1 to {MAX_SWEEPS}")
    return discount, bound


def discount_of(given: Any) -> float:
    """Convert a discount, a real number of any type, to float.

    Raises:
        SolveError: If the discount is not from 0 to 1, or is not 1 but rounds to 1.
    """
    discount = as_float(given)
    check_allowed(0 <= discount <= 1 and given >= 0, SolveError, "discount", shown(given), "a number from 0 to 1")
    if discount == 1 and given != 1:
        raise SolveError(f"discount: {shown(given)} rounds to 1; it must be 1 or at most 1 - 2**-53")
    return discount


def _is_whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool) and bool(number >= 1)

"""Solutions of Markov decision processes, and results of the rungs of the ladder (``ladder.py``)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.arrays.policy import softmax
from punish_fast.mdp.model.results import ANY, PROBABILITY, ModelRows, StateValues, ValueRange, bracketed_by


@dataclass
class Log:
    """Statistics of sweeps. Each list has one entry per sweep.

    Attributes:
        residual: Largest absolute change of a state value (method ``"jacobi"``: also of a terminal value).
        seconds: Duration in seconds.
        rmse: Euclidean norm of the changes of row values and terminal values (method ``"jacobi"`` only).
        choice_changes: Number of states whose greedy row changed (method ``"jacobi"`` only).
    """

    residual: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    rmse: list[float] = field(default_factory=list)
    choice_changes: list[int] = field(default_factory=list)


class Payoff(NamedTuple):
    """Rewards of rows and terminals, and limits on the total reward."""

    row: np.ndarray  # float64 [n_rows], rewards of rows
    end: np.ndarray  # float64 [n_terminals], values of terminals
    value_range: ValueRange = ANY  # smallest and largest possible total
    scale: float = 0.0  # ties are relative to the largest value or, if larger, to this scale


@dataclass(eq=False)
class Exact:
    """Optimal values and a policy, with an error bound."""

    v: np.ndarray  # float64 [n_states], values, or float64 [n_components] in the problem `Gains`
    choice: np.ndarray  # int64 [n_states], row that the policy takes in each state
    # Upper bound on the error of `v`, and on `v` minus the values of the policy. It is infinite if no bound was proved.
    error_bound: float
    rounds: int  # number of sweeps plus number of policies evaluated
    policies: int = 0  # number of policies evaluated, or 0 if sweeps were sufficient
    q: Any = None  # float64 [n_rows], values of rows, if they were computed
    reason: str = ""  # names of the rungs tried
    log: Log = field(default_factory=Log)  # statistics of each sweep, if they were recorded


# The function `climb` of the ladder (``ladder.py``), which a reduction calls to solve another problem.
Climb = Callable[[Any], Exact]


class Unsolved(NamedTuple):
    """Failure of a rung: the reason, and the values found before."""

    reason: str
    found: Any = None  # values found so far with a finite or infinite bound, or None if nothing was computed


# Limits on the values of some objectives.
_RANGES = {"reach-probability": PROBABILITY}


@dataclass(frozen=True, eq=False, repr=False)
class Solution(StateValues):
    """Result of `solve`: values and policy of a Markov decision process, and statistics of the solver.

    Values are in the unit of the rewards, or probabilities if the objective is ``"reach-probability"``. `StateValues`
    describes the policy and access by name.

    Attributes:
        v: float64 ``[n_states]``, state values. ``v[s]`` is the best ``q`` among the rows of ``s``.
        q: float64 ``[n_rows]``, values of state-action pairs.
        objective: ``"discounted"`` or ``"reach-probability"``.
        discount: Discount factor from 0 to 1. It is 1 for total rewards and reach probabilities.
        method: ``"auto"``, ``"layered"``, ``"jacobi"``, ``"modified-policy-iteration"`` or ``"policy-iteration"``.
        tolerance: Requested error bound, or None if a number of sweeps was requested.
        sweeps: Number of sweeps. For both methods of policy iteration, this is the number of backups of all states. For
            MDPs solved by component, this is 1 plus the number of sweeps over large or slow components and the number
            of policies. For small discounted MDPs, this is the number of policies. If another solver finishes, it
            counts as one sweep.
        residual: Largest absolute change in the last sweep (see `Log`). If the solver finished with an elimination or
            solved the MDP by component, the residual is the error bound.
        error_bound: Upper bound on the error of ``v`` in the sup norm. The expected reward of the policy `choice`
            differs from ``v`` by at most this bound, so it is worse than the optimum by at most twice the bound.
        choice: int64 ``[n_states]``, row that the policy takes in each state.
        rows: Rows of the MDP.
        log: Statistics of each sweep, with one more entry if another solver finished. MDPs solved by component have a
            single entry.
        policies: Number of policies evaluated by elimination, or 0 if sweeps were sufficient.
        maximize: False if values were minimized.
        reason: Names of the solvers that were tried, in order. A colon and the reason follow each solver that failed.
            Details can also follow the last one.
    """

    v: np.ndarray
    q: np.ndarray
    objective: str
    discount: float
    method: str
    tolerance: float | None
    sweeps: int
    residual: float
    error_bound: float
    choice: np.ndarray
    log: Log
    rows: ModelRows
    policies: int = 0
    reason: str = ""
    maximize: bool = True

    def _parts(self) -> list[str]:
        return [*super()._parts(), f"discount {self.discount:g}" if self.objective == "discounted" else self.objective]

    def softmax(self, temperature: float) -> np.ndarray:
        """Return the policy with row probabilities proportional to ``exp(q / temperature)``.

        If values were minimized, the probabilities are proportional to ``exp(-q / temperature)``.

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
        return softmax(self.state_ptr, self.q if self.maximize else -self.q, temperature)

    @property
    def lower(self) -> np.ndarray:
        """Lower bounds on the optimal values, float64 ``[n_states]``."""
        return bracketed_by(self.v, self.error_bound, _RANGES.get(self.objective, ANY))[0]

    @property
    def upper(self) -> np.ndarray:
        """Upper bounds on the optimal values, float64 ``[n_states]``."""
        return bracketed_by(self.v, self.error_bound, _RANGES.get(self.objective, ANY))[1]

    @cached_property
    def digest(self) -> str:
        """First 16 hexadecimal digits of the SHA-256 digest of ``v``."""
        return hashlib.sha256(np.ascontiguousarray(self.v, dtype="<f8").tobytes()).hexdigest()[:16]


@dataclass(frozen=True, eq=False, repr=False)
class BoundedValues(StateValues):
    """Optimal values, or values of a policy, with proved bounds. Result of `reach_probability` and other functions.

    `StateValues` describes the policy and access by name.

    Attributes:
        v: float64 ``[n_states]``, values: probabilities, or rewards in the unit of the MDP's rewards.
        lower: float64 ``[n_states]``, lower bounds on the values.
        upper: float64 ``[n_states]``, upper bounds on the values.
        error_bound: Upper bound on the error of finite values, and on their difference from the values of the policy.
        choice: int64 ``[n_states]``, row that the policy takes in each state.
        rows: Rows of the MDP.
        tolerance: Requested error bound, or None if the function has no tolerance.
    """

    v: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    error_bound: float
    choice: np.ndarray
    rows: ModelRows
    tolerance: float | None = None


def bounded(
    v: np.ndarray, error: Any, choice: np.ndarray, rows: ModelRows, value_range: ValueRange = ANY, tolerance: Any = None
) -> BoundedValues:
    """Return values with bounds at the distance ``error`` (see `bracketed_by`), clipped to ``value_range``."""
    bounds = bracketed_by(v, error, value_range)
    return BoundedValues(v, *bounds, float(np.max(error, initial=0)), choice, rows, tolerance)

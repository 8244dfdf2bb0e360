"""Solutions of Markov decision processes."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from punish_fast.mdp.methods.value_iteration import Log
from punish_fast.mdp.policy import first_best, greedy, softmax


@dataclass(frozen=True)
class Solution:
    """Values and policy of a Markov decision process, and statistics of the solver.

    Attributes:
        v: float64 ``[n_states]``, state values; ``v[s]`` is the largest ``q`` among the rows of ``s``.
        q: float64 ``[n_rows]``, values of state-action pairs.
        state_ptr: int64 ``[n_states + 1]``, row offsets of the states.
        objective: ``"discounted"``, or ``"win-probability"``, for which values are probabilities.
        discount: From 0 to 1; 1 for total rewards and win probabilities.
        method: ``"layered"``, ``"jacobi"``, ``"auto"`` or a method of ``policy_evaluation.py``.
        tolerance: Requested error bound; None if a number of sweeps was requested.
        sweeps: Number of sweeps. For the methods of ``policy_evaluation.py``, this is the number of backups of all
            states; for MDPs solved by component, 1 plus the number of sweeps over large or slow components. Each policy
            evaluated counts as a sweep.
        residual: Largest absolute change of a state value in the last sweep. If the solver finished with policy
            iteration or solved the MDP by component, the residual is the error bound.
        error_bound: Upper bound on the error of ``v`` in the sup norm. The policy `choice` earns at least ``v`` minus
            this bound, so it loses at most twice the bound.
        log: Statistics of each sweep, with one more entry if other methods took over from sweeps.
        policies: Number of policies that exact policy iteration evaluated; 0 if sweeps were sufficient.
        reason: Reason for the choice of the method, or a summary of its steps; empty if the method was requested.
        rows_taken: int64 ``[n_states]``, the rows of `choice`; if None, the first best rows of ``q``.
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
    log: Log
    policies: int = 0
    reason: str = ""
    rows_taken: np.ndarray | None = None

    def __repr__(self) -> str:
        aim = f"discount {self.discount:g}" if self.objective == "discounted" else self.objective
        return f"Solution({len(self.v):,} states, {aim}, error bound {self.error_bound:.1e})"

    @property
    def schedule(self) -> str:
        """Alias of ``method``; files and commands use this name."""
        return self.method

    @property
    def converged(self) -> bool:
        """True if the error bound reached the tolerance or a number of sweeps was requested."""
        return self.tolerance is None or self.error_bound <= self.tolerance

    @cached_property
    def choice(self) -> np.ndarray:
        """Row that the policy takes in each state, int64 ``[n_states]``."""
        return first_best(self.state_ptr, self.q) if self.rows_taken is None else self.rows_taken

    def greedy(self) -> np.ndarray:
        """Return the policy that takes the first best row of each state, float64 ``[n_rows]``."""
        return greedy(self.state_ptr, self.q)

    def softmax(self, temperature: float) -> np.ndarray:
        """Return the policy with row probabilities proportional to ``exp(q / temperature)``, float64 ``[n_rows]``.

        Raises:
            PolicyError: If the temperature is not positive and finite.
        """
        return softmax(self.state_ptr, self.q, temperature)

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
        return np.clip(values, 0.0, 1.0) if self.objective == "win-probability" else values

    @cached_property
    def fingerprint(self) -> str:
        """First 16 hexadecimal digits of the SHA-256 digest of ``v``."""
        return hashlib.sha256(np.ascontiguousarray(self.v, dtype="<f8").tobytes()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class ObjectiveValues:
    """Optimal values of an objective, or the values of a policy, with proved bounds."""

    v: np.ndarray  # float64 [n_states], values
    lower: np.ndarray  # float64 [n_states], lower bounds
    upper: np.ndarray  # float64 [n_states], upper bounds
    error_bound: float  # upper bound on the error of finite values, and on the policy's shortfall from ``v``
    choice: np.ndarray  # int64 [n_states], row that the policy takes in each state

    def __repr__(self) -> str:
        infinite = f"{n:,} infinite, " if (n := int(np.isinf(self.v).sum())) else ""
        return f"ObjectiveValues({len(self.v):,} states, {infinite}error bound {self.error_bound:.1e})"

"""Solutions of Markov decision processes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from punish_fast.mdp.methods.value_iteration import Log
from punish_fast.mdp.policy import first_best, greedy, softmax


@dataclass(frozen=True)
class Solution:
    """Values of a Markov decision process and how they were found.

    Attributes:
        v: float64 ``[n_states]``, values; ``v[s]`` is the largest ``q`` of the rows of ``s``.
        q: float64 ``[n_rows]``, values of state-action pairs.
        state_ptr: int64 ``[n_states + 1]``, where the rows of each state begin.
        objective: ``"discounted"``, or ``"win-probability"``, whose values are probabilities.
        discount: From 0 to 1; 1 for total rewards and for win probabilities.
        method: ``"layered"``, ``"jacobi"``, ``"auto"`` or another one of ``policy_evaluation.py``.
        tolerance: The error bound asked for, or None if a number of sweeps was.
        sweeps: Number of sweeps; for the methods of ``policy_evaluation.py``, of backups of all states; by component, 1
            plus the sweeps of large or slow components. Policies count as sweeps, too.
        residual: Largest change of a state's value in the last sweep.
        error_bound: Upper bound on the error of ``v`` in the sup norm. The policy `choice` earns at least ``v`` less
            this bound, so it loses at most twice the bound.
        log: One entry for each sweep, and one for policy iteration.
        policies: Number of policies that policy iteration evaluated without a discount; 0 if sweeps were enough.
        reason: Why this method was chosen, or what it did; empty if it was asked for.
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
        """The update order of sweeps, as files and commands name it."""
        return self.method

    @property
    def converged(self) -> bool:
        """Whether the error bound reached the tolerance; true if a number of sweeps was asked for."""
        return self.tolerance is None or self.error_bound <= self.tolerance

    @cached_property
    def choice(self) -> np.ndarray:
        """int64 ``[n_states]``, the row that the policy takes in each state, the first one of ties (``policy.py``)."""
        return first_best(self.state_ptr, self.q) if self.rows_taken is None else self.rows_taken

    def greedy(self) -> np.ndarray:
        """Return the policy of the best rows, the first one of ties: float64 ``[n_rows]``, 1 for rows taken."""
        return greedy(self.state_ptr, self.q)

    def softmax(self, temperature: float) -> np.ndarray:
        """Return the policy with row probabilities proportional to ``exp(q / temperature)``, float64 ``[n_rows]``.

        Raises:
            PolicyError: If the temperature is not above 0.
        """
        return softmax(self.state_ptr, self.q, temperature)

    @property
    def lower(self) -> np.ndarray:
        """float64 ``[n_states]``, lower bounds of the optimal values."""
        return self._within(self.v - self.error_bound, -np.inf)

    @property
    def upper(self) -> np.ndarray:
        """float64 ``[n_states]``, upper bounds of the optimal values."""
        return self._within(self.v + self.error_bound, np.inf)

    def _within(self, values: np.ndarray, direction: float) -> np.ndarray:
        # A sum is rounded once.
        values = np.nextafter(values, direction) if self.error_bound > 0 else values
        return np.clip(values, 0.0, 1.0) if self.objective == "win-probability" else values

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the values: equal for equal bits."""
        return hashlib.sha256(np.ascontiguousarray(self.v, dtype="<f8").tobytes()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class ObjectiveValues:
    """Optimal values of an objective, or the values of a policy, between proved bounds.

    Attributes:
        v: float64 ``[n_states]``, values.
        lower: float64 ``[n_states]``, lower bounds.
        upper: float64 ``[n_states]``, upper bounds.
        error_bound: Upper bound on the error of finite values, and on how much worse than these the policy is.
        choice: int64 ``[n_states]``, the row that the policy takes in each state.
    """

    v: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    error_bound: float
    choice: np.ndarray

    def __repr__(self) -> str:
        infinite = f"{n:,} infinite, " if (n := int(np.isinf(self.v).sum())) else ""
        return f"ObjectiveValues({len(self.v):,} states, {infinite}error bound {self.error_bound:.1e})"

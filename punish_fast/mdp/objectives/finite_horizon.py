"""Optimal values for a given number of steps, by backward induction.

With ``k`` steps to go,

    v_k(s)  =  max_a r(s, a) + g sum_t P(t | s, a) v_(k - 1)(t),        v_0 given

so the best action depends on the number of remaining steps [Puterman 1994, ch. 4]. Terminals pay their reward at every
step, or end the episode with a value.

**Error bound.** The rounding error of a backup is at most ``e`` (``stored_process.py``). ``e`` is computed from the
largest value and reward. If the result is too large, ``e`` is computed from the terms of each row, so that large
penalties do not matter. The policy takes the first row whose value is below the best one by at most ``4 e`` and at most
the tolerance of ``policy.py``. The error bound of a step is ``g`` times the bound of the next step, plus ``e``, plus
the largest difference between the best row and the row taken, so it also holds for the values of the policy.

**Memory.** Storing all steps takes 16 bytes per state and step: 1.6 GB for a million states and 100 steps. If only the
first step is stored, the memory does not depend on the number of steps.
"""

from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.construction import finite_numbers
from punish_fast.mdp.arrays.policy import first_best
from punish_fast.mdp.bounds.stopping_rule import terminals_one_step_earlier
from punish_fast.mdp.chain.induced_chain import reward_rounding
from punish_fast.mdp.model.limits import SolveError, check_whole, discount_of
from punish_fast.mdp.model.mdp import MDP, check_arrays, negated, normalized
from punish_fast.mdp.model.process import FURTHER_TERMS, SMALLEST, UNIT_ROUNDOFF, Payment, RowChoices
from punish_fast.mdp.model.results import ModelRows, ResultTable, rows_of
from punish_fast.mdp.model.solution import BoundedValues, bounded
from punish_fast.mdp.model.stored_process import rounding_of_backup

# Upper bound on the difference between tied rows, in multiples of the bound on the rounding error.
_TIE = 4.0
# Bounds on rounding errors are tightened only if they exceed this fraction of the largest value.
_SMALL = 1e-13


@dataclass(frozen=True, eq=False)
class FiniteHorizon(ResultTable):
    """Result of `finite_horizon`: values and choices of each step.

    If only the first step was stored, the first dimension of both arrays is 1. The method `at` returns the result of
    one step, with names of states and actions.

    Attributes:
        v: float64 ``[n_steps + 1, n_states]``, values before each step and after the last one.
        choice: int64 ``[n_steps, n_states]``, row that the policy takes in each step and state.
        discount: Discount factor from 0 to 1.
        error_bound: Upper bound on the error of ``v``, and on its difference from the values of the policy.
        rows: Rows of the MDP.
    """

    v: np.ndarray
    choice: np.ndarray
    discount: float
    error_bound: float
    rows: ModelRows

    def __repr__(self) -> str:
        n, n_states = self.choice.shape
        return f"FiniteHorizon({n_states:,} states, {n:,} steps, error bound {self.error_bound:.1e})"

    def _selected(self, lines: Any) -> dict[str, list[Any]]:
        """Return the columns of some lines, which are sorted by steps and, within a step, by states."""
        n, parts = self.choice.shape[1], []
        for step, group in groupby(lines, lambda line: line // n):
            found = self.at(step)._selected([line % n for line in group])
            parts.append({"step": [step] * len(found["state"])} | found)
        names = "step", "state", "value", "lower", "upper", "action"
        return {name: [x for part in parts for x in part[name]] for name in names}

    def at(self, step: int = 0) -> BoundedValues:
        """Return the values and the policy of one step.

        Args:
            step: Index of the step, by default the first. Negative indices count from the last step.

        Returns:
            The values before the step, with their bounds, and the policy of the step.

        Raises:
            IndexError: If the step was not stored.

        Examples:
            >>> from punish_fast.mdp import from_rows
            >>> finite_horizon(from_rows([[(1.0, {0: 1.0}), (2.0, {0: 1.0})]]), n_steps=3).at(1).action(0)
            1
        """
        n = len(self.choice)
        if not -n <= step < n:
            raise IndexError(f"step: {step} is not allowed; it must be from {-n} to {n - 1}")
        return bounded(self.v[step % n], self.error_bound, self.choice[step], self.rows)


def finite_horizon(
    mdp: MDP,
    n_steps: int,
    discount: float = 1.0,
    terminal_value: np.ndarray | None = None,
    keep_all: bool = True,
    policy: Any = None,
    maximize: bool = True,
) -> FiniteHorizon:
    """Find the maximum or minimum expected total reward in ``n_steps`` steps, or the reward of a policy.

    Args:
        mdp: The MDP. Use `validate` to check an MDP of unknown origin.
        n_steps: Number of steps, at least 1.
        discount: Discount factor from 0 to 1.
        terminal_value: float64 ``[n_states]``, or ``[n_columns]`` to include terminals: values after the last step, 0
            by default. Terminals that end the episode with a value (see `MDP`) keep it, so their entries must be 0 or
            this value.
        keep_all: If False, return only the values and choices of the first step.
        policy: Policy to evaluate in every step, in a form that `MDP.under` accepts. If given, ``choice[k, s]`` is
            ``s``, the only row of state ``s`` in the chain of the policy.
        maximize: If False, find the minimum, for example of costs.

    Returns:
        Values and choices of each step.

    Raises:
        SolveError: If an option is out of range, a value becomes infinite, or ``policy`` is invalid or mixes actions
            into a transition probability below 2.23e-308.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        A machine pays 1 per step while it runs, and breaks down with probability 0.5 after each step. A repair takes
        one step and costs 0.5:

        >>> from punish_fast.mdp import from_rows
        >>> found = finite_horizon(from_rows([[(1, {0: 0.5, 1: 0.5})], [(0, {1: 1.0}), (-0.5, {0: 1.0})]]), 2)
        >>> found.v
        array([[1.5, 0.5],
               [1. , 0. ],
               [0. , 0. ]])
        >>> found.choice
        array([[0, 2],
               [0, 1]])
    """
    check_arrays(mdp, maximize)
    check_whole("n_steps", n_steps)
    discount = discount_of(discount)
    if terminal_value is not None:
        terminal_value = finite_numbers("terminal_value", terminal_value, (mdp.n_states, mdp.n_columns), SolveError)
    if policy is not None:
        found = finite_horizon(mdp.under(policy), n_steps, discount, terminal_value, keep_all)
        steps = min(n_steps, 1 / (1 - discount)) if discount < 1 else n_steps
        more = steps * float(reward_rounding(mdp, policy).max(initial=0))
        return replace(found, error_bound=found.error_bound + more, rows=rows_of(mdp, policy))
    if not maximize:
        last = None if terminal_value is None else -terminal_value
        found = finite_horizon(negated(mdp), n_steps, discount, last, keep_all)
        return replace(found, v=0.0 - found.v)
    mdp = normalized(mdp.expanded())
    v, n = _last_values(mdp, terminal_value), mdp.n_states
    n_kept = n_steps if keep_all else 1
    values, choices = np.empty((n_kept + keep_all, n)), np.empty((n_kept, n), dtype=np.int64)
    if keep_all:
        values[-1] = v[:n]
    payment, rows = Payment(mdp.reward, discount), RowChoices(np.zeros(mdp.n_rows), np.zeros(n, dtype=np.int64))
    bound = largest_bound = 0.0
    with np.errstate(all="ignore"):
        for step in reversed(range(n_steps)):
            before, v = v, v.copy()
            for layer in range(mdp.n_layers):
                mdp.backups.close(layer, payment, rows, before, v)
            v[n:] = terminals_one_step_earlier(mdp, discount, before[n:])
            rounding = _rounding(mdp, discount, before, v)
            choice = first_best(mdp.state_ptr, rows.q, v[:n], _TIE * rounding)
            tie = float((v[:n] - rows.q[choice]).max(initial=0))
            bound = discount * bound + tie + rounding
            largest_bound = max(largest_bound, bound)
            if keep_all or step == 0:
                values[step], choices[step] = v[:n], choice
    if not (np.isfinite(v).all() and np.isfinite(bound)):
        raise SolveError(f"n_steps: after {n_steps} steps, values are too large for floating point")
    return FiniteHorizon(values, choices, discount, largest_bound, rows_of(mdp))


def _last_values(mdp: MDP, terminal_value: np.ndarray | None) -> np.ndarray:
    """Return the values of all columns after the last step."""
    v = np.zeros(mdp.n_columns)
    if terminal_value is not None:
        v[: len(terminal_value)] = terminal_value
    ends, last = mdp.terminal_value, v[mdp.n_states :]
    if ends is not None:
        if len(clash := np.flatnonzero((ends != 0) & (last != 0) & (last != ends))):
            told = f"terminal {clash[0]} ends the episode with the value {ends[clash[0]]:g}; its entry must be 0"
            raise SolveError(f"terminal_value: {told}")
        last[ends != 0] = ends[ends != 0]
    return v


def _rounding(mdp: MDP, discount: float, before: np.ndarray, v: np.ndarray) -> float:
    """Return a bound on the rounding error of the backup that computed ``v`` from ``before``."""
    terms = sum(float(np.abs(values).max(initial=0)) for values in (before, mdp.reward, mdp.terminal_reward))
    bound = (mdp.longest_row + FURTHER_TERMS) * (UNIT_ROUNDOFF * terms + SMALLEST * (terms > 0))
    if bound <= _SMALL * float(np.abs(v[: mdp.n_states]).max(initial=0)):
        return bound
    return min(bound, rounding_of_backup(mdp, before, discount))

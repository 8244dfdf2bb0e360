"""Total rewards without a discount: component by component, each between bounds that are proved before the next one.

Strongly connected components are solved in topological order (``topological_order.py``), so nothing is looked at again
once play cannot come back to it. A component goes through two stages:

* *Values* are found by sweeps that use new values at once, in both directions in turn; in a large component their pairs
  are extrapolated (``anderson.py``). They prove nothing.
* *Bounds*, at a small distance from them on both sides, are swept the same way. Let ``T`` back up the best rows, ``e``
  bound its rounding error, and ``u`` and ``l`` be bounds of which each sweep keeps the better one, old or new. Since
  ``T`` is monotone and ``u`` only falls, ``(T u)(s) + e <= u(s)`` holds for good once it held when ``s`` was backed up;
  likewise ``l(s) <= (T_a l)(s) - e``, with the row ``a`` that raised ``l(s)`` last. Once all states of a component got
  there, ``T u <= u`` and ``T_a l >= l``, so ``l <= v_a <= v* <= u``, where ``v_a`` is what the policy of these rows
  earns [optimistic value iteration: Hartmanns and Kaminski 2020, CAV].

If play is long, bounds at one distance need many sweeps, since they fall only where play may end. After 1,000 sweeps,
the caller tries policy iteration (``exact_iteration.py``). If the process is too large for that, further sweeps use a
distance that decreases with each step (`Effort.is_patient`): ``k + c h``, where ``k`` is the largest distance in
earlier components, and ``h`` is about the largest expected number of remaining steps, so that ``h >= P_a h + 1/2`` for
every row ``a``. A backup brings such bounds nearer by ``c / 2``, less the change of the values. No ``h`` satisfies this
if play might not end, although it costs; then nothing is proved.

All this needs that sweeps from any start converge to ``v*``: play ends under every policy, or some policy ends it and
every other one pays without end [Bertsekas and Tsitsiklis 1991, Math. Oper. Res. 16].
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from punish_fast.mdp._bellman import Tensor
from punish_fast.mdp.bounds import _component_brackets
from punish_fast.mdp.bounds._component_brackets import Bounds, ValueRange
from punish_fast.mdp.bounds.rounding import UNIT_ROUNDOFF
from punish_fast.mdp.methods.anderson import Anderson
from punish_fast.mdp.methods.exact_iteration import Exact, Payoff
from punish_fast.mdp.methods.topological_order import Order
from punish_fast.mdp.model import MDP
from punish_fast.mdp.process import Payment, RowChoices, tensor_of
from punish_fast.mdp.solve_options import Effort
from punish_fast.runtime.parallel import balanced_chunks

# States from which a component is worth extrapolating.
_LARGE = 1024
# By how much values may still change in a sweep, as a share of the distance of their bounds.
_SHARE = 0.001
# Change in a sweep that is left of numbers of steps: less than half of the 1 by which these fall in a step.
_SHARE_OF_STEP = 0.25
# Share of the remaining tolerance that a slow component uses.
_SHARE_OF_REST = 0.25
# Change in two sweeps that is left of values, as a share of what bounds come nearer in two steps: less than half of it.
_SHARE_OF_FALL = 0.125
_MOST_SWEEPS_OF_BOUNDS, _SWEEPS_OF_BOUNDS = 1024, 64


def bracketed(mdp: MDP, reward: Payoff, effort: Effort) -> Exact:
    """Find the largest total reward, and a policy that earns it up to the error bound.

    Args:
        mdp: The process, not compact, whose own rewards are ignored. Play must end under every policy, or every policy
            that does not end it must pay without end.

    Returns:
        Values and policy; if sweeps did not prove the bound, it is infinite, and the policy is greedy.
    """
    order = Order(mdp)
    ordered = replace(order.mdp, reward=reward.row[order.rows])
    start = None if effort.start is None else effort.start[order.states]
    sweeps = _Sweeps(ordered, reward, replace(effort, start=start))
    for run in order.runs(_LARGE):
        if len(run) == 2:
            sweeps.prove_one(run)
        else:
            sweeps.prove_each(run)
    v, rows, error_bound = sweeps.result()
    # A state whose value is not a number has no best row.
    rows = np.clip(rows, ordered.state_ptr[:-1], ordered.state_ptr[1:] - 1)
    n, values, choice = mdp.n_states, np.empty(mdp.n_states), np.empty(mdp.n_states, dtype=np.int64)
    values[order.states], choice[order.states] = v[:n], order.rows[rows]
    return Exact(values, choice, error_bound if error_bound <= effort.tolerance else np.inf, sweeps.n_sweeps)


class _Sweeps:
    """Values and bounds of a process whose components come one after the other.

    Attributes:
        bounds: The bounds proved so far.
        is_proved: True until a component fails; then the values of later ones are swept, but not bracketed.
        n_sweeps: Sweeps of the values of components that were swept alone, and 1 for all others.
    """

    def __init__(self, mdp: MDP, reward: Payoff, effort: Effort) -> None:
        self._mdp, self._effort, self._limits = mdp, effort, reward.limits
        self._tolerance = effort.tolerance
        self._tensor = tensor_of(mdp)
        n = mdp.n_states
        self._v = np.concatenate([np.zeros(n) if effort.start is None else effort.start, reward.end])
        self._distance = np.full(n, effort.tolerance / 2)
        self.bounds = Bounds(self._v.copy(), self._v.copy(), np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=bool))
        self.is_proved = True
        self.n_sweeps = 1

    def result(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Values ``[n_columns]``, rows of a policy, and the error bound of both; infinite if it is not proved."""
        n, v = self._mdp.n_states, self._v
        if self.is_proved:
            v = np.clip(v, self.bounds.lower, self.bounds.upper)
        if not self.is_proved:
            choices = RowChoices(np.zeros(self._mdp.n_rows), np.zeros(n, dtype=np.int64))
            for layer in range(self._mdp.n_layers):
                self._mdp.backups.close(layer, Payment(self._mdp.reward, 1.0), choices, v, v.copy())
            return v, choices.row, np.inf
        distance = np.maximum(v - self.bounds.lower, self.bounds.upper - v).max(initial=0)
        return v, self.bounds.choice, float(np.nextafter(distance, np.inf))

    def prove_each(self, boundary: np.ndarray) -> None:
        """Bracket components one after the other."""
        # In pieces, so that an interrupt does not wait for all of them.
        for begin, end in pairwise(balanced_chunks(boundary, 64).tolist()):
            self._relax(self._tensor, self._v, boundary[begin : end + 1], self._change, self._effort.max_sweeps)
            place = self._narrow(boundary, begin, end)
            while place < end:
                self.prove_one(boundary[place : place + 2])
                place = self._narrow(boundary, place + 1, end)

    def prove_one(self, boundary: np.ndarray) -> None:
        """Bracket a component that is large or takes long."""
        converges = self._extrapolate(self._tensor, self._v, self._limits, boundary, self._change)
        if not converges or self._narrow(boundary, 0, 1) == 0:
            self.is_proved = self.is_proved and self._effort.is_patient and self._prove_slowly(boundary)

    @property
    def _change(self) -> float:
        return _SHARE * self._tolerance / 2

    def _prove_slowly(self, boundary: np.ndarray) -> bool:
        """Bracket a component by bounds whose distance from the values falls with the steps that are left."""
        inside = slice(*boundary.tolist())
        steps, one = np.zeros(len(self._v)), self._tensor._replace(reward=np.ones(len(self._tensor.reward)))
        self._extrapolate(one, steps, ValueRange(0.0, np.inf), boundary, _SHARE_OF_STEP)
        lower, upper = self.bounds.lower, self.bounds.upper
        earlier, v = slice(inside.start), self._v
        known = float(np.maximum(upper[earlier] - v[earlier], v[earlier] - lower[earlier]).max(initial=0))
        longest = float(steps[inside].max())
        if not 0 < longest < np.inf:
            return False
        a_step = _SHARE_OF_REST * (self._tolerance - known) / longest
        self._extrapolate(self._tensor, v, self._limits, boundary, _SHARE_OF_FALL * a_step)
        self._distance[inside] = known + a_step * steps[inside]
        return self._narrow(boundary, 0, 1) == 1

    def _extrapolate(
        self, tensor: Tensor, v: np.ndarray, limits: ValueRange, boundary: np.ndarray, change: float
    ) -> bool:
        """Sweep a component there and back, and extrapolate, until its values change by no more than ``change``.

        Return False if the maximum number of sweeps was not enough.
        """
        acceleration, values = Anderson(), v[slice(*boundary.tolist())]
        for _ in range(0, self._effort.max_sweeps, 2):
            before = values.copy()
            self._relax(tensor, v, boundary, 0.0, 2)
            np.clip(values, *limits, out=values)
            self.n_sweeps += 2
            self._effort.progress(self.n_sweeps, np.inf)
            if np.abs(values - before).max() <= max(change, 4 * UNIT_ROUNDOFF * np.abs(values).max()):
                return True
            values[:] = np.clip(acceleration.next(before, values.copy()), *limits)
        return False

    def _relax(self, tensor: Tensor, v: np.ndarray, boundary: np.ndarray, change: float, most: int) -> None:
        args = boundary.view(np.uint64), tensor, v, change, most
        _component_brackets.relax_components(0, len(boundary) - 1, *args)

    def _narrow(self, boundary: np.ndarray, first: int, last: int) -> int:
        """Bracket components; return the number of the first one that is not proved, or ``last``."""
        if not self.is_proved:
            return last
        begin, end = int(boundary[first]), int(boundary[last])
        _component_brackets.begin(begin, end, self._distance, self._limits, self._v, self.bounds)
        n_open, lower, upper = -1, self.bounds.choice[begin:end], self.bounds.is_above[begin:end]
        # Bounds that stop falling in a part of a component never will.
        for _ in range(0, _MOST_SWEEPS_OF_BOUNDS, _SWEEPS_OF_BOUNDS):
            args = boundary.view(np.uint64), self._tensor, self._limits, self.bounds, _SWEEPS_OF_BOUNDS
            first = int(_component_brackets.narrow(first, last, *args))
            before, n_open = n_open, int(np.count_nonzero(lower < 0) + np.count_nonzero(~upper))
            if first == last or n_open == before:
                break
        return first

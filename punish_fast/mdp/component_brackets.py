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

Where play is long, bounds at one distance take many sweeps to get there, since they fall only where play may end. If
they do not in a thousand, their distance is made to fall with each step by itself: it becomes ``k + c h``, where ``k``
is the largest distance in earlier components, and ``h`` about the largest expected number of steps that are left, so
that ``h >= P_a h + 1/2`` for every row ``a``. A backup brings such bounds nearer by ``c / 2``, less what the values
themselves still change. There is no such ``h`` where play may go on for ever and pay for it; nothing is proved then.

All this needs that sweeps from any start converge to ``v*``: play ends under every policy, or some policy ends it and
every other one pays without end [Bertsekas and Tsitsiklis 1991, Math. Oper. Res. 16].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from punish_fast.mdp import _component_brackets, _gauss_seidel
from punish_fast.mdp._bellman import Tensor
from punish_fast.mdp._component_brackets import Bounds, ValueRange
from punish_fast.mdp._improvement import Candidates
from punish_fast.mdp.anderson import Anderson
from punish_fast.mdp.exact_iteration import Exact
from punish_fast.mdp.model import MDP
from punish_fast.mdp.policy import preferring
from punish_fast.mdp.process import Payment, RowChoices
from punish_fast.mdp.topological_order import Order
from punish_fast.runtime.parallel import balanced_chunks

# States from which a component is worth extrapolating.
_LARGE = 1024
# By how much values may still change in a sweep, as a share of the distance of their bounds.
_SHARE = 0.001
# Change in a sweep that is left of numbers of steps: less than half of the 1 by which these fall in a step.
_SHARE_OF_STEP = 0.25
# What a slow component takes of the tolerance that earlier ones left over.
_SHARE_OF_REST = 0.25
# Change in two sweeps that is left of values, as a share of what bounds come nearer in two steps: less than half of it.
_SHARE_OF_FALL = 0.125
_MOST_SWEEPS = 20_000
_MOST_SWEEPS_OF_BOUNDS = 1024
_UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2

ANY = ValueRange(-np.inf, np.inf)
PROBABILITY = ValueRange(0.0, 1.0)


@dataclass(frozen=True)
class Payoff:
    """What is collected, and what its total cannot exceed.

    Attributes:
        row: float64 ``[n_rows]``, rewards on the way.
        end: float64 ``[n_terminals]``, rewards at the end.
        limits: The least and the largest total there can be.
    """

    row: np.ndarray
    end: np.ndarray
    limits: ValueRange = ANY


def bracketed(
    mdp: MDP, reward: Payoff, tolerance: float, progress: Callable[[int], None] = lambda _sweeps: None
) -> Exact | None:
    """Find the largest total reward, and a policy that earns it up to the error bound.

    Args:
        mdp: The process, not compact, whose own rewards are ignored. Play must end under every policy, or every policy
            that does not end it must pay without end.
        reward: What is collected.
        tolerance: The error bound to reach.
        progress: Called with the number of sweeps so far.

    Returns:
        Values and policy; None if sweeps could not prove the bound.
    """
    order = Order(mdp)
    sweeps = _Sweeps(replace(order.mdp, reward=reward.row[order.rows]), reward, tolerance, progress)
    for run in order.runs(_LARGE):
        if not (sweeps.prove_one(run) if len(run) == 2 else sweeps.prove_each(run)):
            return None
    v, error_bound = sweeps.result()
    if not error_bound <= tolerance:
        return None
    n, values, choice = mdp.n_states, np.empty(mdp.n_states), np.empty(mdp.n_states, dtype=np.int64)
    values[order.states], choice[order.states] = v[:n], order.rows[sweeps.bounds.choice]
    return Exact(values, choice, error_bound, sweeps.n_sweeps)


def values_of_rows(mdp: MDP, reward: Payoff, found: Exact) -> np.ndarray:
    """The values of rows, float64 ``[n_rows]``, among which the policy found has no ties."""
    v = np.concatenate([found.v, reward.end])
    choices = RowChoices(np.zeros(mdp.n_rows), found.choice.copy())
    for layer in range(mdp.n_layers):
        mdp.backups.close(layer, Payment(reward.row, 1.0), choices, v, v.copy())
    return preferring(mdp.state_ptr, np.clip(choices.q, *reward.limits), found.choice)


class _Sweeps:
    """Values and bounds of a process whose components come one after the other.

    Attributes:
        bounds: What is proved so far.
        n_sweeps: Sweeps of the values of components that were swept alone, and 1 for all others.
    """

    def __init__(self, mdp: MDP, reward: Payoff, tolerance: float, progress: Callable[[int], None]) -> None:
        self._tolerance, self._limits, self._progress = tolerance, reward.limits, progress
        pointers = mdp.state_ptr.view(np.uint64), mdp.indptr.view(np.uint64)
        self._tensor = Tensor(*pointers, mdp.indices.view(np.uint32), mdp.data, mdp.reward)
        n_rows = np.diff(mdp.state_ptr).astype(np.uint32)
        self._candidates = Candidates(np.arange(mdp.n_rows, dtype=np.uint32), n_rows)
        n = mdp.n_states
        self._v = np.concatenate([np.zeros(n), reward.end])
        self._distance = np.full(n, tolerance / 2)
        nothing = np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=bool)
        self.bounds = Bounds(self._v.copy(), self._v.copy(), *nothing)
        self.n_sweeps = 1

    def result(self) -> tuple[np.ndarray, float]:
        """The middle of the bounds, ``[n_columns]``, and half their distance, rounded up."""
        lower, upper = self.bounds.lower, self.bounds.upper
        middle = lower + (upper - lower) / 2
        distance = np.maximum(middle - lower, upper - middle).max(initial=0)
        return middle, float(np.nextafter(distance, np.inf))

    def prove_each(self, boundary: np.ndarray) -> bool:
        """Bracket components one after the other; return whether that succeeded."""
        # In pieces, so that an interrupt does not wait for all of them.
        for begin, end in pairwise(balanced_chunks(boundary, 64).tolist()):
            self._relax(self._tensor, self._v, boundary[begin : end + 1], self._change, _MOST_SWEEPS)
            place = self._narrow(boundary, begin, end)
            while place < end:
                if not self.prove_one(boundary[place : place + 2]):
                    return False
                place = self._narrow(boundary, place + 1, end)
        return True

    def prove_one(self, boundary: np.ndarray) -> bool:
        """Bracket a component that is large or takes long; return whether that succeeded."""
        self._extrapolate(self._tensor, self._v, self._limits, boundary, self._change)
        return self._narrow(boundary, 0, 1) == 1 or self._prove_slowly(boundary)

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
        a_step = _SHARE_OF_REST * (self._tolerance - known) / float(steps[inside].max())
        self._extrapolate(self._tensor, v, self._limits, boundary, _SHARE_OF_FALL * a_step)
        self._distance[inside] = known + a_step * steps[inside]
        return self._narrow(boundary, 0, 1) == 1

    def _extrapolate(
        self, tensor: Tensor, v: np.ndarray, limits: ValueRange, boundary: np.ndarray, change: float
    ) -> None:
        """Sweep a component there and back, and extrapolate, until its values change by no more than ``change``."""
        acceleration, values = Anderson(), v[slice(*boundary.tolist())]
        for _ in range(0, _MOST_SWEEPS, 2):
            before = values.copy()
            self._relax(tensor, v, boundary, 0.0, 2)
            np.clip(values, *limits, out=values)
            self.n_sweeps += 2
            self._progress(self.n_sweeps)
            if np.abs(values - before).max() <= max(change, 4 * _UNIT_ROUNDOFF * np.abs(values).max()):
                break
            values[:] = np.clip(acceleration.next(before, values.copy()), *limits)

    def _relax(self, tensor: Tensor, v: np.ndarray, boundary: np.ndarray, change: float, most: int) -> None:
        args = boundary.view(np.uint64), tensor, 1.0, self._candidates, v, change, most
        _gauss_seidel.relax_components(0, len(boundary) - 1, *args)

    def _narrow(self, boundary: np.ndarray, first: int, last: int) -> int:
        """Bracket components; return the number of the first one that is not proved, or ``last``."""
        place = int(boundary[first]), int(boundary[last])
        _component_brackets.begin(*place, self._distance, self._limits, self._v, self.bounds)
        args = boundary.view(np.uint64), self._tensor, self._limits, self.bounds, _MOST_SWEEPS_OF_BOUNDS
        return int(_component_brackets.narrow(first, last, *args))

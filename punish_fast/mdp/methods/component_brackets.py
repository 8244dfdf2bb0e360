"""Undiscounted total rewards, computed and proved one strongly connected component at a time.

Components are solved in topological order (``end_components.py``), so no component is revisited. Each component goes
through two stages:

* *Values* are computed by in-place sweeps in alternating directions. In a large component, pairs of sweeps are
  extrapolated (``anderson.py``). This stage proves nothing.
* *Bounds*, which start a small distance below and above the values, are swept in the same way. Let ``T`` back up the
  best rows, let ``e`` bound its rounding error, and let ``u`` and ``l`` be the upper and lower bounds. A sweep replaces
  a bound only with a tighter one. Since ``T`` is monotone and ``u`` only decreases, ``(T u)(s) + e <= u(s)`` remains
  true once it holds in a backup of ``s``. In the same way, ``l(s) <= (T_a l)(s) - e`` remains true for the row ``a``
  that last raised ``l(s)``. Once both hold in all states of a component, ``T u <= u`` and ``T_a l >= l``, so
  ``l <= v_a <= v* <= u``, where ``v_a`` is the value of the policy that takes these rows [optimistic value iteration:
  Hartmanns and Kaminski 2020, CAV].

If episodes are long, the bounds need many sweeps, since a sweep improves them only in states from which the episode may
soon end. After 50 to 1,000 sweeps, the ladder therefore tries policy iteration (``exact_iteration.py``).

The method requires that sweeps converge to ``v*`` from any initial values. This holds if every policy terminates,
or if some policy does and every policy that does not terminate has unbounded cost [Bertsekas and Tsitsiklis 1991,
Math. Oper. Res. 16].

**Initial values.** If rewards are negative, zeros are optimistic. In a corridor of ``n`` states, sweeps from zeros then
need about ``n`` passes, because a pass lowers most values by the cost of a single step. Values of a policy are lower
bounds, and correct values spread from the terminals in any sweep that updates successors first.

The policy takes the rows by which a breadth-first search from the terminals discovers the states. States are evaluated
in the order of their discovery, so one pass is exact if each row has a single successor. Otherwise, a few passes in
alternating directions approach the values. Any initial values are valid, so nothing needs to be proved.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from punish_fast.mdp.chain.elimination import patience
from punish_fast.mdp.graph.end_components import Order
from punish_fast.mdp.graph.qualitative import TransitionGraph
from punish_fast.mdp.graph.row_selection import select_rows, terminals_of
from punish_fast.mdp.methods import _component_brackets
from punish_fast.mdp.methods._component_brackets import Bounds
from punish_fast.mdp.methods.anderson import Anderson
from punish_fast.mdp.methods.totals import Total
from punish_fast.mdp.model.limits import SolverOptions
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.process import UNIT_ROUNDOFF, Payment, RowChoices
from punish_fast.mdp.model.solution import Exact, Payoff, Unsolved
from punish_fast.mdp.model.stored_process import tensor_of
from punish_fast.runtime.parallel import balanced_chunks

# Components of at least this many states are extrapolated, in addition to slowly converging components.
_LARGE = 1024
# Largest change of converged values in a sweep, as a share of the distance to their bounds.
_SHARE = 0.001
# Roundings of a backup of a row with one successor.
_FEWEST_ROUNDINGS = 9
# Maximum number of sweeps of bounds, and numbers in a batch and in a call for a single component. The last is even,
# because sweeps alternate their direction.
_MOST_SWEEPS_OF_BOUNDS, _SWEEPS_OF_BOUNDS, _SWEEPS_OF_ONE = 1024, 64, 4
# Smaller MDPs are swept from zeros.
_FEW_STATES = 1024
_MOST_PASSES = 32


class _Sweeps:
    """Values and bounds of an MDP whose components are in topological order."""

    def __init__(self, problem: Total, limits: SolverOptions) -> None:
        self.order = order = Order(replace(problem.mdp, reward=problem.payoff.row))
        self._limits, self._value_range = limits, problem.payoff.value_range
        self._tolerance, self._change = limits.tolerance, _SHARE * limits.tolerance / 2
        self._tensor, n = tensor_of(order.mdp), order.mdp.n_states
        initial = np.zeros(n) if limits.initial_values is None else limits.initial_values[order.states]
        self._v = np.concatenate([initial, problem.payoff.end])
        # Bounds of all components, whether proved or not.
        self.bounds = Bounds(self._v.copy(), self._v.copy(), np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=bool))
        self.is_proved = True  # False after a component fails. Later components are then swept, but not bracketed
        self.n_sweeps = 1  # Number of sweeps over individually swept components, plus 1 for all others

    def result(self) -> Exact:
        """Return the values. The bound is infinite if a component was not proved."""
        mdp, order, v, error_bound = self.order.mdp, self.order, self._v, np.inf
        rows, n = self.bounds.choice, mdp.n_states
        if self.is_proved:
            v = np.clip(v, self.bounds.lower, self.bounds.upper)
            distance = np.maximum(v - self.bounds.lower, self.bounds.upper - v).max(initial=0)
            error_bound = float(np.nextafter(distance, np.inf))
        else:
            mdp.backups.close(0, Payment(mdp.reward, 1.0), RowChoices(np.zeros(mdp.n_rows), rows), v, v.copy())
        # A state whose value is NaN has no best row.
        rows = np.clip(rows, mdp.state_ptr[:-1], mdp.state_ptr[1:] - 1)
        values, choice = np.empty(n), np.empty(n, dtype=np.int64)
        values[order.states], choice[order.states] = v[:n], order.rows[rows]
        return Exact(values, choice, error_bound if error_bound <= self._tolerance else np.inf, self.n_sweeps)

    def prove_each(self, boundary: np.ndarray) -> None:
        """Bracket small components in order."""
        # Work in chunks so that interrupts are handled promptly.
        for begin, end in pairwise(balanced_chunks(boundary, 64).tolist()):
            part = boundary[begin : end + 1].view(np.uint64)
            args = self._tensor, self._v, self._change, self._limits.max_sweeps
            _component_brackets.relax_components(0, end - begin, part, *args)
            place = self._narrow(boundary, begin, end)
            while place < end:
                self.prove_one(boundary[place : place + 2])
                place = self._narrow(boundary, place + 1, end)
            self.is_proved = self.is_proved and not (self._limits.is_over and end < len(boundary) - 1)

    def prove_one(self, boundary: np.ndarray) -> None:
        """Bracket a component that is large or converges slowly."""
        self._extrapolate(boundary)
        # Every backup widens bounds by its rounding error, so smaller distances cannot be proved.
        rounding = _FEWEST_ROUNDINGS * UNIT_ROUNDOFF * np.abs(self._v[slice(*boundary.tolist())]).max()
        if rounding > self._tolerance or self._narrow(boundary, 0, 1) == 0:
            self.is_proved = False

    def _extrapolate(self, boundary: np.ndarray) -> None:
        """Sweep in both directions and extrapolate until values change little, or a limit is reached."""
        acceleration, values = Anderson(), self._v[slice(*boundary.tolist())]
        for _ in range(0, self._limits.max_sweeps, 2):
            before = values.copy()
            _component_brackets.relax_components(0, 1, boundary.view(np.uint64), self._tensor, self._v, 0.0, 2)
            np.clip(values, *self._value_range, out=values)
            self.n_sweeps += 2
            self._limits.progress(self.n_sweeps, np.inf)
            change, least = np.abs(values - before).max(), 4 * UNIT_ROUNDOFF * np.abs(values).max()
            if change <= max(self._change, least) or self._limits.is_over:
                break
            values[:] = np.clip(acceleration.next(before, values.copy()), *self._value_range)

    def _narrow(self, boundary: np.ndarray, first: int, last: int) -> int:
        """Bracket components, and return the index of the first component that is not proved, or ``last``.

        Do nothing if an earlier component was not proved.
        """
        if not self.is_proved:
            return last
        begin, end = int(boundary[first]), int(boundary[last])
        lower, upper, choice, is_above = (array[begin:end] for array in self.bounds)
        v, distance = self._v[begin:end], self._tolerance / 2
        np.maximum(v - distance, self._value_range.least, out=lower)
        np.minimum(v + distance, self._value_range.most, out=upper)
        choice[:], is_above[:], n_open = -1, False, -1
        # A component can be large, so check the time more often.
        n_sweeps = _SWEEPS_OF_BOUNDS if last - first > 1 else _SWEEPS_OF_ONE
        args = boundary.view(np.uint64), self._tensor, self._value_range, self.bounds, n_sweeps
        for n_swept in range(n_sweeps, _MOST_SWEEPS_OF_BOUNDS + 1, n_sweeps):
            first = int(_component_brackets.narrow(first, last, *args))
            if first == last or self._limits.is_over:
                break
            # Stop when a batch of sweeps proves no further bounds, because more sweeps are unlikely to help.
            if n_swept % _SWEEPS_OF_BOUNDS == 0:
                before, n_open = n_open, int(np.count_nonzero(choice < 0) + np.count_nonzero(~is_above))
                if n_open == before:
                    break
        return first


def sweep_components(problem: Total, is_further: bool = False) -> Exact | Unsolved:
    """Sweep until all components are bracketed, or until policy iteration would take about as long.

    If ``is_further`` is True, sweep each component up to the maximum number of times.

    Every policy must either terminate or have unbounded cost. If sweeps do not prove an error bound within the
    tolerance, the policy might not attain the values.
    """
    limits = problem.limits
    if not is_further:
        limits = replace(limits, max_sweeps=min(limits.max_sweeps, patience(problem.mdp)))
    if not (is_further or limits.is_over) and limits.initial_values is None:
        limits = replace(limits, initial_values=_initial_values(problem.mdp, problem.payoff, limits.tolerance))
    sweeps = _Sweeps(problem, limits)
    for run in sweeps.order.runs(_LARGE):
        (sweeps.prove_one if len(run) == 2 else sweeps.prove_each)(run)
    problem.found = found = sweeps.result()
    if found.error_bound <= limits.tolerance:
        return found
    return Unsolved(f"no error bound after sweep {found.rounds:,}", found)


def _initial_values(mdp: MDP, payoff: Payoff, tolerance: float) -> np.ndarray | None:
    """Return values of a policy that heads for the terminals, float64 ``[n_states]``.

    Return None if the MDP is small, no reward is negative, or a state cannot reach a terminal.
    """
    n = mdp.n_states
    if n < _FEW_STATES or payoff.row.min() >= 0:
        return None
    row, order = TransitionGraph(mdp).search(terminals_of(mdp))
    order = order[order < n]
    if len(order) < n:
        return None
    column = np.arange(mdp.n_columns, dtype=np.int32)
    column[order] = np.arange(n, dtype=np.int32)
    rows = row[order]
    chain = replace(mdp, **select_rows(mdp, rows, column) | {"state_ptr": np.arange(n + 1), "reward": payoff.row[rows]})
    v = np.concatenate([np.zeros(n), payoff.end])
    boundary = np.array([0, n], dtype=np.uint64)
    _component_brackets.relax_components(0, 1, boundary, tensor_of(chain), v, tolerance, _MOST_PASSES)
    return v[column[:n]]

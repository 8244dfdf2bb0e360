"""Maximum average rewards within end components, with bounds.

Every policy eventually remains in an end component. All states of a maximal end component can reach each other, so they
have the same maximum gain ``g``. Let ``T`` be the backup over the component's rows. Then, for any ``h``,

    min_s (T h - h)(s)  <=  g  <=  max_s (T h - h)(s)

[Puterman 1994, theorem 8.5.5; Odoni 1969], and a policy whose rows all satisfy ``(T_a h - h)(s) >= l`` has a gain of at
least ``l``. Sweeps ``h <- h + 3/4 (T h - h)`` narrow this bracket. Keeping a quarter of the old values removes
periodicity. Policy iteration computes ``h`` (``gain_iteration.py``) as a sum of two floats, so that differences are
accurate. Small components are also solved in rational arithmetic (``rational.py``), and larger chains by their
stationary weights. The narrowest bracket is used. Among tied rows (``policy.py``), the policy takes the first that
keeps ``l`` within the tolerance of ``g``.

**Stationary weights.** If a chain seldom moves between groups of states, its bias is many orders of magnitude larger
than its rewards, and a bias computed in floating point proves nothing. Stationary weights can still be computed to
almost full precision (``stationary.py``). If their ratios have a relative error of ``d``, the error of the gain ``g``
is at most ``d`` times the average of ``|r - g|``.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import fsum
from typing import NamedTuple

import numpy as np

from punish_fast.mdp.arrays.policy import TIE
from punish_fast.mdp.chain.elimination import affordable, operations
from punish_fast.mdp.chain.stationary import LARGEST_SHARE, stationary_weights
from punish_fast.mdp.graph.row_selection import first_marked, marks_at, restriction, rows_of_states
from punish_fast.mdp.methods.exact_iteration import Double, Rows
from punish_fast.mdp.methods.gain_iteration import bias_of_best, groups
from punish_fast.mdp.methods.rational import best_gain, is_small
from punish_fast.mdp.model.limits import PRECISION, SolverOptions
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.process import SMALLEST, UNIT_ROUNDOFF, Payment
from punish_fast.mdp.model.solution import Exact, Unsolved

# Step size, as a share of a sweep's change. With a step size of 1, values in cycles might oscillate.
_STEP = 0.75
# Sweeps before policy iteration is tried.
_FEW_SWEEPS = 1000
# Components with more states are improved one at a time, smaller components together.
_LARGE = 1000
# Half-width of brackets at which sweeps stop, excluding rounding errors, as a share of the tolerance.
_SHARE = 0.5


class Bracket(NamedTuple):
    """Bounds on the maximum gains of components, and policies that attain the lower bounds."""

    lower: np.ndarray  # float64 ``[n_components]``
    upper: np.ndarray  # float64 ``[n_components]``
    h: np.ndarray  # float64 ``[n_states]``, relative values, 0 in the first state of each component
    choice: np.ndarray  # int64 ``[n_states]``, row taken in each state

    @property
    def half_width(self) -> np.ndarray:
        """Half the width of each bracket, float64 ``[n_components]``, infinite for brackets that are not proved."""
        return np.asarray(np.nan_to_num(self.upper / 2 - self.lower / 2, nan=np.inf))


class Gains:
    """Problem for the ladder (``ladder.py``): maximum gains within maximal end components."""

    failure = None  # brackets are valid even if they are wide

    def __init__(self, mdp: MDP, number: np.ndarray, inside: np.ndarray, limits: SolverOptions) -> None:
        # `number`: int64 [n_states], component of each state. `inside`: int64 [k], rows of all components. The
        # tolerance in `limits` is the half-width of brackets to reach.
        self.limits = limits
        # MDP restricted to the rows of end components, to whose states and rows the brackets refer.
        self.part = restriction(mdp, marks_at(mdp.n_rows, inside), np.empty(0))
        # int64 [n_states of the part], index of each state's component
        self.component = np.unique(number[self.part.states], return_inverse=True)[1]
        self.sizes = np.bincount(self.component)
        unknown = np.full(len(self.sizes), np.inf)
        # Narrowest brackets.
        self.bracket = Bracket(-unknown, unknown, np.zeros(len(self.part.states)), self.part.mdp.state_ptr[:-1].copy())

    @property
    def error_bound(self) -> float:
        """Half the width of the widest bracket."""
        return float(self.bracket.half_width.max(initial=0))

    @property
    def gain(self) -> np.ndarray:
        """Midpoints of the bounds, float64 ``[n_components]``."""
        return np.asarray(self.bracket.lower / 2 + self.bracket.upper / 2)

    @property
    def rows(self) -> np.ndarray:
        """The policy as rows of the original MDP, int64 ``[n_states of the part]``."""
        return np.asarray(self.part.rows[self.bracket.choice])

    def is_wide(self, tolerance: float, precision: float = PRECISION) -> np.ndarray:
        """Return a mask of brackets whose half-width exceeds both ``tolerance`` and ``precision`` times the gain."""
        largest = np.maximum(np.abs(self.bracket.lower), np.abs(self.bracket.upper))
        return np.asarray(~(self.bracket.half_width <= np.maximum(max(tolerance, 2 * SMALLEST), precision * largest)))

    def narrow(self, marked: np.ndarray, find: Callable[[MDP, np.ndarray, Bracket], Bracket | None]) -> None:
        """Replace brackets of marked components, bool ``[n_components]``, by narrower ones.

        ``find`` returns brackets of an MDP, given the component of each state and the current brackets, or None.
        """
        states, mdp, own = marked[self.component], self.part.mdp, self.bracket
        part = restriction(mdp, rows_of_states(mdp, states), np.empty(0))
        choice = np.searchsorted(part.rows, own.choice[states])
        now = Bracket(own.lower[marked], own.upper[marked], own.h[states], choice)
        found = find(part.mdp, (np.cumsum(marked) - 1)[self.component[states]], now)
        if found is None:
            return
        closer = found.half_width < now.half_width
        numbers = np.flatnonzero(marked)[closer]
        own.lower[numbers], own.upper[numbers] = found.lower[closer], found.upper[closer]
        changed = np.isin(self.component[part.states], numbers)
        states = part.states[changed]
        own.h[states], own.choice[states] = found.h[changed], part.rows[found.choice[changed]]

    def narrow_each(self, marked: np.ndarray, find: Callable[[MDP, np.ndarray, Bracket], Bracket | None]) -> None:
        """Narrow the brackets of marked components one at a time until the time is over."""
        for k in np.flatnonzero(marked):
            if not self.limits.is_over:
                self.narrow(np.arange(len(marked)) == k, find)

    def narrowed(self, precision: float = PRECISION) -> Exact | Unsolved:
        """Return the gains, or `Unsolved` if some brackets are wide."""
        found = Exact(self.gain, self.rows, self.error_bound, 0)
        n_wide = int(self.is_wide(self.limits.tolerance, precision).sum())
        return found if n_wide == 0 else Unsolved(f"wide bounds in {n_wide:,} components", found)


def sweep_gains(problem: Gains, is_further: bool = False) -> Exact | Unsolved:
    """Bracket the gains by up to 1,000 sweeps over all components together.

    If ``is_further`` is True, sweep the components with wide brackets up to the maximum number of times.
    """
    limits = problem.limits
    if is_further and limits.max_sweeps <= _FEW_SWEEPS:
        return Unsolved("no sweeps are left")
    if not is_further:
        limits = replace(limits, max_sweeps=min(limits.max_sweeps, _FEW_SWEEPS))
    marked = problem.is_wide(limits.tolerance) if is_further else problem.sizes > 0
    problem.narrow(marked, partial(_swept, limits=limits))
    return problem.narrowed(PRECISION if is_further else 0.0)


def _swept(mdp: MDP, component: np.ndarray, _: Bracket, limits: SolverOptions) -> Bracket:
    """Sweep until all brackets seem narrow enough or a limit is reached. Return the brackets."""
    begins, order = groups(component)
    payment, h = Payment(mdp.reward, 1.0), np.zeros(mdp.n_states)
    for sweeps in range(1, limits.max_sweeps * bool(len(h)) + 1):
        out = h.copy()
        for layer in range(mdp.n_layers):
            mdp.backups.sweep(layer, payment, h, out)
        change = out - h
        width = np.maximum.reduceat(change[order], begins) - np.minimum.reduceat(change[order], begins)
        # Remove the change shared by all states of a component, because it is meaningless and would accumulate.
        h += _STEP * change
        h -= h[order[begins]][component]
        half_width = float(width.max()) / 2
        limits.progress(sweeps, half_width)
        least = max(_SHARE * limits.tolerance, 4 * UNIT_ROUNDOFF * float(np.abs(out).max()))
        if limits.is_over or not half_width > least:
            break
    return _bracket(mdp, component, Double(h, np.zeros(len(h))), limits.tolerance)


def _bracket(mdp: MDP, component: np.ndarray, h: Double, tolerance: float) -> Bracket:
    """Bracket the maximum gain of each component by backing up the relative values ``h``."""
    begins, rows, n_components = mdp.state_ptr[:-1], Rows.of(mdp, mdp.reward), int(component.max(initial=-1)) + 1
    gain, error = rows.gains(h)
    lower, upper = np.full(n_components, np.inf), np.full(n_components, -np.inf)
    np.minimum.at(lower, component, np.maximum.reduceat(gain - error, begins))
    np.maximum.at(upper, component, np.maximum.reduceat(gain + error, begins))
    tie = TIE * np.maximum(np.abs(lower), np.abs(upper))
    least = lower - np.clip(tolerance - (upper / 2 - lower / 2), 0.0, tie)
    best = np.maximum.reduceat(gain - error, begins) - tie[component]
    # Choose among rows that preserve the lower bound and might be as good as the best row of their state.
    least, best = np.nan_to_num(least, nan=-np.inf)[component], np.nan_to_num(best, nan=-np.inf)
    choice = first_marked(mdp.state_ptr, (gain - error >= least[rows.state]) & (gain + error >= best[rows.state]))
    earned = np.full(n_components, np.inf)
    np.minimum.at(earned, component, (gain - error)[choice])
    first = np.unique(component, return_index=True)[1]
    return Bracket(earned, upper, h.high - h.high[first][component], choice)


def improve_gains(problem: Gains) -> Exact | Unsolved:
    """Narrow brackets by policy iteration, in all small components together and in each large component."""
    limits, wide = problem.limits, problem.is_wide(problem.limits.tolerance, 0.0)

    def improved(mdp: MDP, component: np.ndarray, now: Bracket) -> Bracket | None:
        if operations(mdp, affordable(limits)) == np.inf:
            return None
        return _bracket(mdp, component, bias_of_best(mdp, component, now.choice, limits), limits.tolerance)

    if (small := wide & (problem.sizes <= _LARGE)).any() and not limits.is_over:
        problem.narrow(small, improved)
    problem.narrow_each(wide & ~small, improved)
    return problem.narrowed()


def use_fractions_for_gains(problem: Gains) -> Exact | Unsolved:
    """Narrow the brackets of small components in rational arithmetic."""
    wide = problem.is_wide(problem.limits.tolerance)
    problem.narrow_each(wide, lambda mdp, _, now: Bracket(*best_gain(mdp, now.choice)) if is_small(mdp) else None)
    return problem.narrowed()


def weigh_states(problem: Gains) -> Exact | Unsolved:
    """Narrow the brackets of larger components without choices by their stationary weights."""

    def weighed(mdp: MDP, _: np.ndarray, now: Bracket) -> Bracket | None:
        if mdp.n_rows > mdp.n_states or is_small(mdp):
            return None
        bounds = gain_of_chain(mdp, *stationary_weights(mdp.to_scipy(), problem.limits))
        return None if bounds is None else now._replace(lower=np.array(bounds[:1]), upper=np.array(bounds[1:]))

    problem.narrow_each(problem.is_wide(problem.limits.tolerance), weighed)
    return problem.narrowed()


def gain_of_chain(mdp: MDP, weight: np.ndarray, share: float) -> tuple[float, float] | None:
    """Return bounds on the average reward of an irreducible chain without terminals or stored zeros.

    The arguments ``weight`` and ``share`` are the results of `stationary_weights`. Return None if ``share`` is too
    large or a number overflows.
    """
    if not share <= LARGEST_SHARE:
        return None
    total = fsum(weight)
    with np.errstate(over="ignore", invalid="ignore"):
        gain = _mean(weight / total, mdp.reward)
        error = 1.01 * share * _mean(weight / total, np.abs(mdp.reward - gain))
        error += 8 * UNIT_ROUNDOFF * _mean(weight / total, np.abs(mdp.reward)) + len(weight) * SMALLEST
    return (gain - error, gain + error) if np.isfinite(error) else None


def _mean(weight: np.ndarray, reward: np.ndarray) -> float:
    products = weight * reward
    return fsum(products) if np.isfinite(products).all() else np.inf

"""The largest or smallest expected total reward until a goal is reached: stochastic shortest paths.

A run collects the rewards of its rows until it first visits the goal. **A run that never reaches the goal is worth
plus infinity**, whether rewards are maximised or minimised, as in Storm's and PRISM's ``R [F goal]``. So

* the largest value is infinite where some policy misses the goal with a positive probability;
* the smallest is infinite where every policy does: only policies that reach the goal almost surely count.

Rewards may have either sign. For costs to be kept small, minimise costs; do not maximise negative rewards. The rewards
of terminals do not count.

*Largest.* On all other states play reaches the goal under every policy, and ``solver.py`` finds the only fixed point.

*Smallest.* Rows that may lead to a state without a sure way to the goal are left out. Where play can still go on for
ever, it may do so for nothing: then all states of the end component have one value, and it is collapsed, with no row
to stay in it (``end_components.py``). If every other way to go on for ever costs something, the optimal values are the
only fixed point of a sweep, and brackets of it are sound [Bertsekas and Tsitsiklis 1991, Math. Oper. Res. 16].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from punish_fast.mdp.end_components import collapsed, end_components
from punish_fast.mdp.exact_iteration import is_small_enough, solve_exactly
from punish_fast.mdp.graph import TransitionGraph, columns_of
from punish_fast.mdp.induced_chain import induced_chain
from punish_fast.mdp.interval_iteration import ShortestPath
from punish_fast.mdp.model import MDP, check_arrays, check_finite
from punish_fast.mdp.policy import first_best
from punish_fast.mdp.restriction import restriction
from punish_fast.mdp.solver import DEFAULT_TOLERANCE, Progress, check_options, solve
from punish_fast.mdp.stopping_rule import SolveError

# Sweeps before the exact method is tried, and, where it cannot be, before the solver gives up.
_PATIENCE = 1000
_MOST_SWEEPS = 100_000


@dataclass(frozen=True, eq=False)
class TotalReward:
    """Expected total rewards until a goal.

    Attributes:
        v: float64 ``[n_states]``, the largest or smallest total reward, which may be infinite.
        lower: float64 ``[n_states]``, lower bounds of it.
        upper: float64 ``[n_states]``, upper bounds.
        error_bound: Upper bound on the error of finite values.
        choice: int64 ``[n_states]``, the row of each state that a policy takes which attains ``v``, where that is
            finite or plus infinity.
        maximize: Whether these are the largest rewards.
    """

    v: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    error_bound: float
    choice: np.ndarray
    maximize: bool

    def __repr__(self) -> str:
        kind, n = "largest" if self.maximize else "smallest", int(np.isinf(self.v).sum())
        return f"TotalReward({len(self.v):,} states, {n:,} infinite, {kind}, error bound {self.error_bound:.1e})"


@dataclass(frozen=True, eq=False)
class _Found:
    """Values of some states, the rows that attain them, and the error bound."""

    v: np.ndarray
    choice: np.ndarray
    bound: float


def total_reward(
    mdp: MDP,
    goal: np.ndarray,
    maximize: bool = True,
    tolerance: float = DEFAULT_TOLERANCE,
    progress: Progress | None = None,
) -> TotalReward:
    """Find the largest or smallest expected total reward until a goal is reached.

    Args:
        mdp: The process. `check` validates one of unknown origin.
        goal: bool ``[n_states]``, or ``[n_columns]`` if it has terminals; play stops there.
        maximize: Whether to find the largest reward.
        tolerance: Stop at this error bound.
        progress: Called as ``progress("solve", sweeps, error_bound)`` after every sweep.

    Raises:
        SolveError: an option is out of range, play is too long for the tolerance, or rewards are minimised and play
            may be paid for going on for ever.
        ModelError: the arrays of ``mdp`` do not fit together.

    Examples:
        A coin is tossed, at a cost of 1, until it shows heads; a goal that may be missed has infinite cost:

        >>> from punish_fast.mdp.model import from_rows
        >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})], [(0, {1: 1.0})], [(1, {0: 0.5, 3: 0.5})]], terminals=[0])
        >>> total_reward(mdp, np.array([False, True, False]), maximize=False).v.round(6)
        array([ 2.,  0., inf])
    """
    check_options(tolerance=tolerance)
    check_arrays(mdp)
    check_finite(mdp.data)
    mdp = mdp.expanded()
    goal = columns_of(mdp, "goal", goal)
    stops = goal.copy()
    stops[mdp.n_states :] = True
    graph, n = TransitionGraph(mdp, stops), mdp.n_states
    if maximize:
        never = graph.never_reach(goal)
        missed = graph.may_reach(never.found)
        infinite = missed.found[:n]
        safe = np.where(never.row >= 0, never.row, missed.row)
        rows = np.ones(mdp.n_rows, dtype=bool)
    else:
        sure = graph.surely_reach(goal)
        infinite, safe = ~sure.found[:n], sure.row
        rows = graph.stays(sure.found)
    v = np.where(infinite, np.inf, 0.0)
    choice, bound = np.where(safe >= 0, safe, mdp.state_ptr[:-1]), 0.0
    finite = ~infinite & ~goal[:n]
    if finite.any():
        rows &= np.repeat(finite, np.diff(mdp.state_ptr))
        sign = 1.0 if maximize else -1.0
        part = restriction(mdp, rows, np.zeros(mdp.n_columns, dtype=np.int64), np.zeros(1), sign * mdp.reward)
        found = _largest(part.mdp, tolerance, progress) if maximize else _least_cost(part.mdp, tolerance, progress)
        v[part.states], bound = sign * found.v + 0.0, found.bound
        choice[part.states] = part.rows[found.choice]
    is_known = infinite | goal[:n]
    lower = np.where(is_known, v, np.nextafter(v - bound, -np.inf))
    upper = np.where(is_known, v, np.nextafter(v + bound, np.inf))
    return TotalReward(v, lower, upper, bound, choice, maximize)


def evaluate_total_reward(
    mdp: MDP, weight: np.ndarray, goal: np.ndarray, tolerance: float = DEFAULT_TOLERANCE
) -> TotalReward:
    """Find the expected total reward of a policy until a goal; infinite where the policy may miss it.

    Args:
        mdp: The process.
        weight: float64 ``[n_rows]``, the probability of each row in its state.
        goal: As in `total_reward`, like the other arguments and errors.
        tolerance: Likewise.

    Returns:
        The rewards; ``choice`` has the only row of each state of the chain, its number.
    """
    check_arrays(mdp)
    return total_reward(induced_chain(mdp, weight), goal, tolerance=tolerance)


def _largest(mdp: MDP, tolerance: float, progress: Progress | None) -> _Found:
    """The largest total reward of a process that ends under every policy."""
    solution = solve(mdp, 1.0, tolerance=tolerance, progress=progress)
    return _Found(solution.v, solution.choice, solution.error_bound)


def _least_cost(mdp: MDP, tolerance: float, progress: Progress | None) -> _Found:
    """The largest total reward of policies that end play almost surely; some policy does from every state."""
    every = np.ones(mdp.n_states, dtype=bool)
    _, _, inside = end_components(mdp, every, np.ones(mdp.n_rows, dtype=bool))
    if len(inside) == 0:
        return _largest(mdp, tolerance, progress)
    paid = inside[mdp.reward[inside] > 0]
    if len(paid):
        state = int(np.searchsorted(mdp.state_ptr, paid[0], side="right")) - 1
        raise SolveError(
            f"reward: {-mdp.reward[paid[0]]:g} is below 0 in a row of an end component (state {state} of the part), "
            "so the least total may be minus infinity"
        )
    quotient = collapsed(mdp, every, pays=True, stays=False)
    found = _bracketed(quotient.mdp, tolerance, progress)
    return _Found(found.v[quotient.number], quotient.lifted_choice(found.choice), found.bound)


def _bracketed(mdp: MDP, tolerance: float, progress: Progress | None) -> _Found:
    """The largest total reward if going on for ever costs without end; some policy ends play from every state."""
    iteration, bound = ShortestPath(mdp, tolerance), np.inf
    is_small = is_small_enough(mdp)
    for sweeps in range(1, (_PATIENCE if is_small else _MOST_SWEEPS) + 1):
        bound = iteration.sweep()
        bound = bound if iteration.is_proved else np.inf
        if progress is not None:
            progress("solve", sweeps, bound)
        if bound <= tolerance or iteration.is_at_floor:
            break
    iteration.close()
    if bound <= tolerance and iteration.attain(tolerance):
        return _Found(iteration.v[: mdp.n_states], first_best(mdp.state_ptr, iteration.q), bound)
    if not is_small:
        raise SolveError(
            f"tolerance: sweeps leave an error bound of {bound:.1e}, and the process is too large for more"
        )
    ends = np.zeros(mdp.n_columns, dtype=bool)
    ends[mdp.n_states :] = True
    proper = TransitionGraph(mdp, ends).surely_reach(ends).row
    exact = solve_exactly(mdp, mdp.reward, np.zeros(len(mdp.terminal_reward)), proper)
    if not exact.error_bound < np.inf:
        raise SolveError("tolerance: play is too long for floating point")
    return _Found(exact.v, exact.choice, exact.error_bound)

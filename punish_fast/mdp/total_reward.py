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
only fixed point of a sweep [Bertsekas and Tsitsiklis 1991, Math. Oper. Res. 16], and brackets of it are sound
(``component_brackets.py``). With rewards below 0, an end component may pay in the long run. Its least average reward
(``average_reward.py``) tells: if that is below 0, play can go round as often as it likes before it ends, and the
smallest value is minus infinity wherever the component can be reached; if it is above, going on costs; if it is 0, the
process is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from punish_fast.mdp.average_reward import component_gains
from punish_fast.mdp.component_brackets import Payoff, bracketed
from punish_fast.mdp.end_components import collapsed, end_components
from punish_fast.mdp.exact_iteration import is_small_enough, solve_exactly
from punish_fast.mdp.graph import TransitionGraph, Ways, columns_of
from punish_fast.mdp.induced_chain import induced_chain
from punish_fast.mdp.model import MDP, check_arrays, check_finite
from punish_fast.mdp.restriction import restriction
from punish_fast.mdp.row_selection import rows_of_states, states_of_rows
from punish_fast.mdp.solve_options import DEFAULT_TOLERANCE, check_options
from punish_fast.mdp.solver import Progress, solve_total
from punish_fast.mdp.stopping_rule import SolveError

# Shares of the largest reward up to which the gain of an end component is found, to know its sign.
_PRECISIONS = (1e-2, 1e-5, 1e-9)


@dataclass(frozen=True, eq=False)
class TotalReward:
    """Expected total rewards until a goal.

    Attributes:
        v: float64 ``[n_states]``, the largest or smallest total reward; infinite where there is none.
        lower: float64 ``[n_states]``, lower bounds of it.
        upper: float64 ``[n_states]``, upper bounds.
        error_bound: Upper bound on the error of finite values.
        choice: int64 ``[n_states]``, the row of each state that a policy takes which attains ``v``. Where that is minus
            infinity, it earns less the later it turns to the goal, and this one never does.
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
        SolveError: an option is out of range, play is too long for the tolerance, or rewards of either sign are
            minimised and may add up to 0 in play that goes on for ever.
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
        rows &= rows_of_states(mdp, finite)
        sign = 1.0 if maximize else -1.0
        part = restriction(mdp, rows, np.zeros(mdp.n_columns, dtype=np.int64), np.zeros(1), sign * mdp.reward)
        found = _largest(part.mdp, tolerance, progress) if maximize else _least_cost(part.mdp, tolerance, progress)
        v[part.states], bound = sign * found.v + 0.0, found.bound
        choice[part.states] = part.rows[found.choice]
    is_known = np.isinf(v) | goal[:n]
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
    solution = solve_total(mdp, np.zeros(mdp.n_states, dtype=bool), "discounted", tolerance, progress)
    return _Found(solution.v, solution.choice, solution.error_bound)


def _least_cost(mdp: MDP, tolerance: float, progress: Progress | None) -> _Found:
    """The largest total reward of policies that end play almost surely; some policy does from every state."""
    number, _, inside = end_components(mdp, np.ones(mdp.n_states, dtype=bool), np.ones(mdp.n_rows, dtype=bool))
    if len(inside) == 0:
        return _largest(mdp, tolerance, progress)
    earns = np.zeros(mdp.n_states, dtype=bool)
    state_of = states_of_rows(mdp)
    earns[state_of[inside[mdp.reward[inside] > 0]]] = True
    earning = inside[np.isin(number[state_of[inside]], number[earns])]
    if len(earning) == 0:
        return _of_quotient(mdp, tolerance, progress)
    unbounded = _unbounded(mdp, number, earning)
    v, bound = np.where(unbounded.found[: mdp.n_states], np.inf, 0.0), 0.0
    choice = unbounded.row
    rest = v == 0
    if rest.any():
        terminal = np.zeros(mdp.n_columns, dtype=np.int64)
        part = restriction(mdp, rows_of_states(mdp, rest), terminal, np.zeros(1), mdp.reward)
        found = _of_quotient(part.mdp, tolerance, progress)
        v[part.states], bound = found.v, found.bound
        choice[part.states] = part.rows[found.choice]
    return _Found(v, choice, bound)


def _unbounded(mdp: MDP, number: np.ndarray, earning: np.ndarray) -> Ways:
    """The states from which play can be paid for ever before it ends, by the rows ``earning`` of some end components.

    Raises:
        SolveError: the gain of a component is so near 0 that its sign is not known.
    """
    largest = float(np.abs(mdp.reward[earning]).max())
    for precision in _PRECISIONS:
        gains = component_gains(mdp, number, earning, precision * largest)
        is_open = (gains.lower <= 0) & (gains.upper >= 0)
        if not is_open.any():
            break
    else:
        k = int(is_open.argmax())
        low, high, n = -gains.upper[k], -gains.lower[k], int((gains.component == k).sum())
        raise SolveError(
            f"reward: play can go on for ever in a component of {n} states for {low:.1e} to {high:.1e} a step, which "
            "may be 0; with rewards of either sign that cannot be minimised"
        )
    paid = np.zeros(mdp.n_columns, dtype=bool)
    is_paid = gains.lower[gains.component] > 0
    paid[gains.part.states[is_paid]] = True
    ends = np.zeros(mdp.n_columns, dtype=bool)
    ends[mdp.n_states :] = True
    ways = TransitionGraph(mdp, ends).may_reach(paid)
    ways.row[gains.part.states[is_paid]] = gains.choice[is_paid]
    return ways


def _of_quotient(mdp: MDP, tolerance: float, progress: Progress | None) -> _Found:
    """The same, after states between which play goes on for nothing are made into one."""
    quotient = collapsed(mdp, np.ones(mdp.n_states, dtype=bool), pays=True, stays=False)
    found = _ending(quotient.mdp, tolerance, progress)
    return _Found(found.v[quotient.number], quotient.lifted_choice(found.choice), found.bound)


def _ending(mdp: MDP, tolerance: float, progress: Progress | None) -> _Found:
    """The largest total reward if going on for ever costs without end; some policy ends play from every state."""

    def tell(sweeps: int) -> None:
        if progress is not None:
            progress("solve", sweeps, np.inf)

    reward = Payoff(mdp.reward, np.zeros(len(mdp.terminal_reward)))
    found = bracketed(mdp, reward, tolerance, tell)
    if found is None:
        if not is_small_enough(mdp):
            raise SolveError("tolerance: sweeps do not reach it, and the process is too large for more")
        ends = np.zeros(mdp.n_columns, dtype=bool)
        ends[mdp.n_states :] = True
        proper = TransitionGraph(mdp, ends).surely_reach(ends).row
        found = solve_exactly(mdp, reward.row, reward.end, proper)
        if not found.error_bound < np.inf:
            raise SolveError("tolerance: play is too long for floating point")
    return _Found(found.v, found.choice, found.error_bound)

"""The maximum or minimum expected total reward until a goal is reached: stochastic shortest paths.

A run collects the rewards of its rows until it first visits the goal. **A run that never reaches the goal has the value
plus infinity**, whether rewards are maximized or minimized, as in ``R [F goal]`` of Storm and PRISM. Therefore,

* the maximum is infinite if some policy misses the goal with positive probability;
* the minimum is infinite if no policy reaches the goal almost surely.

Rewards may have either sign. To minimize a cost, use costs as rewards and minimize; do not maximize negative costs.
The rewards of terminals are ignored.

*Maximum.* From all states with a finite maximum, play almost surely reaches the goal under every policy, and
``component_solver.py`` finds the unique fixed point.

*Minimum.* Rows that might lead to a state from which no policy almost surely reaches the goal are removed. Play might
still never end. All states of an end component whose rows pay nothing have the same value, so the component is
collapsed, without a row for staying in it (``end_components.py``). If all other play that never ends has unbounded
cost, the optimal values are the unique fixed point of a sweep [Bertsekas and Tsitsiklis 1991, Math. Oper. Res. 16], and
bounds confirmed by a sweep are bounds on the optimal values (``component_brackets.py``, ``exact_iteration.py``). If
some rewards are negative, staying in an end component might reduce the total, depending on the sign of the component's
minimum average reward (``component_gains.py``). If this average is negative, play can stay for any number of steps
before it ends, so the minimum is minus infinity in all states from which the component can be reached. If it is
positive, staying has a cost. If it might be 0, the MDP is rejected.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from punish_fast.mdp.bounds.stopping_rule import SolveError
from punish_fast.mdp.chain.component_gains import component_gains
from punish_fast.mdp.chain.induced_chain import evaluated
from punish_fast.mdp.conversion.construction import normalized
from punish_fast.mdp.graph.end_components import collapsed, end_components
from punish_fast.mdp.graph.qualitative import TransitionGraph, Ways, columns_of
from punish_fast.mdp.graph.row_selection import restriction, rows_of_states, states_of_rows
from punish_fast.mdp.methods.component_solver import first_of_ties, largest_total
from punish_fast.mdp.methods.exact_iteration import Exact, Payoff
from punish_fast.mdp.model import MDP, check_arrays
from punish_fast.mdp.solution import ObjectiveValues
from punish_fast.mdp.solve_options import DEFAULT_TOLERANCE, MAX_SWEEPS, Effort, Progress, check_options

# Precisions, as fractions of the largest reward, tried in turn until the sign of a component's gain is known.
_PRECISIONS = (1e-2, 1e-5, 1e-9, 0.0)


def total_reward(
    mdp: MDP,
    goal: np.ndarray,
    maximize: bool = True,
    tolerance: float = DEFAULT_TOLERANCE,
    progress: Progress | None = None,
    max_sweeps: int = MAX_SWEEPS,
    weight: np.ndarray | None = None,
) -> ObjectiveValues:
    """Find the maximum or minimum expected total reward until a goal is reached, or the reward of a policy.

    A run that never reaches the goal has an infinite reward; see the module docstring. A value of minus infinity means
    that the total decreases without limit the longer play stays away from the goal. From these states, the returned
    policy does not head for the goal.

    Args:
        mdp: The MDP. Use `check` to validate an MDP of unknown origin.
        goal: bool ``[n_states]``, or ``[n_columns]`` to include terminals; play stops in the goal.
        maximize: If False, find the minimum reward.
        tolerance: Stop at this error bound.
        progress: Called as ``progress("solve", sweeps, error_bound)`` after every sweep.
        max_sweeps: Maximum number of sweeps over a strongly connected component. If 50 to 1,000 sweeps (depending on
            the MDP) are not sufficient, policy iteration also evaluates up to 400 policies.
        weight: float64 ``[n_rows]``, policy to evaluate: probability of each row in its state. If given, ``choice[s]``
            is ``s``, the only row of state ``s`` in the chain of the policy.

    Raises:
        SolveError: If an option is out of range, a value is too large for floating point, neither sweeps nor policy
            iteration prove a bound, rewards of both signs are minimized and might add up to 0 in play that never ends,
            or ``weight`` is not a policy or leads to a transition probability below 2.3e-308.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        A coin is tossed until it shows heads, and each toss costs 1. The cost is infinite if the goal may be missed:

        >>> from punish_fast.mdp.model import from_rows
        >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})], [(0, {1: 1.0})], [(1, {0: 0.5, 3: 0.5})]], terminals=[0])
        >>> total_reward(mdp, np.array([False, True, False]), maximize=False).v.round(6)
        array([ 2.,  0., inf])
    """
    check_options(tolerance=tolerance)
    check_arrays(mdp)
    if weight is not None:
        return _of_policy(mdp, weight, lambda chain: total_reward(chain, goal, True, tolerance, progress, max_sweeps))
    mdp = normalized(mdp.expanded()).without_zeros()
    goal = columns_of(mdp, "goal", goal)
    stops = goal.copy()
    stops[mdp.n_states :] = True
    graph, n = TransitionGraph(mdp, stops), mdp.n_states
    if maximize:
        never = graph.never_reach(goal)
        missed = graph.may_reach(never.found).found
        infinite = missed[:n]
        leads = graph.leads_to(missed)
        leads[mdp.state_ptr[:-1][~infinite]] = True
        safe = np.where(never.row >= 0, never.row, np.where(infinite, graph.first_rows(never.found, leads), -1))
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
        sign, effort = 1.0 if maximize else -1.0, Effort.of(tolerance, max_sweeps, progress)
        part = restriction(mdp, rows, np.zeros(mdp.n_columns, dtype=np.int64), np.zeros(1), sign * mdp.reward)
        found = _largest(part.mdp, effort) if maximize else _least_cost(part.mdp, effort)
        v[part.states], bound = sign * found.v + 0.0, found.error_bound
        choice[part.states] = part.rows[found.choice]
    is_known = np.isinf(v) | goal[:n]
    lower = np.where(is_known, v, np.nextafter(v - bound, -np.inf))
    upper = np.where(is_known, v, np.nextafter(v + bound, np.inf))
    return ObjectiveValues(v, lower, upper, bound, choice)


def _of_policy(mdp: MDP, weight: np.ndarray, solve: Callable[[MDP], ObjectiveValues]) -> ObjectiveValues:
    """Evaluate a policy; the bounds include rounding errors of its rewards."""
    found, more = evaluated(mdp, weight, solve)
    if more is None:
        return found
    error = float(more.upper[np.isfinite(more.upper)].max(initial=0))
    lower, upper = np.nextafter(found.lower - error, -np.inf), np.nextafter(found.upper + error, np.inf)
    return replace(found, lower=lower, upper=upper, error_bound=found.error_bound + error)


def _largest(mdp: MDP, effort: Effort) -> Exact:
    """Find the maximum total reward if play ends under every policy."""
    return _settled(mdp, largest_total(mdp, _payoff(mdp), replace(effort, tolerance=effort.tolerance / 2)), effort)


def _settled(mdp: MDP, found: Exact, effort: Effort) -> Exact:
    """Change the policy to the first of tied rows if it still ends play and earns the values; see `first_of_ties`."""
    return first_of_ties(mdp, _payoff(mdp), found, effort, must_end=True)[0]


def _payoff(mdp: MDP) -> Payoff:
    return Payoff(mdp.reward, np.zeros(len(mdp.terminal_reward)))


def _least_cost(mdp: MDP, effort: Effort) -> Exact:
    """Find the maximum total reward of policies that almost surely end play, which must exist for every state."""
    number, _, inside = end_components(mdp, np.ones(mdp.n_states, dtype=bool), np.ones(mdp.n_rows, dtype=bool))
    if len(inside) == 0:
        return _largest(mdp, effort)
    earns = np.zeros(mdp.n_states, dtype=bool)
    state_of = states_of_rows(mdp)
    earns[state_of[inside[mdp.reward[inside] > 0]]] = True
    earning = inside[np.isin(number[state_of[inside]], number[earns])]
    if len(earning) == 0:
        return _of_quotient(mdp, effort)
    unbounded = _unbounded(mdp, number, earning)
    v, bound = np.where(unbounded.found[: mdp.n_states], np.inf, 0.0), 0.0
    choice = unbounded.row
    rest = v == 0
    if rest.any():
        terminal = np.zeros(mdp.n_columns, dtype=np.int64)
        part = restriction(mdp, rows_of_states(mdp, rest), terminal, np.zeros(1), mdp.reward)
        found = _of_quotient(part.mdp, effort)
        v[part.states], bound = found.v, found.error_bound
        choice[part.states] = part.rows[found.choice]
    return Exact(v, choice, bound, rounds=0)


def _unbounded(mdp: MDP, number: np.ndarray, earning: np.ndarray) -> Ways:
    """Find the states from which play can collect unlimited rewards in end components, whose rows are ``earning``."""
    largest = float(np.abs(mdp.reward[earning]).max())
    for precision in _PRECISIONS:
        gains = component_gains(mdp, number, earning, Effort(precision * largest))
        is_open = (gains.lower <= 0) & (gains.upper >= 0)
        if not is_open.any():
            break
    else:
        k = int(is_open.argmax())
        low, high, n = -gains.upper[k], -gains.lower[k], int((gains.component == k).sum())
        raise SolveError(
            f"reward: play can continue forever in a component of {n} states for an average of {low:.1e} to {high:.1e} "
            "per step, which may be 0; rewards of both signs cannot be minimized in this case"
        )
    paid = np.zeros(mdp.n_columns, dtype=bool)
    is_paid = gains.lower[gains.component] > 0
    paid[gains.part.states[is_paid]] = True
    ends = np.zeros(mdp.n_columns, dtype=bool)
    ends[mdp.n_states :] = True
    ways = TransitionGraph(mdp, ends).may_reach(paid)
    ways.row[gains.part.states[is_paid]] = gains.rows[is_paid]
    return ways


def _of_quotient(mdp: MDP, effort: Effort) -> Exact:
    """Collapse end components that pay nothing, and find the maximum total reward of policies that end play."""
    quotient = collapsed(mdp, np.ones(mdp.n_states, dtype=bool), pays=True, stays=False)
    inner = replace(effort, tolerance=effort.tolerance / 2)
    # Play that never ends has infinite cost, and every state has a policy that ends play.
    found = largest_total(quotient.mdp, _payoff(quotient.mdp), inner, may_not_end=True)
    return _settled(
        mdp, replace(found, v=found.v[quotient.number], choice=quotient.lifted_choice(found.choice)), effort
    )

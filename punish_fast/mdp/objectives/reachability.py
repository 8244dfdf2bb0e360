"""Probabilities of reaching a set of states, and expected total rewards until then, with certified bounds.

**Probabilities.** *Maximum*: states that cannot reach the goal have probability 0, and states from which some policy
almost surely reaches the goal have probability 1. Both sets are found in the graph (``qualitative.py``). The remaining
states form an MDP with two terminals, one for each set. After the end components of this MDP are collapsed
(``end_components.py``), the maximum probability of reaching the second terminal is bounded from both sides
(``component_brackets.py``).

*Minimum*: let ``Z`` be the states from which some policy never reaches the goal. The other states contain no end
component without the goal, since a policy that stays in it would never reach the goal. Every trajectory from these
states therefore leads to ``Z`` or to the goal, and the minimum probability is 1 minus the maximum probability of
reaching ``Z`` first [Baier and Katoen 2008, sec. 10.6]. This maximum is found as described above, but
without end components to collapse.

The returned policy attains the probabilities up to the error bound.

**Total rewards** (stochastic shortest paths). A run collects the rewards of its rows until it first visits the goal.
**A run that never reaches the goal has the value plus infinity**, whether rewards are maximized or minimized. ``R [F
goal]`` of Storm and PRISM has the same meaning. The only exception are runs with unbounded costs when rewards are
maximized: their value is minus infinity. Therefore,

* the maximum is plus infinity if some policy misses the goal with positive probability without unbounded costs,
* the maximum is minus infinity if every policy misses the goal with positive probability, at unbounded costs,
* the minimum is plus infinity if no policy reaches the goal almost surely.

Rewards may have either sign, so a cost is minimized as a positive reward or maximized as a negative one. The total
includes the value of a terminal that ends the episode in the goal. The rewards of terminals are ignored.

*Maximum.* End components without the goal miss it. Their cost counts as unbounded if their maximum average reward is
provably negative (``component_gains.py``). Only components with negative rewards need this test. States that can reach
another component, or a terminal outside the goal, have the value plus infinity. From the remaining states, runs under
every policy reach the goal or have unbounded costs. If a policy almost surely reaches the goal, ``component_solver.py``
finds the unique fixed point.

*Minimum.* Rows that might lead to a state from which no policy almost surely reaches the goal are removed. Some runs
might still never end. All states of an end component whose rows pay nothing have the same value, so the component is
collapsed, without a row for staying in it (``end_components.py``). If all other runs that never end have unbounded
cost, the optimal values are the unique fixed point of a sweep [Bertsekas and Tsitsiklis 1991, Math. Oper. Res. 16], and
bounds confirmed by a sweep are bounds on the optimal values (``component_brackets.py``, ``exact_iteration.py``). If
some rewards are negative, staying in an end component might reduce the total, depending on the sign of the component's
minimum average reward (``component_gains.py``). If this average is negative, a run can stay for any number of steps
before it ends, so the minimum is minus infinity in all states from which the component can be reached. If the average
is positive, staying has a cost. If the average might be 0, `total_reward` raises `SolveError`.
"""

from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from punish_fast.mdp.chain.induced_chain import evaluated
from punish_fast.mdp.graph.end_components import collapsed, end_components
from punish_fast.mdp.graph.qualitative import TransitionGraph, Ways, columns_of
from punish_fast.mdp.graph.row_selection import marks_at, restricted, restriction, rows_of_states, states_of_rows
from punish_fast.mdp.model.limits import DEFAULT_TOLERANCE, SolveError, SolverLimits, SolverOptions, limits_of
from punish_fast.mdp.model.mdp import MDP, check_arrays, normalized
from punish_fast.mdp.model.process import UNIT_ROUNDOFF
from punish_fast.mdp.model.results import PROBABILITY, rows_of
from punish_fast.mdp.model.solution import BoundedValues, Exact, Payoff, bounded
from punish_fast.mdp.objectives import component_solver
from punish_fast.mdp.objectives.component_solver import earning_rows, signed_gains


def reach_probability(
    mdp: MDP,
    goal: Any,
    maximize: bool = True,
    avoid: Any = None,
    tolerance: float = DEFAULT_TOLERANCE,
    policy: Any = None,
    **limits: Unpack[SolverLimits],
) -> BoundedValues:
    """Find the maximum or minimum probability of reaching a goal, or the probability under a policy.

    Args:
        mdp: The MDP. Its rewards are ignored. Use `validate` to check an MDP of unknown origin.
        goal: bool ``[n_states]``, or ``[n_columns]`` to include terminals, or a list of names of states.
        maximize: If False, find the minimum probability.
        avoid: States in the same form as the goal. They end a run without success unless they belong to the goal. None
            by default.
        tolerance: Stop at this error bound of the probabilities, by default 1e-10.
        policy: Policy to evaluate, in a form that `MDP.under` accepts. If given, ``choice[s]`` is ``s``, the only row
            of state ``s`` in the chain of the policy.
        **limits: Maximum number of sweeps, maximum duration and progress (see `SolverLimits`).

    Returns:
        Probability of reaching the goal from each state, with bounds, and a policy that attains it.

    Raises:
        SolveError: If an option is out of range, no solver proves a bound, or ``policy`` is invalid or mixes actions
            into a transition probability below 2.23e-308.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        A gambler with 1 or 2 of 3 coins may stop, or bet a coin at even odds:

        >>> from punish_fast.mdp import from_rows
        >>> states = [[(0, {0: 1.0}), (0, {2: 0.5, 1: 0.5})], [(0, {1: 1.0}), (0, {0: 0.5, 3: 0.5})]]
        >>> found = reach_probability(from_rows(states, terminals=[0, 1]), np.array([False, False, False, True]))
        >>> found.v.round(6), found.choice
        (array([0.333333, 0.666667]), array([1, 3]))
    """
    check_arrays(mdp, maximize)
    within, rows = limits_of(tolerance, limits), rows_of(mdp, policy)
    mdp = normalized(mdp.expanded() if policy is None else mdp.under(policy))
    goal = columns_of(mdp, "goal", goal)
    stops = columns_of(mdp, "avoid", avoid) & ~goal
    found, is_sure = best_probability(mdp, goal, stops, within, maximize)
    return bounded(found.v, np.where(is_sure, 0.0, found.error_bound), found.choice, rows, PROBABILITY)


def best_probability(
    mdp: MDP, goal: np.ndarray, stops: np.ndarray, limits: SolverOptions, maximize: bool = True
) -> tuple[Exact, np.ndarray]:
    """Find the maximum or minimum probability of reaching a goal, and a mask of states in which it is exactly 0 or 1.

    The minimum is 1 minus the maximum probability of evading the goal.
    """
    n, graph = mdp.n_states, TransitionGraph(mdp, goal | stops)
    sure = graph.surely_reach(goal) if maximize else graph.never_reach(goal)
    is_open = graph.may_reach(sure.found).found & ~sure.found
    endless = graph.may_avoid(~is_open)[:n]
    v, choice = sure.found[:n].astype(np.float64), np.where(sure.row >= 0, sure.row, mdp.state_ptr[:-1])
    found = Exact(v, choice, 0.0, 0, reason="graph")
    if is_open[:n].any():
        part = restriction(mdp, rows_of_states(mdp, is_open[:n]), np.array([0.0, 1.0]), sure.found)
        inner = part.mdp.in_one_layer()
        payoff = Payoff(np.zeros(inner.n_rows), np.array([0.0, 1.0]), PROBABILITY, float(not maximize))
        found = component_solver.solve_by_component(inner, endless[part.states], payoff, limits)
        v[part.states], choice[part.states] = found.v, part.rows[found.choice]
    # The added term allows for rounding in the difference.
    bound = found.error_bound if maximize or found.error_bound == 0 else found.error_bound + UNIT_ROUNDOFF
    return replace(found, v=v if maximize else 1 - v, choice=choice, error_bound=bound), ~is_open[:n]


def total_reward(
    mdp: MDP,
    goal: Any,
    maximize: bool = True,
    tolerance: float = DEFAULT_TOLERANCE,
    policy: Any = None,
    **limits: Unpack[SolverLimits],
) -> BoundedValues:
    """Find the maximum or minimum expected total reward until a goal is reached, or the reward of a policy.

    A run that never reaches the goal has an infinite reward, whether rewards are maximized or minimized. The only
    exception are runs with unbounded costs if rewards are maximized: their reward is minus infinity, so policies avoid
    them. The maximum is therefore infinite if some policy misses the goal with positive probability without unbounded
    costs, and the minimum is infinite if no policy reaches the goal almost surely. If rewards are minimized, a value of
    minus infinity means that the total decreases without limit the longer a run stays away from the goal. From these
    states, the returned policy need not lead to the goal.

    Args:
        mdp: The MDP. Use `validate` to check an MDP of unknown origin. The total includes the value of a terminal in
            the goal. The rewards of terminals are ignored.
        goal: bool ``[n_states]``, or ``[n_columns]`` to include terminals, or a list of names of states. A run stops
            in the goal.
        maximize: If False, find the minimum reward, for example of costs as positive rewards.
        tolerance: Stop at this error bound, in the unit of the rewards, by default 1e-10.
        policy: Policy to evaluate, in a form that `MDP.under` accepts. If given, ``choice[s]`` is ``s``, the only row
            of state ``s`` in the chain of the policy.
        **limits: Maximum number of sweeps, maximum duration and progress (see `SolverLimits`).

    Returns:
        Expected total reward from each state, with bounds, and a policy that attains it.

    Raises:
        SolveError: If an option is out of range, a value is too large for floating point, or no solver proves a bound.
            If ``policy`` is invalid or mixes actions into a transition probability below 2.23e-308. If rewards of both
            signs are minimized and their average might be 0 in a run that never ends.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        A coin is tossed until it shows heads, and each toss costs 1. The cost is infinite if the goal may be missed:

        >>> from punish_fast.mdp import from_rows
        >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})], [(0, {1: 1.0})], [(1, {0: 0.5, 3: 0.5})]], terminals=[0])
        >>> total_reward(mdp, np.array([False, True, False]), maximize=False).v.round(6)
        array([ 2.,  0., inf])
    """
    check_arrays(mdp, maximize)
    within = limits_of(tolerance, limits)
    if policy is not None:
        found, error = evaluated(mdp, policy, lambda chain: _total_reward(chain, goal, True, within))
        if error == 0:
            return found
        lower, upper = np.nextafter(found.lower - error, -np.inf), np.nextafter(found.upper + error, np.inf)
        return replace(found, lower=lower, upper=upper, error_bound=found.error_bound + error)
    return _total_reward(mdp, goal, maximize, within)


def _total_reward(mdp: MDP, goal: Any, maximize: bool, limits: SolverOptions) -> BoundedValues:
    mdp = normalized(mdp.expanded()).without_zeros()
    goal = columns_of(mdp, "goal", goal)
    graph, n = TransitionGraph(mdp, goal), mdp.n_states
    ends = np.zeros(mdp.n_columns - n) if mdp.terminal_value is None else mdp.terminal_value
    costs, is_sure = False, np.ones(mdp.n_columns, dtype=bool)
    if maximize:
        never = graph.never_reach(goal)
        missing = _missing(mdp, goal, never, limits)
        missed = graph.may_reach(missing.found).found
        infinite = missed[:n]
        leads = ~graph.stays(~missed)
        leads[mdp.state_ptr[:-1][~infinite]] = True
        safe = np.where(missing.row >= 0, missing.row, np.where(infinite, graph.first_rows(missing.found, leads), -1))
        costs = bool((graph.may_reach(never.found).found & ~missed).any())
        if costs:
            is_sure = graph.surely_reach(goal).found
    else:
        is_sure, safe = graph.surely_reach(goal)
        infinite = ~is_sure[:n]
    rows = graph.stays(is_sure)
    v = np.where(infinite, np.inf, np.where(is_sure[:n], 0.0, -np.inf))
    choice, bound = np.where(safe >= 0, safe, mdp.state_ptr[:-1]), 0.0
    finite = (v == 0) & ~goal[:n]
    if finite.any():
        rows &= rows_of_states(mdp, finite)
        sign = 1.0 if maximize else -1.0
        part = restricted(mdp, rows, np.append(sign * ends, 0.0), sign * mdp.reward)
        found = _largest(part.mdp, limits, costs) if maximize else _least_cost(part.mdp, limits)
        v[part.states], bound = sign * found.v + 0.0, found.error_bound
        choice[part.states] = part.rows[found.choice]
    return bounded(v, np.where(goal[:n], 0.0, bound), choice, rows_of(mdp))


def _largest(mdp: MDP, limits: SolverOptions, may_not_end: bool = False) -> Exact:
    """Find the maximum total reward of policies whose runs end.

    If ``may_not_end`` is True, end components that pay nothing are collapsed. After that, all other runs that never
    end must have infinite cost, and every state must have a policy whose runs end.
    """
    inner = replace(limits, tolerance=limits.tolerance / 2)
    if may_not_end:
        quotient = collapsed(mdp, np.ones(mdp.n_states, dtype=bool), pays=True, stays=False)
        found = quotient.lifted(component_solver.largest_total(quotient.mdp, _payoff(quotient.mdp), inner, True))
    else:
        found = component_solver.largest_total(mdp, _payoff(mdp), inner)
    return component_solver.first_of_ties(mdp, _payoff(mdp), found, limits, must_end=True)


def _payoff(mdp: MDP) -> Payoff:
    return Payoff(mdp.reward, mdp.terminal_reward)


def _least_cost(mdp: MDP, limits: SolverOptions) -> Exact:
    """Find the maximum total reward of policies that almost surely terminate. Every state must have one."""
    number, _, inside = end_components(mdp)
    if len(inside) == 0:
        return _largest(mdp, limits)
    if len(earning := earning_rows(mdp, number, inside)) == 0:
        return _largest(mdp, limits, may_not_end=True)
    unbounded = _unbounded(mdp, number, earning, limits)
    v, bound = np.where(unbounded.found[: mdp.n_states], np.inf, 0.0), 0.0
    choice = unbounded.row
    rest = v == 0
    if rest.any():
        part = restricted(mdp, rows_of_states(mdp, rest), np.append(mdp.terminal_reward, 0.0))
        found = _largest(part.mdp, limits, may_not_end=True)
        v[part.states], bound = found.v, found.error_bound
        choice[part.states] = part.rows[found.choice]
    return Exact(v, choice, bound, rounds=0)


def _missing(mdp: MDP, goal: Any, never: Ways, limits: SolverOptions) -> Ways:
    """Find columns where runs can stay away from the goal without unbounded costs, and the rows that stay there.

    Runs that miss the goal without unbounded costs lead to these columns. ``never`` contains the columns from which
    some policy never reaches the goal.
    """
    n, state_of = mdp.n_states, states_of_rows(mdp)
    if mdp.reward.min(initial=0) >= 0 or not never.found[:n].any():
        return never
    number, _, inside = end_components(mdp, never.found[:n])
    free = end_components(mdp, never.found[:n], mdp.reward >= 0)[2]
    row = np.full(n, -1, dtype=np.int64)
    # In descending order, so that the first row of each state is written last.
    row[state_of[free][::-1]] = free[::-1]
    if len(rows := inside[~np.isin(number[state_of[inside]], number[state_of[free]])]):
        gains, _ = signed_gains(mdp, number, rows, limits)
        misses = gains.bracket.upper[gains.component] >= 0
        row[gains.part.states[misses]] = gains.rows[misses]
    found = ~goal
    found[:n] = row >= 0
    return Ways(found, row)


def _unbounded(mdp: MDP, number: np.ndarray, earning: np.ndarray, limits: SolverOptions) -> Ways:
    """Find the states from which a run can collect unlimited rewards in end components with the rows ``earning``."""
    gains, is_open = signed_gains(mdp, number, earning, limits)
    if is_open.any():
        k = int(is_open.argmax())
        low, high, n = 0 - gains.bracket.upper[k], 0 - gains.bracket.lower[k], int((gains.component == k).sum())
        told = f"in a component of {n} states for an average of {low:.1e} to {high:.1e} per step, which may be 0"
        cure = "rewards of both signs cannot be minimized in this case"
        raise SolveError(f"reward: play can continue forever {told}; {cure}")
    is_paid = gains.bracket.lower[gains.component] > 0
    paid = gains.part.states[is_paid]
    ways = TransitionGraph(mdp).may_reach(marks_at(mdp.n_columns, paid))
    ways.row[paid] = gains.rows[is_paid]
    return ways

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

*Maximum.* End components without the goal miss it. Their cost is unbounded if their maximum average reward is negative
(``component_gains.py``). If its sign is unknown, `total_reward` raises `SolveError`. Only components with rewards of
both signs need this test. States that can reach
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

import numpy as np

from punish_fast.mdp.graph.end_components import end_components
from punish_fast.mdp.graph.qualitative import TransitionGraph, Ways
from punish_fast.mdp.graph.row_selection import marks_at, restricted, restriction, rows_of_states, states_of_rows
from punish_fast.mdp.methods.component_gains import Gains
from punish_fast.mdp.methods.totals import Probability, RewardUntil, Undiscounted
from punish_fast.mdp.model.limits import MAX_SWEEPS, SolveError, SolverOptions, quiet
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.process import UNIT_ROUNDOFF
from punish_fast.mdp.model.results import PROBABILITY
from punish_fast.mdp.model.solution import Climb, Exact, Payoff

# Precisions as fractions of the largest reward, tried in this order until the sign of a component's gain is known.
_PRECISIONS = (1e-2, 1e-5, 1e-9, 0.0)


def find_probability(climb: Climb, problem: Probability) -> Exact:
    """Find the maximum or minimum probability of reaching a goal.

    The minimum is 1 minus the maximum probability of evading the goal.
    """
    mdp, goal, maximize = problem.mdp, problem.goal, problem.maximize
    n, graph = mdp.n_states, TransitionGraph(mdp, goal | problem.stops)
    sure = graph.surely_reach(goal) if maximize else graph.never_reach(goal)
    is_open = graph.may_reach(sure.found).found & ~sure.found
    endless = graph.may_avoid(~is_open)[:n]
    v, choice = sure.found[:n].astype(np.float64), np.where(sure.row >= 0, sure.row, mdp.state_ptr[:-1])
    found = Exact(v, choice, 0.0, 0, reason="graph")
    if is_open[:n].any():
        part = restriction(mdp, rows_of_states(mdp, is_open[:n]), np.array([0.0, 1.0]), sure.found)
        inner = part.mdp.in_one_layer()
        payoff = Payoff(np.zeros(inner.n_rows), np.array([0.0, 1.0]), PROBABILITY, float(not maximize))
        found = climb(Undiscounted(inner, endless[part.states], payoff, problem.limits))
        v[part.states], choice[part.states] = found.v, part.rows[found.choice]
    problem.is_exact = ~is_open[:n]
    # The added term allows for rounding in the difference.
    bound = found.error_bound if maximize or found.error_bound == 0 else found.error_bound + UNIT_ROUNDOFF
    return replace(found, v=v if maximize else 1 - v, choice=choice, error_bound=bound)


def find_reward(climb: Climb, problem: RewardUntil) -> Exact:
    """Find the maximum or minimum expected total reward until a goal is reached."""
    mdp, goal, limits, maximize = problem
    graph, n = TransitionGraph(mdp, goal), mdp.n_states
    ends = np.zeros(mdp.n_columns - n) if mdp.terminal_value is None else mdp.terminal_value
    costs, is_sure = False, np.ones(mdp.n_columns, dtype=bool)
    if maximize:
        never = graph.never_reach(goal)
        missing = _missing(climb, mdp, goal, never, limits)
        missed = graph.may_reach(missing.found).found
        infinite = missed[:n]
        leads = ~graph.stays(~missed)
        leads[mdp.state_ptr[:-1][~infinite]] = True
        safe = np.where(missing.row >= 0, missing.row, np.where(infinite, graph.first_rows(missing.found, leads), -1))
        costs = bool((graph.may_reach(never.found).found & ~missed).any())
        is_sure = graph.surely_reach(goal).found if costs else is_sure
    else:
        is_sure, safe = graph.surely_reach(goal)
        infinite = ~is_sure[:n]
    rows = graph.stays(is_sure)
    v = np.where(infinite, np.inf, np.where(is_sure[:n], 0.0, -np.inf))
    found = Exact(v, np.where(safe >= 0, safe, mdp.state_ptr[:-1]), 0.0, 0)
    finite = (v == 0) & ~goal[:n]
    if finite.any():
        rows &= rows_of_states(mdp, finite)
        sign = 1.0 if maximize else -1.0
        part = restricted(mdp, rows, np.append(sign * ends, 0.0), sign * mdp.reward)
        best = climb(_ending(part.mdp, limits, costs)) if maximize else _least_cost(climb, part.mdp, limits)
        v[part.states], found.choice[part.states] = sign * best.v + 0.0, part.rows[best.choice]
        found = replace(best, v=v, choice=found.choice, q=None)
    return found


def _ending(mdp: MDP, limits: SolverOptions, may_not_end: bool) -> Undiscounted:
    """Return the problem of the maximum total reward if runs must end, although they might not under some policy."""
    endless = np.full(mdp.n_states, may_not_end)
    return Undiscounted(mdp, endless, Payoff(mdp.reward, mdp.terminal_reward), limits, must_end=True)


def _least_cost(climb: Climb, mdp: MDP, limits: SolverOptions) -> Exact:
    """Find the maximum total reward of policies that almost surely terminate. Every state must have one."""
    number, _, inside = end_components(mdp)
    if len(earning := _earning_rows(mdp, number, inside)) == 0:
        return climb(_ending(mdp, limits, len(inside) > 0))
    unbounded = _unbounded(climb, mdp, number, earning, limits)
    v, choice, bound = np.where(unbounded.found[: mdp.n_states], np.inf, 0.0), unbounded.row, 0.0
    if (rest := v == 0).any():
        part = restricted(mdp, rows_of_states(mdp, rest), np.append(mdp.terminal_reward, 0.0))
        found = climb(_ending(part.mdp, limits, may_not_end=True))
        v[part.states], choice[part.states], bound = found.v, part.rows[found.choice], found.error_bound
    return Exact(v, choice, bound, rounds=0)


def _missing(climb: Climb, mdp: MDP, goal: np.ndarray, never: Ways, limits: SolverOptions) -> Ways:
    """Find columns where runs can stay away from the goal without unbounded costs, and the rows that stay there.

    Runs that miss the goal without unbounded costs lead to these columns. ``never`` contains the columns from which
    some policy never reaches the goal.
    """
    n, state_of = mdp.n_states, states_of_rows(mdp)
    if mdp.reward.min(initial=0) >= 0 or not never.found[:n].any():
        return never
    free = end_components(mdp, never.found[:n], mdp.reward >= 0)[2]
    row = np.full(n, -1, dtype=np.int64)
    # In descending order, so that the first row of each state is written last.
    row[state_of[free][::-1]] = free[::-1]
    # Other components without positive rewards have unbounded costs.
    number, _, inside = end_components(mdp, never.found[:n] & (mdp.reward.max() > 0))
    rows = _earning_rows(mdp, number, inside[~np.isin(number[state_of[inside]], number[state_of[free]])])
    if len(rows):
        gains = _signed_gains(climb, mdp, number, rows, limits, maximize=True)
        misses = gains.bracket.upper[gains.component] >= 0
        row[gains.part.states[misses]] = gains.rows[misses]
    found = ~goal
    found[:n] = row >= 0
    return Ways(found, row)


def _unbounded(climb: Climb, mdp: MDP, number: np.ndarray, earning: np.ndarray, limits: SolverOptions) -> Ways:
    """Find the states from which a run can collect unlimited rewards in end components with the rows ``earning``."""
    gains = _signed_gains(climb, mdp, number, earning, limits, maximize=False)
    is_paid = gains.bracket.lower[gains.component] > 0
    paid = gains.part.states[is_paid]
    ways = TransitionGraph(mdp).may_reach(marks_at(mdp.n_columns, paid))
    ways.row[paid] = gains.rows[is_paid]
    return ways


def _earning_rows(mdp: MDP, number: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return those rows of end components (see `end_components`) whose component has a row with a positive reward."""
    component = number[states_of_rows(mdp)[inside]]
    return np.asarray(inside[np.isin(component, component[mdp.reward[inside] > 0])])


def _signed_gains(
    climb: Climb, mdp: MDP, number: np.ndarray, rows: np.ndarray, limits: SolverOptions, maximize: bool
) -> Gains:
    """Bracket the maximum average reward of end components until its sign is known.

    ``rows``, int64 ``[k]``, contains the rows of the components. If the aim is to minimize, their rewards are negated,
    and averages of exactly 0 are refused, because they do not determine the total.

    Raises:
        SolveError: If the sign is still unknown with the highest precision or after the deadline.
    """
    largest = float(np.abs(mdp.reward[rows]).max())
    for precision in _PRECISIONS:
        climb(gains := Gains(mdp, number, rows, quiet(limits, precision * largest, MAX_SWEEPS)))
        low, high = gains.bracket.lower, gains.bracket.upper
        is_unknown = (high >= 0) & ((low < 0) if maximize else (low <= 0))
        if not is_unknown.any():
            return gains
    if limits.is_over:
        raise SolveError(f"max_seconds: the sign of an average is unknown after {limits.max_seconds:g} s; use more")
    k = int(is_unknown.argmax())
    least, most = (low[k], high[k]) if maximize else (0 - high[k], 0 - low[k])
    told = "is 0" if least == most else f"is from {least:.1e} to {most:.1e} and may be 0"
    told = f"in a component of {gains.sizes[k]} states, where the average reward per step {told}"
    raise SolveError(f"reward: play can continue forever {told}, so totals are unknown; use a discount")

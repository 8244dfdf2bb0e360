"""Probabilities and rewards within a number of steps, invariants, and total rewards without a goal.

Probabilities within ``k`` steps are values of ``k`` backward steps (``finite_horizon.py``) in an MDP in which runs stop
in the goal and in states to avoid. The value after the last step is 1 in the goal and 0 elsewhere. A minimum is a
maximum of negative values, so no rounding is added. A run always stays in a set if it never reaches the complement, so
the maximum probability of staying is 1 minus the minimum probability of reaching the complement [Baier and Katoen 2008,
sec. 10.6].

**Total rewards without a goal.** If no reward is negative, the maximum is infinite exactly in states that can reach an
end component with a positive reward, because a policy can collect this reward again and again. From all other states,
end components pay nothing. The minimum is exactly 0 in states from which some policy never collects a reward or the
value of a terminal, unless a value is negative. The ladder finds the other values like costs without a discount: runs
that never end have unbounded rewards or eventually collect none.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from punish_fast.mdp.bounds.stopping_rule import terminal_values
from punish_fast.mdp.graph.end_components import end_components
from punish_fast.mdp.graph.qualitative import TransitionGraph, columns_of
from punish_fast.mdp.graph.row_selection import marks_at, restricted, restriction, rows_of_states, states_of_rows
from punish_fast.mdp.ladder import climb
from punish_fast.mdp.methods.layered_sweeps import Layers
from punish_fast.mdp.methods.totals import Probability
from punish_fast.mdp.model.limits import DEFAULT_TOLERANCE, SolveError, check_whole, limits_of
from punish_fast.mdp.model.mdp import MDP, check_arrays, negated, normalized
from punish_fast.mdp.model.results import PROBABILITY, ValueRange, rows_of
from punish_fast.mdp.model.solution import BoundedValues, bounded
from punish_fast.mdp.objectives.finite_horizon import finite_horizon


def reach_within(mdp: MDP, goal: Any, n_steps: int, maximize: bool = True, avoid: Any = None) -> BoundedValues:
    """Find the maximum or minimum probability of reaching a goal within a number of steps.

    Args:
        mdp: The MDP. Its rewards are ignored.
        goal: bool ``[n_states]``, or ``[n_columns]`` to include terminals, or a list of names of states.
        n_steps: Maximum number of steps, at least 0.
        maximize: If False, find the minimum probability.
        avoid: States in the same form as the goal. They end a run without success unless they belong to the goal. None
            by default.

    Returns:
        Probability from each state, with bounds. ``choice`` contains the rows of the first step. Rows with the same
        probability within ``n_steps`` steps are tied, even if one of them usually reaches the goal earlier.

    Raises:
        SolveError: If an argument is invalid.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        A coin shows heads within three tosses:

        >>> from punish_fast.mdp import from_rows
        >>> mdp = from_rows([[(0, {0: 0.5, 1: 0.5})]], terminals=[0])
        >>> reach_within(mdp, np.array([False, True]), 3).v
        array([0.875])
    """
    check_arrays(mdp, maximize)
    mdp = normalized(mdp.expanded())
    goal, n = columns_of(mdp, "goal", goal), mdp.n_states
    is_open = ~(goal | columns_of(mdp, "avoid", avoid))[:n]
    v, bound, choice = goal[:n].astype(np.float64), 0.0, mdp.state_ptr[:-1].copy()
    check_whole("n_steps", n_steps, least=0)
    if n_steps > 0 and is_open.any():
        part = restriction(mdp, rows_of_states(mdp, is_open), np.zeros(2), goal.astype(np.int64))
        paid = _without_rewards(part.mdp.in_one_layer())
        worth = np.append(np.zeros(paid.n_columns - 1), 1.0)
        found = finite_horizon(paid, n_steps, terminal_value=worth, keep_all=False, maximize=maximize)
        v[part.states], choice[part.states], bound = found.v[0], part.rows[found.choice[0]], found.error_bound
    # The probability is exactly 0 or 1 in states where the run has ended.
    return bounded(v, np.where(is_open, bound, 0.0), choice, rows_of(mdp), PROBABILITY)


def stay_probability(
    mdp: MDP,
    safe: Any,
    n_steps: int | None = None,
    maximize: bool = True,
    tolerance: float = DEFAULT_TOLERANCE,
) -> BoundedValues:
    """Find the maximum or minimum probability that all states visited are safe.

    Args:
        mdp: The MDP. Its rewards are ignored.
        safe: bool ``[n_states]``, or ``[n_columns]`` to include terminals, which are safe by default. A list of the
            names of all safe states and terminals is also allowed.
        n_steps: Number of steps, at least 0. Unlimited by default.
        maximize: If False, find the minimum probability.
        tolerance: Stop at this error bound, by default 1e-10. Ignored if the number of steps is limited.

    Returns:
        Probability from each state, with bounds, and a policy, or its rows for the first step.

    Raises:
        SolveError: If an argument is invalid or no solver proves a bound.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        A machine breaks down with probability 0.5 in each step:

        >>> from punish_fast.mdp import from_rows
        >>> mdp = from_rows([[(0, {0: 0.5, 1: 0.5})], [(0, {1: 1.0})]])
        >>> stay_probability(mdp, np.array([True, False]), n_steps=2).v
        array([0.25, 0.  ])
    """
    check_arrays(mdp, maximize)
    unsafe, limits = ~columns_of(mdp, "safe", safe, terminals=True), limits_of(tolerance, {})
    if n_steps is not None:
        found: Any = reach_within(mdp, unsafe, n_steps, not maximize)
        is_exact, requested = (found.lower == found.upper) & (found.v == found.v.round()), found.tolerance
    else:
        whole = normalized(mdp.expanded())
        found = climb(problem := Probability(whole, unsafe, np.zeros_like(unsafe), limits, not maximize))
        is_exact, requested = problem.is_exact, limits.tolerance
    # Probabilities of exactly 0 or 1 are not rounded.
    error = np.where(is_exact, 0.0, found.error_bound + np.finfo(np.float64).eps)
    return bounded(1 - found.v, error, found.choice, rows_of(mdp), PROBABILITY, requested)


def cumulative_reward(
    mdp: MDP, n_steps: int | None = None, maximize: bool = True, tolerance: float = DEFAULT_TOLERANCE
) -> BoundedValues:
    """Find the maximum or minimum expected total reward in a number of steps, or without end.

    Args:
        mdp: The MDP. The total includes the values of terminals. If the number of steps is unlimited, the rewards of
            terminals are ignored.
        n_steps: Number of steps, at least 0. Unlimited by default. If it is unlimited, no row may have a negative
            reward.
        maximize: If False, find the minimum reward.
        tolerance: Stop at this error bound, by default 1e-10. Ignored if the number of steps is limited.

    Returns:
        Expected total reward from each state, with bounds, and a policy, or its rows for the first step. Infinite
        values are exact.

    Raises:
        SolveError: If an argument is invalid, a reward is negative and the number of steps is unlimited, or no solver
            proves a bound.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        A machine pays 1 per step until it breaks down with probability 0.5:

        >>> from punish_fast.mdp import from_rows
        >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})], [(0, {1: 1.0})]])
        >>> cumulative_reward(mdp).v, cumulative_reward(mdp, n_steps=2).v
        (array([2., 0.]), array([1.5, 0. ]))
    """
    if n_steps is not None:
        return _stepped(mdp, n_steps, maximize, np.zeros(mdp.n_columns))
    check_arrays(mdp, maximize)
    mdp = normalized(mdp.expanded()).without_zeros().in_one_layer()
    mdp, n = replace(mdp, terminal_reward=0 * mdp.terminal_reward), mdp.n_states
    ends = terminal_values(mdp, 1.0)
    limits, value_range = limits_of(tolerance, {}), ValueRange(ends.min(initial=0), np.inf)
    if mdp.reward[row := int(mdp.reward.argmin())] < 0:
        told = "without a goal or a number of steps, total rewards need rewards of at least 0"
        raise SolveError(f"reward: {mdp.reward[row]:g} in row {row} is negative; {told}")
    if not maximize:
        found, is_zero = climb(Layers(negated(mdp), 1.0, limits)), _never_paid(mdp, ends)[:n]
        v, error = np.where(is_zero, 0.0, 0.0 - found.v), np.where(is_zero, 0.0, found.error_bound)
        return bounded(v, error, found.choice, rows_of(mdp), value_range, limits.tolerance)
    number, _, inside = end_components(mdp)
    state_of = states_of_rows(mdp)
    paying = inside[mdp.reward[inside] > 0]
    members = inside[np.isin(number[state_of[inside]], number[state_of[paying]])]
    graph, is_paid = TransitionGraph(mdp), marks_at(mdp.n_columns, state_of[paying])
    infinite = graph.may_reach(is_paid).found[:n]
    # In a component with a reward, the policy stays and collects the reward again and again.
    allowed = marks_at(mdp.n_rows, members) | ~rows_of_states(mdp, marks_at(n, state_of[members]))
    v, bound, choice = np.where(infinite, np.inf, 0.0), 0.0, graph.first_rows(is_paid, allowed)
    choice[state_of[paying[::-1]]] = paying[::-1]
    if not infinite.all():
        part = restricted(mdp, rows_of_states(mdp, ~infinite), np.append(ends, 0.0))
        found = climb(Layers(part.mdp, 1.0, limits))
        v[part.states], choice[part.states], bound = found.v, part.rows[found.choice], found.error_bound
    return bounded(v, bound, choice, rows_of(mdp), value_range, limits.tolerance)


def reward_at_step(mdp: MDP, n_steps: int, maximize: bool = True) -> BoundedValues:
    """Find the maximum or minimum expected reward of a single step.

    Args:
        mdp: The MDP. The values of terminals are not counted, because they are not rewards of a step.
        n_steps: Number of steps before the reward is paid, at least 0.
        maximize: If False, find the minimum reward.

    Returns:
        Expected reward from each state, with bounds. ``choice`` contains the rows of the first step. If ``n_steps`` is
        0, these rows pay the reward.

    Raises:
        SolveError: If an argument is invalid.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        A machine pays 1 per step until it breaks down with probability 0.5:

        >>> from punish_fast.mdp import from_rows
        >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})], [(0, {1: 1.0})]])
        >>> reward_at_step(mdp, 2).v
        array([0.25, 0.  ])
    """
    check_arrays(mdp, maximize)
    best = np.maximum if maximize else np.minimum
    worth = np.concatenate([best.reduceat(mdp.reward, mdp.state_ptr[:-1]), mdp.terminal_reward])
    found = _stepped(_without_rewards(normalized(mdp)), n_steps, maximize, worth)
    pays = np.flatnonzero(mdp.reward == worth[states_of_rows(mdp)])
    return found if n_steps > 0 else replace(found, choice=pays[np.searchsorted(pays, mdp.state_ptr[:-1])])


def next_probability(mdp: MDP, goal: Any, maximize: bool = True) -> BoundedValues:
    """Find the maximum or minimum probability that the next state belongs to a goal.

    Args:
        mdp: The MDP. Its rewards are ignored.
        goal: bool ``[n_states]``, or ``[n_columns]`` to include terminals, or a list of names of states.
        maximize: If False, find the minimum probability.

    Returns:
        Probability from each state, with bounds, and a policy that attains it.

    Raises:
        SolveError: If the goal is invalid.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        >>> from punish_fast.mdp import from_rows
        >>> mdp = from_rows([[(0, {0: 0.5, 1: 0.5})], [(0, {1: 1.0})]])
        >>> next_probability(mdp, np.array([False, True])).v
        array([0.5, 1. ])
    """
    check_arrays(mdp, maximize)
    worth = columns_of(mdp, "goal", goal).astype(np.float64)
    found = finite_horizon(_without_rewards(mdp), 1, terminal_value=worth, maximize=maximize).at()
    return bounded(found.v, found.error_bound, found.choice, found.rows, PROBABILITY)


def _stepped(mdp: MDP, n_steps: int, maximize: bool, worth: np.ndarray) -> BoundedValues:
    """Find the best total of the rewards in ``n_steps`` steps and the values ``worth`` after the last step."""
    check_whole("n_steps", n_steps, least=0)
    if n_steps == 0:
        return bounded(worth[: mdp.n_states].copy(), 0.0, mdp.state_ptr[:-1].copy(), rows_of(mdp))
    return finite_horizon(mdp, n_steps, terminal_value=worth, keep_all=False, maximize=maximize).at()


def _never_paid(mdp: MDP, ends: np.ndarray) -> np.ndarray:
    """Return the columns from which some policy never collects a reward or the value of a terminal.

    The result, bool ``[n_columns]``, is empty if a value in ``ends``, float64 ``[n_terminals]``, is negative.
    """
    is_stuck = np.append(np.minimum.reduceat(mdp.reward, mdp.state_ptr[:-1]) > 0, ends != 0)
    return TransitionGraph(mdp).may_avoid(is_stuck, mdp.reward > 0) & (ends >= 0).all()


def _without_rewards(mdp: MDP) -> MDP:
    return replace(mdp, reward=0 * mdp.reward, terminal_reward=0 * mdp.terminal_reward, terminal_value=None)

"""Probabilities of reaching a set of states, and expected total rewards until then, with certified bounds.

The solution of both problems is described in ``goals.py``.
"""

from typing import Any, Unpack

import numpy as np

from punish_fast.mdp.chain.induced_chain import evaluated
from punish_fast.mdp.graph.qualitative import columns_of
from punish_fast.mdp.ladder import climb
from punish_fast.mdp.methods.totals import Probability, RewardUntil
from punish_fast.mdp.model.limits import DEFAULT_TOLERANCE, SolverLimits, limits_of
from punish_fast.mdp.model.mdp import MDP, check_arrays, normalized
from punish_fast.mdp.model.results import PROBABILITY, rows_of
from punish_fast.mdp.model.solution import BoundedValues, bounded


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
    goal, stops = columns_of(mdp, "goal", goal), columns_of(mdp, "avoid", avoid)
    found = climb(problem := Probability(mdp, goal, stops, within, maximize))
    error = np.where(problem.is_exact, 0.0, found.error_bound)
    return bounded(found.v, error, found.choice, rows, PROBABILITY, within.tolerance)


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
            If ``policy`` is invalid or mixes actions into a transition probability below 2.23e-308. If the average
            reward of a run that never ends might be 0, and rewards are minimized or this average might be negative.
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

    def solved(mdp: MDP) -> BoundedValues:
        mdp = normalized(mdp.expanded()).without_zeros()
        columns = columns_of(mdp, "goal", goal)
        found = climb(RewardUntil(mdp, columns, within, maximize or policy is not None))
        error = np.where(columns[: mdp.n_states], 0.0, found.error_bound)
        return bounded(found.v, error, found.choice, rows_of(mdp), tolerance=within.tolerance)

    return solved(mdp) if policy is None else evaluated(mdp, policy, solved)

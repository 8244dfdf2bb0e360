"""The maximum and minimum probabilities of reaching a set of states, with certified bounds.

*Maximum*: states that cannot reach the goal have probability 0, and states from which some policy almost surely reaches
the goal have probability 1; both sets are found in the graph (``qualitative.py``). The remaining states form an MDP
with two terminals, one for each set. After the end components of this MDP are collapsed (``end_components.py``), the
maximum probability of reaching the second terminal is bounded from both sides (``component_brackets.py``).

*Minimum*: let ``Z`` be the states from which some policy never reaches the goal. The other states contain no end
component without the goal, since a policy that stays in it would never reach the goal. From these states, play
therefore leads to ``Z`` or to the goal under every policy, and the minimum probability is 1 minus the maximum
probability of reaching ``Z`` first [Baier and Katoen 2008, sec. 10.6]. This maximum is found as described above, but
without end components to collapse.

The returned policy attains the probabilities up to the error bound.
"""

from dataclasses import replace

import numpy as np

from punish_fast.mdp.bounds.rounding import UNIT_ROUNDOFF
from punish_fast.mdp.chain.induced_chain import induced_chain
from punish_fast.mdp.conversion.construction import normalized
from punish_fast.mdp.graph.qualitative import TransitionGraph, Ways, columns_of
from punish_fast.mdp.graph.row_selection import restriction, rows_of_states
from punish_fast.mdp.methods.component_solver import solve_by_component
from punish_fast.mdp.methods.exact_iteration import PROBABILITY, Exact, Payoff
from punish_fast.mdp.model import MDP, check_arrays
from punish_fast.mdp.solution import ObjectiveValues
from punish_fast.mdp.solve_options import DEFAULT_TOLERANCE, MAX_SWEEPS, Effort, Progress, check_options


def reach_probability(
    mdp: MDP,
    goal: np.ndarray,
    maximize: bool = True,
    avoid: np.ndarray | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    progress: Progress | None = None,
    max_sweeps: int = MAX_SWEEPS,
    weight: np.ndarray | None = None,
) -> ObjectiveValues:
    """Find the maximum or minimum probability of reaching a goal, or the probability under a policy.

    Args:
        mdp: The MDP; its rewards are ignored. Use `check` to validate an MDP of unknown origin.
        goal: bool ``[n_states]``, or ``[n_columns]`` to include terminals.
        maximize: If False, find the minimum probability.
        avoid: bool ``[n_states]`` or ``[n_columns]``, states in which play fails unless they belong to the goal; none
            by default.
        tolerance: Stop at this error bound.
        progress: Called as ``progress("solve", sweeps, error_bound)`` after every sweep.
        max_sweeps: Maximum number of sweeps over a strongly connected component. If 50 to 1,000 sweeps (depending on
            the MDP) are not sufficient, policy iteration also evaluates up to 400 policies.
        weight: float64 ``[n_rows]``, policy to evaluate: probability of each row in its state. If given, ``choice[s]``
            is ``s``, the only row of state ``s`` in the chain of the policy.

    Raises:
        SolveError: If an option is out of range, neither sweeps nor policy iteration prove a bound, or
            ``weight`` is not a policy or leads to a transition probability below 2.3e-308.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        A gambler with 1 or 2 of 3 coins may stop, or bet a coin at even odds:

        >>> from punish_fast.mdp.model import from_rows
        >>> states = [[(0, {0: 1.0}), (0, {2: 0.5, 1: 0.5})], [(0, {1: 1.0}), (0, {0: 0.5, 3: 0.5})]]
        >>> found = reach_probability(from_rows(states, terminals=[0, 1]), np.array([False, False, False, True]))
        >>> found.v.round(6), found.choice
        (array([0.333333, 0.666667]), array([1, 3]))
    """
    check_options(tolerance=tolerance)
    check_arrays(mdp)
    mdp = normalized(mdp.expanded() if weight is None else induced_chain(mdp, weight))
    goal = columns_of(mdp, "goal", goal)
    stops = columns_of(mdp, "avoid", avoid) & ~goal
    effort = Effort.of(tolerance, max_sweeps, progress)
    solve = largest_probability if maximize else _largest_evasion
    found, is_sure = solve(mdp, goal, stops, effort)
    v, bound = found.v, found.error_bound
    # `nextafter` allows for rounding in the sums.
    lower = np.where(is_sure, v, np.maximum(np.nextafter(v - bound, -1), 0.0))
    upper = np.where(is_sure, v, np.minimum(np.nextafter(v + bound, 2), 1.0))
    return ObjectiveValues(v, lower, upper, bound, found.choice)


def largest_probability(mdp: MDP, goal: np.ndarray, stops: np.ndarray, effort: Effort) -> tuple[Exact, np.ndarray]:
    """Find the maximum probability of reaching a goal; also return a mask of states where it is exactly 0 or 1."""
    stops = stops.copy()
    stops[mdp.n_states :] |= ~goal[mdp.n_states :]
    graph = TransitionGraph(mdp, goal | stops)
    return _bracket(mdp, graph, graph.surely_reach(goal), effort)


def _largest_evasion(mdp: MDP, goal: np.ndarray, stops: np.ndarray, effort: Effort) -> tuple[Exact, np.ndarray]:
    """Find the minimum probability of reaching a goal, 1 minus the maximum probability of evading the goal.

    Also return a mask of states where the probability is exactly 0 or 1.
    """
    stops = stops.copy()
    stops[mdp.n_states :] |= ~goal[mdp.n_states :]
    graph = TransitionGraph(mdp, goal | stops)
    found, is_sure = _bracket(mdp, graph, graph.never_reach(goal), effort, scale=1.0)
    # The added term allows for rounding in the difference.
    bound = found.error_bound + UNIT_ROUNDOFF if found.error_bound else 0.0
    return replace(found, v=1 - found.v, error_bound=bound), is_sure


def _bracket(
    mdp: MDP, graph: TransitionGraph, sure: Ways, effort: Effort, scale: float = 0.0
) -> tuple[Exact, np.ndarray]:
    """Find the maximum probability of reaching the columns ``sure.found``, where the policy takes ``sure.row``.

    Also return a mask of states where the probability is exactly 0 or 1.
    """
    n = mdp.n_states
    is_open = graph.may_reach(sure.found).found & ~sure.found
    endless = graph.may_avoid(~is_open)[:n]
    v, bound, work = sure.found[:n].astype(np.float64), 0.0, (0, 0)
    choice = np.where(sure.row >= 0, sure.row, mdp.state_ptr[:-1])
    if is_open[:n].any():
        rows = rows_of_states(mdp, is_open[:n])
        part = restriction(mdp, rows, sure.found, np.array([0.0, 1.0]), mdp.reward)
        inner = part.mdp.in_one_layer()
        payoff = Payoff(np.zeros(inner.n_rows), np.array([0.0, 1.0]), PROBABILITY, scale)
        found, _ = solve_by_component(inner, endless[part.states], payoff, effort)
        v[part.states], bound, work = found.v, found.error_bound, (found.rounds, found.policies)
        choice[part.states] = part.rows[found.choice]
    return Exact(v, choice, bound, *work), ~is_open[:n]

"""The largest and the smallest probability of reaching a set of states, between certified bounds.

*Largest*: states that cannot reach the goal have 0, and those from which some policy reaches it almost surely have 1;
both are found in the graph (``graph.py``). What is left is a process whose terminals are these two, and the largest
probability of the one is bracketed from both sides (``component_brackets.py``), after its end components are collapsed
(``end_components.py``).

*Smallest*: let ``Z`` be the states from which some policy never reaches the goal. All other states have no end
component without the goal, since staying in it would never reach the goal; so play from there leads to ``Z`` or to
the goal under every policy, and the smallest probability is 1 less the largest one of reaching ``Z`` first [Baier and
Katoen 2008, sec. 10.6]. That one is found as above, and needs no end component collapsed.

The policy returned attains its probability up to the error bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from punish_fast.mdp.graph import TransitionGraph, Ways, columns_of
from punish_fast.mdp.induced_chain import induced_chain
from punish_fast.mdp.model import MDP, check_arrays, check_finite
from punish_fast.mdp.restriction import restriction
from punish_fast.mdp.row_selection import rows_of_states
from punish_fast.mdp.solve_options import DEFAULT_TOLERANCE, check_options
from punish_fast.mdp.solver import Progress, solve_total

_UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2


@dataclass(frozen=True, eq=False)
class ReachProbability:
    """Probabilities of reaching a goal.

    Attributes:
        v: float64 ``[n_states]``, the largest or smallest probability.
        lower: float64 ``[n_states]``, lower bounds of it.
        upper: float64 ``[n_states]``, upper bounds.
        error_bound: Upper bound on the error of ``v`` in the sup norm.
        choice: int64 ``[n_states]``, the row of each state that a policy takes which attains ``v``.
        maximize: Whether these are the largest probabilities.
    """

    v: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    error_bound: float
    choice: np.ndarray
    maximize: bool

    def __repr__(self) -> str:
        kind = "largest" if self.maximize else "smallest"
        return f"ReachProbability({len(self.v):,} states, {kind}, error bound {self.error_bound:.1e})"


def reach_probability(
    mdp: MDP,
    goal: np.ndarray,
    maximize: bool = True,
    avoid: np.ndarray | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    progress: Progress | None = None,
) -> ReachProbability:
    """Find the largest or smallest probability of reaching a goal.

    Args:
        mdp: The process; its rewards are ignored. `check` validates one of unknown origin.
        goal: bool ``[n_states]``, or ``[n_columns]`` if it has terminals.
        maximize: Whether to find the largest probability.
        avoid: bool, likewise, where play fails unless they are in the goal; by default none.
        tolerance: Stop at this error bound.
        progress: Called as ``progress("solve", sweeps, error_bound)`` after every sweep.

    Raises:
        SolveError: an option is out of range, or play is too long for the tolerance.
        ModelError: the arrays of ``mdp`` do not fit together.

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
    check_finite(mdp.data)
    mdp = mdp.expanded()
    goal = columns_of(mdp, "goal", goal)
    stops = columns_of(mdp, "avoid", avoid) & ~goal
    stops[mdp.n_states :] |= ~goal[mdp.n_states :]
    graph = TransitionGraph(mdp, goal | stops)
    sure = graph.surely_reach(goal) if maximize else graph.never_reach(goal)
    is_open = graph.may_reach(sure.found).found & ~sure.found
    endless = graph.may_avoid(~is_open)
    found = _largest(mdp, sure, _Open(is_open[: mdp.n_states], endless[: mdp.n_states]), tolerance, progress)
    return found if maximize else _complement(found)


def evaluate_reach_probability(
    mdp: MDP,
    weight: np.ndarray,
    goal: np.ndarray,
    avoid: np.ndarray | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
) -> ReachProbability:
    """Find the probability that a policy reaches a goal.

    Args:
        mdp: The process.
        weight: float64 ``[n_rows]``, the probability of each row in its state.
        goal: As in `reach_probability`, like the other arguments and errors.
        avoid: Likewise.
        tolerance: Likewise.

    Returns:
        The probabilities; ``choice`` has the only row of each state of the chain, its number.
    """
    check_arrays(mdp)
    return reach_probability(induced_chain(mdp, weight), goal, avoid=avoid, tolerance=tolerance)


class _Open(NamedTuple):
    """States whose probability is neither 0 nor 1, and those where play may stay among them for ever.

    Attributes:
        states: bool ``[n_states]``.
        endless: bool ``[n_states]``.
    """

    states: np.ndarray
    endless: np.ndarray


def _largest(mdp: MDP, sure: Ways, is_open: _Open, tolerance: float, progress: Progress | None) -> ReachProbability:
    """The largest probability of reaching the columns ``sure``."""
    n = mdp.n_states
    v = sure.found[:n].astype(np.float64)
    lower, upper, bound = v.copy(), v.copy(), 0.0
    choice = np.where(sure.row >= 0, sure.row, mdp.state_ptr[:-1])
    if is_open.states.any():
        rows = rows_of_states(mdp, is_open.states)
        part = restriction(mdp, rows, sure.found, np.array([0.0, 1.0]), mdp.reward)
        endless = is_open.endless[part.states]
        solution = solve_total(part.mdp, endless, "win-probability", tolerance, progress)
        v[part.states], bound = solution.v, solution.error_bound
        # A sum is rounded once.
        lower[part.states] = np.maximum(np.nextafter(solution.v - bound, -1), 0.0)
        upper[part.states] = np.minimum(np.nextafter(solution.v + bound, 2), 1.0)
        choice[part.states] = part.rows[solution.choice]
    return ReachProbability(v, lower, upper, bound, choice, maximize=True)


def _complement(found: ReachProbability) -> ReachProbability:
    """Of the largest probability of never reaching a goal, the smallest of reaching it."""
    # A difference is rounded once.
    lower = np.maximum(np.nextafter(1 - found.upper, -1), 0.0)
    upper = np.minimum(np.nextafter(1 - found.lower, 2), 1.0)
    is_sure = found.upper == found.lower
    lower[is_sure] = upper[is_sure] = 1 - found.v[is_sure]
    bound = found.error_bound + _UNIT_ROUNDOFF if found.error_bound else 0.0
    return ReachProbability(1 - found.v, lower, upper, bound, found.choice, maximize=False)

"""The largest and the smallest probability to reach a set of states, with a certified error.

States in which the answer is clear are ended first: the goal, what is to be avoided, and states from which no policy
reaches the goal. What is left has a win probability (``interval_iteration.py``). A policy keeps away from the goal for
ever only in states where some row leads to such states alone, the *safe* ones, so

    min P(reach the goal) = 1 - max P(reach a safe state before the goal)

[Baier and Katoen 2008, Principles of Model Checking, sections 10.1.1 and 10.6.1].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.mdp.construction import from_scipy
from punish_fast.mdp.model import MDP
from punish_fast.mdp.solver import DEFAULT_TOLERANCE, solve
from punish_fast.mdp.stopping_rule import SolveError
from punish_fast.runtime.parallel import cumulated


class ReachProbabilities(NamedTuple):
    """Probabilities to reach a goal.

    Attributes:
        v: float64 ``[n_states]``, from each state.
        error_bound: Upper bound on their error in the sup norm.
        choice: int64 ``[n_states]``, the row that an optimal policy takes in each state.
    """

    v: np.ndarray
    error_bound: float
    choice: np.ndarray


def reach_probability(
    mdp: MDP,
    goal: np.ndarray,
    maximize: bool = True,
    avoid: np.ndarray | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
) -> ReachProbabilities:
    """Find the largest or smallest probability to reach a goal, before any state that is to be avoided.

    Args:
        mdp: The process; its rewards do not count, and terminals are no goal.
        goal: bool ``[n_states]``, the states to reach.
        maximize: Find the largest probability, not the smallest.
        avoid: bool ``[n_states]``, states that must not come before the goal; none by default.
        tolerance: The error bound to reach.

    Raises:
        SolveError: an argument is no mark for each state, or the tolerance cannot be reached.

    Examples:
        >>> from punish_fast.mdp.model import from_rows
        >>> mdp = from_rows([[(0, {0: 0.5, 1: 0.5}), (0, {0: 0.5, 2: 0.5})], [(0, {1: 1})], [(0, {2: 1})]])
        >>> reach_probability(mdp, np.array([False, True, False])).v
        array([1., 1., 0.])
    """
    mdp = mdp.expanded()
    goal = _marks("goal", goal, mdp)
    avoided = _marks("avoid", np.zeros(mdp.n_states, dtype=bool) if avoid is None else avoid, mdp) & ~goal
    terminals = np.zeros(len(mdp.terminal_reward), dtype=bool)
    if maximize:
        return _largest(mdp, np.append(goal, terminals), avoided, tolerance)
    is_safe, row = _safe(mdp, goal, avoided)
    found = _largest(mdp, np.append(is_safe, ~terminals), goal, tolerance)
    return ReachProbabilities(1.0 - found.v, found.error_bound, np.where(is_safe, row, found.choice))


def _marks(name: str, given: np.ndarray, mdp: MDP) -> np.ndarray:
    marks = np.asarray(given)
    if marks.dtype != bool or marks.shape != (mdp.n_states,):
        raise SolveError(f"{name}: {marks.dtype} {marks.shape}, allowed is bool ({mdp.n_states},)")
    return marks


def _largest(mdp: MDP, goal: np.ndarray, avoid: np.ndarray, tolerance: float) -> ReachProbabilities:
    """The largest probabilities of columns ``goal``, bool ``[n_columns]``, with the states that are clear ended."""
    from scipy.sparse import csr_array

    is_open = _leading_to(mdp, goal, avoid) & ~goal[: mdp.n_states]
    v, choice = goal[: mdp.n_states].astype(np.float64), mdp.state_ptr[:-1].copy()
    n_open = int(is_open.sum())
    if n_open == 0:
        return ReachProbabilities(v, 0.0, choice)
    counts = np.diff(mdp.state_ptr)
    rows = np.flatnonzero(np.repeat(is_open, counts))
    column = np.full(mdp.n_columns, n_open + 1)
    column[goal] = n_open
    column[: mdp.n_states][is_open] = np.arange(n_open)
    matrix = csr_array(mdp.to_scipy())[rows]
    ended = csr_array((matrix.data, column[matrix.indices], matrix.indptr), shape=(len(rows), n_open + 2))
    process = from_scipy(ended, np.zeros(len(rows)), cumulated(counts[is_open]), [1.0, 0.0])
    solution = solve(process, objective="win-probability", tolerance=tolerance)
    v[is_open], choice[is_open] = solution.v, rows[solution.choice]
    return ReachProbabilities(v, solution.error_bound, choice)


def _leading_to(mdp: MDP, goal: np.ndarray, avoid: np.ndarray) -> np.ndarray:
    """The states from which some policy may reach a goal without what is to be avoided, bool ``[n_states]``."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    n = mdp.n_columns
    state = np.repeat(np.repeat(np.arange(mdp.n_states), np.diff(mdp.state_ptr)), np.diff(mdp.indptr))
    used = ~avoid[state] & (mdp.data > 0)
    first = np.flatnonzero(goal)
    # Backwards, from one more node that leads to the goal.
    begin = np.concatenate([mdp.indices[used], np.full(len(first), n)])
    end = np.concatenate([state[used], first])
    graph = csr_array((np.ones(len(end), dtype=np.int8), (begin, end)), shape=(n + 1, n + 1))
    found = breadth_first_order(graph, n, return_predecessors=False)
    leads = np.zeros(n + 1, dtype=bool)
    leads[found] = True
    return leads[: mdp.n_states]


def _safe(mdp: MDP, goal: np.ndarray, avoid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The states from which some policy never reaches the goal for sure, and a row of each that does so.

    States leave the set as soon as each of their rows may lead out of it; terminals and ``avoid`` stay.
    """
    n = mdp.n_states
    state = np.repeat(np.arange(n), np.diff(mdp.state_ptr))
    leading_to = mdp.to_scipy().tocsc()
    is_safe, leaves = ~goal, np.zeros(mdp.n_rows, dtype=bool)
    left = np.diff(mdp.state_ptr)
    out = np.flatnonzero(goal)
    while len(out):
        rows = np.unique(leading_to[:, out].indices)
        rows = rows[~leaves[rows]]
        leaves[rows] = True
        np.subtract.at(left, state[rows], 1)
        emptied = np.unique(state[rows])
        out = emptied[(left[emptied] == 0) & is_safe[emptied] & ~avoid[emptied]]
        is_safe[out] = False
    stays = np.where(leaves, mdp.n_rows, np.arange(mdp.n_rows))
    first = np.minimum(np.minimum.reduceat(stays, mdp.state_ptr[:-1]), mdp.n_rows - 1)
    return is_safe, np.where(avoid, mdp.state_ptr[:-1], first)

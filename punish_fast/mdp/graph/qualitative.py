"""Qualitative reachability: states that can reach or avoid others, with certainty or almost surely.

Whether a probability is 0 or 1 depends only on the graph, so no arithmetic is needed [Baier and Katoen 2008, sec. 10.6;
Forejt, Kwiatkowska, Norman and Parker 2011, sec. 4]. The goal is a set of columns. A run may also stop in other
columns without reaching the goal. States with the following properties are found:

* some policy *may* reach the goal: search backward from it;
* some policy *never* reaches the goal: starting with the goal, remove states whose every row may lead to a removed
  column;
* some policy reaches the goal *almost surely* (with probability 1): of the states that may reach the goal, keep those
  that can reach it by rows that never leave this set. Repeat until no state is dropped.

The corresponding policies are found as well.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.arrays.names import Names, state_name
from punish_fast.mdp.arrays.policy import refuse_mask
from punish_fast.mdp.graph import _graph
from punish_fast.mdp.graph.row_selection import count_rows, first_marked, marks_at, states_of_rows, terminals_of
from punish_fast.mdp.model.limits import SolveError
from punish_fast.mdp.model.mdp import MDP
from punish_fast.runtime.errors import shown
from punish_fast.runtime.lazy_modules import csgraph, sparse


class Ways(NamedTuple):
    """States with a property, and the rows by which a policy achieves it."""

    found: np.ndarray  # bool ``[n_columns]``, columns with the property
    row: np.ndarray  # int64 ``[n_states]``, row taken by the policy, or -1 if no row or every row is suitable


class TransitionGraph:
    """The graph of an MDP. Entries of probability 0 are ignored."""

    def __init__(self, mdp: MDP, stops: np.ndarray | None = None) -> None:
        """List the rows that lead to each column. Runs stop in the columns ``stops``, bool ``[n_columns]``, if any."""
        self._column_ptr = np.zeros(mdp.n_columns + 2, dtype=np.int64)
        self._into = np.empty(mdp.nnz, dtype=np.uint32)
        _graph.read_backwards(mdp.indptr, mdp.indices, mdp.data, self._column_ptr, self._into)
        self._mdp = mdp
        self._state_of = states_of_rows(mdp)
        self._goes_on = np.ones(mdp.n_rows, dtype=bool) if stops is None else ~stops[self._state_of]
        # In states where runs stop, no row is free, and all rows are risky from the beginning.
        self._n_free = count_rows(mdp, self._goes_on)
        self._queue = np.empty(mdp.n_columns, dtype=np.int32)

    def may_reach(self, goal: np.ndarray) -> Ways:
        """Return the states from which some policy reaches a goal column with a positive probability."""
        row = np.empty(self._mdp.n_states, dtype=np.int64)
        return Ways(self._reach(goal, self._goes_on, row), row)

    def search(self, goal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Search backward from the goal columns, breadth first.

        Return the row by which each state was discovered, int64 ``[n_states]``, or -1, and the columns in the order of
        their discovery, int32 ``[k]``.
        """
        found, row = self.may_reach(goal)
        return row, self._queue[: int(found.sum())]

    def never_reach(self, goal: np.ndarray) -> Ways:
        """Return the states from which some policy never reaches a goal column."""
        forced, risky = self._forced(goal)
        row = np.full(self._mdp.n_states, -1, dtype=np.int64)
        free = np.flatnonzero(~risky)[::-1]
        # Write in descending order, so that the first free row of each state is written last.
        row[self._state_of[free]] = free
        row[forced[: self._mdp.n_states]] = -1
        return Ways(~forced, row)

    def may_avoid(self, goal: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the columns from which some policy never reaches a goal column, bool ``[n_columns]``.

        Policies do not take the rows ``out``, bool ``[n_rows]``. States that have only such rows must belong to the
        goal.
        """
        return ~self._forced(goal, out)[0]

    def goes_round(self) -> np.ndarray:
        """Return the rows that may be part of an end component, bool ``[n_rows]``.

        Rows are eliminated if they belong to a state in ``stops``, or if they may lead to a terminal or to a state
        whose rows are all eliminated or self-loops. Self-loops are never eliminated.
        """
        mdp, stays = self._mdp, self._stays
        stuck = terminals_of(mdp)
        stuck[: mdp.n_states] = count_rows(mdp, self._goes_on & ~stays) == 0
        return np.asarray(~self._forced(stuck, stays)[1] | stays)

    @cached_property
    def _stays(self) -> np.ndarray:
        """Mask of self-loops, bool ``[n_rows]``."""
        begins, ends = self._mdp.indptr[:-1], self._mdp.indptr[1:]
        return np.asarray((self._mdp.indices[begins] == self._state_of) & (ends - begins == 1))

    def surely_reach(self, goal: np.ndarray) -> Ways:
        """Return the states from which some policy reaches a goal column with probability 1."""
        found, row = self.may_reach(goal)
        while True:
            # Self-loops do not help to reach the goal and are excluded, because the search might otherwise take one
            # iteration per state.
            forced, risky = self._forced(~found, self._stays)
            found = self._reach(goal, ~risky, row)
            # No state is forced to leave this set, and every state in it reaches the goal.
            if np.array_equal(found, ~forced):
                allowed = ~risky
                allowed[self._mdp.state_ptr[:-1][~found[: self._mdp.n_states] | (self._n_free == 0)]] = True
                return Ways(found, np.where(row >= 0, self.first_rows(goal, allowed), row))

    def first_rows(self, goal: np.ndarray, allowed: np.ndarray) -> np.ndarray:
        """Return the first ``allowed`` row of each state.

        In states from which these rows cannot reach the goal, return the first ``allowed`` row that leads closer to the
        goal.
        """
        mdp, n, first = self._mdp, self._mdp.n_states, first_marked(self._mdp.state_ptr, allowed)
        unused = np.empty(n, dtype=np.int64)
        sure = self._reach(goal, marks_at(mdp.n_rows, first) & self._goes_on, unused)
        reached = self._reach(sure, allowed & self._goes_on, unused)
        if np.array_equal(reached, sure):
            return first
        # Rank of each column in the order in which the search found the columns.
        order = np.full(mdp.n_columns, mdp.n_columns)
        n_reached = int(reached.sum())
        order[self._queue[:n_reached]] = np.arange(n_reached)
        order[sure] = -1
        nearest = np.minimum.reduceat(np.where(mdp.data > 0, order[mdp.indices], mdp.n_columns), mdp.indptr[:-1])
        nearer = np.flatnonzero(allowed & (nearest < order[:n][self._state_of]))[::-1]
        nearer = nearer[~sure[self._state_of[nearer]]]
        first[self._state_of[nearer]] = nearer
        return first

    def reaches(self, goal: np.ndarray, choice: np.ndarray) -> bool:
        """Return True if ``choice``, int64 ``[n_states]``, almost surely reaches the goal from every state."""
        taken, row = marks_at(self._mdp.n_rows, choice), np.empty(self._mdp.n_states, dtype=np.int64)
        return bool(self._reach(goal, taken & self._goes_on, row)[: self._mdp.n_states].all())

    def _reach(self, goal: np.ndarray, allowed: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Return a mask of columns from which allowed rows may lead to the goal. Set ``row`` as in `Ways`."""
        reached = goal.copy()
        row[:] = -1
        args = self._column_ptr, self._into, self._state_of, allowed, reached, row
        _graph.find_ways(*args, *self._queued(goal))
        return reached

    def _forced(self, columns: np.ndarray, out: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the columns from which every policy may reach the given columns, bool ``[n_columns]``.

        Policies do not take the rows ``out``, bool ``[n_rows]``. Also return the rows, bool ``[n_rows]``, that may lead
        to one of the returned columns, belong to a state in ``stops``, or are in ``out``.
        """
        forced, risky, n_free = columns.copy(), ~self._goes_on, self._n_free
        if out is not None:
            risky |= out
            n_free = count_rows(self._mdp, ~risky)
        args = self._column_ptr, self._into, self._state_of, n_free.copy(), forced, risky
        _graph.find_forced(*args, *self._queued(columns))
        return forced, risky

    def _queued(self, columns: np.ndarray) -> tuple[np.ndarray, int]:
        """Return a queue that begins with the given columns, and their number."""
        places = np.flatnonzero(columns)
        self._queue[: len(places)] = places
        return self._queue, len(places)

    def stays(self, columns: np.ndarray) -> np.ndarray:
        """Return the rows, bool ``[n_rows]``, that lead only to ``columns``. The MDP must not store zeros."""
        return np.asarray(np.logical_and.reduceat(columns[self._mdp.indices], self._mdp.indptr[:-1]))


def columns_of(mdp: MDP, name: str, marks: Any, terminals: bool = False) -> np.ndarray:
    """Convert a mask of states or columns, or a list of names, to a mask of columns, bool ``[n_columns]``.

    None stands for no columns. If ``marks`` is a mask of states, all terminals are marked if ``terminals`` is True.
    """
    columns = np.zeros(mdp.n_columns, dtype=bool)
    if marks is None:
        return columns
    refuse_mask(name, marks, SolveError)
    if mdp.names.index and isinstance(marks, list | tuple | set) and not {*map(type, marks)} <= {bool, np.bool_, list}:
        for state in marks:
            if state not in mdp.names.index:
                raise SolveError(f"{name}: {shown(state)} is not the name of a state")
            columns[mdp.names.index[state]] = True
        return columns
    mask, n, n_columns = np.asarray(marks), mdp.n_states, mdp.n_columns
    if mask.dtype != bool or mask.shape not in ((n,), (n_columns,)):
        told = f"bool {mask.shape}" if mask.dtype == bool else shown(marks)
        names = f"a list of names, such as {shown([marks if isinstance(marks, str) else mdp.names.state(0)])}, or "
        before, after = (names, "") if mdp.names.index else ("", ", because states have no names")
        allowed = f"{before}bool ({n},){f', or ({n_columns},) with terminals' * (n_columns > n)}{after}"
        raise SolveError(f"{name}: {told} is not allowed; it must be {allowed}")
    columns[: len(mask)], columns[len(mask) :] = mask, terminals
    return columns


def endless_states(mdp: MDP) -> np.ndarray:
    """Return the states from which runs continue forever under some policy, bool ``[n_states]``."""
    return TransitionGraph(mdp).may_avoid(terminals_of(mdp))[: mdp.n_states]


# Allowed and other trajectories, for messages about all methods together, about sweeps, and about a given policy.
ENDLESS = "ends, or continues without rewards or at unbounded costs", "can collect unbounded or canceling rewards"
SWEPT = "ends or continues without rewards", "can continue forever with rewards or costs"
EVALUATED = "ends", "never ends under this policy"


def endless_error(endless: np.ndarray, names: Names, found: tuple[str, str] = ENDLESS) -> SolveError:
    """Return the error about the ``endless`` states, bool ``[n_states]``, from which runs might not end."""
    first, (allowed, told) = state_name(names, endless.argmax()), found
    cure = "use a discount below 1, total_reward (costs until a goal) or average_reward (reward per step)"
    told = f"play {allowed}, but from {endless.sum()} states (the first is {first}) it {told}"
    return SolveError(f"discount: 1 is allowed only if {told}; {cure}")


def ending_choice(mdp: MDP, choice: np.ndarray) -> np.ndarray:
    """Return ``choice``, int64 ``[n_states]``, if it terminates almost surely. Otherwise return a policy that does."""
    ends = terminals_of(mdp)
    graph = TransitionGraph(mdp)
    return choice if graph.reaches(ends, choice) else graph.surely_reach(ends).row


def approaching_choice(mdp: MDP) -> np.ndarray:
    """Return the row of each state, int64 ``[n_states]``, that is most likely to reduce the distance to a terminal."""
    rows, n = mdp.to_scipy().tocoo(), mdp.n_columns
    rows.eliminate_zeros()
    state = states_of_rows(mdp)[rows.row]
    backwards = sparse.coo_array((rows.data, (rows.col, state)), shape=(n, n)).tocsr()
    ends = np.arange(mdp.n_states, n)
    distance = csgraph.dijkstra(backwards, unweighted=True, indices=ends, min_only=True)
    approaches = rows.data * (distance[rows.col] < distance[state])
    probability = np.bincount(rows.row, weights=approaches, minlength=mdp.n_rows)
    largest = np.maximum.reduceat(probability, mdp.state_ptr[:-1])
    return first_marked(mdp.state_ptr, probability >= largest[states_of_rows(mdp)])


def reachable_states(mdp: MDP, first: np.ndarray) -> np.ndarray:
    """Return the states, int64 ``[k]`` in ascending order, that can be reached from ``first``, including ``first``."""
    mdp = mdp.expanded()
    # Terminals have no successors. An additional node leads to the states ``first``.
    n, end = mdp.n_columns, mdp.nnz
    ends = np.full(len(mdp.terminal_reward), end)
    pointers = np.concatenate([mdp.indptr[mdp.state_ptr], ends, [end + len(first)]])
    indices = np.concatenate([mdp.indices, first])
    graph = sparse.csr_array((np.ones(len(indices)), indices, pointers), shape=(n + 1, n + 1))
    found = csgraph.breadth_first_order(graph, n, return_predecessors=False)
    return np.sort(found[found < mdp.n_states]).astype(np.int64)

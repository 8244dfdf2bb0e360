"""End components, collapsed: processes in which play can go on for ever by choice, made into ones in which it ends.

An *end component* is a set of states and of their rows that lead nowhere else, in which every state leads to every
other one: a policy can stay there for ever and visit all of it. If its rows pay nothing, moving within it costs
nothing, so all its states have one value; but every constant solves its equations, and no sweep finds the right one.
There it takes what a policy can do in the end: leave by any row of any of the states, or stay for ever, which pays
nothing. So the *quotient* has one state for each maximal end component, whose rows are those that leave it, and one
more, that leads to a terminal of worth 0 [de Alfaro 1997; Haddad and Monmege 2018, Theor. Comput. Sci. 735]. If no
other rows can be kept up for ever, play in the quotient ends under every policy, and every error bound for such
processes holds for the quotient, hence for the process.

Maximal end components are found by strongly connected components: drop rows that cannot be part of endless play, and
then rows that lead to states where only dropped rows, or rows that stay in the state, are left; find the components of
the remaining rows, drop the rows that might leave their component, and repeat until no row is dropped.

**Greedy play leaves.** Staying in a component for one more step has the same value as leaving it, so a greedy policy
might never leave. The policy leaves by the row that the policy of the quotient takes, and in other states of the
component takes rows that lead nearer to it. Rows before these are put two ties (``policy.py``) below the value of their
state, but never below the 0 of staying, so greedy play takes the same rows unless the value of the component is within
a tie of 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from punish_fast.mdp.chain.elimination import components
from punish_fast.mdp.graph.qualitative import TransitionGraph
from punish_fast.mdp.graph.row_selection import Restriction, restriction, rows_of_states, select_rows, states_of_rows
from punish_fast.mdp.model import MDP
from punish_fast.mdp.policy import preferring
from punish_fast.runtime.parallel import cumulated


@dataclass(frozen=True, eq=False)
class Quotient:
    """A process and what is left of it once its end components are collapsed.

    Attributes:
        mdp: The quotient; its last terminal is what staying for ever leads to. Layers are kept, and a component is in
            that of its first state.
        original: The process.
        number: int64 ``[n_states]``, the state of the quotient that each state belongs to.
        first: int64 ``[n_states of the quotient]``, the first state of each.
        row: int64 ``[n_rows of the quotient]``, the row that each one was, or -1 for staying.
        inside: int64 ``[k]``, the rows of end components.
    """

    mdp: MDP
    original: MDP
    number: np.ndarray
    first: np.ndarray
    row: np.ndarray
    inside: np.ndarray

    def lifted(self, v: np.ndarray, q: np.ndarray, choice: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The values of states and rows of the original process, and a policy.

        Args:
            v: float64 ``[n_states of the quotient]``.
            q: float64 ``[n_rows of the quotient]``; the largest of each state is its ``v``.
            choice: int64 ``[n_states of the quotient]``, rows of the quotient.

        Returns:
            float64 ``[n_states]`` and ``[n_rows]``, for which the same holds, and `lifted_choice`. A state has the
            value of its component, and so have the rows inside, unless they come before the one that the policy takes.
        """
        is_row, state = self.row >= 0, states_of_rows(self.original)
        lifted, rows, taken = v[self.number], np.empty(len(state)), self.lifted_choice(choice)
        rows[self.row[is_row]] = q[is_row]
        rows[self.inside] = lifted[state[self.inside]]
        return lifted, preferring(self.original.state_ptr, rows, taken, lifted), taken

    def lifted_choice(self, choice: np.ndarray) -> np.ndarray:
        """The policy of the original process that leaves every component by the row that one of the quotient takes.

        Args:
            choice: int64 ``[n_states of the quotient]``, rows of the quotient.

        Returns:
            int64 ``[n_states]``, rows of the original process; in a component that is not left, the first that stay.
        """
        state, rows = states_of_rows(self.original), self.row[choice]
        lifted: np.ndarray = rows[self.number]
        leaving = _marks(len(lifted), state[rows[rows >= 0]])
        nearer = self.inside[self._leads_nearer(leaving)][::-1]
        moves = nearer[state[lifted[state[nearer]]] != state[nearer]]
        # The first row of each state is written last.
        lifted[state[moves]] = moves
        stays = self.inside[lifted[state[self.inside]] < 0][::-1]
        lifted[state[stays]] = stays
        return lifted

    def _leads_nearer(self, leaving: np.ndarray) -> np.ndarray:
        """Whether each row of ``inside`` may lead nearer to one of the states ``leaving``, bool ``[n_states]``."""
        from scipy.sparse.csgraph import dijkstra

        part = _part(self.original, _marks(self.original.n_rows, self.inside))
        ways_out = np.flatnonzero(leaving[part.states])
        if len(ways_out) == 0:
            return np.zeros(len(self.inside), dtype=bool)
        rows, state = part.mdp.to_scipy(), states_of_rows(part.mdp)
        steps = dijkstra(_graph(rows, state).T, indices=ways_out, unweighted=True, min_only=True)
        return np.asarray(np.minimum.reduceat(steps[rows.indices], rows.indptr[:-1]) < steps[state])


def collapsed(mdp: MDP, endless: np.ndarray, pays: bool, stays: bool = True) -> Quotient:
    """Collapse the maximal end components of the rows that pay nothing.

    Args:
        endless: bool ``[n_states]``, states from which play can go on for ever, which hold all end components.
        pays: Whether rewards count; otherwise, no row pays anything.
        stays: Whether play may stay in a component for ever; if not, every one must have a way out.
    """
    mdp = mdp.expanded().without_zeros()
    state = states_of_rows(mdp)
    number, first, inside = end_components(mdp, endless, mdp.reward == 0 if pays else np.ones(mdp.n_rows, dtype=bool))
    outside = np.delete(np.arange(mdp.n_rows), inside)
    n_states = len(first)
    staying = np.flatnonzero(_marks(n_states, number[state[inside]])) if stays else np.empty(0, dtype=np.int64)
    owner = np.concatenate([number[state[outside]], staying])
    order = np.argsort(owner, kind="stable")
    row = np.concatenate([outside, np.full(len(staying), -1)])[order]
    # Columns that become equal stay apart, so nothing is rounded.
    column = np.concatenate([number, n_states + np.arange(len(mdp.terminal_reward) + 1)]).astype(np.int32)
    quotient = MDP(
        state_ptr=cumulated(np.bincount(owner, minlength=n_states)),
        **select_rows(mdp, row, column)._asdict(),
        reward=np.where(row >= 0, mdp.reward[row], 0.0),
        terminal_reward=np.append(mdp.terminal_reward, 0.0),
        layer_ptr=np.searchsorted(first, mdp.layer_ptr),
        action=np.where(row >= 0, mdp.action[row], 0).astype(mdp.action.dtype),
    )
    return Quotient(quotient, mdp, number, first, row, inside)


def end_components(mdp: MDP, states: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the maximal end components of some states and rows.

    Args:
        states: bool ``[n_states]``.
        rows: bool ``[n_rows]``.

    Returns:
        The number of each state's component, int64 ``[n_states]``, in the order of their first states, where a state
        outside is one of its own; the first state of each; and the rows of all end components, int64 ``[k]``.
    """
    kept = rows & rows_of_states(mdp, states)
    while True:
        part = _part(mdp, kept)
        inside = TransitionGraph(part.mdp, np.arange(part.mdp.n_columns) >= part.mdp.n_states).goes_round()
        if inside.all():
            label = np.append(components(_graph(part.mdp.to_scipy(), states_of_rows(part.mdp))), 0)
            inside = _stays(part.mdp.to_scipy(), label, states_of_rows(part.mdp))
            if inside.all():
                break
        kept[part.rows[~inside]] = False
    leader, first = np.arange(mdp.n_states), np.empty(label.max(initial=0) + 1, dtype=np.int64)
    # The first state of each component is written last.
    n = part.mdp.n_states
    first[label[:n][::-1]] = part.states[::-1]
    leader[part.states] = first[label[:n]]
    leads = leader == np.arange(mdp.n_states)
    return (np.cumsum(leads) - 1)[leader], np.flatnonzero(leads), part.rows


def _part(mdp: MDP, rows: np.ndarray) -> Restriction:
    """The part with the given rows, bool ``[n_rows]``; whatever they lead to besides is one terminal."""
    part = restriction(mdp, rows, np.zeros(mdp.n_columns, dtype=bool), np.zeros(1), mdp.reward)
    return replace(part, mdp=part.mdp.without_zeros())


def _marks(n: int, numbers: np.ndarray) -> np.ndarray:
    """Which of the numbers below ``n`` are given, bool ``[n]``."""
    marks = np.zeros(n, dtype=bool)
    marks[numbers] = True
    return marks


def _stays(rows: Any, label: np.ndarray, state: np.ndarray) -> np.ndarray:
    """Whether each row leads only to columns with the label of its state, bool ``[k]``."""
    begins, lengths = rows.indptr[:-1], np.diff(rows.indptr)
    leaves = label[rows.indices] != np.repeat(label[state], lengths)
    return np.asarray(~np.logical_or.reduceat(leaves, begins))


def _graph(rows: Any, state: np.ndarray) -> Any:
    """Which columns the given rows of the states, in ascending order, lead to."""
    from scipy.sparse import csr_array

    n = rows.shape[1]
    pointers = rows.indptr[np.searchsorted(state, np.arange(n + 1))]
    graph = csr_array((rows.data, rows.indices, pointers), shape=(n, n), copy=True)
    graph.sum_duplicates()
    return graph

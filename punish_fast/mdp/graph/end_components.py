"""Collapse of end components. The result is an MDP whose runs all end.

An *end component* is a set of states, with rows that never leave it, in which all states can reach each other: a policy
can remain there forever and visit all states. If its rows have no reward, moving between its states is free, so all its
states have the same value. However, every sufficiently large constant solves the component's equations, so sweeps might
converge to a wrong value. A policy can leave by any other row of these states, or stay forever without reward. The
*quotient* therefore has one state for each maximal end component, with the rows that may leave it and an additional row
that leads to a terminal of value 0 [de Alfaro 1997; Haddad and Monmege 2018, Theor. Comput. Sci. 735]. If no other rows
can be repeated forever, every policy of the quotient terminates, and error bounds that assume this hold for the
quotient, hence for the original MDP.

Maximal end components are found from strongly connected components. First drop rows that may lead to a terminal, or to
a state with no remaining rows except self-loops, until no such row is left. Then find the strongly connected components
of the remaining rows, and drop the rows that may leave their component. Repeat both steps until no row is dropped.

**Leaving.** Staying in a component for one more step has the same value as leaving it, so a policy that is greedy for
the values might never leave. The returned policy leaves by the row that the policy of the quotient takes, and in other
states of the component it takes rows that lead closer to the state of that row.

**Topological order.** Strongly connected components are sorted so that each comes after its successors. No run returns
to a component that it has left, so in this order, each component needs to be solved only once [Dai, Mausam, Weld and
Goldsmith 2011, J. Artif. Intell. Res. 42].
"""

from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.arrays.names import UNNAMED
from punish_fast.mdp.graph.qualitative import TransitionGraph
from punish_fast.mdp.graph.row_selection import marks_at, restriction, rows_of_states, select_rows, states_of_rows
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.solution import Exact
from punish_fast.runtime.lazy_modules import csgraph, sparse
from punish_fast.runtime.parallel import cumulated


class Quotient(NamedTuple):
    """An MDP whose end components have been collapsed."""

    # The quotient. Its last terminal represents staying forever, and each component is in the layer of its first state.
    mdp: MDP
    original: MDP
    number: np.ndarray  # int64 ``[n_states]``, quotient state of each original state
    first: np.ndarray  # int64 ``[n_quotient_states]``, first original state of each quotient state
    row: np.ndarray  # int64 ``[n_quotient_rows]``, original row of each quotient row, or -1 for staying
    inside: np.ndarray  # int64 ``[k]``, original rows of end components

    def lifted(self, found: Exact) -> Exact:
        """Convert values of the quotient to values of the original MDP.

        States of a component and rows inside it have the component's value. Row values are converted if they exist.
        """
        v, q = found.v[self.number], None
        if found.q is not None:
            is_row, q = self.row >= 0, np.empty(self.original.n_rows)
            q[self.row[is_row]] = found.q[is_row]
            q[self.inside] = v[states_of_rows(self.original)[self.inside]]
        return replace(found, v=v, q=q, choice=self.lifted_choice(found.choice))

    def lifted_choice(self, choice: np.ndarray) -> np.ndarray:
        """Convert the policy ``choice`` of the quotient to a policy of the original MDP, int64 ``[n_states]``."""
        mdp, state, rows = self.original, states_of_rows(self.original), self.row[choice]
        lifted: np.ndarray = rows[self.number]
        is_inside = marks_at(mdp.n_states, state[self.inside])
        allowed = marks_at(mdp.n_rows, self.inside)
        allowed[mdp.state_ptr[:-1][~is_inside]] = True
        first = TransitionGraph(mdp).first_rows(marks_at(mdp.n_columns, state[rows[rows >= 0]]), allowed)
        is_own = (lifted >= 0) & (state[lifted] == np.arange(mdp.n_states))
        return np.where(is_inside & ~is_own, first, lifted)


def collapsed(mdp: MDP, endless: np.ndarray, pays: bool, stays: bool = True) -> Quotient:
    """Collapse the maximal end components of rows without reward.

    Args:
        endless: bool ``[n_states]``, states from which a run can last forever. They must include all end components.
        pays: If False, assume that no row has a reward.
        stays: If False, no run may stay in a component forever, and every component must have an exit.
    """
    mdp = mdp.expanded().without_zeros()
    state = states_of_rows(mdp)
    number, first, inside = end_components(mdp, endless, mdp.reward == 0 if pays else True)
    outside = np.delete(np.arange(mdp.n_rows), inside)
    n_states = len(first)
    staying = np.flatnonzero(marks_at(n_states, number[state[inside]])) if stays else np.empty(0, dtype=np.int64)
    owner = np.concatenate([number[state[outside]], staying])
    order = np.argsort(owner, kind="stable")
    row = np.concatenate([outside, np.full(len(staying), -1)])[order]
    # Entries of a row that now have the same column are not added up, so nothing is rounded.
    column = np.concatenate([number, n_states + np.arange(len(mdp.terminal_reward) + 1)]).astype(np.int32)
    value: Any = None if mdp.terminal_value is None else np.append(mdp.terminal_value, 0.0)
    ends = {"terminal_reward": np.append(mdp.terminal_reward, 0.0), "terminal_value": value, "names": UNNAMED}
    pointers = cumulated(np.bincount(owner, minlength=n_states)), np.searchsorted(first, mdp.layer_ptr)
    quotient = replace(mdp, state_ptr=pointers[0], layer_ptr=pointers[1], **ends, **select_rows(mdp, row, column))
    return Quotient(quotient, mdp, number, first, row, inside)


def end_components(
    mdp: MDP, states: np.ndarray | bool = True, rows: np.ndarray | bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the maximal end components within the given masks of states and rows; True marks all of them.

    Return the component of each state, int64 ``[n_states]``, the first state of each component, int64
    ``[n_components]``, and the rows of all end components, int64 ``[k]``. Components are numbered in the order of their
    first states, and each state outside all end components forms its own component.
    """
    kept = rows & rows_of_states(mdp, np.full(mdp.n_states, states))
    while True:
        # Merge all columns outside into one terminal.
        part = restriction(mdp, kept, np.zeros(1))
        inner = part.mdp.without_zeros()
        inside = TransitionGraph(inner).goes_round()
        if inside.all():
            label = components_of(inner)
            own = np.repeat(label[states_of_rows(inner)], np.diff(inner.indptr))
            inside = np.logical_and.reduceat(label[inner.indices] == own, inner.indptr[:-1])
            if inside.all():
                break
        kept[part.rows[~inside]] = False
    leader, first = np.arange(mdp.n_states), np.empty(label.max(initial=0) + 1, dtype=np.int64)
    # Write in descending order, so that the first state of each component is written last.
    first[label[::-1]] = part.states[::-1]
    leader[part.states] = first[label]
    leads = leader == np.arange(mdp.n_states)
    return (np.cumsum(leads) - 1)[leader], np.flatnonzero(leads), part.rows


def components_of(mdp: MDP) -> np.ndarray:
    """Return the strongly connected component of each state, ``[n_states]``, numbered in topological order."""
    marks, pointers = np.ones(mdp.nnz, dtype=bool), mdp.indptr[mdp.state_ptr]
    graph = sparse.csr_array((marks, mdp.indices, pointers), shape=(mdp.n_states, mdp.n_columns), copy=True)
    graph.sum_duplicates()
    return components(graph[:, : mdp.n_states])


def components(within: Any) -> np.ndarray:
    """Return the strongly connected component of each state. No component leads to one with a higher number."""
    if not within.has_canonical_format:
        # SciPy's search might not terminate if an entry is stored twice.
        within = within.copy()
        within.sum_duplicates()
    # SciPy numbers a component after its successors. A test checks this order.
    return np.asarray(csgraph.connected_components(within, connection="strong")[1])


class Order:
    """MDP whose states are sorted by strongly connected component, in topological order."""

    def __init__(self, mdp: MDP) -> None:
        label = components_of(mdp)
        self.sizes = np.bincount(label)  # int64 [n_components], number of states in each component
        self.states = np.argsort(label, kind="stable")  # int64 [n_states], original indices of the states
        lengths = np.diff(mdp.state_ptr)[self.states]
        state_ptr = cumulated(lengths)
        # Original indices of the rows, int64 [n_rows].
        self.rows = np.repeat(mdp.state_ptr[self.states] - state_ptr[:-1], lengths) + np.arange(mdp.n_rows)
        column = np.arange(mdp.n_columns, dtype=np.int32)
        column[self.states] = np.arange(mdp.n_states, dtype=np.int32)
        self.mdp = replace(mdp, state_ptr=state_ptr, **select_rows(mdp, self.rows, column))  # reordered MDP

    def runs(self, large: int) -> list[np.ndarray]:
        """Divide the components into runs. Each component of at least ``large`` states forms its own run.

        Return the state offsets of each run's components, including the end of the last component.
        """
        boundary, alone = cumulated(self.sizes), np.flatnonzero(self.sizes >= large)
        ends = np.unique(np.concatenate([[0, len(self.sizes)], alone, alone + 1]))
        return [boundary[begin : end + 1] for begin, end in pairwise(ends.tolist())]

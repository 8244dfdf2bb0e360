"""Minimum-degree elimination on the quotient graph (``elimination.py``).

An eliminated state is an *element*, a list of the later states that it connects. Eliminating a state *absorbs* the
elements that contain it into the new element. Each state stores the unabsorbed elements that contain it, and the
neighbors that no element connects to it, in the memory of its original list of neighbors [George and Liu 1989].
"""

from typing import NamedTuple

import numpy as np

from punish_fast.runtime._jit import kernel, routine

# The remaining states of a component are eliminated in a dense matrix once there are at least `_LEAST_DENSE` of them
# and all their degrees are at least `_DENSE_SHARE` times their number.
_LEAST_DENSE, _DENSE_SHARE = 64, 0.3
# Cost of finding a list entry, in multiplications.
_ORDERING = 100.0


class QuotientGraph(NamedTuple):
    """The states of a symmetric graph that are not yet eliminated, and the graph's elements."""

    begin: np.ndarray  # int64 ``[n_states]``, start of each state's elements in ``adjacent``; its neighbors follow
    adjacent: np.ndarray  # int32 ``[n_edges]``, elements and neighbors
    n_elements: np.ndarray  # int32 ``[n_states]``, number of elements of each state
    n_neighbors: np.ndarray  # int32 ``[n_states]``, number of neighbors, which follow the elements
    is_hub: np.ndarray  # bool ``[n_states]``, True for states that are eliminated last, in a dense matrix
    # bool ``[n_states]``, True for states from which a run may leave the component without visiting a later state
    leaks: np.ndarray
    rank: np.ndarray  # int64 ``[n_states]``, index of each eliminated state in the elimination order, or -1
    degree: np.ndarray  # int32 ``[n_states]``, upper bounds on the degrees, not counting hubs
    first: np.ndarray  # int32 ``[n_states + 1]``, first state of each degree, or -1
    beside: np.ndarray  # int32 ``[2, n_states]``, previous and next state of the same degree, or -1
    marks: np.ndarray  # int32 ``[2, n_states]``, the last elimination that visited each state, and each element
    # int32 ``[2, n_states]``, number of members of each element, excluding hubs: in total, and outside the new element
    members: np.ndarray
    is_absorbed: np.ndarray  # bool ``[n_states]``, True for absorbed elements


@kernel
def eliminate_by_degree(graph, component, remaining, most, most_entries):
    """Eliminate states until only hubs and dense components remain.

    Return the number of operations for ordering and elimination, int64 ``ptr``, and int32 ``later``:
    ``later[ptr[k]:ptr[k + 1]]`` lists the later states connected with the state of index ``k``. Stop if the number of
    operations exceeds ``most``. The number is infinite if there are more than ``most_entries`` entries.

    Args:
        graph: The graph. Receives ``rank``.
        component: int32 ``[n_states]``, component of each state.
        remaining: int64 ``[n_components]``, number of states. Receives the number of states that are not eliminated.
    """
    n, k, total = len(component), 0, 0.0
    is_dense = np.zeros(len(remaining), dtype=np.bool_)
    ptr, later = np.zeros(n + 1, dtype=np.int64), np.empty(n + len(graph.adjacent), dtype=np.int32)
    for i in range(n):
        if not graph.is_hub[n - 1 - i]:
            _link(graph, n - 1 - i)
    lowest = 0
    while total <= most:
        while lowest <= n and graph.first[lowest] < 0:
            lowest += 1
        if lowest > n:
            break
        state = graph.first[lowest]
        left, begin = remaining[component[state]], ptr[k]
        if left >= _LEAST_DENSE and graph.degree[state] >= _DENSE_SHARE * left:
            is_dense[component[state]] = True
        _unlink(graph, state)
        if is_dense[component[state]]:
            continue
        if begin + left > len(later):
            later = np.concatenate((later, np.empty_like(later)))
        graph.rank[state], remaining[component[state]] = k, left - 1
        end = _connect(graph, state, later, begin)
        _count_outside(graph, state, later, begin, end)
        for t in range(begin, end):
            if not graph.is_hub[later[t]]:
                lowest = min(lowest, _update(graph, later[t], state, left - 2))
        k += 1
        ptr[k] = end
        # The cost of eliminating the state, in multiplications.
        total += _ORDERING * (end - begin + 1) + (end - begin) ** 2 if end <= most_entries else np.inf
    return total, ptr, later[: ptr[k]]


@routine
def _link(graph, state):
    """Insert a state into the list of states with its degree. Leaving the component counts as a neighbor.

    Return the degree.
    """
    degree = graph.degree[state] + np.int32(graph.leaks[state])
    after = graph.first[degree]
    graph.beside[0, state], graph.beside[1, state] = -1, after
    if after >= 0:
        graph.beside[0, after] = state
    graph.first[degree] = state
    return degree


@routine
def _unlink(graph, state):
    """Remove a state from the list of states with its degree."""
    before, after = graph.beside[0, state], graph.beside[1, state]
    if before >= 0:
        graph.beside[1, before] = after
    else:
        graph.first[graph.degree[state] + np.int32(graph.leaks[state])] = after
    if after >= 0:
        graph.beside[0, after] = before


@routine
def _connect(graph, state, later, begin):
    """List the states that eliminating ``state`` connects, absorb its elements, and return the end of the list."""
    seen, end, n_members = graph.marks[0], begin, 0
    seen[state] = state
    last_element = graph.begin[state] + graph.n_elements[state]
    for q in range(graph.begin[state], last_element):
        element = graph.adjacent[q]
        if not graph.is_absorbed[element]:
            graph.is_absorbed[element] = True
            for t in range(graph.begin[element], graph.begin[element] + graph.n_neighbors[element]):
                if seen[later[t]] != state:
                    seen[later[t]] = state
                    later[end] = later[t]
                    end += 1
    for q in range(last_element, last_element + graph.n_neighbors[state]):
        other = graph.adjacent[q]
        if graph.rank[other] < 0 and seen[other] != state:
            seen[other] = state
            later[end] = other
            end += 1
    # The state is now an element; these entries describe its list of later states.
    graph.begin[state], graph.n_neighbors[state] = begin, end - begin
    for t in range(begin, end):
        n_members += not graph.is_hub[later[t]]
    graph.members[0, state] = n_members
    return end


@routine
def _count_outside(graph, state, later, begin, end):
    """Count the members of each older element that are not in the new element."""
    seen = graph.marks[1]
    for t in range(begin, end):
        other = later[t]
        if graph.is_hub[other]:
            continue
        for q in range(graph.begin[other], graph.begin[other] + graph.n_elements[other]):
            element = graph.adjacent[q]
            if seen[element] != state:
                seen[element] = state
                graph.members[1, element] = graph.members[0, element]
            graph.members[1, element] -= 1


@routine
def _update(graph, other, state, most):
    """Add the new element to one of its members, remove entries it replaces, and update the member's degree bound.

    The degree is at most ``most``. Return the member's degree.
    """
    adjacent, begin = graph.adjacent, graph.begin[other]
    last_element = begin + graph.n_elements[other]
    inside = graph.members[0, state] - 1
    degree, to = inside, begin
    for q in range(begin, last_element):
        element = adjacent[q]
        if not graph.is_absorbed[element]:
            adjacent[to] = element
            to += 1
            degree += graph.members[1, element]
    n_elements = to - begin
    for q in range(last_element, last_element + graph.n_neighbors[other]):
        neighbor = adjacent[q]
        if graph.rank[neighbor] < 0 and graph.marks[0, neighbor] != state:
            adjacent[to] = neighbor
            to += 1
            degree += not graph.is_hub[neighbor]
    # The list has room, because at least one entry was removed: an absorbed element or the state itself.
    adjacent[to] = adjacent[begin + n_elements]
    adjacent[begin + n_elements] = state
    graph.n_elements[other], graph.n_neighbors[other] = n_elements + 1, to - begin - n_elements
    _unlink(graph, other)
    graph.leaks[other] |= graph.leaks[state]
    graph.degree[other] = min(degree, graph.degree[other] + inside, most)
    return _link(graph, other)

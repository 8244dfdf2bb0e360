"""Minimum-degree order, an elimination order that creates few connections between states [Tinney and Walker 1967].

Eliminating a state connects all its neighbours. The state with the fewest neighbours is eliminated next; an upper bound
replaces the exact number of neighbours [Amestoy, Davis and Duff 1996]. Termination counts as a neighbour, so a long
path to it is eliminated from the far end; in the opposite order, the probability of termination might underflow.
*Hubs*, which have very many neighbours, are eliminated last. Once every remaining state of a component is connected
with a large share of the others, these states and the hubs are eliminated in a dense matrix.
"""

from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.chain import _minimum_degree
from punish_fast.mdp.chain._minimum_degree import N_LATER, QuotientGraph

# A hub has more neighbours than the larger of a constant and a multiple of the square root of its component's size.
_LEAST_HUB, _HUB_FACTOR = 64, 10.0
# Speed of multiplications in a dense matrix, relative to multiplications in a sparse one.
_DENSE_SPEED = 4.0
# Maximum number of entries of the factors.
_MOST_ENTRIES = 3e7


class EliminationOrder(NamedTuple):
    """An order of the states of a graph, component by component, and its cost."""

    state: np.ndarray  # int32 ``[n_states]``, states in order
    position: np.ndarray  # int32 ``[n_states]``, position of each state in this order
    first: np.ndarray  # int64 ``[n_components + 1]``, first position of each component
    dense: np.ndarray  # int64 ``[n_components]``, first position of each component that is left to a dense matrix
    begin: np.ndarray  # int64 ``[n_states]``, start of each position's list in ``later``
    end: np.ndarray  # int64 ``[n_states]``, end of each position's list; lists are empty in dense matrices
    later: np.ndarray  # int32, later positions connected with each position when it is eliminated
    operations: float  # Cost of ordering and elimination; the unit is a multiplication in a sparse matrix


def hubs(graph: Any, component: np.ndarray) -> np.ndarray:
    """Return a mask of hubs, bool ``[n_states]``; the arguments are those of `minimum_degree`."""
    most = np.maximum(_LEAST_HUB, _HUB_FACTOR * np.sqrt(np.bincount(component)))
    return np.asarray(np.diff(graph.indptr) > most[component])


def minimum_degree(graph: Any, component: np.ndarray, leaks: np.ndarray, most: float) -> EliminationOrder | None:
    """Return a minimum-degree order, or None if the elimination needs more than ``most`` operations or 3e7 entries.

    ``graph`` is a symmetric SciPy CSR matrix ``[n_states, n_states]`` without diagonal entries or entries that connect
    different components. ``component``, int ``[n_states]``, is the component of each state, and ``leaks``, bool
    ``[n_states]``, marks states that may leave their component.
    """
    n, sizes = len(component), np.bincount(component)
    degree = np.diff(graph.indptr)
    remains = QuotientGraph(
        begin=graph.indptr[:-1].astype(np.int64),
        adjacent=graph.indices.astype(np.int32),
        n_elements=np.zeros(n, dtype=np.int32),
        n_neighbours=degree.astype(np.int32),
        component=component.astype(np.int32),
        is_hub=hubs(graph, component),
        remaining=sizes.astype(np.int64),
        is_dense=np.zeros(len(sizes), dtype=bool),
        degree=np.minimum(degree, n - 1).astype(np.int32),
        first=np.full(n + 1, -1, dtype=np.int32),
        beside=np.empty((2, n), dtype=np.int32),
        marks=np.full((2, n), -1, dtype=np.int32),
        members=np.zeros((2, n), dtype=np.int32),
        is_absorbed=np.zeros(n, dtype=bool),
        leaks=leaks.copy(),
        counts=np.zeros(3, dtype=np.int64),
    )
    _minimum_degree.sort_by_degree(remains)
    rank, ptr = np.full(n, -1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    later = np.empty(n + graph.nnz, dtype=np.int32)
    while (total := _minimum_degree.eliminate_by_degree(remains, rank, ptr, later, most)) < 0:
        if remains.counts[N_LATER] + n <= len(later) or len(later) > _MOST_ENTRIES:
            return None
        later = np.concatenate([later, np.empty_like(later)])
    left = remains.remaining.astype(float)
    total += float((left**3).sum()) / (3 * _DENSE_SPEED)
    if total > most or remains.counts[N_LATER] + (left**2).sum() > _MOST_ENTRIES:
        return None
    state = np.lexsort((np.where(rank < 0, n, rank), component)).astype(np.int32)
    position = np.empty(n, dtype=np.int32)
    position[state] = np.arange(n, dtype=np.int32)
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    ranks = rank[state]
    begin, end = np.where(ranks < 0, 0, ptr[ranks]), np.where(ranks < 0, 0, ptr[ranks + 1])
    later = position[later[: remains.counts[N_LATER]]]
    return EliminationOrder(state, position, first, first[1:] - remains.remaining, begin, end, later, total)

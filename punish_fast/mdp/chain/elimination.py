"""Linear equations of a terminating Markov chain, solved accurately even if the chain takes long to terminate.

For a chain with transition probabilities ``p`` that terminates from every state, and for any ``r``, the equations are

    sum_t p(s, t) (x(s) - x(t))  =  r(s),        x = 0 at terminals.

An elimination that subtracts loses ``log10 N`` digits if the chain runs for ``N`` steps. Two techniques avoid this
loss. *Components*: if states are ordered so that successors come first, the matrix is block triangular, with a block
for each strongly connected component, and components of a single state need no elimination. *State reduction*
[Grassmann, Taksar and Heyman 1985]: to eliminate a state, replace transitions into it by transitions to its successors,
and compute its probability of leaving as a sum, never as one minus the probability of staying. Then nothing is
subtracted, and every digit is correct up to rounding [O'Cinneide 1993]. States are eliminated in an order that creates
few new transitions, first in a sparse matrix and then, once most of the remaining states are connected, in a dense
matrix.

**Minimum-degree order** [Tinney and Walker 1967]. Eliminating a state connects all its neighbors. The state with the
fewest neighbors is eliminated next. An upper bound replaces the exact number of neighbors [Amestoy, Davis and Duff
1996]. Leaving the component counts as a neighbor, so a long path to termination is eliminated from the far end. In the
opposite order, the probability of termination might underflow. *Hubs*, which have very many neighbors, are eliminated
last. Once every remaining state of a component is connected with a large share of the others, these states and the hubs
are eliminated in a dense matrix.
"""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.chain import _elimination, _minimum_degree
from punish_fast.mdp.chain._elimination import ChainEntries, ReducedChain
from punish_fast.mdp.chain._minimum_degree import QuotientGraph
from punish_fast.mdp.chain.decimals import decimals
from punish_fast.mdp.graph.end_components import components
from punish_fast.mdp.model.limits import SolverOptions
from punish_fast.mdp.model.mdp import MDP
from punish_fast.runtime.lazy_modules import csgraph, sparse

# A hub has more neighbors than the larger of a constant and a multiple of the square root of its component's size.
_LEAST_HUB, _HUB_FACTOR = 64, 10.0
# Speed of multiplications in a dense matrix, relative to multiplications in a sparse one.
_DENSE_SPEED = 4.0
# Maximum number of entries in the factors.
_MOST_ENTRIES = 3e7


class EliminationOrder(NamedTuple):
    """Elimination order of a graph's states, component by component, and its cost."""

    state: np.ndarray  # int32 ``[n_states]``, states in order
    position: np.ndarray  # int32 ``[n_states]``, position of each state in this order
    first: np.ndarray  # int64 ``[n_components + 1]``, first position of each component
    dense: np.ndarray  # int64 ``[n_components]``, first position of each component in its dense matrix
    begin: np.ndarray  # int64 ``[n_states]``, start of each position's list in ``later``
    end: np.ndarray  # int64 ``[n_states]``, end of each position's list
    later: np.ndarray  # int32, later positions connected with each position when it is eliminated
    operations: float  # Cost of ordering and elimination, in multiplications in a sparse matrix


def hubs(graph: Any, component: np.ndarray) -> np.ndarray:
    """Return a mask of hubs, bool ``[n_states]``. The arguments are those of `minimum_degree`."""
    most = np.maximum(_LEAST_HUB, _HUB_FACTOR * np.sqrt(np.bincount(component)))
    return np.asarray(np.diff(graph.indptr) > most[component])


def minimum_degree(graph: Any, component: np.ndarray, leaks: np.ndarray, most: float) -> EliminationOrder | None:
    """Return a minimum-degree order, or None if the elimination needs more than ``most`` operations or 3e7 entries.

    ``graph`` is a symmetric SciPy CSR matrix ``[n_states, n_states]`` without diagonal entries or entries that connect
    different components. ``component``, int ``[n_states]``, is the component of each state, and ``leaks``, bool
    ``[n_states]``, marks states that may leave their component.
    """
    n, sizes = len(component), np.bincount(component).astype(np.int64)
    degree, remaining = np.diff(graph.indptr).astype(np.int32), sizes.copy()
    lists = graph.indptr[:-1].astype(np.int64), graph.indices.astype(np.int32), np.zeros(n, dtype=np.int32), degree
    marks = hubs(graph, component), leaks.copy(), np.full(n, -1, dtype=np.int64)
    degrees = degree.copy(), np.full(n + 1, -1, dtype=np.int32), np.empty((2, n), dtype=np.int32)
    elements = np.full((2, n), -1, dtype=np.int32), np.zeros((2, n), dtype=np.int32), np.zeros(n, dtype=bool)
    remains = QuotientGraph(*lists, *marks, *degrees, *elements)
    args = component.astype(np.int32), remaining, most, _MOST_ENTRIES
    total, ptr, later = _minimum_degree.eliminate_by_degree(remains, *args)
    left, rank = remaining.astype(float), remains.rank
    total += float((left**3).sum()) / (3 * _DENSE_SPEED)
    if total > most or len(later) + (left**2).sum() > _MOST_ENTRIES:
        return None
    state = np.lexsort((np.where(rank < 0, n, rank), component)).astype(np.int32)
    position = np.empty(n, dtype=np.int32)
    position[state] = np.arange(n, dtype=np.int32)
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    # In a dense matrix, all later positions are connected.
    ranks, last = rank[state], np.repeat(first[1:], sizes)
    lengths = np.where(ranks < 0, last - 1 - np.arange(n), 0)
    ends = len(later) + np.cumsum(lengths)
    begin, end = np.where(ranks < 0, ends - lengths, ptr[ranks]), np.where(ranks < 0, ends, ptr[ranks + 1])
    dense = (np.arange(k + 1, last[k], dtype=np.int32) for k in np.flatnonzero(ranks < 0).tolist())
    later = np.concatenate([position[later], *dense])
    return EliminationOrder(state, position, first, first[1:] - remaining, begin, end, later, total)


# Maximum number of operations, and number of operations per second.
_MOST_OPERATIONS, _SPEED = 1e10, 3e8
# Number of states in a dense matrix that are eliminated together, and number of other states between two checks of the
# time.
_PANEL, _SLICE = 64, 1024
UNLIMITED = SolverOptions(tolerance=1.0)
# Limits of `patience`, assumed number of policies evaluated, and maximum number of entries for an estimate.
LEAST_PATIENCE, _MOST_SWEEPS, _POLICIES, _MOST_ESTIMATED = 50, 1000, 4, 1_000_000


class Elimination:
    """Factors of a chain that solve its equations for any number of right-hand sides."""

    def __init__(self, chain: Any, before: Elimination | None = None, limits: SolverOptions = UNLIMITED) -> None:
        """Factorize a chain, CSR ``[n_states, n_columns]``.

        The elimination order of ``before`` is reused if both chains have the same sparsity pattern. The limits of
        ``before`` replace ``limits``.
        """
        self._limits: SolverOptions = before._limits if before else limits
        chain = sparse.csr_array(chain, copy=True)
        chain.eliminate_zeros()
        self._pattern = chain.indptr, chain.indices
        is_same = before and all(map(np.array_equal, self._pattern, before._pattern))
        order = before._order if before and is_same else minimum_degree(*_neighbors(chain), affordable(self._limits))
        self._order: EliminationOrder | None = order
        # False if the factors exceed 3e7 entries or 1e10 operations, or after the deadline.
        self.is_affordable = order is not None
        self.nnz = 0  # Number of entries in the factors
        if order is None:
            return
        n = chain.shape[0]
        pointers, indices = chain.indptr.astype(np.int64), chain.indices.astype(np.int32)
        self._chain = ChainEntries(pointers, indices, chain.data.astype(np.float64), *order[:4])
        sizes = order.first[1:] - order.dense
        dense_ptr = np.concatenate([[0], np.cumsum(sizes * (sizes + 1))])
        into, onto = np.zeros(len(order.later)), np.zeros(len(order.later))
        self._leak = np.zeros(n)  # probability of leaving the component when a position is eliminated
        lists, matrices, pivot = (order.begin, order.end, order.later), np.empty(dense_ptr[-1]), np.zeros(n)
        self._reduced = ReducedChain(*lists, into, onto, pivot)
        self.nnz = 2 * len(into)
        earlier = np.zeros(n + 2, dtype=np.int64), np.empty(len(into), np.int32), np.empty(len(into), np.int64)
        _elimination.transpose_later(*lists, *earlier)
        with np.errstate(all="ignore"):
            args = earlier, self._leak, np.zeros(n), dense_ptr, matrices
            for begin in range(0, n, _SLICE):
                if not self._limits.is_over:
                    _elimination.reduce_chain(begin, min(begin + _SLICE, n), self._chain, self._reduced, *args)
            for c in np.flatnonzero(sizes).tolist():
                matrix = matrices[dense_ptr[c] : dense_ptr[c + 1]].reshape(sizes[c], -1)
                _reduce_dense(matrix, pivot[order.dense[c] : order.first[c + 1]], self._limits)
                for k, i in enumerate(range(order.dense[c], order.first[c + 1])):
                    at = slice(order.begin[i], order.end[i])
                    into[at], onto[at], self._leak[i] = matrix[k + 1 :, k], matrix[k, k + 1 : -1], matrix[k, -1]
        self.is_affordable = not self._limits.is_over

    def solve(self, r: np.ndarray) -> np.ndarray:
        """Return the solution for the right-hand side ``r``, ``[n_states]``, floats or decimal numbers.

        The solution is not finite if the chain does not terminate or is too large, or if numbers overflow.
        """
        x: Any = np.full(len(r), np.nan)
        if not self.is_affordable:
            return decimals(x) if r.dtype == object else np.asarray(x)
        if r.dtype == object:
            # Numba does not support decimal numbers, so call the kernel as a Python function. It is faster with lists.
            solve, x = getattr(_elimination.solve_reduced, "py_func", _elimination.solve_reduced), x.tolist()
            solve(*self._decimals, r.tolist(), x)
            x = np.array(x, dtype=object)
        else:
            with np.errstate(all="ignore"):
                _elimination.solve_reduced(self._chain, self._reduced, r, x)
        return np.asarray(x[self._chain.position])

    @cached_property
    def _decimals(self) -> tuple[ChainEntries, ReducedChain]:
        """The chain and its factors as decimal numbers. Every pivot is the sum of the probabilities of leaving."""
        chain, reduced = self._chain, self._reduced
        into, onto, pivot = map(decimals, (reduced.into, reduced.onto, self._leak))
        for k, (begin, end) in enumerate(zip(reduced.begin.tolist(), reduced.end.tolist(), strict=True)):
            pivot[k] += onto[begin:end].sum()
        chain = chain._replace(data=decimals(chain.data))
        reduced = reduced._replace(into=into, onto=onto, pivot=pivot)
        return ChainEntries(*(x.tolist() for x in chain)), ReducedChain(*(x.tolist() for x in reduced))

    def weights(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return stationary weights of an irreducible chain without terminals (``stationary.py``), by state.

        Also return all factors, and the number of later positions connected with each position, ``[n_states]``.
        """
        weight, reduced = np.empty(len(self._chain.state)), self._reduced
        with np.errstate(all="ignore"):
            _elimination.weigh_states(reduced, weight)
        connected = (reduced.end - reduced.begin).astype(np.float64)
        return weight[self._chain.position], np.concatenate([reduced.into, reduced.onto]), connected


def _neighbors(chain: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return connections within components, components of states, and a mask of states that may leave their component.

    The connections are a symmetric CSR matrix, bool ``[n_states, n_states]``.
    """
    n = chain.shape[0]
    component = components(chain[:, :n])
    state = np.repeat(np.arange(n), np.diff(chain.indptr))
    inside = (chain.indices < n) & (chain.indices != state)
    inside[inside] = component[state[inside]] == component[chain.indices[inside]]
    leaks = np.bincount(state[~inside & (chain.indices != state)], minlength=n) > 0
    state, to = state[inside], chain.indices[inside]
    both = np.concatenate([state, to]), np.concatenate([to, state])
    return sparse.csr_array((np.ones(len(both[0]), dtype=bool), both), shape=(n, n)), component, leaks


def _reduce_dense(matrix: np.ndarray, pivot: np.ndarray, limits: SolverOptions) -> None:
    """Eliminate the states of a dense matrix ``[m, m + 1]``, whose last column is the probability of leaving.

    Stop after the deadline of ``limits``.
    """
    m = len(pivot)
    for begin in range(0, m, _PANEL):
        if limits.is_over:
            break
        end = min(begin + _PANEL, m)
        _elimination.reduce_panel(matrix, pivot, begin, end)
        matrix[end:, end:] += matrix[end:, begin:end] @ matrix[begin:end, end:]


def closed_classes(chain: Any) -> list[np.ndarray]:
    """Return the states of each recurrent class of a chain, a dense or sparse matrix ``[n_states, n_states]``."""
    matrix = sparse.csr_array(chain, copy=True)
    matrix.eliminate_zeros()
    label = components(matrix)
    origin = np.repeat(label, np.diff(matrix.indptr))
    is_closed = np.ones(label.max(initial=-1) + 1, dtype=bool)
    is_closed[origin[origin != label[matrix.indices]]] = False
    order = np.argsort(label, kind="stable")
    runs = np.split(order, np.cumsum(np.bincount(label))[:-1])
    return [states for states, closed in zip(runs, is_closed, strict=True) if closed]


def affordable(limits: SolverOptions) -> float:
    """Return the maximum number of operations: 1e10, or fewer if the deadline does not leave enough time."""
    return min(_MOST_OPERATIONS, _SPEED * (limits.deadline - time.monotonic()))


def operations(mdp: MDP, most: float = _MOST_OPERATIONS) -> float:
    """Return the number of operations for eliminating a random policy's chain.

    Return infinity if the number exceeds ``most`` or the factors are too large.
    """
    order = minimum_degree(*_neighbors(_random_chain(mdp)), most)
    return np.inf if order is None else order.operations


def _random_chain(mdp: MDP) -> Any:
    """Return the chain of a random policy, a CSR matrix ``[n_states, n_columns]``."""
    return mdp.to_scipy()[np.random.default_rng(0).integers(mdp.state_ptr[:-1], mdp.state_ptr[1:])]


def patience(mdp: MDP) -> int:
    """Return the number of sweeps, 50 to 1,000, that takes about as long as policy iteration, or 1,000 if unknown."""
    if mdp.nnz > _MOST_ESTIMATED:
        return _MOST_SWEEPS
    graph, component, _ = _neighbors(_random_chain(mdp))
    is_hub = hubs(graph, component)
    others = graph[~is_hub][:, ~is_hub] if is_hub.any() else graph
    n = others.shape[0]
    position = np.arange(n)
    if n > 0:
        position[csgraph.reverse_cuthill_mckee(others, symmetric_mode=True)] = np.arange(n)
    first = position.copy()
    np.minimum.at(first, np.repeat(np.arange(n), np.diff(others.indptr)), position[others.indices])
    n_hubs = float(is_hub.sum())
    estimate = mdp.nnz + float(((position - first + n_hubs) ** 2).sum()) + n_hubs**3 / 3
    return int(np.clip(_POLICIES * estimate / max(mdp.nnz, 1), LEAST_PATIENCE, _MOST_SWEEPS))

"""Stationary distributions of Markov chains, with bounds on their relative errors.

The long-run distribution of a chain is the share of time that it spends in each state. Within a recurrent class it is
the stationary distribution of the class. From an initial distribution, it is a mixture of the stationary distributions
of all classes, weighted by the probabilities of reaching them.

**Stationary weights.** State reduction (``elimination.py``) eliminates one state after another without subtractions.
When a state ``k`` is restored, its weight is

    w(k)  =  sum_i w(i) p(i, k) / p(k, other states),        i later than k in the elimination order.

**Error bound.** If the probabilities of ``t`` rows have a relative error of ``e``, the ratios of stationary weights
have a relative error of at most about ``2 t e`` [Markov chain tree theorem; O'Cinneide 1993]. Eliminating a state that
is connected with ``m`` later states causes roundings of at most ``m + 3`` units in ``m`` rows, and restoring it causes
``2 m + 2`` more. The stored probabilities of a row can have a relative error of four units, and each addition of
entries in the same column rounds once. A row of a policy that mixes ``n`` rows has at most ``4 n + 8`` further
roundings.

**Probabilities of reaching classes.** Add a state that leads to the initial states, and let every recurrent class, in
place of its own transitions, lead to this state. This chain has a single recurrent class. It enters each original class
in proportion to the probability of reaching it, so the weights of the classes are these probabilities up to a factor.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.construction import numbers
from punish_fast.mdp.arrays.names import UNNAMED, Names
from punish_fast.mdp.arrays.policy import SUM_TOLERANCE
from punish_fast.mdp.chain.elimination import UNLIMITED, Elimination, closed_classes
from punish_fast.mdp.graph.row_selection import states_of_rows
from punish_fast.mdp.model.limits import SolveError, SolverOptions
from punish_fast.mdp.model.mdp import MDP, check_arrays
from punish_fast.mdp.model.process import UNIT_ROUNDOFF
from punish_fast.mdp.model.results import ResultTable, row_probabilities
from punish_fast.runtime.errors import as_float, check_allowed, shown
from punish_fast.runtime.lazy_modules import csgraph, sparse

# If all numbers are within these limits, products neither overflow nor lose digits.
_SMALLEST_FACTOR, _LARGEST_FACTOR = 1e-145, 1e145
_SMALLEST_WEIGHT = 1e-290
# Error of a row from stored probabilities, in rounding units: 2 times 4 (see above), and a margin of 1.
_STORED = 9
# Largest relative error for which second-order terms are negligible.
LARGEST_SHARE = 1e-3


def stationary_weights(chain: sparse.csr_array, limits: SolverOptions = UNLIMITED) -> tuple[np.ndarray, float]:
    """Return weights in proportion to the stationary distribution of an irreducible chain, float64 ``[n]``.

    Also return a bound on the relative error of the ratios of weights. It is infinite if the chain is too large, a
    number is out of range, or the deadline of ``limits`` has passed.
    """
    n = chain.shape[0]
    elimination = Elimination(chain, limits=limits)
    if not elimination.is_affordable:
        return np.ones(n), np.inf
    weight, factors, connected = elimination.weights()
    factors = factors[factors != 0]
    with np.errstate(over="ignore"):
        is_within = np.isfinite(weight.sum()) and (weight >= _SMALLEST_WEIGHT).all()
    if not (is_within and (factors >= _SMALLEST_FACTOR).all() and (factors <= _LARGEST_FACTOR).all()):
        return weight, np.inf
    roundings = 2 * connected * (connected + 3) + 2 * connected + 2
    # The number of entries is an upper bound on the number of roundings when equal columns are added.
    return weight, float(roundings.sum() + 2 * chain.nnz + _STORED * (n + 1)) * UNIT_ROUNDOFF


@dataclass(frozen=True, eq=False)
class StationaryDistribution(ResultTable):
    """Share of time that a Markov chain spends in each state in the long run. `stationary_distribution` returns it.

    Attributes:
        p: float64 ``[n_columns]``, share of time in each state, followed by the probability of each terminal. It is
            exactly 0 for states that are not visited in the long run.
        lower: float64 ``[n_columns]``, lower bounds on the shares.
        upper: float64 ``[n_columns]``, upper bounds on the shares.
        names: Names of states and terminals.
    """

    p: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    names: Names = UNNAMED

    def __repr__(self) -> str:
        return f"StationaryDistribution({np.count_nonzero(self.p):,} of {len(self.p):,} columns visited)"

    def _n_lines(self) -> int:
        return len(self.p)

    def _selected(self, lines: Any) -> dict[str, list[Any]]:
        columns = zip(("p", "lower", "upper"), (self.p, self.lower, self.upper), strict=True)
        return {"state": [*map(self.names.state, lines)]} | {name: x[[*lines]].tolist() for name, x in columns}


def stationary_distribution(mdp: MDP, policy: Any = None, initial: Any = None) -> StationaryDistribution:
    """Find the share of time that a policy spends in each state in the long run, with bounds.

    Args:
        mdp: The MDP. Use `validate` to check an MDP of unknown origin.
        policy: Policy in a form that `MDP.under` accepts. It is optional if each state has one row.
        initial: The initial state: a name, or an index if states have no names. Otherwise the probability of each
            initial state: a dictionary ``{state: probability}``, or float64 ``[n_states]``. It is optional if the
            policy has a single recurrent class, because the result does not depend on it.

    Returns:
        The shares of time. The bounds include rounding errors, so the relative error of each share is bounded unless it
        is below 1e-290.

    Raises:
        SolveError: If an argument is invalid or missing, if the policy mixes actions into a transition probability
            below 2.23e-308, or if the chain is too large or its probabilities are too different for a bound.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        A machine breaks down with probability 0.25 after each step, and a repair takes one step:

        >>> from punish_fast.mdp import from_rows
        >>> mdp = from_rows([[(1, {0: 0.75, 1: 0.25})], [(0, {1: 1.0}), (-0.5, {0: 1.0})]])
        >>> stationary_distribution(mdp, policy=np.array([1.0, 0.0, 1.0])).p.round(6)
        array([0.8, 0.2])
    """
    check_arrays(mdp)
    policy = row_probabilities(mdp, np.ones(mdp.n_rows) if policy is None else policy)
    chain = mdp.under(policy).without_zeros()
    n, n_columns = chain.n_states, chain.n_columns
    ends = np.arange(n, n_columns)
    loops = sparse.csr_array((np.ones(len(ends)), (ends - n, ends)), shape=(len(ends), n_columns))
    square = sparse.csr_array(sparse.vstack([chain.to_scipy(), loops]))
    classes = closed_classes(square)
    n_mixed = np.bincount(states_of_rows(mdp)[policy > 0], minlength=n_columns)
    mixing = np.where(n_mixed > 1, 2 * (4 * n_mixed + 8) * UNIT_ROUNDOFF, 0.0)
    entered, reached, error = np.arange(1), np.ones(1), 0.0
    if initial is not None:
        entered, reached, error = _reach_probabilities(square, classes, _initial_distribution(mdp, initial))
        error += float(mixing.sum()) * (error > 0)
    elif len(classes) != 1:
        raise SolveError(f"initial: missing; it is needed because the policy has {len(classes):,} recurrent classes")
    p, errors = np.zeros(n_columns), np.zeros(n_columns)
    for k, probability in zip(entered.tolist(), reached.tolist(), strict=True):
        states, weight, share = classes[k], np.ones(1), error
        if len(states) > 1:
            weight, inner = _proved_weights(square[states][:, states])
            share += inner + float(mixing[states].sum())
        p[states], errors[states] = probability * (weight / fsum(weight)), share
    errors = np.where(errors > 0, 1.01 * errors + 8 * UNIT_ROUNDOFF, 0.0)
    underflow = np.where((errors > 0) & (p < _SMALLEST_WEIGHT), np.finfo(np.float64).tiny, 0.0)
    lower, upper = p * (1 - errors) - underflow, p * (1 + errors) + underflow
    return StationaryDistribution(p, np.maximum(lower, 0.0), np.minimum(upper, 1.0), mdp.names)


def _proved_weights(chain: sparse.csr_array) -> tuple[np.ndarray, float]:
    """Return the results of `stationary_weights`, or raise an error if nothing is proved."""
    weight, share = stationary_weights(chain)
    if not share <= LARGEST_SHARE:
        raise SolveError("policy: its chain is too large, or its probabilities are too different, for a bound")
    return weight, share


def _initial_distribution(mdp: MDP, initial: Any) -> np.ndarray:
    """Return the probability of each initial state, float64 ``[n_states]``."""
    n, index = mdp.n_states, mdp.names.index or Names(range(mdp.n_states)).index
    allowed = f"a state such as {shown(mdp.names.state(0))}, or {{state: probability}} or {n} numbers that add up to 1"
    # A tuple may contain lists, so it might have no hash.
    is_state = isinstance(initial, Hashable) and (not isinstance(initial, tuple) or initial in [*index])
    given = {initial: 1.0} if is_state else initial
    if isinstance(given, Mapping):
        columns = [index.get(state, n) for state in given]
        # The array is too long if a key is unknown or a terminal.
        start = np.zeros(max([n - 1, *columns]) + 1)
        start[columns] = [*map(as_float, given.values())]
    else:
        start = numbers("initial", initial, SolveError)
    is_allowed = start.shape == (n,) and (start >= 0).all() and abs(start.sum() - 1) <= SUM_TOLERANCE
    check_allowed(bool(is_allowed), SolveError, "initial", shown(initial), allowed)
    return start


def _reach_probabilities(
    square: sparse.csr_array, classes: list[np.ndarray], start: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the recurrent classes that may be reached, their probabilities, and a bound on the relative errors."""
    n_columns, n_classes = square.shape[0], len(classes)
    node = np.full(n_columns, -1)
    node[np.concatenate(classes)] = np.repeat(np.arange(n_classes), [len(states) for states in classes])
    passing = np.flatnonzero(node < 0)
    node[passing] = n_classes + np.arange(len(passing))
    origin = n_classes + len(passing)  # the added state
    first = sparse.csr_array(np.pad(start, (0, n_columns - len(start)))[None])
    leaving = sparse.csr_array(sparse.vstack([square[passing], first]))
    nodes = sparse.csr_array((np.ones(n_columns), (np.arange(n_columns), node)), shape=(n_columns, origin + 1))
    back = sparse.csr_array((np.ones(n_classes), (np.arange(n_classes), np.full(n_classes, origin))))
    chain = sparse.csr_array(sparse.vstack([back, leaving @ nodes]))
    visited = np.sort(csgraph.breadth_first_order(chain, origin, return_predecessors=False))
    entered = visited[visited < n_classes]
    if len(entered) == 1:
        return entered, np.ones(1), 0.0
    weight, share = _proved_weights(chain[visited][:, visited])
    reached = weight[: len(entered)] / fsum(weight[: len(entered)])
    return entered, reached, share + 2 * leaving.nnz * UNIT_ROUNDOFF

"""In-place sweeps of total rewards and of their lower and upper bounds (``component_brackets.py``).

The bounds allow for rounding errors, which are proportional to the size of the terms, and for products that underflow.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.mdp.model._bellman import NONE, ONE
from punish_fast.runtime._jit import kernel, routine

# Roundings in a row in addition to one per entry: of the stored probability, the product, the reward and the bound.
FURTHER_ROUNDINGS = 8
_UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2
# Upper bound on the error of a product that underflows.
_SMALLEST = float(np.finfo(np.float64).smallest_subnormal)


class Bounds(NamedTuple):
    """Bounds on values, and the progress of their proof."""

    # Bounds, float64 ``[n_columns]``. The lower bounds of a component are valid once all its states have a row in
    # ``choice``, and the upper bounds once all its states are marked in ``is_above``.
    lower: np.ndarray
    upper: np.ndarray
    choice: np.ndarray  # int64 ``[n_states]``, row with which a policy attains the lower bound; -1 if none is known
    is_above: np.ndarray  # bool ``[n_states]``, True if a backup of the upper bounds did not exceed the state's bound


@routine
def relax_run(first, last, is_descending, tensor, v):
    """Back up states ``first`` to ``last - 1`` in place, in either direction. Return the largest absolute change.

    A row with a self-loop is solved for the value of its state: the reward plus the weighted values of other successors
    is divided by the probability of leaving. This probability is computed as a sum, since one minus the probability of
    staying loses all digits if the state is hardly ever left.
    """
    state_ptr, indptr, indices, data, reward = tensor
    largest = 0.0
    for n_done in range(last - first):
        state = last - ONE - n_done if is_descending else first + n_done
        row = state_ptr[state]
        best = -np.inf
        while row < state_ptr[state + ONE]:
            k, end = indptr[row], indptr[row + ONE]
            total, away = 0.0, 0.0
            while k < end:
                column = np.uint64(indices[k])
                total += data[k] * (0.0 if column == state else v[column])
                away += 0.0 if column == state else data[k]
                k += ONE
            # A row that never leaves its state has no finite value.
            value = (reward[row] + total) / away if away > 0.0 else -np.inf
            best = value if value > best else best
            row += ONE
        change = abs(best - v[state])
        largest = change if change > largest else largest
        v[state] = best
    return largest


@kernel
def relax_components(begin, end, boundary, tensor, v, goal, most):
    """Sweep each component in turn, in place, until no change exceeds ``goal``, but at most ``most`` times.

    A component with a single state is backed up only once.
    """
    for component in range(begin, end):
        first, last = boundary[component], boundary[component + 1]
        n_sweeps, largest = 0, np.inf
        while n_sweeps < most and largest > goal:
            largest = relax_run(first, last, n_sweeps % 2 == 1, tensor, v)
            largest = largest if last - first > ONE else 0.0
            n_sweeps += 1


@routine
def narrow_run(first, last, is_descending, tensor, limits, bounds):
    """Sweep a component's bounds once, in place. Return the number of bounds that are not yet proved."""
    state_ptr, indptr, indices, data, reward = tensor
    lower, upper, choice, is_above = bounds
    n_open = 0
    for n_done in range(last - first):
        state = last - ONE - n_done if is_descending else first + n_done
        low, high, best = -np.inf, -np.inf, NONE
        for row in range(state_ptr[state], state_ptr[state + ONE]):
            k, end = indptr[row], indptr[row + ONE]
            from_below, from_above, size = reward[row], reward[row], abs(reward[row])
            roundings = np.float64(end - k) + FURTHER_ROUNDINGS
            while k < end:
                below, above = lower[indices[k]], upper[indices[k]]
                from_below += data[k] * below
                from_above += data[k] * above
                size += data[k] * max(abs(below), abs(above))
                k += ONE
            error = roundings * (_UNIT_ROUNDOFF * size + _SMALLEST)
            if from_below - error > low:
                low, best = from_below - error, row
            high = max(high, from_above + error)
        low, high = max(low, limits.least), min(high, limits.most)
        if low > lower[state] or (low == lower[state] and choice[state] < 0):
            lower[state], choice[state] = low, best
        if high <= upper[state]:
            upper[state], is_above[state] = high, True
        n_open += (choice[state] < 0) + (not is_above[state])
    return n_open


@kernel
def narrow(begin, end, boundary, tensor, limits, bounds, most):
    """Sweep the bounds of each component in turn until they are proved, but at most ``most`` times.

    Return the index of the first component whose bounds are not proved, or ``end`` if all are proved. Later components
    are not swept.
    """
    for component in range(begin, end):
        first, last = boundary[component], boundary[component + ONE]
        n_sweeps, n_open = 0, 1
        while n_open > 0 and n_sweeps < most:
            n_open = narrow_run(first, last, n_sweeps % 2 == 1, tensor, limits, bounds)
            n_sweeps += 1
        if n_open > 0:
            return component
    return end

"""Sweeps of total rewards, and of their lower and upper bounds, in place; see ``component_brackets.py``.

Rounding errors are allowed for in proportion to the terms, and so is what products lose that underflow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.mdp._bellman import NONE, ONE
from punish_fast.runtime._jit import kernel, routine

# Besides the entries of a row: the stored probabilities, products, the reward, and the bound itself.
FURTHER_ROUNDINGS = 8
_UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2
# Largest error of a product that underflows.
_SMALLEST = float(np.finfo(np.float64).smallest_subnormal)


class ValueRange(NamedTuple):
    """What no value is below or above."""

    least: float
    most: float


class Bounds(NamedTuple):
    """What is known of values.

    Attributes:
        lower: float64 ``[n_columns]``, lower bounds once every state of a component has a row in ``choice``.
        upper: float64 ``[n_columns]``, upper bounds once every state of a component is in ``is_above``.
        choice: int64 ``[n_states]``, rows by which a policy earns the lower bounds, or -1.
        is_above: bool ``[n_states]``, whether a backup of the upper bounds was no higher than the bound.
    """

    lower: np.ndarray
    upper: np.ndarray
    choice: np.ndarray
    is_above: np.ndarray


@routine
def relax_run(first, last, is_descending, tensor, v):
    """Back up the states from ``first`` to ``last``, in place and in their order; return the largest change.

    A row that leads back to its own state is solved for it: the reward and the values of other states are divided by
    the probability of leaving, which is a sum, since one minus the probability of staying has no digits if play hardly
    ever leaves.
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
            # Staying without end has no finite value.
            value = (reward[row] + total) / away if away > 0.0 else -np.inf
            best = value if value > best else best
            row += ONE
        change = abs(best - v[state])
        largest = change if change > largest else largest
        v[state] = best
    return largest


@kernel
def relax_components(begin, end, boundary, tensor, v, goal, most):
    """Solve components one after the other, in place: sweep each until no change exceeds ``goal``, or ``most`` times.

    A component of one state takes one backup.
    """
    for component in range(begin, end):
        first, last = boundary[component], boundary[component + 1]
        n_sweeps, largest = 0, np.inf
        while n_sweeps < most and largest > goal:
            largest = relax_run(first, last, n_sweeps % 2 == 1, tensor, v)
            largest = largest if last - first > ONE else 0.0
            n_sweeps += 1


@kernel
def begin(first, last, distance, limits, v, bounds):
    """Put the bounds of states at their distance, ``[n_columns]``, from their values; nothing is proved."""
    for state in range(first, last):
        bounds.lower[state] = max(v[state] - distance[state], limits.least)
        bounds.upper[state] = min(v[state] + distance[state], limits.most)
        bounds.choice[state] = -1
        bounds.is_above[state] = False


@routine
def narrow_run(first, last, is_descending, tensor, limits, bounds):
    """Sweep the bounds of a component once, in place; return how many of them are not proved yet."""
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
    """Sweep the bounds of components one after the other until they are proved, each at most ``most`` times.

    Returns the number of the first component whose bounds are not proved, or ``end``.
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

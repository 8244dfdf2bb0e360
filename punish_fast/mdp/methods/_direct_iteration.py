"""Policy iteration with one elimination for each policy, on one thread (``direct_iteration.py``).

A *position* is the index of a state in the elimination order. The matrix of a policy's chain is stored by rows. Row
``i`` has entries for the positions from ``first[i]`` to the largest position that the elimination can fill.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.mdp.arrays.policy import TIE
from punish_fast.mdp.model._bellman import ONE, THREE, TWO, Tensor
from punish_fast.mdp.model.process import SMALLEST, UNIT_ROUNDOFF
from punish_fast.runtime._jit import inlined_routine, kernel, routine

# Fraction of the largest absolute value by which a row must be better to replace another row.
_LEAST_GAIN = 1e-15
# Costs of an entry and of a row in a sweep over all rows, including as much for sweeps over the policy's rows, in
# multiplications of an elimination.
_ENTRY_COST, _ROW_COST = 5.0, 100.0
_MOST_REFINEMENTS = 8
# Maximum number of entries of a policy's matrix, and of multiplications of all eliminations. These take at most about
# 0.3 seconds.
_MOST_ENTRIES, _MOST_PRODUCTS = 10_000_000, 1e9
# Roundings of a gain in addition to its sum: stored probability (4), differences (3), products, and the bound.
_FURTHER_ROUNDINGS = 16
# Roundings of a terminal's value. They change the value of a state by no more than the value of the terminal.
_ROUNDINGS_OF_ENDS = 3
# Number of passes that look for states whose successors have known values.
_PASSES = 4
_KNOWN = -1


class Envelope(NamedTuple):
    """Elimination order, and the positions of each row that the elimination can fill."""

    state: np.ndarray  # int64 ``[n_states]``, state of each position
    place: np.ndarray  # int64 ``[n_states]``, position of each state, or -1 if its value is known
    first: np.ndarray  # int64 ``[n_states]``, first position of each row
    last: np.ndarray  # int64 ``[n_states]``, last position of each row, increased during the elimination
    ptr: np.ndarray  # int64 ``[n_states + 1]``, offset of each row in the matrix


@kernel
def iterate_policies(tensor, discount, most, change, v, choice, q):
    """Improve and evaluate policies until an error bound within the tolerance is proved or a limit is reached.

    Return the number of policies evaluated, or -1 if an elimination is too large, and the error bound.

    Args:
        tensor: Arrays of the MDP.
        discount: Discount factor below 1.
        most: Maximum number of policies.
        change: Largest gain, of rows or of the policy, that proves the tolerance.
        v: float64 ``[n_columns]``, initial values of states and exact values of terminals. Receives the final values.
        choice: int64 ``[n_states]``, receives the policy.
        q: float64 ``[n_rows]``, receives row values.
    """
    n, left = len(choice), _MOST_PRODUCTS
    indices = (np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64))
    order = Envelope(*indices, np.empty(n, dtype=np.int64), np.zeros(n + 1, dtype=np.int64))
    choice[:] = tensor.state_ptr[:-1]
    # An elimination of another policy is probably too large as well.
    _, work = _find_order(tensor, discount, choice, left, order, v.copy())
    if work > left:
        return -1, np.inf
    _improve(tensor, discount, v, choice, True, 0.0)
    n_changed, n_policies, is_ascending = _improve(tensor, discount, v, choice, False, 0.0), 0, True
    cost = _ENTRY_COST * len(tensor.indices) + _ROW_COST * len(q)
    while n_policies == 0 or (n_changed > 0 and n_policies < most):
        # Sweep for as long as an elimination takes, unless the number of changes no longer decreases.
        n_last, spent = n + 1, cost
        while 0 < n_changed < n_last and spent < work:
            # Together, these sweeps over the policy's rows cost about the same as a sweep over all rows.
            for _ in range(len(q) // n):
                for state in range(n):
                    v[state] = _row_value(tensor, discount, v, np.uint64(choice[state]))
            is_ascending, n_last, spent = not is_ascending, n_changed, spent + cost
            n_changed = _improve(tensor, discount, v, choice, is_ascending, _LEAST_GAIN)
        work = _evaluate(tensor, discount, left, choice, order, v)
        left -= work
        if left < 0:
            return -1, np.inf
        n_policies, is_ascending = n_policies + 1, not is_ascending
        n_changed = _improve(tensor, discount, v, choice, is_ascending, _LEAST_GAIN)
    # The sum ``v + low`` contains the values in higher precision.
    low, added, error = np.zeros(len(v)), np.zeros(len(v)), np.empty(np.diff(tensor.state_ptr).max())
    paid = Tensor(tensor.state_ptr, tensor.indptr, tensor.indices, tensor.data, q)
    for turn in range(_MOST_REFINEMENTS + 1):
        below, above = _find_gains(tensor, discount, change, v, low, choice, q, error)
        # The gains, choices and row values must belong to the final values, so the last turn does not change these.
        if max(-below, above) <= change or n_policies >= most or turn == _MOST_REFINEMENTS:
            break
        left -= _evaluate(paid, discount, left, choice, order, added)
        if left < 0:
            return -1, np.inf
        n_policies, total = n_policies + 1, low + added
        value = v + total
        low[:] = total - (value - v)
        v[:] = value
    for state in range(n):
        for row in range(tensor.state_ptr[state], tensor.state_ptr[state + 1]):
            q[row] = min(v[state] + q[row], v[state])
        q[choice[state]] = v[state]
    error_bound = max(-below, above) / (1.0 - discount) * (1.0 + 8.0 * UNIT_ROUNDOFF) + np.abs(low).max()
    return n_policies, error_bound + _ROUNDINGS_OF_ENDS * UNIT_ROUNDOFF * np.abs(np.append(v[n:], 0.0)).max()


@routine
def _improve(tensor, discount, v, choice, is_ascending, least_gain):
    """Update each state from the current values, and return the number of choices that changed.

    A choice changes only if another row is better by more than ``least_gain`` times the largest value.
    """
    n, largest, n_changed = len(choice), 0.0, 0
    for column in range(len(v)):
        largest = max(largest, abs(v[column]))
    for i in range(n):
        state = i if is_ascending else n - 1 - i
        best, best_row, own = -np.inf, -1, -np.inf
        for row in range(tensor.state_ptr[state], tensor.state_ptr[state + 1]):
            value = _row_value(tensor, discount, v, row)
            if row == choice[state]:
                own = value
            if value > best:
                best, best_row = value, row
        largest = max(largest, abs(best))
        if best_row >= 0 and not best <= own + least_gain * largest:
            choice[state], n_changed = best_row, n_changed + 1
        v[state] = best
    return n_changed


@inlined_routine
def _row_value(tensor, discount, v, row):
    """Return the value of a row. Separate sums allow the processor to overlap additions."""
    _, indptr, indices, data, reward = tensor
    k, end = indptr[row], indptr[row + ONE]
    if end == k + ONE:
        return reward[row] + discount * v[indices[k]]
    first = second = third = 0.0
    while k + TWO < end:
        first += data[k] * v[indices[k]]
        second += data[k + ONE] * v[indices[k + ONE]]
        third += data[k + TWO] * v[indices[k + TWO]]
        k += THREE
    while k < end:
        first += data[k] * v[indices[k]]
        k += ONE
    return reward[row] + discount * (first + second + third)


@routine
def _find_gains(tensor, discount, change, v, low, choice, q, error):
    """Set ``q`` to the gains of rows, and ``choice`` to the first of the best rows, up to ties.

    Return a lower bound on the gain of the policy, and an upper bound on the gains of all rows, at least 0. If a loose
    error bound proves that the gain of a row is negative, no tighter error bound is computed.
    """
    state_ptr, indptr, indices, data, reward = tensor
    n, below, above, largest, rest, is_finite = len(choice), 0.0, 0.0, 0.0, 1.0 - discount, True
    for column in range(len(v)):
        largest = max(largest, abs(v[column]) + abs(low[column]))
    tie = min(TIE * largest, 0.5 * change)
    for state in range(n):
        begin, value, further, best = state_ptr[state], v[state], low[state], -np.inf
        for row in range(begin, state_ptr[state + 1]):
            total, k, end = 0.0, indptr[row], indptr[row + ONE]
            while k < end:
                total += data[k] * ((v[indices[k]] - value) + (low[indices[k]] - further))
                k += ONE
            gain = (reward[row] - rest * value) + (discount * total - rest * further)
            roundings = np.float64(end - indptr[row]) + _FURTHER_ROUNDINGS
            size = roundings * (UNIT_ROUNDOFF * (abs(reward[row]) + 4.0 * largest) + SMALLEST)
            if not -np.inf < gain < -size:
                size, k = 0.0, indptr[row]
                while k < end:
                    size += data[k] * (abs(v[indices[k]] - value) + abs(low[indices[k]]) + abs(further))
                    k += ONE
                size = abs(reward[row]) + discount * size + rest * (abs(value) + abs(further))
                size = roundings * (UNIT_ROUNDOFF * size + SMALLEST)
                above, is_finite = max(above, gain + size), is_finite and abs(gain) + size < np.inf
            q[row], error[row - begin] = gain, size
            best = gain if gain > best else best
        row = begin
        while q[row] < best - tie:
            row += ONE
        choice[state] = row
        below = min(below, q[row] - error[row - begin])
    return (below, above) if is_finite else (-np.inf, np.inf)


@routine
def _solve_known(tensor, discount, choice, place, v):
    """Compute values that follow directly from known ones, mark these states by -1, and count the other states.

    The values of terminals are known. So are the values of states that lead only to themselves and to known columns.
    """
    _, indptr, indices, data, reward = tensor
    n = len(choice)
    n_open = n
    place[:] = 0
    for turn in range(_PASSES):
        before = n_open
        for i in range(n):
            state = i if turn % 2 == 1 else n - 1 - i
            row = choice[state]
            k, end = indptr[row], indptr[row + 1]
            if place[state] == _KNOWN:
                continue
            paid, leaves = reward[row], 1.0 - discount
            while k < end:
                column = np.int64(indices[k])
                if column != state:
                    if column < n and place[column] != _KNOWN:
                        break
                    paid += discount * data[k] * v[column]
                    leaves += discount * data[k]
                k += ONE
            else:
                v[state], place[state] = paid / leaves, _KNOWN
                n_open -= 1
        if n_open == before:
            break
    return n_open


@routine
def _find_order(tensor, discount, choice, most, order, v):
    """Compute values that are known, and set the order of the other states that takes fewer multiplications.

    Return the number of these states and the number of multiplications, or infinity if it exceeds ``most``.
    """
    n_open = _solve_known(tensor, discount, choice, order.place, v)
    straight = _find_envelope(tensor, choice, n_open, False, most, order)
    work = _find_envelope(tensor, choice, n_open, True, min(most, straight), order)
    if straight < work:
        work = _find_envelope(tensor, choice, n_open, False, most, order)
    return n_open, work


@routine
def _find_envelope(tensor, choice, n_open, is_reversed, most, order):
    """Set the elimination order of the states with unknown values.

    Return the number of multiplications, or infinity if it exceeds ``most``.
    """
    _, indptr, indices, _, _ = tensor
    n, work, furthest, i = len(choice), 0.0, 0, 0
    for state in range(n):
        if order.place[state] != _KNOWN:
            order.place[state] = n_open - 1 - i if is_reversed else i
            order.state[order.place[state]] = state
            i += 1
    for i in range(n_open):
        row = choice[order.state[i]]
        low = high = i
        for k in range(indptr[row], indptr[row + 1]):
            column = np.int64(indices[k])
            if column < n and order.place[column] != _KNOWN:
                low, high = min(low, order.place[column]), max(high, order.place[column])
        furthest = max(furthest, high)
        order.first[i], order.last[i] = low, high
        width = (furthest if low < i else high) - low + 1
        order.ptr[i + 1] = order.ptr[i] + width
        work += width + np.float64(i - low) * (width - 0.5 * (i - low))
        if work > most:
            return np.inf
    return work


@routine
def _evaluate(tensor, discount, left, choice, order, v):
    """Compute the values of the policy, and return the number of multiplications, or infinity if it exceeds ``left``.

    State reduction subtracts no probabilities (``elimination.py``).
    """
    n_open, work = _find_order(tensor, discount, choice, left, order, v)
    if work > left or order.ptr[n_open] > _MOST_ENTRIES:
        return np.inf
    _, indptr, indices, data, reward = tensor
    first, last, ptr = order.first, order.last, order.ptr
    n = len(choice)
    matrix, pivot, out, x = np.zeros(ptr[n_open]), np.empty(n_open), np.empty(n_open), np.empty(n_open)
    for i in range(n_open):
        row, base = choice[order.state[i]], ptr[i] - first[i]
        paid, leaves = 0.0, 0.0
        for k in range(indptr[row], indptr[row + 1]):
            column = np.int64(indices[k])
            if column < n and order.place[column] != _KNOWN:
                matrix[base + order.place[column]] += discount * data[k]
            else:
                paid += discount * data[k] * v[column]
                leaves += discount * data[k]
        paid, leaves = paid + reward[row], leaves + (1.0 - discount)
        k = first[i]
        while k < i:
            if matrix[base + k] == 0.0:
                k += 1
                continue
            share, above = matrix[base + k] / pivot[k], ptr[k] - first[k]
            paid, leaves, last[i] = paid + share * x[k], leaves + share * out[k], max(last[i], last[k])
            k, end = k + 1, last[k] + 1
            if k == i or last[k] + 1 != end:
                _add(share, matrix[above + k : above + end], matrix[base + k : base + end])
                continue
            # Add two rows together to read and write the sum only once.
            other, beside = (matrix[base + k] + share * matrix[above + k]) / pivot[k], ptr[k] - first[k]
            paid, leaves = paid + other * x[k], leaves + other * out[k]
            k += 1
            rows = matrix[above + k : above + end], matrix[beside + k : beside + end]
            _add_both(share, other, rows, matrix[base + k : base + end])
        total = leaves
        for j in range(base + i + 1, base + last[i] + 1):
            total += matrix[j]
        x[i], out[i], pivot[i] = paid, leaves, total
    for i in range(n_open - 1, -1, -1):
        total, base = x[i], ptr[i] - first[i]
        for j in range(i + 1, last[i] + 1):
            total += matrix[base + j] * x[j]
        x[i] = total / pivot[i]
        v[order.state[i]] = x[i]
    return work


@inlined_routine
def _add(share, row, target):
    """Add a multiple of ``row`` to ``target``, float64 ``[n]`` each."""
    for j in range(len(row)):
        target[j] += share * row[j]


@inlined_routine
def _add_both(share, other_share, rows, target):
    """Add multiples of two ``rows`` to ``target``, float64 ``[n]`` each."""
    row, other = rows
    for j in range(len(row)):
        target[j] += share * row[j] + other_share * other[j]

"""Policy iteration with one elimination for each policy, on one thread (``direct_iteration.py``).

A *position* is the index of a state in the elimination order. The matrix of a policy's chain is stored by rows. Row
``i`` has entries for the positions from ``first[i]`` to the largest position that the elimination can fill.
"""

from typing import NamedTuple

import numpy as np

from punish_fast.mdp.model._bellman import ONE, THREE, TWO, Tensor
from punish_fast.runtime._jit import inlined_routine, kernel, routine

# Fraction of the largest absolute value by which a row must be better to replace another row.
_LEAST_GAIN = 1e-15
# Costs of an entry and of a row in a sweep over all rows, including as much for sweeps over the policy's rows, in
# multiplications of an elimination.
_ENTRY_COST, _ROW_COST = 5.0, 100.0
_MOST_REFINEMENTS = 8
# Number of passes that look for states whose successors have known values.
_PASSES = 4
_KNOWN = -1


class PolicyLimits(NamedTuple):
    """Limits and constants of policy iteration."""

    policies: int  # Maximum number of policies
    entries: int  # Maximum number of entries of a policy's matrix
    products: float  # Maximum number of multiplications of all eliminations
    change: float  # Largest gain, of rows or of the policy, that proves the tolerance
    further: int  # Number of roundings of a gain in addition to one per entry
    unit: float  # Unit roundoff
    smallest: float  # Smallest positive number
    tie: float  # Share of the largest value up to which rows tie


class Envelope(NamedTuple):
    """Elimination order, and the positions of each row that the elimination can fill."""

    state: np.ndarray  # int64 ``[n_states]``, state of each position
    place: np.ndarray  # int64 ``[n_states]``, position of each state, or -1 if its value is known
    first: np.ndarray  # int64 ``[n_states]``, first position of each row
    last: np.ndarray  # int64 ``[n_states]``, last position of each row, increased during the elimination
    ptr: np.ndarray  # int64 ``[n_states + 1]``, offset of each row in the matrix


@kernel
def iterate_policies(tensor, discount, limits, v, low, choice, q):
    """Improve and evaluate policies until an error bound within the tolerance is proved or a limit is reached.

    Return the number of policies evaluated, and the smallest and the largest gain that bound the error. The number is
    -1 if an elimination is too large.

    Args:
        tensor: Arrays of the MDP.
        discount: Discount factor below 1.
        limits: Limits of the iteration.
        v: float64 ``[n_columns]``, initial values of states and exact values of terminals. Receives the final values.
        low: float64 ``[n_columns]``, zeros. The sum ``v + low`` contains the values in higher precision.
        choice: int64 ``[n_states]``, receives the policy.
        q: float64 ``[n_rows]``, receives row values.
    """
    n, left = len(choice), limits.products
    indices = (np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64))
    order = Envelope(*indices, np.empty(n, dtype=np.int64), np.zeros(n + 1, dtype=np.int64))
    choice[:] = tensor.state_ptr[:-1]
    # An elimination of another policy is probably too large as well.
    _, work = _find_order(tensor, discount, choice, left, order, v.copy())
    if work > left:
        return -1, -np.inf, np.inf
    _improve(tensor, discount, v, choice, True, 0.0)
    n_changed, n_policies, is_ascending = _improve(tensor, discount, v, choice, False, 0.0), 0, True
    cost = _ENTRY_COST * len(tensor.indices) + _ROW_COST * len(q)
    while n_policies == 0 or (n_changed > 0 and n_policies < limits.policies):
        # Sweep for as long as an elimination takes, unless the number of changes no longer decreases.
        n_last, spent = n + 1, cost
        while 0 < n_changed < n_last and spent < work:
            # Together, these sweeps over the policy's rows cost about the same as a sweep over all rows.
            for _ in range(len(q) // n):
                for state in range(n):
                    v[state] = _row_value(tensor, discount, v, np.uint64(choice[state]))
            is_ascending, n_last, spent = not is_ascending, n_changed, spent + cost
            n_changed = _improve(tensor, discount, v, choice, is_ascending, _LEAST_GAIN)
        work = _evaluate(tensor, discount, limits, left, choice, order, v)
        left -= work
        if left < 0:
            return -1, -np.inf, np.inf
        n_policies, is_ascending = n_policies + 1, not is_ascending
        n_changed = _improve(tensor, discount, v, choice, is_ascending, _LEAST_GAIN)
    change, error = np.zeros(len(v)), np.empty(np.diff(tensor.state_ptr).max())
    paid = Tensor(tensor.state_ptr, tensor.indptr, tensor.indices, tensor.data, q)
    for turn in range(_MOST_REFINEMENTS + 1):
        below, above = _find_gains(tensor, discount, limits, v, low, choice, q, error)
        # The gains, choices and row values must belong to the final values, so the last turn does not change these.
        if max(-below, above) <= limits.change or n_policies >= limits.policies or turn == _MOST_REFINEMENTS:
            break
        left -= _evaluate(paid, discount, limits, left, choice, order, change)
        if left < 0:
            return -1, -np.inf, np.inf
        n_policies, total = n_policies + 1, low + change
        value = v + total
        low[:] = total - (value - v)
        v[:] = value
    for state in range(n):
        for row in range(tensor.state_ptr[state], tensor.state_ptr[state + 1]):
            q[row] = min(v[state] + q[row], v[state])
        q[choice[state]] = v[state]
    return n_policies, below, above


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
def _find_gains(tensor, discount, limits, v, low, choice, q, error):
    """Set ``q`` to the gains of rows, and ``choice`` to the first of the best rows, up to ties.

    Return a lower bound on the gain of the policy, and an upper bound on the gains of all rows.
    """
    state_ptr, indptr, indices, data, reward = tensor
    n, below, above, largest, rest, is_finite = len(choice), 0.0, 0.0, 0.0, 1.0 - discount, True
    for column in range(len(v)):
        largest = max(largest, abs(v[column]))
    tie = min(limits.tie * largest, 0.5 * limits.change)
    for state in range(n):
        begin, best = np.int64(state_ptr[state]), -np.inf
        for row in range(state_ptr[state], state_ptr[state + 1]):
            total, size, k, end = 0.0, 0.0, indptr[row], indptr[row + 1]
            while k < end:
                column = indices[k]
                difference = v[column] - v[state]
                total += data[k] * (difference + (low[column] - low[state]))
                size += data[k] * (abs(difference) + abs(low[column]) + abs(low[state]))
                k += ONE
            q[row] = (reward[row] - rest * v[state]) + (discount * total - rest * low[state])
            size = abs(reward[row]) + discount * size + rest * (abs(v[state]) + abs(low[state]))
            roundings = np.float64(end - indptr[row]) + limits.further
            size = roundings * (limits.unit * size + limits.smallest)
            error[np.int64(row) - begin] = size
            is_finite &= abs(q[row]) + size < np.inf
            above, best = max(above, q[row] + size), max(best, q[row])
        row = begin
        while q[row] < best - tie:
            row += 1
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
def _evaluate(tensor, discount, limits, left, choice, order, v):
    """Compute the values of the policy, and return the number of multiplications, or infinity if it exceeds ``left``.

    State reduction subtracts no probabilities (``elimination.py``).
    """
    n_open, work = _find_order(tensor, discount, choice, left, order, v)
    if work > left or order.ptr[n_open] > limits.entries:
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

"""Arrays of MDPs from the arrays of other libraries.

Any sparse format, order, integer type or memory layout is accepted. The input is checked first. Then a row whose exact
sum differs from 1 by more than rounding is divided by that sum, so every probability is the given one divided by the
exact sum, up to a few rounding units. Duplicate entries of a row are added up with compensated summation. ``mdp.py``
removes zeros. Rewards and the arrays of a matrix are not copied if they need no change. Error messages for invalid
probabilities contain the row and the value.

A table of all actions in all states, ``P[action, state, successor]``, is converted to one row for each state and
action, ordered by state. A reward of minus infinity excludes an action from a state.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.mdp.arrays import _probabilities
from punish_fast.mdp.arrays.names import UNNAMED, Names, entry_name, row_name, state_name
from punish_fast.mdp.arrays.policy import refuse_mask
from punish_fast.mdp.arrays.row_sums import ROUNDING, SUM_TOLERANCE, ModelError, row_sums
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.parallel import cumulated, for_chunks

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MOST_COLUMNS = int(np.iinfo(np.int32).max)
_LARGEST_LABEL = int(np.iinfo(np.uint32).max)


# Sums of larger numbers might overflow.
_LARGEST_COUNT = 1e300

# Checked arguments of `MDP`. Rows may contain zeros.
ModelArrays = dict[str, Any]
# The arrays ``indptr``, ``indices``, ``data`` and ``data_ptr`` of an MDP.
Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]


@np.errstate(all="ignore")
def from_scipy(
    transitions: Any,
    reward: Any,
    state_ptr: Any,
    ends: tuple[Any, Any] = ((), ()),
    action: np.ndarray | None = None,
    normalize: bool = False,
    names: Names = UNNAMED,
) -> ModelArrays:
    """Implement `MDP.from_scipy`.

    ``ends`` are the rewards and the values of terminals, and ``action`` contains row labels.
    """
    pointer, rewards = whole_numbers("state_ptr", state_ptr), vector("reward", reward)
    terminals, values = vector("terminal_reward", ends[0]), vector("terminal_value", ends[1])
    terminals = np.zeros(len(values)) if len(terminals) == 0 else terminals
    matrix = csr_of("transitions", transitions)
    n_rows, n_columns = matrix.shape
    if len(pointer) < 2:
        raise ModelError("state_ptr: there are no states; at least one is needed")
    check_pointer("state_ptr", pointer, n_rows, least=1)
    n_states = len(pointer) - 1
    if n_columns != (wanted := n_states + len(terminals)):
        told = f"it must have {wanted:,}: {n_states:,} states and {len(terminals):,} terminals"
        raise ModelError(f"transitions: has {n_columns:,} columns; {told}")
    if n_columns > _MOST_COLUMNS:
        raise ModelError(f"transitions: {n_columns:,} columns; the maximum is {_MOST_COLUMNS:,}")
    rows = _distributions(matrix, normalize, partial(row_name, names, pointer, action), names)
    labels = np.arange(n_rows) - np.repeat(pointer[:-1], np.diff(pointer)) if action is None else action
    rows |= {"state_ptr": pointer, "reward": rewards, "action": narrowed(labels), "names": names}
    layer_ptr, value = np.array([0, n_states], dtype=np.int64), values if len(values) else None
    return rows | {"layer_ptr": layer_ptr, "terminal_reward": terminals, "terminal_value": value}


@np.errstate(all="ignore")
def from_dense(transitions: Any, reward: Any, normalize: bool, names: Names) -> ModelArrays:
    """Implement `MDP.from_dense`."""
    matrices = _matrices("P", transitions)
    n_actions, n_states = len(matrices), matrices[0].shape[0]
    return from_table(matrices, _expected(reward, matrices, (n_states, n_actions)), normalize, names)


def from_table(
    matrices: Sequence[csr_array], reward: np.ndarray, normalize: bool, names: Names = UNNAMED
) -> ModelArrays:
    """Return the arrays of an MDP in which all states have the same actions, except for excluded actions.

    ``matrices`` contains the transitions of each action, ``[n_states, n_states]``. A row may contain duplicate columns.
    ``reward``, float64 ``[n_states, n_actions]``, is minus infinity for excluded actions.
    """
    from scipy.sparse import csr_array, vstack

    n_states = len(reward)
    allowed = reward != -np.inf
    state, action = np.nonzero(allowed)
    if not allowed.any(axis=1).all():
        name = state_name(names, allowed.any(axis=1).argmin())
        raise ModelError(f"R: state {name} has only rewards of -inf; at least one of its actions must be allowed")
    stacked = csr_array(vstack(matrices, format="csr"))[action * n_states + state]
    return from_scipy(stacked, reward[allowed], cumulated(allowed.sum(axis=1)), ((), ()), action, normalize, names)


def from_quantecon(ddp: Any, normalize: bool = False) -> ModelArrays:
    """Implement `MDP.from_quantecon`.

    Rows are sorted by state and action, and actions with a reward of minus infinity are excluded.
    """
    from scipy.sparse import csr_array, issparse

    if not all(hasattr(ddp, name) for name in ("R", "Q", "s_indices", "a_indices", "num_states")):
        raise ModelError(f"ddp: {type(ddp).__name__} is not allowed; it must be a QuantEcon DiscreteDP")
    refuse_mask("ddp", [ddp.R, ddp.Q, ddp.s_indices, ddp.a_indices], ModelError)
    reward = np.asarray(ddp.R, dtype=np.float64)
    if ddp.s_indices is None:
        table = np.asarray(ddp.Q)
        return from_table([csr_array(table[:, action]) for action in range(reward.shape[1])], reward, normalize)
    allowed = np.flatnonzero(reward != -np.inf)
    rows = allowed[np.lexsort((ddp.a_indices[allowed], ddp.s_indices[allowed]))]
    transitions = csr_of("Q", ddp.Q) if issparse(ddp.Q) else csr_array(ddp.Q)
    if len(rows) != len(reward) or (np.diff(rows) != 1).any():
        transitions = transitions[rows]
    state_ptr = cumulated(np.bincount(ddp.s_indices[rows], minlength=ddp.num_states))
    return from_scipy(transitions, reward[rows], state_ptr, action=ddp.a_indices[rows], normalize=normalize)


def narrowed(action: np.ndarray) -> np.ndarray:
    """Return action labels in the narrowest unsigned dtype that can represent them."""
    low, high = int(action.min(initial=0)), int(action.max(initial=0))
    if low < 0 or high > _LARGEST_LABEL:
        raise ModelError(f"action: {low if low < 0 else high} is not allowed; labels are from 0 to {_LARGEST_LABEL:,}")
    return np.ascontiguousarray(action, dtype=np.min_scalar_type(high))


def divisors(indptr: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Return the sum of each row, float64 ``[n_rows]``, or 1 if the sum equals 1 up to rounding or is not positive."""
    total, deviation = row_sums(indptr, data)
    return np.where((np.abs(deviation) > ROUNDING) & (total > 0), total, 1.0)


def csr_of(name: str, given: Any) -> csr_array:
    """Convert a sparse matrix to CSR and float64, preserving duplicate entries. Copy arrays only if necessary."""
    from scipy.sparse import coo_array, csr_array, issparse

    is_sparse: bool = issparse(given)
    if not is_sparse or given.ndim != 2:
        raise ModelError(f"{name}: {type(given).__name__} is not allowed; it must be a SciPy sparse matrix")
    refuse_mask(name, getattr(given, "data", None), ModelError)
    if given.dtype.kind not in "fiub":
        raise ModelError(f"{name}: has the dtype {given.dtype}; it must consist of real numbers")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if hasattr(given, "check_format"):
                given.check_format(full_check=True)
            if given.format not in ("csr", "csc"):
                coo = given.tocoo()
                given = coo_array((coo.data, (coo.row, coo.col)), shape=coo.shape)
                # Otherwise, tocsr would add up duplicates unchecked and without compensated summation.
                given.has_canonical_format = True
            matrix = given.tocsr()
            arrays = (matrix.data.astype(np.float64, copy=False), matrix.indices, matrix.indptr)
            # Build a new matrix, because the flags of the given one may be outdated.
            return csr_array(tuple(np.ascontiguousarray(array) for array in arrays), shape=matrix.shape)
    except (ValueError, IndexError, TypeError) as error:
        raise ModelError(f"{name}: the arrays of the matrix do not fit together ({error})") from None


def _distributions(matrix: csr_array, normalize: bool, name_of: Callable[[int], str], names: Names) -> ModelArrays:
    """Check and normalize rows, and return ``indptr``, ``indices`` and ``data`` with ascending columns."""
    indptr = matrix.indptr.astype(np.int64, copy=False)
    rows = indptr, matrix.indices, matrix.data, None
    total, deviation = checked_sums("transitions", rows, name_of, names, normalize)
    is_off = np.abs(deviation) > ROUNDING
    if is_off.any():
        matrix.data = matrix.data / np.repeat(np.where(is_off, total, 1.0), np.diff(indptr))
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sort_indices()
        indices = matrix.indices.astype(np.int32, copy=False)
        for_chunks(_probabilities.merge_columns, indptr, indptr, indices, matrix.data)
        matrix.eliminate_zeros()
    # Because of rounding, an entry may exceed 1.
    data = np.minimum(matrix.data, 1.0) if matrix.data.max(initial=0) > 1 else matrix.data
    return entries_of(matrix) | {"data": data}


def checked_sums(
    origin: str, rows: Rows, name_of: Callable[[int], str], names: Names, normalize: bool | None
) -> tuple[np.ndarray, np.ndarray]:
    """Check probabilities and their sums, and return the sums as `row_sums` does.

    Args:
        origin: Name of the argument or array, for messages.
        name_of: Returns the name of a row.
        normalize: True to accept any positive sum. None to reject probabilities above 1 even if rounding explains them.
    """
    indptr, indices, data, data_ptr = rows
    largest = _LARGEST_COUNT if normalize else 1.0 if normalize is None else 1 + SUM_TOLERANCE
    if not (data.min(initial=0) >= 0 and data.max(initial=0) <= largest):
        k, begins = int((~((data >= 0) & (data <= largest))).argmax()), indptr[:-1] if data_ptr is None else data_ptr
        place = f"entry {k} is {data[k]}"
        for row in np.flatnonzero((begins <= k) & (k < begins + np.diff(indptr)))[:1].tolist():
            entry = entry_name(names, indices[indptr[row] + k - begins[row]])
            place = f"{name_of(row)} has {float(data[k])!r} {entry}"
        allowed = f"number from 0 to {_LARGEST_COUNT:g}" if normalize else "probability from 0 to 1"
        raise ModelError(f"{origin}: {place}; it must be a {allowed}")
    total, deviation = row_sums(indptr, data, data_ptr)
    is_valid = (total > 0) & (total < np.inf) if normalize else np.abs(deviation) <= SUM_TOLERANCE
    if not is_valid.all():
        row = int(is_valid.argmin())
        told = f"{origin}: the probabilities of {name_of(row)} add up to {float(total[row])!r}"
        if normalize:
            raise ModelError(f"{told}; the sum must be positive and finite")
        side = "above" if deviation[row] > 0 else "below"
        told += f", {abs(deviation[row]):.3g} {side} 1 (limit: {SUM_TOLERANCE:g})"
        raise ModelError(told if normalize is None else f"{told}; the option normalize divides them by their sum")
    return total, deviation


def entries_of(matrix: csr_array) -> ModelArrays:
    """Return the arrays of a CSR matrix in the dtypes of an MDP, if possible without copying them."""
    indptr, indices = matrix.indptr.astype(np.int64, copy=False), matrix.indices.astype(np.int32, copy=False)
    return {"indptr": indptr, "indices": indices, "data": matrix.data}


def _matrices(name: str, given: Any) -> list[csr_array]:
    """Convert the transitions of each action to CSR, ``[n_states, n_states]`` each."""
    from scipy.sparse import csr_array, issparse

    try:
        parts = [] if issparse(given) else list(given)
    except TypeError:
        parts = []
    arrays: list[Any] = [part if issparse(part) else numbers(f"{name}[{k}]", part) for k, part in enumerate(parts)]
    if not arrays or any(array.ndim != 2 for array in arrays):
        raise ModelError(f"{name}: must be [n_actions, n_states, n_states], or a sparse matrix for each action")
    matrices: list[csr_array] = []
    for action, array in enumerate(arrays):
        matrix = csr_of(f"{name}[{action}]", array if issparse(array) else csr_array(array))
        if len(set(matrix.shape)) > 1 or (matrices and matrix.shape != matrices[0].shape):
            want = f"the shape {matrices[0].shape}" if matrices else "as many rows as columns"
            raise ModelError(f"{name}[{action}]: has the shape {matrix.shape}; it must have {want}")
        matrices.append(matrix)
    return matrices


def _expected(reward: Any, matrices: list[csr_array], shape: tuple[int, int]) -> np.ndarray:
    """Compute expected rewards, float64 ``[n_states, n_actions]``, from rewards of states, pairs or transitions."""
    from scipy.sparse import issparse

    n_states, n_actions = shape
    is_list, is_sparse = isinstance(reward, Sequence), bool(issparse(reward))
    if is_list and any(issparse(part) for part in reward):
        paid: list[Any] = [csr_of("R", part) if issparse(part) else numbers("R", part) for part in reward]
    else:
        array = numbers("R", reward.toarray() if is_sparse else reward)
        if array.shape == (n_states,):
            return np.repeat(array[:, None], n_actions, axis=1)
        if is_list and array.shape == shape[::-1]:
            if 1 < n_states == n_actions:
                told = "np.stack(R, axis=1) if each vector is for an action, np.array(R) if for a state"
                raise ModelError(f"R: a list of {n_actions} vectors of {n_states} numbers is ambiguous; pass {told}")
            return array.T
        if array.shape == shape:
            return array
        paid = list(array) if array.ndim == 3 else [array]
    shapes = {np.shape(part) for part in paid}
    if len(paid) != n_actions or shapes != {(n_states, n_states)}:
        got = np.shape(reward) if len(shapes) == 1 else shapes
        told = f"({n_states},), ({n_states}, {n_actions}) or ({n_actions}, {n_states}, {n_states})"
        raise ModelError(f"R: has the shape {got}; it must be {told}")
    # Normalizing a row also scales its expected reward.
    pairs = zip(matrices, paid, strict=True)
    sums = [np.asarray(P.multiply(R).sum(axis=1)).reshape(-1) / divisors(P.indptr, P.data) for P, R in pairs]
    return np.stack(sums, axis=1).astype(np.float64)


def numbers(name: str, given: Any, error: type[PunishFastError] = ModelError) -> np.ndarray:
    """Convert real numbers to a float64 array of the same shape."""
    refuse_mask(name, given, error)
    try:
        array = np.asarray(given)
        if array.dtype.kind in "fiubO":
            return np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
    except (TypeError, ValueError, OverflowError):
        pass
    raise error(f"{name}: must be an array of real numbers")


def finite_numbers(name: str, given: Any, lengths: tuple[int, ...], error: type[PunishFastError]) -> np.ndarray:
    """Convert finite numbers to a float64 vector that has one of the given lengths."""
    array = numbers(name, given, error)
    if array.ndim != 1 or len(array) not in lengths or not np.isfinite(array).all():
        raise error(f"{name}: must be {' or '.join(map(str, dict.fromkeys(lengths)))} finite numbers")
    return array


def vector(name: str, given: Any) -> np.ndarray:
    """Convert real numbers to a float64 vector."""
    array = numbers(name, list(given) if isinstance(given, Iterable) and not hasattr(given, "dtype") else given)
    if array.ndim != 1:
        raise ModelError(f"{name}: has the shape {array.shape}; it must have one dimension")
    return array


@np.errstate(invalid="ignore")
def whole_numbers(name: str, given: Any) -> np.ndarray:
    """Convert whole numbers of any dtype to an int64 vector."""
    array = vector(name, given)
    wrong = np.flatnonzero(array != array.astype(np.int64))
    if len(wrong):
        raise ModelError(f"{name}: entry {wrong[0]} is {array[wrong[0]]}; it must be a whole number")
    return array.astype(np.int64)


def check_pointer(name: str, ptr: np.ndarray, end: int, least: int) -> None:
    """Check that a pointer array goes from 0 to ``end``, in steps of at least ``least``."""
    if len(ptr) == 0 or ptr[0] != 0 or ptr[-1] != end:
        raise ModelError(f"{name}: must begin with 0 and end with {end}")
    if (steps := ptr[1:] - ptr[:-1]).min(initial=least) < least:
        k = int((steps < least).argmax())
        told = f"entry {k + 1} is {ptr[k + 1]} after {ptr[k]}"
        raise ModelError(f"{name}: must {'ascend' if least else 'not descend'}, but {told}")

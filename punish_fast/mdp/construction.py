"""Processes from the arrays and tables of other libraries.

Whatever leaves the meaning alone is mended silently: any sparse format, order, integer type or memory layout, equal
columns of a row (their probabilities are added), stored zeros (left out). A result that needs no mending shares its
arrays with the input. Whatever is no Markov decision process is refused, with the row, column and value at fault.

Processes given as a table of all actions in all states, ``P[action, state, successor]``, have a row for each pair,
state by state. There a reward of minus infinity means that the action is not allowed in the state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from punish_fast.mdp.model import MDP, ModelError, check
from punish_fast.mdp.process import action_labels
from punish_fast.runtime.parallel import cumulated

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MOST_COLUMNS = int(np.iinfo(np.int32).max)
_LARGEST_LABEL = int(np.iinfo(np.uint32).max)


def from_scipy(
    transitions: Any, reward: Any, state_ptr: Any, terminal_reward: Any = (), action: np.ndarray | None = None
) -> MDP:
    """See `MDP.from_scipy`; ``action`` are labels of rows, by default the number of a row in its state."""
    pointer = _whole("state_ptr", state_ptr)
    rewards = _finite("reward", reward)
    terminals = _finite("terminal_reward", terminal_reward)
    n_rows, n_columns = _sparse("transitions", transitions).shape
    _check_pointer(pointer, n_rows)
    n_states = len(pointer) - 1
    if len(rewards) != n_rows:
        raise ModelError(f"reward: {len(rewards):,} long, but must be {n_rows:,}, one for each row of transitions")
    if n_columns != n_states + len(terminals):
        raise ModelError(
            f"transitions: {n_columns:,} columns, but must be {n_states + len(terminals):,}: {n_states:,} states and "
            f"{len(terminals):,} terminals"
        )
    if n_columns > _MOST_COLUMNS:
        raise ModelError(f"transitions: {n_columns:,} columns, allowed are {_MOST_COLUMNS:,}")
    matrix = _canonical("transitions", transitions)
    mdp = MDP(
        state_ptr=pointer,
        indptr=matrix.indptr.astype(np.int64, copy=False),
        indices=matrix.indices.astype(np.int32, copy=False),
        data=matrix.data,
        reward=rewards,
        terminal_reward=terminals,
        layer_ptr=np.array([0, n_states], dtype=np.int64),
        action=action_labels(pointer) if action is None else narrowed(action),
    )
    return _checked(mdp)


def from_dense(transitions: Any, reward: Any) -> MDP:
    """See `MDP.from_dense`."""
    matrices = _matrices("P", transitions)
    n_actions, n_states = len(matrices), matrices[0].shape[0]
    return from_table(matrices, _expected(reward, matrices, (n_states, n_actions)))


def from_table(matrices: Sequence[csr_array], reward: np.ndarray) -> MDP:
    """A process in which every state has the same actions, but for those that are not allowed.

    Args:
        matrices: The transitions of each action, ``[n_states, n_states]``.
        reward: float64 ``[n_states, n_actions]``, minus infinity for actions that are not allowed.

    Raises:
        ModelError: this is no Markov decision process.
    """
    from scipy.sparse import csr_array, vstack

    n_states = len(reward)
    allowed = reward != -np.inf
    number, action = np.nonzero(allowed)
    stacked = csr_array(vstack(matrices, format="csr"))
    return from_scipy(stacked[action * n_states + number], reward[allowed], cumulated(allowed.sum(axis=1)), (), action)


def from_gymnasium(env: Any) -> MDP:
    """See `MDP.from_gymnasium`."""
    from scipy.sparse import coo_array

    table = getattr(getattr(env, "unwrapped", env), "P", None)
    if table is None:
        raise ModelError(f"env: {type(env).__name__} has no table P of its transitions, as toy text environments have")
    n_states, end = len(table), len(table)
    counts: list[int] = []
    labels: list[int] = []
    reward: list[float] = []
    rows: list[tuple[int, int, float]] = []
    for state in range(n_states):
        actions = _items(table, state)
        counts.append(len(actions))
        for label, outcomes in actions:
            row = len(reward)
            labels.append(label)
            reward.append(sum(p * paid for p, _, paid, _ in outcomes))
            rows += [(row, end if is_over else int(successor), p) for p, successor, _, is_over in outcomes]
    number, column, p = (np.array(values) for values in zip(*rows, strict=True)) if rows else (np.zeros(0),) * 3
    _check_successors(number, column, n_states)
    matrix = coo_array((p.astype(np.float64), (number, column)), shape=(len(reward), n_states + 1))
    return from_scipy(matrix, reward, cumulated(np.array(counts)), [0.0], np.array(labels))


def narrowed(action: np.ndarray) -> np.ndarray:
    """Labels of actions in the narrowest unsigned type that holds them.

    Raises:
        ModelError: one is below 0 or too large.
    """
    low, high = int(action.min(initial=0)), int(action.max(initial=0))
    if low < 0 or high > _LARGEST_LABEL:
        raise ModelError(f"action: {low if low < 0 else high} is not allowed, labels are from 0 to {_LARGEST_LABEL:,}")
    return np.ascontiguousarray(action, dtype=np.min_scalar_type(high))


def _items(table: Any, state: int) -> list[tuple[int, list[tuple[float, int, float, bool]]]]:
    """The actions of a state and their outcomes, by number."""
    try:
        actions = table[state]
        pairs = sorted(actions.items()) if hasattr(actions, "items") else list(enumerate(actions))
        return [(int(label), [(float(p), int(s), float(r), bool(over)) for p, s, r, over in o]) for label, o in pairs]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelError(
            f"env: P[{state}] is not a table of actions and their outcomes (probability, successor, reward, terminated)"
        ) from error


def _check_successors(row: np.ndarray, column: np.ndarray, n_states: int) -> None:
    wrong = np.flatnonzero((column < 0) | (column > n_states))
    if len(wrong):
        k = wrong[0]
        raise ModelError(f"env: row {row[k]} of P leads to state {column[k]}, allowed are 0 to {n_states - 1}")


def _matrices(name: str, given: Any) -> list[csr_array]:
    """The transitions of each action in canonical form, all ``[n_states, n_states]``."""
    from scipy.sparse import csr_array, issparse

    parts = [] if issparse(given) else list(given)
    if not parts or any(np.ndim(part) != 2 for part in parts):
        raise ModelError(f"{name}: must be [n_actions, n_states, n_states], or a sparse matrix for each action")
    matrices: list[csr_array] = []
    for action, part in enumerate(parts):
        label = f"{name}[{action}]"
        matrix = _canonical(label, part if issparse(part) else csr_array(_numbers(label, part)))
        if len(set(matrix.shape)) > 1 or (matrices and matrix.shape != matrices[0].shape):
            want = matrices[0].shape if matrices else "as many rows as columns"
            raise ModelError(f"{label}: has the shape {matrix.shape}, allowed is {want}")
        matrices.append(matrix)
    return matrices


def _expected(reward: Any, matrices: list[csr_array], shape: tuple[int, int]) -> np.ndarray:
    """Expected rewards float64 ``[n_states, n_actions]``, from those of states, of pairs, or of transitions."""
    from scipy.sparse import issparse

    n_states, n_actions = shape
    if isinstance(reward, Sequence) and any(issparse(part) for part in reward):
        paid = list(reward)
    else:
        array = _numbers("R", reward)
        if array.shape == (n_states,):
            return np.repeat(array[:, None], n_actions, axis=1)
        if array.shape == shape:
            return array
        paid = list(array)
    shapes = {np.shape(part) for part in paid}
    if len(paid) != n_actions or shapes != {(n_states, n_states)}:
        got = np.shape(reward) if len(shapes) == 1 else shapes
        raise ModelError(
            f"R: has the shape {got}, allowed are ({n_states},), ({n_states}, {n_actions}) and "
            f"({n_actions}, {n_states}, {n_states})"
        )
    sums = [np.asarray(P.multiply(R).sum(axis=1)).reshape(-1) for P, R in zip(matrices, paid, strict=True)]
    return np.stack(sums, axis=1).astype(np.float64)


def _sparse(name: str, given: Any) -> Any:
    from scipy.sparse import issparse

    is_sparse: bool = issparse(given)
    if not is_sparse or given.ndim != 2:
        raise ModelError(f"{name}: {type(given).__name__} is not allowed, it must be a sparse matrix of SciPy")
    if given.dtype.kind not in "fiub":
        raise ModelError(f"{name}: {given.dtype} is not allowed, probabilities must be real numbers")
    return given


def _canonical(name: str, given: Any) -> csr_array:
    """A CSR matrix in float64 with ascending columns and without zeros; shares what is so already.

    Raises:
        ModelError: it is no sparse matrix, or its arrays do not fit together.
    """
    from scipy.sparse import csr_array

    given = _sparse(name, given)
    try:
        if hasattr(given, "check_format"):
            given.check_format(full_check=True)
        compressed = given if given.format == "csr" else given.tocsr()
        arrays = (compressed.data.astype(np.float64, copy=False), compressed.indices, compressed.indptr)
        # A matrix of our own, whose flags are not those of an older state of the arrays.
        matrix = csr_array(tuple(np.ascontiguousarray(array) for array in arrays), shape=given.shape)
    except (ValueError, IndexError) as error:
        raise ModelError(f"{name}: the arrays of the matrix do not fit together ({error})") from None
    if matrix.has_canonical_format and matrix.nnz and matrix.data.all():
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _numbers(name: str, given: Any) -> np.ndarray:
    """A float64 array of any shape."""
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "fiub":
            array = np.asarray(array, dtype=object).astype(np.float64)
        return np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
    except (TypeError, ValueError):
        raise ModelError(f"{name}: must be an array of real numbers") from None


def _finite(name: str, given: Any) -> np.ndarray:
    """A float64 vector of finite numbers."""
    array = _numbers(name, list(given) if isinstance(given, Iterable) and not hasattr(given, "dtype") else given)
    if array.ndim != 1:
        raise ModelError(f"{name}: has the shape {array.shape}, allowed is one dimension")
    wrong = np.flatnonzero(~np.isfinite(array))
    if len(wrong):
        raise ModelError(f"{name}: entry {wrong[0]} is {array[wrong[0]]}, allowed are finite numbers")
    return array


def _whole(name: str, given: Any) -> np.ndarray:
    """An int64 vector, from whole numbers of any type."""
    array = np.asarray(given)
    if array.ndim != 1 or array.dtype.kind not in "iuf" or (array.dtype.kind == "f" and (array % 1 != 0).any()):
        raise ModelError(f"{name}: {array.dtype} {array.shape}, allowed are whole numbers in one dimension")
    return np.ascontiguousarray(array, dtype=np.int64)


def _check_pointer(pointer: np.ndarray, n_rows: int) -> None:
    if len(pointer) < 2 or pointer[0] != 0 or pointer[-1] != n_rows:
        ends = f"it begins with {pointer[0]} and ends with {pointer[-1]}" if len(pointer) else "it is empty"
        raise ModelError(f"state_ptr: must begin with 0 and end with the {n_rows:,} rows of transitions, but {ends}")
    wrong = np.flatnonzero(np.diff(pointer) < 1)
    if len(wrong):
        state = wrong[0]
        raise ModelError(
            f"state_ptr: state {state} has no rows (from {pointer[state]} to {pointer[state + 1]}), every state must "
            "have at least one"
        )


def _checked(mdp: MDP) -> MDP:
    """The process, if it is one; otherwise name the first fault in detail."""
    empty = np.flatnonzero(np.diff(mdp.indptr) == 0)
    if len(empty):
        raise ModelError(f"transitions: {_place(mdp, empty[0])} is empty, its probabilities must add up to 1")
    try:
        return check(mdp)
    except ModelError:
        wrong = np.flatnonzero(~((mdp.data >= 0) & (mdp.data <= 1)))
        if len(wrong):
            k = wrong[0]
            row = np.searchsorted(mdp.indptr, k, side="right") - 1
            raise ModelError(
                f"transitions: {_place(mdp, row)} has {float(mdp.data[k])!r} in column {mdp.indices[k]}, allowed are "
                "probabilities from 0 to 1"
            ) from None
        sums = np.add.reduceat(mdp.data, mdp.indptr[:-1])
        row = np.abs(sums - 1).argmax()
        if abs(sums[row] - 1) > 0:
            raise ModelError(
                f"transitions: the probabilities of {_place(mdp, row)} add up to {float(sums[row])!r}, not to 1 within "
                "1e-12"
            ) from None
        raise


def _place(mdp: MDP, row: Any) -> str:
    return f"row {row} (of state {np.searchsorted(mdp.state_ptr, row, side='right') - 1})"

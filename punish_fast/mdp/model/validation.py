"""Validation of arrays that describe a Markov decision process."""

from functools import partial
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.construction import check_pointer
from punish_fast.mdp.arrays.names import entry_name, row_name
from punish_fast.mdp.arrays.policy import refuse_mask
from punish_fast.mdp.arrays.row_sums import SUM_TOLERANCE, ModelError, describe_sum, refused_entry, row_sums
from punish_fast.mdp.model.stored_process import StoredProcess

# Kernels store row indices as uint32.
_MOST_ROWS = 2**32 - 1


def check_process(mdp: StoredProcess) -> None:
    """Check dtypes, lengths, pointers and rewards, but not columns and probabilities, to save time."""
    for name in ("state_ptr", "indptr", "layer_ptr"):
        _check_array(name, getattr(mdp, name), np.int64)
    n_rows = len(mdp.indptr) - 1
    if n_rows > _MOST_ROWS:
        raise ModelError(f"indptr: {n_rows:,} rows; the maximum is {_MOST_ROWS:,}")
    _check_array("terminal_reward", mdp.terminal_reward, np.float64)
    ends = np.zeros(0) if mdp.terminal_value is None else mdp.terminal_value
    if mdp.terminal_value is not None:
        _check_array("terminal_value", ends, np.float64, len(mdp.terminal_reward))
        if len(both := np.flatnonzero((ends != 0) & (mdp.terminal_reward != 0))):
            value, reward = ends[both[0]], mdp.terminal_reward[both[0]]
            told = f"terminal {both[0]} has the value {value:g} and the reward {reward:g}; one of them must be 0"
            raise ModelError(f"terminal_value: {told}")
    check_pointer("layer_ptr", mdp.layer_ptr, mdp.n_states, least=0)
    check_pointer("state_ptr", mdp.state_ptr, n_rows, least=1)
    check_pointer("indptr", mdp.indptr, len(mdp.indices), least=1)
    _check_array("indices", mdp.indices, np.int32, len(mdp.data) if mdp.data_ptr is None else None)
    _check_array("data", mdp.data, np.float64)
    _check_array("reward", mdp.reward, np.float64, n_rows)
    is_wider = mdp.action.dtype in (np.uint16, np.uint32)
    _check_array("action", mdp.action, mdp.action.dtype if is_wider else np.uint8, n_rows)
    if mdp.n_layers < 1:
        raise ModelError("layer_ptr: there is no layer")
    for name, paid in (("reward", mdp.reward), ("terminal_reward", mdp.terminal_reward), ("terminal_value", ends)):
        if not np.isfinite(paid).all():
            raise ModelError(f"{name}: a value is not finite")
    if mdp.data_ptr is not None:
        _check_array("data_ptr", mdp.data_ptr, np.int64, n_rows)
        within = (mdp.data_ptr >= 0) & (mdp.data_ptr <= mdp.indptr[:-1])
        if not (within & (mdp.data_ptr + np.diff(mdp.indptr) <= len(mdp.data))).all():
            told = f"must be from 0 to indptr, and each row must end within {len(mdp.data)} probabilities"
            raise ModelError(f"data_ptr: {told}")


def _check_array(name: str, array: np.ndarray, dtype: Any, length: int | None = None) -> None:
    refuse_mask(name, array, ModelError)
    if array.ndim != 1 or array.dtype != dtype:
        raise ModelError(f"{name}: {array.dtype} {array.shape}; it must be {np.dtype(dtype)} in one dimension")
    if length is not None and len(array) != length:
        raise ModelError(f"{name}: has the length {len(array)}; it must be {length}")


def check_rows(mdp: StoredProcess) -> None:
    """Check columns, probabilities and row sums, in this order."""
    name_of = partial(row_name, mdp.names, mdp.state_ptr, mdp.action if len(mdp.names.actions) else None)
    lengths, begins = np.diff(mdp.indptr), mdp.indptr[:-1] if mdp.data_ptr is None else mdp.data_ptr
    outside = (mdp.indices < 0) | (mdp.indices >= mdp.n_columns)
    if outside.any():
        k = int(outside.argmax())
        place = name_of(int(np.searchsorted(mdp.indptr, k, side="right")) - 1)
        told = f"leads to column {mdp.indices[k]}; columns are from 0 to {mdp.n_columns - 1}"
        raise ModelError(f"indices: {place} {told}")
    wrong = ~((mdp.data >= 0) & (mdp.data <= 1))
    if wrong.any():
        k = int(wrong.argmax())
        for row in np.flatnonzero((begins <= k) & (k < begins + lengths)).tolist():
            entry = entry_name(mdp.names, mdp.indices[mdp.indptr[row] + k - begins[row]])
            raise ModelError(f"data: {refused_entry(name_of(row), entry, mdp.data[k], False)}")
        raise ModelError(f"data: entry {k} is {mdp.data[k]}; it must be a probability from 0 to 1")
    total, deviation = row_sums(mdp.indptr, mdp.data, mdp.data_ptr)
    off = np.abs(deviation) > SUM_TOLERANCE
    if off.any():
        row = int(off.argmax())
        raise ModelError(f"data: {describe_sum(name_of(row), total[row], deviation[row])}")

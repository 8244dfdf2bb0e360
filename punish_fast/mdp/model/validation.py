"""Validation of arrays that describe a Markov decision process."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.construction import check_pointer, checked_sums
from punish_fast.mdp.arrays.names import row_name
from punish_fast.mdp.arrays.policy import refuse_mask
from punish_fast.mdp.arrays.row_sums import ModelError
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
    if (ends := mdp.terminal_value) is not None:
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
        if paid is not None and not np.isfinite(paid).all():
            k = int(np.isfinite(paid).argmin())
            place = _name_of(mdp)(k) if name == "reward" else f"terminal {k}"
            raise ModelError(f"{name}: {place} has {paid[k]}; it must be a finite number")
    if mdp.data_ptr is not None:
        _check_array("data_ptr", mdp.data_ptr, np.int64, n_rows)
        within = (mdp.data_ptr >= 0) & (mdp.data_ptr <= mdp.indptr[:-1])
        if not (within & (mdp.data_ptr + np.diff(mdp.indptr) <= len(mdp.data))).all():
            told = f"must be from 0 to indptr, and each row must end within {len(mdp.data)} probabilities"
            raise ModelError(f"data_ptr: {told}")


def _check_array(name: str, array: np.ndarray, dtype: Any, length: int | None = None) -> None:
    if type(array) is not np.ndarray:
        refuse_mask(name, array, ModelError)
    if array.ndim != 1 or array.dtype != dtype:
        raise ModelError(f"{name}: {array.dtype} {array.shape}; it must be {np.dtype(dtype)} in one dimension")
    if length is not None and len(array) != length:
        raise ModelError(f"{name}: has the length {len(array)}; it must be {length}")


def check_rows(mdp: StoredProcess) -> None:
    """Check columns, probabilities and row sums, in this order."""
    outside = (mdp.indices < 0) | (mdp.indices >= mdp.n_columns)
    if outside.any():
        k = int(outside.argmax())
        place = _name_of(mdp)(int(np.searchsorted(mdp.indptr, k, side="right")) - 1)
        told = f"leads to column {mdp.indices[k]}; columns are from 0 to {mdp.n_columns - 1}"
        raise ModelError(f"indices: {place} {told}")
    checked_sums("data", (mdp.indptr, mdp.indices, mdp.data, mdp.data_ptr), _name_of(mdp), mdp.names, None)


def _name_of(mdp: StoredProcess) -> Callable[[int], str]:
    """Return a function that returns the name of a row."""
    return partial(row_name, mdp.names, mdp.state_ptr, mdp.action if len(mdp.names.actions) else None)

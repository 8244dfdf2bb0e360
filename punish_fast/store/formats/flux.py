"""Reader of the notebook's network weights: a JSON list of arrays, alternately the weights and biases of each layer.

Flux writes a weight matrix column by column, so a matrix is stored as a list of arrays, one per input, with one number
per output. The stored matrix is the transpose of Flux's matrix: for a row vector ``x`` of inputs, the outputs before
activation are ``x @ weights + biases``.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.runtime.errors import ReadError
from punish_fast.runtime.files import fault_of_input

_MOST_BYTES = 1 << 28


def read_flux(path: str | Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """Read the weights, float64 ``[n_in, n_out]``, and biases, float64 ``[n_out]``, of each layer."""
    path = Path(path)
    arrays = _parse(path)
    if not isinstance(arrays, list) or not arrays or len(arrays) % 2:
        raise ReadError(f"{path}: not a list of alternating weights and biases, as the notebook writes them")
    return [
        (_array(path, arrays, number, 2), _array(path, arrays, number + 1, 1)) for number in range(0, len(arrays), 2)
    ]


def _parse(path: Path) -> Any:
    try:
        if fault := fault_of_input(path):
            raise ReadError(f"{path}: {fault}")
        if path.stat().st_size > _MOST_BYTES:
            raise ReadError(f"{path}: {path.stat().st_size} bytes; the maximum is {_MOST_BYTES}")
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReadError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise ReadError(f"{path}: not a JSON file") from None


def _array(path: Path, arrays: list[Any], number: int, dimensions: int) -> np.ndarray:
    try:
        array = np.asarray(arrays[number])
    except (ValueError, OverflowError):  # lists of unequal lengths, or nested too deeply
        array = np.zeros(0)
    if array.ndim != dimensions or array.size == 0 or array.dtype.kind not in "if":
        what = "a list of lists of numbers, all of one length" if dimensions == 2 else "a list of numbers"
        raise ReadError(f"{path}: array {number + 1} of {len(arrays)}: must be {what}")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise ReadError(f"{path}: array {number + 1} of {len(arrays)}: a number is not finite")
    return array

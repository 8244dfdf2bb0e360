"""The bandwidth of memory and disk, with the same threads as our kernels.

``read`` sums an array (8 bytes for each number), ``triad`` adds a multiple of one array to another into a third (24
bytes), and ``fill`` writes a new array, page faults included (8 bytes). ``write`` writes a file and syncs it to disk.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from bench import _bandwidth
from punish_fast.runtime.parallel import for_chunks

_N_CHUNKS = 512
_WRITE_BYTES = 1 << 24


class Bandwidth:
    """Move arrays of ``n`` float64."""

    def __init__(self, n: int) -> None:
        """Cut ``n`` numbers into chunks and make the arrays to move."""
        self._chunks = np.linspace(0, n // 8, _N_CHUNKS + 1).astype(np.uint64) * np.uint64(8)
        self._chunks[-1] = n
        self._totals = np.zeros(_N_CHUNKS)
        self._other = np.ones(n)
        self._out = np.zeros(n)

    def read(self, array: np.ndarray) -> float:
        """Read ``array`` once; return its sum."""
        for_chunks(_bandwidth.sum_chunks, np.arange(_N_CHUNKS + 1), self._chunks, array, self._totals)
        return float(self._totals.sum())

    def triad(self, array: np.ndarray) -> np.ndarray:
        """Read ``array`` and ones once, and write the first plus twice the second."""
        args = (self._chunks, self._out, array, self._other, 2.0)
        for_chunks(_bandwidth.add_scaled, np.arange(_N_CHUNKS + 1), *args)
        return self._out

    def fill(self, value: float) -> np.ndarray:
        """Write a new array."""
        out = np.empty(len(self._out))
        for_chunks(_bandwidth.fill_chunks, np.arange(_N_CHUNKS + 1), self._chunks, out, value)
        return out


def write(path: Path, n_bytes: int, content: bytes) -> None:
    """Write ``n_bytes`` of repeated ``content`` into a new file and sync it."""
    with path.open("wb") as file:
        for begin in range(0, n_bytes, len(content)):
            file.write(content[: n_bytes - begin])
        file.flush()
        os.fsync(file.fileno())


def file_content() -> bytes:
    """Incompressible bytes: disks and file systems treat zeros specially."""
    return np.random.default_rng(0).bytes(_WRITE_BYTES)

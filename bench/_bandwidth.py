"""Kernels that only move memory: read, triad and fill.

They run over chunks of float64, unrolled and with unsigned indices, as the package's sweeps do: Numba tests every
signed index for being negative, and a sum with a single accumulator waits for each addition.
"""

from __future__ import annotations

import numpy as np

from punish_fast.runtime._jit import kernel

ONE, TWO, THREE, FOUR, FIVE, SIX, SEVEN, EIGHT = (np.uint64(k) for k in range(1, 9))


@kernel
def sum_chunks(begin: int, end: int, chunks: np.ndarray, array: np.ndarray, totals: np.ndarray) -> None:
    """Sum chunks of ``array``; all chunks but the last are as long as a multiple of eight."""
    for chunk in range(begin, end):
        a = b = c = d = e = f = g = h = 0.0
        k = chunks[chunk]
        while k + EIGHT <= chunks[chunk + 1]:
            a += array[k]
            b += array[k + ONE]
            c += array[k + TWO]
            d += array[k + THREE]
            e += array[k + FOUR]
            f += array[k + FIVE]
            g += array[k + SIX]
            h += array[k + SEVEN]
            k += EIGHT
        while k < chunks[chunk + 1]:
            a += array[k]
            k += ONE
        totals[chunk] = ((a + b) + (c + d)) + ((e + f) + (g + h))


@kernel
def add_scaled(
    begin: int, end: int, chunks: np.ndarray, out: np.ndarray, array: np.ndarray, other: np.ndarray, scale: float
) -> None:
    """``out = array + scale * other`` on chunks, the triad of the STREAM benchmark."""
    for chunk in range(begin, end):
        for k in range(chunks[chunk], chunks[chunk + 1]):
            out[k] = array[k] + scale * other[k]


@kernel
def fill_chunks(begin: int, end: int, chunks: np.ndarray, out: np.ndarray, value: float) -> None:
    """``out = value`` on chunks."""
    for chunk in range(begin, end):
        for k in range(chunks[chunk], chunks[chunk + 1]):
            out[k] = value

"""State reduction of a chain whose transitions form a band matrix; see ``elimination.py``.

``band[i, width + j - i]`` is the probability of going from state ``i`` to ``j``; their numbers differ by at most
``width``.
"""

from __future__ import annotations

from punish_fast.runtime._jit import kernel


@kernel
def reduce_band(width, band, leak, pivot):
    """Eliminate states from the last to the first, in place.

    Set ``pivot[k]`` to the probability of leaving ``k`` for an earlier state or the end, and the entries of ``band``
    above the diagonal to shares of it. ``leak`` has the probabilities of leaving the states for the end, and is
    overwritten.
    """
    for k in range(len(leak) - 1, -1, -1):
        first = max(k - width, 0)
        total = leak[k]
        for j in range(first, k):
            total += band[k, width + j - k]
        pivot[k] = total
        for i in range(first, k):
            share = band[i, width + k - i] / total if band[i, width + k - i] > 0.0 else 0.0
            band[i, width + k - i] = share
            if share > 0.0:
                leak[i] += share * leak[k]
                for j in range(first, k):
                    band[i, width + j - i] += share * band[k, width + j - k]


@kernel
def solve_band(width, band, pivot, x):
    """Replace ``x``, the right-hand side, by the solution."""
    n = len(pivot)
    for k in range(n - 1, 0, -1):
        for i in range(max(k - width, 0), k):
            x[i] += band[i, width + k - i] * x[k]
    for k in range(n):
        total = x[k]
        for j in range(max(k - width, 0), k):
            total += band[k, width + j - k] * x[j]
        x[k] = total / pivot[k]

"""Gauss-Seidel sweeps: backups that use new values at once.

Where play drifts through the states in some order, a sweep against the drift carries values all the way, while plain
sweeps carry them one step. The order is not known, so sweeps alternate between ascending and descending states.
[Bertsekas and Tsitsiklis 1996, sec. 2.2; Puterman 1994, sec. 6.3.] ``topological_order.py`` finds a better order.
"""

from __future__ import annotations

import numpy as np

from punish_fast.mdp import _gauss_seidel
from punish_fast.mdp._gauss_seidel import Blocks
from punish_fast.mdp.improvement import Improvement
from punish_fast.runtime.parallel import balanced_chunks, for_each

# For as many threads; fewer blocks would carry values further in a sweep.
_MOST_BLOCKS = 16
_SMALLEST_BLOCK = 1024
# Values are moved to the middle of their bounds only where these have become narrower, so that sweeps converge.
_PROGRESS = 0.5


class GaussSeidel:
    """Sweeps in both directions."""

    def __init__(self) -> None:
        self._centred_at = np.inf

    def advance(self, point: Improvement) -> None:
        """Sweep twice, there and back."""
        mdp = point.mdp
        if mdp.n_columns == mdp.n_states and point.error < _PROGRESS * self._centred_at:
            # Only plain backups do not mind by how much all values are off.
            self._centred_at = point.error
            point.centre()
        blocks = blocks_of(mdp.indptr[mdp.state_ptr])
        out = point.v.copy()
        for is_descending in (True, False):
            relax(point, blocks._replace(is_descending=is_descending), out)
            point.v, out = out, point.v
            out[:] = point.v


def blocks_of(ptr: np.ndarray) -> Blocks:
    """All states in blocks, as few as threads may need; entries of state ``s`` begin at ``ptr[s]``."""
    n_blocks = min(_MOST_BLOCKS, 1 + len(ptr) // _SMALLEST_BLOCK)
    boundary = balanced_chunks(ptr, n_blocks).view(np.uint64)
    return Blocks(np.arange(len(boundary) - 1, dtype=np.uint64), boundary, is_descending=True)


def relax(point: Improvement, blocks: Blocks, out: np.ndarray) -> np.ndarray:
    """Back up the chosen blocks into ``out``, a copy of ``point.v``; return the largest change of each."""
    change = np.zeros(len(blocks.chosen))
    args = blocks, point.tensor, point.discount, point.candidates, point.v, out, change
    for_each(_gauss_seidel.relax_blocks, len(change), *args)
    begins = point.mdp.indptr[point.mdp.state_ptr[blocks.boundary]]
    point.work += int((begins[blocks.chosen + np.uint64(1)] - begins[blocks.chosen]).sum())
    return change

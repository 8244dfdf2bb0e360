"""Gauss-Seidel sweeps: backups that use new values at once.

Where play drifts through the states in some order, a sweep against the drift carries values all the way, while plain
sweeps carry them one step. The order is not known, so sweeps alternate between ascending and descending states.
[Bertsekas and Tsitsiklis 1996, sec. 2.2; Puterman 1994, sec. 6.3.] ``topological_order.py`` finds a better order.
"""

from __future__ import annotations

import numpy as np

from punish_fast.mdp.blocks import blocks_of
from punish_fast.mdp.bounds.improvement import Improvement
from punish_fast.mdp.methods import _gauss_seidel
from punish_fast.mdp.methods._gauss_seidel import Blocks
from punish_fast.runtime.parallel import for_each

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


def relax(point: Improvement, blocks: Blocks, out: np.ndarray) -> np.ndarray:
    """Back up the chosen blocks into ``out``, a copy of ``point.v``; return the largest change of each."""
    change = np.zeros(len(blocks.chosen))
    args = blocks, point.tensor, point.discount, point.candidates, point.v, out, change
    for_each(_gauss_seidel.relax_blocks, len(change), *args)
    begins = point.mdp.indptr[point.mdp.state_ptr[blocks.boundary]]
    point.work += int((begins[blocks.chosen + np.uint64(1)] - begins[blocks.chosen]).sum())
    return change

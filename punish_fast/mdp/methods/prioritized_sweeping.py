"""Prioritised sweeping: back up first where values change most.

Each block of states has a *priority*, a bound on how much a backup may change it: the discount times the largest change
of a block that it leads to, since its last backup. Blocks are backed up in rounds, those with at least half of the
highest priority together, until a round's worth of a whole sweep is done [Moore and Atkeson 1993, Machine Learning 13;
by blocks, Wingate and Seppi 2005, J. Mach. Learn. Res. 6]. It pays where changes travel through a small part of the
states at a time.
"""

from __future__ import annotations

import numpy as np

from punish_fast.mdp.bounds.improvement import Improvement
from punish_fast.mdp.methods import _gauss_seidel
from punish_fast.mdp.methods._gauss_seidel import Blocks
from punish_fast.mdp.methods.gauss_seidel import relax
from punish_fast.runtime.parallel import balanced_chunks, for_each

_MOST_BLOCKS = 512
_SHARE = 0.5


class PrioritizedSweeping:
    """Blocks with their priorities."""

    def __init__(self) -> None:
        self._boundary: np.ndarray | None = None
        self._is_descending = True

    def advance(self, point: Improvement) -> None:
        """Back up blocks by priority until as many entries are read as in a sweep."""
        if self._boundary is None:
            self._prepare(point)
        assert self._boundary is not None
        end, out = point.work + point.mdp.n_entries, point.v.copy()
        while point.work < end:
            highest = self._priority.max(initial=0)
            if highest <= point.goal_of_changes / 2:
                # Nothing that is left can change much; the next backup of all states starts anew.
                self._priority[:] = np.inf
                return
            chosen = np.flatnonzero(self._priority >= _SHARE * highest)
            blocks = Blocks(chosen.astype(np.uint64), self._boundary.view(np.uint64), self._is_descending)
            change = relax(point, blocks, out)
            self._is_descending = not self._is_descending
            for block in chosen:
                states = slice(self._boundary[block], self._boundary[block + 1])
                point.v[states] = out[states]
            self._priority[chosen] = 0.0
            raised = point.discount * (self._leads[:, chosen] * change).max(axis=1)
            np.maximum(self._priority, raised, out=self._priority)

    def _prepare(self, point: Improvement) -> None:
        """Cut states into blocks, and find which block leads to which."""
        mdp = point.mdp
        self._boundary = balanced_chunks(mdp.indptr[mdp.state_ptr], _MOST_BLOCKS)
        n_blocks = len(self._boundary) - 1
        block_of = np.repeat(np.arange(n_blocks, dtype=np.int32), np.diff(self._boundary))
        self._leads = np.zeros((n_blocks, n_blocks), dtype=np.uint8)
        for_each(_gauss_seidel.mark_successors, n_blocks, self._boundary, point.tensor, block_of, self._leads)
        self._priority = np.full(n_blocks, np.inf)

"""The Markov chain of a policy, gathered from a process, and its sweeps."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from punish_fast.mdp import _gauss_seidel, _improvement
from punish_fast.mdp._bellman import Tensor
from punish_fast.mdp._gauss_seidel import Blocks
from punish_fast.mdp._improvement import Candidates, Chain
from punish_fast.mdp.gauss_seidel import blocks_of
from punish_fast.mdp.improvement import Improvement
from punish_fast.runtime.parallel import balanced_chunks, cumulated, for_chunks, for_each


class PolicyChain:
    """The rows that a policy takes.

    Attributes:
        n_entries: Their entries.
    """

    def __init__(self, point: Improvement) -> None:
        """Gather the rows of the greedy policy."""
        mdp, choice = point.mdp, point.choice
        self._discount, self._n_columns = point.discount, mdp.n_columns
        ptr = cumulated(mdp.indptr[choice + 1] - mdp.indptr[choice])
        self.n_entries = int(ptr[-1])
        arrays = np.empty(self.n_entries, dtype=np.uint32), np.empty(self.n_entries), np.empty(mdp.n_states)
        self._chain = Chain(ptr.view(np.uint64), *arrays)
        for_chunks(_improvement.gather_policy, ptr, point.tensor, choice.view(np.uint64), self._chain)
        self._chunks = balanced_chunks(ptr).view(np.uint64)

    def back_up(self, v: np.ndarray, out: np.ndarray) -> tuple[float, float]:
        """Back up all states from ``v`` into ``out``, both ``[n_columns]``; return the ends of their changes."""
        return self._swept(self._chain, v, out)

    def discounted_successors(self, x: np.ndarray) -> np.ndarray:
        """``discount * P x``, float64 ``[n_states]``, for ``x`` ``[n_columns]``."""
        out = np.empty(len(self._nothing))
        self._swept(self._chain._replace(reward=self._nothing), x, out)
        return out

    def relaxed(self, residual: np.ndarray) -> np.ndarray:
        """About the solution ``x`` of ``x - discount * P x = residual``: two Gauss-Seidel sweeps, from zero.

        Args:
            residual: float64 ``[n_states]``.

        Returns:
            float64 ``[n_columns]``, 0 for terminals.
        """
        tensor = self._tensor._replace(reward=residual)
        x, out = np.zeros(self._n_columns), np.zeros(self._n_columns)
        for is_descending in (True, False):
            blocks = self._blocks._replace(is_descending=is_descending)
            change = np.empty(len(blocks.chosen))
            args = blocks, tensor, self._discount, self._only, x, out, change
            for_each(_gauss_seidel.relax_blocks, len(change), *args)
            x[:] = out
        return x

    @cached_property
    def _tensor(self) -> Tensor:
        """The chain as a process with one row a state."""
        ptr, indices, data, reward = self._chain
        return Tensor(np.arange(len(ptr), dtype=np.uint64), ptr, indices, data, reward)

    @cached_property
    def _only(self) -> Candidates:
        n = len(self._chain.reward)
        return Candidates(np.arange(n, dtype=np.uint32), np.ones(n, dtype=np.uint32))

    @cached_property
    def _blocks(self) -> Blocks:
        return blocks_of(self._chain.ptr)

    @cached_property
    def _nothing(self) -> np.ndarray:
        return np.zeros(len(self._chain.reward))

    def _swept(self, chain: Chain, v: np.ndarray, out: np.ndarray) -> tuple[float, float]:
        n_chunks = len(self._chunks) - 1
        extremes = np.empty((n_chunks, 2))
        for_each(_improvement.back_up_chain, n_chunks, self._chunks, chain, self._discount, v, out, extremes)
        return float(extremes[:, 0].min()), float(extremes[:, 1].max())

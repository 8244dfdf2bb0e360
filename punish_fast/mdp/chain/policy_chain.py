"""The Markov chain of a policy, copied from an MDP, and sweeps over the chain.

The rows of a policy are copied to separate arrays, since a sweep over rows scattered across the MDP would fetch nearly
all of its memory. Each state has room for its longest row, so only rows that differ from the previous policy's are
copied.
"""

import numpy as np

from punish_fast.mdp._bellman import Tensor
from punish_fast.mdp.chain import _policy_chain
from punish_fast.mdp.chain._policy_chain import NO_ROW, Chain
from punish_fast.mdp.model import MDP
from punish_fast.runtime.parallel import balanced_chunks, cumulated, for_chunks, for_each

# Sweeps with less work run on one thread. Work is the number of entries plus ten for each state; this much takes twice
# as long as starting threads (0.1 ms).
_LEAST_WORK, _STATE_WORK = 900_000, 10
# Maximum number of blocks, which are updated in parallel, and states per block if there are fewer blocks. Larger blocks
# propagate values further.
_MOST_BLOCKS, _BLOCK_STATES = 16, 1024


class PolicyChain:
    """The Markov chain of a policy; call `follow` to set the policy."""

    def __init__(self, mdp: MDP, tensor: Tensor, discount: float) -> None:
        """Allocate memory for rows; ``tensor`` contains the kernel arrays of ``mdp``."""
        n = mdp.n_states
        self._ptr = cumulated(mdp.longest_of_states)
        self.n_entries = int(self._ptr[-1])  # Maximum number of entries
        rows = np.empty(n, dtype=np.uint32), np.full(n, NO_ROW)
        entries = np.empty(self.n_entries, dtype=np.uint32), np.empty(self.n_entries)
        self._chain = Chain(self._ptr.view(np.uint64), *rows, *entries, np.empty(n), np.empty(n))
        self._tensor, self._discount, self._n_columns = tensor, discount, mdp.n_columns
        self._is_small = self.n_entries + _STATE_WORK * n < _LEAST_WORK
        self._nothing = np.zeros(n)
        self._chunks = balanced_chunks(self._ptr).view(np.uint64)
        n_blocks = min(_MOST_BLOCKS, 1 + len(self._ptr) // _BLOCK_STATES)
        self._blocks = balanced_chunks(self._ptr, n_blocks).view(np.uint64)

    def follow(self, choice: np.ndarray) -> None:
        """Set the policy to the rows ``choice``, int64 ``[n_states]``."""
        args = self._tensor, self._discount, choice.view(np.uint64), self._chain
        for_chunks(_policy_chain.gather_policy, self._ptr, *args)

    def back_up(self, v: np.ndarray, out: np.ndarray) -> tuple[float, float]:
        """Back up all states from ``v`` into ``out``, both ``[n_columns]``; return the smallest and largest change."""
        return self._swept(self._chain, v, out)

    def discounted_successors(self, x: np.ndarray) -> np.ndarray:
        """Return ``discount * P x``, float64 ``[n_states]``, for ``x``, float64 ``[n_columns]``."""
        out = np.empty(len(self._nothing))
        self._swept(self._chain._replace(reward=self._nothing), x, out)
        return out

    def relaxed(self, residual: np.ndarray) -> np.ndarray:
        """Solve ``x - discount * P x = residual``, with 0 at terminals, approximately by two Gauss-Seidel sweeps."""
        chain = self._chain._replace(reward=residual)
        x, out = np.zeros(self._n_columns), np.zeros(self._n_columns)
        for is_descending in (True, False):
            args = self._blocks, is_descending, chain, self._discount, x, out
            for_each(_policy_chain.relax_chain, len(self._blocks) - 1, *args, alone=self._is_small)
            x[:] = out
        return x

    def _swept(self, chain: Chain, v: np.ndarray, out: np.ndarray) -> tuple[float, float]:
        n_chunks = len(self._chunks) - 1
        extremes = np.empty((n_chunks, 2))
        args = self._chunks, chain, self._discount, v, out, extremes
        for_each(_policy_chain.back_up_chain, n_chunks, *args, alone=self._is_small)
        return float(extremes[:, 0].min()), float(extremes[:, 1].max())

"""Random legal actions for ``bench.rates``."""

from __future__ import annotations

import numpy as np

from punish_fast.runtime._jit import kernel


@kernel
def choose(legal: np.ndarray, share: np.ndarray, action: np.ndarray) -> None:
    """Fill ``action``, int64 ``[n]``: of the legal actions ``[n, n_actions]``, the one at ``share``, from 0 to 1."""
    n_actions = legal.shape[1]
    for k in range(len(legal)):
        count = 0
        for a in range(n_actions):
            count += legal[k, a]
        left = int(share[k] * count)
        # The actions before the chosen one are those with at most ``left`` legal ones up to them; no branch to guess.
        seen = chosen = 0
        for a in range(n_actions):
            seen += legal[k, a]
            chosen += seen <= left
        action[k] = chosen

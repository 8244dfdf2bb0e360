"""Random legal actions for ``bench.rates``."""

from __future__ import annotations

import numpy as np

from punish_fast.runtime._jit import kernel


@kernel
def choose(legal: np.ndarray, share: np.ndarray, action: np.ndarray) -> None:
    """Fill ``action``, int64 ``[n]``, with legal actions; ``share``, 0 to 1, selects one of those in ``legal``."""
    n_actions = legal.shape[1]
    for k in range(len(legal)):
        count = 0
        for a in range(n_actions):
            count += legal[k, a]
        left = int(share[k] * count)
        # Branchless: an action precedes the chosen one if at most ``left`` actions up to it are legal.
        seen = chosen = 0
        for a in range(n_actions):
            seen += legal[k, a]
            chosen += seen <= left
        action[k] = chosen

"""Random legal actions for ``bench.rates``."""

from __future__ import annotations

import numpy as np

from punish_fast.runtime._jit import kernel


@kernel
def choose(legal: np.ndarray, share: np.ndarray, action: np.ndarray) -> None:
    """Set ``action``, int64 ``[n]``, to legal actions of ``n`` games.

    If ``m`` actions are legal, ``action[k]`` is the legal action with index ``int(share[k] * m)``, counted from 0.
    Entries of ``share`` are at least 0 and less than 1.
    """
    n_actions = legal.shape[1]
    for k in range(len(legal)):
        count = 0
        for a in range(n_actions):
            count += legal[k, a]
        left = int(share[k] * count)
        # Count the actions before the chosen one. At most ``left`` of the actions up to each of them are legal.
        seen = chosen = 0
        for a in range(n_actions):
            seen += legal[k, a]
            chosen += seen <= left
        action[k] = chosen

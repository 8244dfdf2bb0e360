"""Policies that provably attain the values computed without a discount.

Even if values are within ``d`` of the optimum, their greedy policy may be poor: without a discount, a row that loses
less than ``d`` might be taken many times. In an MDP in which every policy terminates, let ``F`` be a sweep under one
policy, and let ``e`` bound the rounding error of a sweep. Backups are monotone, so for any values ``l``,

    F^k(l) - k e >= l   =>   the values of the policy are at least l

so a policy is verified by sweeps from ``l = v - d / 2``. If the layers form a cycle, the condition is required only in
the first layer. Elsewhere the values of the policy are at least ``F^k(l) - k e``, which must be at least ``v - d``.

If the verification fails, the ladder solves the MDP by other methods.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.process import Payment


class Aim(NamedTuple):
    """Values that a policy must attain."""

    reward: np.ndarray  # float64 ``[n_rows]``, immediate rewards
    lower: np.ndarray  # float64 ``[n_columns]``, required value of each state, and values of terminals
    floor: float  # Lower bound on all values of all policies, or -inf if unknown
    rounding: float  # Bound on the rounding error of a sweep
    allowance: float = 0.0  # Permitted shortfall in all layers of a cycle except the first


def attains(mdp: MDP, aim: Aim, choice: np.ndarray, sweeps: int) -> bool:
    """Return True if up to ``sweeps`` sweeps prove that the policy ``choice``, int64 ``[n_states]``, attains the aim.

    Every policy of the process must terminate.
    """
    n, payment, policy = mdp.n_states, Payment(aim.reward, 1.0), np.zeros(mdp.n_rows)
    policy[choice] = 1.0
    n_carried = int(mdp.layer_ptr[1]) if mdp.is_cycle else n
    lower = aim.lower.copy()
    for _ in range(sweeps):
        before = lower[:n_carried].copy()
        for layer in reversed(range(mdp.n_layers)):
            out = lower if mdp.backups.is_independent(layer) else lower.copy()
            mdp.backups.evaluate(layer, payment, policy, lower, out)
            lower = out
        np.maximum(lower[:n] - aim.rounding, aim.floor, out=lower[:n])
        if (lower[:n_carried] >= aim.lower[:n_carried]).all():
            return bool((lower[n_carried:n] >= aim.lower[n_carried:n] - aim.allowance).all())
        if (lower[:n_carried] <= before).all():
            return False
    return False

"""Policies that provably attain the values computed without a discount.

Even if values are within ``d`` of the optimum, their greedy policy may be poor: without a discount, a row that loses
less than ``d`` might be taken many times. In an MDP in which every policy terminates, let ``F`` be a sweep under one
policy, and let ``e`` bound the rounding error of a sweep. Backups are monotone, so for any values ``l``,

    F^k(l) - k e >= l   =>   the values of the policy are at least l

so a policy is verified by sweeps from ``l = v - d / 2``. If the layers form a cycle, the condition is required only in
the first layer. Elsewhere the values of the policy are at least ``F^k(l) - k e``, which must be at least ``v - d``.

If the verification fails, another policy is constructed. Repeatedly raise ``l`` to ``max(l, T l - e)``, where ``T``
backs up the best rows, and let the policy take, in each state, the row that last raised the state's bound. Bounds only
increase, so a backup of the row taken in a state remains at least the bound of the state. Once a row is taken in every
state, the values of the policy are at least ``l``. From any ``l <= v*``, the bounds increase to ``v*``, so sweeps that
find the values also find a policy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.process import Payment, Process, RowChoices

_MOST_SWEEPS = 1000


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


def attaining_choice(mdp: Process, aim: Aim) -> np.ndarray | None:
    """Return a policy that attains the aim, int64 ``[n_states]``, or None if sweeps find no such policy.

    Every policy of the process must terminate.
    """
    payment, backups, n = Payment(aim.reward, 1.0), mdp.backups, mdp.n_states
    lower, out = aim.lower.copy(), np.empty(mdp.n_columns)
    found = RowChoices(np.zeros(mdp.n_rows), np.zeros(n, dtype=np.int64))
    choice = np.full(n, -1, dtype=np.int64)
    for _ in range(_MOST_SWEEPS):
        has_risen = False
        for layer in reversed(range(mdp.n_layers)):
            states = slice(*mdp.layer_ptr[layer : layer + 2].tolist())
            out[:] = lower
            backups.close(layer, payment, found, lower, out)
            raised = np.maximum(out[states] - aim.rounding, aim.floor)
            rises = np.where(choice[states] < 0, raised >= lower[states], raised > lower[states])
            lower[states] = np.where(rises, raised, lower[states])
            choice[states] = np.where(rises, found.row[states], choice[states])
            has_risen |= bool(rises.any())
        if (choice >= 0).all():
            return choice
        if not has_risen:
            return None
    return None

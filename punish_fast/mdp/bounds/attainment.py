"""Policies that attain the values found, without a discount.

Values within ``d`` of the optimum do not make the greedy policy good: without a discount a row that loses less than
``d`` may be taken for ever. Let ``F`` sweep under one policy, in a process that ends under every policy, and let ``e``
bound its rounding error. As in ``interval_iteration.py``

    F^k(l) - k e >= l   =>   the policy earns l or more

so a policy is checked by sweeps from ``l = v - d / 2``. In a cycle of layers the condition need only hold in the first
one; elsewhere the policy earns ``F^k(l)``, which must be ``v - d`` or more.

If that fails, another policy is found. Raise ``l`` to ``max(l, T l - e)``, where ``T`` backs up the best rows, and let
the policy take the row that raised a state last. Bounds only grow, so every row chosen still earns ``l`` at its state,
and once each state has such a row, the policy earns ``l`` or more. Sweeps find one if they can find values at all: from
any ``l <= v*`` such bounds increase to ``v*``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from punish_fast.mdp.process import Payment, Process, RowChoices

if TYPE_CHECKING:
    from punish_fast.mdp.model import MDP

_MOST_SWEEPS = 1000


class Aim(NamedTuple):
    """What a policy must earn.

    Attributes:
        reward: float64 ``[n_rows]``, what rows pay.
        lower: float64 ``[n_columns]``, the least that it must earn from each state, and the worth of terminals.
        floor: What every policy earns at least; -inf if nothing is known.
        rounding: Bound on the rounding error of a sweep.
        allowance: How much less is enough in a cycle of layers, except in the first layer.
    """

    reward: np.ndarray
    lower: np.ndarray
    floor: float
    rounding: float
    allowance: float = 0.0


def attains(mdp: MDP, aim: Aim, choice: np.ndarray, sweeps: int) -> bool:
    """Whether sweeps prove that a policy earns what it must.

    Args:
        mdp: The process; play must end under every policy.
        aim: What to earn.
        choice: int64 ``[n_states]``, the row that the policy takes in each state.
        sweeps: The most sweeps to make; one is enough if play may end in each.
    """
    n = mdp.n_states
    n_carried = int(mdp.layer_ptr[1]) if mdp.is_cycle else n
    lower = aim.lower.copy()
    for _ in range(sweeps):
        before = lower[:n_carried].copy()
        for layer in reversed(range(mdp.n_layers)):
            out = lower if mdp.is_independent(layer) else lower.copy()
            mdp.backups.follow(layer, aim.reward, choice, lower, out)
            lower = out
        np.maximum(lower[:n] - aim.rounding, aim.floor, out=lower[:n])
        if (lower[:n_carried] >= aim.lower[:n_carried]).all():
            return bool((lower[n_carried:n] >= aim.lower[n_carried:n] - aim.allowance).all())
        if (lower[:n_carried] <= before).all():
            return False
    return False


def attaining_choice(mdp: Process, aim: Aim) -> np.ndarray | None:
    """Find a policy that earns what it must.

    Args:
        mdp: The process; play must end under every policy.
        aim: What to earn, no more than some policy does.

    Returns:
        int64 ``[n_states]``, the row that the policy takes in each state; None if sweeps cannot prove any.
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

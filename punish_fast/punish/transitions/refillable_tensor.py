"""One player's process against a sequence of enemies, without a new tensor for each.

The pattern of the tensor follows from the rules alone; only the probabilities depend on the enemy. So the pattern is
computed once, and for each further enemy the probabilities are refilled, each stored once however many rows share it
(see `punish_fast.mdp.model`). Starting from the values against the previous enemy, few sweeps are left::

    game = Refillable(space)
    solution = None
    for policy in policies:
        solution = solve(game.fill(policy), start=None if solution is None else solution.v)
"""

from __future__ import annotations

import numpy as np

from punish_fast.mdp.model import MDP
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build_compact, refill


class Refillable:
    """A process whose enemy can be replaced.

    Attributes:
        space: The states of the game.
        mdp: The process against the current enemy, at first the uniform one.
    """

    def __init__(self, space: StateSpace) -> None:
        """Compute the pattern.

        Raises:
            MemoryError: the tensor would not fit into memory.
        """
        self.space = space
        self.mdp: MDP = build_compact(space)

    def __repr__(self) -> str:
        return f"Refillable({self.space!r})"

    def fill(self, policy: np.ndarray) -> MDP:
        """The process against an enemy's policy (float64 ``[n_rows]``), in the arrays of the one before.

        Raises:
            PolicyError: the policy does not belong to these states.
        """
        refill(self.space, self.mdp, policy)
        return self.mdp

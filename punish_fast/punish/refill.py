"""One player's process against a sequence of enemies, without a new tensor for each.

Where a row leads follows from the rules alone; only how likely it leads there depends on the enemy. So the pattern is
worked out once, and to meet another enemy the probabilities are filled again, each stored once however many rows share
it (see `punish_fast.mdp.model`). With the values against the last enemy to start from, few sweeps are left::

    game = Refillable(space)
    solution = None
    for enemy in enemies:
        solution = solve(game.fill(enemy), start=None if solution is None else solution.v)
"""

from __future__ import annotations

from punish_fast.mdp.model import MDP
from punish_fast.punish.space import StateSpace
from punish_fast.punish.strategy import StrategyTable
from punish_fast.punish.tensor import build_compact, refill


class Refillable:
    """A process whose enemy can be exchanged.

    Attributes:
        space: The states of the game.
        mdp: The process against the last enemy, at first the naive one.
    """

    def __init__(self, space: StateSpace) -> None:
        """Work out where all rows lead.

        Raises:
            MemoryError: the tensor would not fit into memory.
        """
        self.space = space
        self.mdp: MDP = build_compact(space)

    def fill(self, enemy: StrategyTable) -> MDP:
        """The process against an enemy, in the place of that against the last one, whose arrays are overwritten.

        Raises:
            StrategyError: the strategy was made for other rules.
        """
        refill(self.space, self.mdp, enemy)
        return self.mdp

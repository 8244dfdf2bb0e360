"""The scale of an agent's values: chances to win where they are that, from what a loss is worth to a win otherwise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from punish_fast.mdp.solution import Solution

_Values = TypeVar("_Values", float, np.ndarray)


@dataclass(frozen=True)
class Scale:
    """A scale of values."""

    worst: float  # value of a loss
    best: float  # value of a win
    is_chance: bool  # whether values are chances to win, from 0 to 1

    def share(self, difference: _Values) -> _Values:
        """A difference of two values, or an array of them, as a share of that between win and loss."""
        return difference / (self.best - self.worst)

    def text(self, value: float) -> str:
        """A value in a column: a percentage or a number."""
        return f"{value:.2%}" if self.is_chance else f"{value:+.4f}"

    def sentence(self, value: float) -> str:
        """What an action of this value does: "wins 50.00%", or "is worth +0.3000"."""
        return f"{'wins' if self.is_chance else 'is worth'} {self.text(value)}"


def as_chances(solution: Solution) -> Solution:
    """Total rewards as chances to win; other values as they are."""
    if solution.objective == "win-probability" or solution.discount != 1:
        return solution
    v, q, bound = (1 + solution.v) / 2, (1 + solution.q) / 2, solution.error_bound / 2
    return replace(solution, objective="win-probability", v=v, q=q, error_bound=bound)

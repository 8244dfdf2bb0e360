"""Scale of an agent's values: win probabilities, or values between loss and win."""

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
    is_chance: bool  # values are win probabilities

    def share(self, difference: _Values) -> _Values:
        """Return a difference of values, or an array, as a share of the difference between win and loss."""
        return difference / (self.best - self.worst)

    def text(self, value: float) -> str:
        """Format a value for a column: a percentage or a number."""
        return f"{value:.2%}" if self.is_chance else f"{value:+.4f}"

    def sentence(self, value: float) -> str:
        """Describe an action of this value: "wins 50.00%", or "is worth +0.3000"."""
        return f"{'wins' if self.is_chance else 'is worth'} {self.text(value)}"


def as_chances(solution: Solution) -> Solution:
    """Convert total rewards to win probabilities; other values stay unchanged."""
    if solution.objective == "win-probability" or solution.discount != 1:
        return solution
    v, q, bound = (1 + solution.v) / 2, (1 + solution.q) / 2, solution.error_bound / 2
    return replace(solution, objective="win-probability", v=v, q=q, error_bound=bound)

"""How undecided a strategy is: the entropy of what it plays, breath by breath.

The entropy ``H = -sum_a p(a) ln p(a)`` of a distribution over actions is 0 nats if one action is certain and ``ln n``
if ``n`` are played alike; ``exp H`` is how many equally likely actions are as undecided. No strategy over ``n`` legal
actions exceeds ``ln n``, so that is what it is held against.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from punish_fast.punish.space import StateSpace
from punish_fast.punish.strategy import StrategyError, StrategyTable


@dataclass(frozen=True)
class Entropies:
    """Mean entropies of a strategy, one entry for each breath and one for the time between measures.

    Attributes:
        n_states: int64 ``[n_layers]``, states of the game.
        n_covered: int64 ``[n_layers]``, states that the strategy covers.
        mean: float64 ``[n_layers]``, mean entropy over the states covered, in nats; NaN if there are none.
        uniform: float64 ``[n_layers]``, the same if all legal actions were played alike.
    """

    n_states: np.ndarray
    n_covered: np.ndarray
    mean: np.ndarray
    uniform: np.ndarray

    def overall(self) -> tuple[float, float]:
        """Mean entropy, and that of uniform play, over all states covered; NaN if there are none."""
        n_all = int(self.n_covered.sum())
        if n_all == 0:
            return np.nan, np.nan
        mean, uniform = (float(np.nansum(means * self.n_covered)) / n_all for means in (self.mean, self.uniform))
        return mean, uniform


def entropy(p: np.ndarray) -> np.ndarray:
    """The entropies of distributions, float64 ``[k]`` in nats.

    Args:
        p: float64 ``[k, n]``, probabilities, each row adding up to 1.
    """
    terms: np.ndarray = p * np.log(np.where(p > 0, p, 1.0))
    return np.asarray(np.maximum(-terms.sum(axis=1), 0.0))


def entropies(space: StateSpace, table: StrategyTable) -> Entropies:
    """The mean entropies of a strategy table, breath by breath.

    Args:
        space: The states of the game.
        table: The strategy.

    Raises:
        StrategyError: it was made for other rules.
    """
    if table.rules_digest not in (None, space.rules.digest):
        raise StrategyError(f"strategy: made for rules {table.rules_digest}, but the game has {space.rules.digest}")
    layer = np.searchsorted(space.layer_ptr, table.state, side="right") - 1
    n_layers = len(space.layer_ptr) - 1
    n_covered = np.bincount(layer, minlength=n_layers)
    n_legal = np.diff(space.state_ptr)[table.state]
    sums = [np.bincount(layer, weights=values, minlength=n_layers) for values in (entropy(table.p), np.log(n_legal))]
    mean, uniform = (np.where(n_covered > 0, total / np.maximum(n_covered, 1), np.nan) for total in sums)
    return Entropies(np.diff(space.layer_ptr), n_covered, mean, uniform)

"""The entropy of a strategy, breath by breath.

The entropy ``H = -sum_a p(a) ln p(a)`` of a distribution over ``n`` actions ranges from 0 nats, if one action is
certain, to ``ln n`` nats, if all actions are equally likely. ``exp H`` is the effective number of actions. The entropy
of a strategy is compared with the entropy of uniform play over the legal actions.
"""

from dataclasses import dataclass

import numpy as np

from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import checked_policy


@dataclass(frozen=True)
class Entropies:
    """Mean entropies of a strategy, by breath. The last entry is for the states between measures."""

    n_states: np.ndarray  # int64 ``[n_layers]``, number of states in the game
    n_covered: np.ndarray  # int64 ``[n_layers]``, number of states that the strategy covers
    mean: np.ndarray  # float64 ``[n_layers]``, mean entropy over covered states in nats, NaN if there are none
    uniform: np.ndarray  # float64 ``[n_layers]``, mean entropy of uniform play over the same states

    def overall(self) -> tuple[float, float]:
        """Return the mean entropies of the strategy and of uniform play over all covered states.

        Both are NaN if no state is covered.
        """
        n_all = int(self.n_covered.sum())
        if n_all == 0:
            return np.nan, np.nan
        mean, uniform = (float(np.nansum(means * self.n_covered)) / n_all for means in (self.mean, self.uniform))
        return mean, uniform


def entropy(space: StateSpace, policy: np.ndarray) -> np.ndarray:
    """Return the entropy of a policy in each state, float64 ``[n_states]`` in nats.

    Args:
        space: The states of the game.
        policy: float64 ``[n_rows]``.
    """
    terms = policy * np.log(np.where(policy > 0, policy, 1.0))
    return np.asarray(np.maximum(-np.add.reduceat(terms, space.state_ptr[:-1]), 0.0))


def entropies(space: StateSpace, policy: np.ndarray, support: np.ndarray | None = None) -> Entropies:
    """Return the mean entropies of a strategy, breath by breath.

    Args:
        space: The states of the game.
        policy: float64 ``[n_rows]``.
        support: bool ``[n_states]``, True for the states to average over, by default all states.
    """
    state = np.arange(space.n_states) if support is None else np.flatnonzero(support)
    layer = np.searchsorted(space.layer_ptr, state, side="right") - 1
    n_layers = len(space.layer_ptr) - 1
    n_covered = np.bincount(layer, minlength=n_layers)
    values = entropy(space, checked_policy(space, policy)), np.log(np.diff(space.state_ptr))
    sums = [np.bincount(layer, weights=each[state], minlength=n_layers) for each in values]
    mean, uniform = (np.where(n_covered > 0, total / np.maximum(n_covered, 1), np.nan) for total in sums)
    return Entropies(np.diff(space.layer_ptr), n_covered, mean, uniform)

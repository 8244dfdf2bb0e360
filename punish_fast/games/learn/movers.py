"""Movers that choose actions according to action values, greedily or by softmax.

A mover (`contract.Mover`) chooses an action for each state of a batch. Softmax play takes an action of value ``q`` with
probability proportional to ``exp(q / temperature)``. Softmax play is meant for games in which players hide cards or
decide simultaneously, because deterministic play of these games is easy to exploit.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


def random_mover(_states: np.ndarray, legal: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return a uniformly random legal action for each state, int64 ``[n]``."""
    rank = (generator.random(len(legal)) * legal.sum(axis=1)).astype(np.int64)
    return np.asarray((legal.cumsum(axis=1) > rank[:, np.newaxis]).argmax(axis=1))


# Softmax temperature with which networks trained at a positive temperature play and are judged. In Incan Gold, mixed
# networks are almost as strong as greedy networks, but harder to exploit: the best threshold player takes 22 % of first
# places against two mixed networks, but 75 % against two greedy networks (docs/games/incan-gold.md).
PLAY_TEMPERATURE = 0.03

# Function that maps states, uint64 [n, n_words], to the values of all actions, float32 [n, n_moves].
Values = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class ValueMover:
    """Mover that takes the first action of maximum value, or draws actions by softmax."""

    values: Values
    temperature: float = 0.0  # softmax temperature; 0 for the best action
    epsilon: float = 0.0  # probability of a random action
    keeps_rules: bool = True  # True to consider only legal actions

    def __call__(self, states: np.ndarray, legal: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Return an action for each state, int64 ``[n]``."""
        allowed = legal if self.keeps_rules else np.ones_like(legal)
        if self.temperature > 0:
            random = softmax(np.zeros_like(allowed), allowed, 1.0)
            probability = softmax(self.values(states), allowed, self.temperature)
            return drawn_actions(probability + self.epsilon * (random - probability), generator)
        random = random_mover(states, allowed, generator)
        explores = generator.random(len(states)) < self.epsilon
        if explores.all():
            return random
        return np.where(explores, random, first_best_actions(self.values(states), allowed))


def first_best_actions(values: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Return the first allowed action of maximum value in each state, int64 ``[n]``."""
    return np.asarray(np.where(allowed, values, -np.inf).argmax(axis=1))


def softmax(values: np.ndarray, allowed: np.ndarray, temperature: float) -> np.ndarray:
    """Return probabilities proportional to ``exp(value / temperature)`` for allowed actions and 0 for all others.

    The probabilities are float64 ``[n, n_moves]``.
    """
    known = np.where(allowed, values, -np.inf).astype(np.float64)
    # Subtract before dividing: division by a tiny temperature can overflow, and the difference of infinities is NaN.
    with np.errstate(over="ignore"):
        weight = np.exp((known - known.max(axis=1, keepdims=True)) / temperature)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def drawn_actions(weights: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Draw an action for each row, with probabilities proportional to ``weights``; return int64 ``[n]``."""
    cumulated = weights.cumsum(axis=1)
    # Stay below the total after rounding, so that no action of weight 0 is drawn.
    mark = np.minimum(generator.random(len(weights)) * cumulated[:, -1], np.nextafter(cumulated[:, -1], 0))
    return np.asarray((cumulated > mark[:, np.newaxis]).argmax(axis=1))

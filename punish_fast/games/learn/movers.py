"""Players of many games at once by the values of actions: greedy or mixed.

A mover (`contract.Mover`) chooses an action for each of many states. Mixed play takes an action of value ``q`` with a
probability in proportion to ``exp(q / temperature)``: if players hide cards or decide simultaneously, play that is
never mixed is easily guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from punish_fast.games.random_play import random_mover

# Of networks that have learned by mixed play, at a table and before a judge. In Incan Gold they are almost as strong as
# greedy ones then, and the best threshold responder wins a third as often against two of them.
PLAY_TEMPERATURE = 0.03

# The values of all actions, float32 [n, n_moves], of states, uint64 [n, n_words].
Values = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class ValueMover:
    """Takes the first best action, or with a temperature draws actions by softmax of their values."""

    values: Values  # values of actions
    temperature: float = 0.0  # 0 for the best action; higher temperatures give more equal probabilities
    epsilon: float = 0.0  # probability of a random action instead
    keeps_rules: bool = True  # whether it considers legal actions only

    def __call__(self, states: np.ndarray, legal: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Return an action for each state."""
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
    """The first best of the allowed actions of each state, int64 ``[n]``."""
    return np.asarray(np.where(allowed, values, -np.inf).argmax(axis=1))


def softmax(values: np.ndarray, allowed: np.ndarray, temperature: float) -> np.ndarray:
    """The probability of each action in proportion to ``exp(value / temperature)``, 0 for those not allowed.

    Args:
        values: ``[n, n_moves]``.
        allowed: bool ``[n, n_moves]``, at least one in each row.
        temperature: Above 0.

    Returns:
        float64 ``[n, n_moves]``.
    """
    known = np.where(allowed, values, -np.inf).astype(np.float64)
    # Differences first: quotients by a tiny temperature are infinite, and their differences no numbers.
    with np.errstate(over="ignore"):
        weight = np.exp((known - known.max(axis=1, keepdims=True)) / temperature)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def drawn_actions(weights: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """An action for each row, int64 ``[n]``, drawn in proportion to weights of which not all are 0."""
    cumulated = weights.cumsum(axis=1)
    # Below the last sum also after rounding, so that no action of weight 0 is drawn.
    mark = np.minimum(generator.random(len(weights)) * cumulated[:, -1], np.nextafter(cumulated[:, -1], 0))
    return np.asarray((cumulated > mark[:, np.newaxis]).argmax(axis=1))

"""The models that MuZero and AlphaZero search in, one state at a time in plain NumPy: twins of the compiled ones.

`LearnedModel` has the networks of ``punish_fast/learn/muzero/network.py``, and `RulesModel` the rules of a game with
the same networks for policy and value. Either gives `tree_search` the root of a state, and steps from there. Numbers
are float64; weights are those of a learner.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bench.tree_search import Root, Step, softmax
from punish_fast.games.contract import VectorGame
from punish_fast.learn.muzero.network import ModelShape

# Layers of the dynamics and of the prediction, the last of all.
_N_DYNAMICS, _N_PREDICTION = 4, 3
# Against division by zero where all hidden numbers are equal.
_EPSILON = 1e-5
# The logit of an action that no one takes.
_NEVER = -1e9


class LearnedModel:
    """The learned model of a game."""

    def __init__(self, shape: ModelShape, weights: np.ndarray, discount: float = 1.0) -> None:
        """Take the layers out of weights, float32 ``[n_weights]``."""
        self.shape = shape
        self._discount = discount
        layers, begin = [], 0
        for each in shape.layers:
            end = begin + math.prod(each)
            bias = weights[end : end + each[-1]].astype(np.float64)
            layers.append((weights[begin:end].reshape(-1, each[-1]).astype(np.float64), bias))
            begin = end + each[-1]
        self._prediction = layers[-_N_PREDICTION:]
        self._dynamics = layers[-_N_PREDICTION - _N_DYNAMICS : -_N_PREDICTION]
        self._representation = layers[: -_N_PREDICTION - _N_DYNAMICS]

    def root(self, features: np.ndarray) -> Root:
        """Logits, value and hidden state of a state with some features, ``[n_features]``."""
        x = features.astype(np.float64)
        n_filters = len(self.shape.filters)
        if n_filters:
            planes = x.reshape(self.shape.inputs).transpose(1, 2, 0)
            for layer in self._representation[:n_filters]:
                planes = rectified(dense(layer, neighbourhoods(planes)))
            x = planes.reshape(-1)
        first, second = self._representation[n_filters:]
        hidden = scaled(dense(second, rectified(dense(first, x))))
        return *self.predict(hidden), hidden

    def predict(self, hidden: np.ndarray) -> tuple[np.ndarray, float]:
        """The logits of the policy and the value of a hidden state."""
        first, policy, value = self._prediction
        x = rectified(dense(first, hidden))
        return dense(policy, x), mean_of(dense(value, x))

    def step(self, action: int, hidden: np.ndarray) -> Step:
        """What follows an action, for the player to move then."""
        first, change, reward, rewards = self._dynamics
        taken = np.zeros(self.shape.n_moves)
        taken[action] = 1
        x = rectified(dense(first, np.concatenate([hidden, taken])))
        of_all = dense(rewards, rectified(dense(reward, hidden))).reshape(self.shape.n_moves, -1)
        after = scaled(hidden + dense(change, x))
        return mean_of(of_all[action]), -self._discount, *self.predict(after), after


class RulesModel:
    """The rules of a game as a model; a hidden state is the words of a state, or None past the end."""

    def __init__(self, vector: VectorGame, networks: LearnedModel, discount: float = 1.0) -> None:
        """Remember the game, and what tells policies and values."""
        self._vector = vector
        self._networks = networks
        self._discount = discount

    def root(self, words: np.ndarray) -> Root:
        """Logits, value and words of a state, uint64 ``[n_words]``."""
        logits, value, _ = self._networks.root(self._vector.features(words[np.newaxis])[0])
        return logits, value, words

    def step(self, action: int, words: Any) -> Step:
        """What follows an action, for the player to move then; an illegal one loses."""
        nowhere = np.zeros(self._vector.n_moves)
        if words is None:
            return 0.0, 0.0, nowhere, 0.0, None
        states = words[np.newaxis]
        if not self._vector.legal(states)[0, action]:
            return -1.0, 0.0, nowhere, 0.0, None
        player = int(self._vector.player(states)[0])
        after, returns, ended = self._vector.step(states, np.array([action]))
        if ended[0]:
            return float(returns[0, player]), 0.0, nowhere, 0.0, None
        logits, value, _ = self.root(after[0])
        known = np.where(self._vector.legal(after)[0], logits, _NEVER)
        return float(returns[0, player]), -self._discount, known, value, after[0]


def dense(layer: tuple[np.ndarray, np.ndarray], x: np.ndarray) -> np.ndarray:
    """Sums of what comes in."""
    weight, bias = layer
    return np.asarray(x @ weight + bias)


def rectified(x: np.ndarray) -> np.ndarray:
    """``max(0, x)``."""
    return np.asarray(np.maximum(x, 0))


def neighbourhoods(planes: np.ndarray) -> np.ndarray:
    """What a filter of 3 x 3 sees at each place, ``[rows, columns, 9 planes]``, of ``[rows, columns, planes]``."""
    rows, columns, _ = planes.shape
    padded = np.pad(planes, ((1, 1), (1, 1), (0, 0)))
    return np.concatenate([padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3)], axis=-1)


def scaled(hidden: np.ndarray) -> np.ndarray:
    """A hidden state in the range from 0 to 1."""
    return np.asarray((hidden - hidden.min()) / (np.ptp(hidden) + _EPSILON))


def mean_of(logits: np.ndarray) -> float:
    """The mean of -1, 0 and 1 with the probabilities of logits, ``[3]``."""
    losing, _, winning = softmax(logits)
    return float(winning - losing)

"""PAWNN: a small network that computes action probabilities from the digits of a state.

PAWNN ("PARLESS augmented with neural networks") generalizes from the states seen in recorded games to all others. If
``x`` encodes the 18 digits of a state's decimal code, the network is

    h_0 = x,    h_l = max(0, h_(l-1) W_l + b_l),    z = h_(L-1) W_L + b_L,    y = softmax(z)

with eleven outputs, one for each of the actions 10, 11, 20, 21, ..., 51, 90. To obtain a strategy, the outputs of
illegal actions are set to zero and the others are normalized. If the network has a softmax, the result is the softmax
over the legal actions, which is computed directly to avoid underflow. If the network has no softmax, negative outputs
count as zero, and all legal actions are equally likely if none of them has a positive output.

The forward pass takes the array module as an argument, so training (JAX) and evaluation (NumPy) share its code.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from punish_fast.punish.codes import ACTIONS, N_DIGITS, digits_of
from punish_fast.punish.rules import Rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import legal_mask, policy_of_table
from punish_fast.runtime.errors import PunishFastError

ENCODINGS = ("raw", "scaled", "one-hot")

Layers = tuple[tuple[np.ndarray, np.ndarray], ...]

# Number of states per matrix product, small enough that BLAS uses one thread.
_STATES_AT_ONCE = 256


class NetworkError(PunishFastError, ValueError):
    """Raised when the layers or options of a network are invalid or training fails."""


@dataclass(frozen=True)
class Network:
    """A network and its input encoding."""

    layers: Layers  # weights, float32 ``[n_in, n_out]``, and biases, float32 ``[n_out]``, of each layer in order
    encoding: str = "raw"  # ``"raw"``, ``"scaled"`` or ``"one-hot"``, see `encode`
    softmax: bool = True  # True if the outputs are the softmax of the last layer


def network_of(rules: Rules, layers: Sequence[tuple[Any, Any]], encoding: str = "raw", softmax: bool = True) -> Network:
    """Return a network after checking its layers. For the arguments, see `Network`."""
    n_in = n_inputs(rules, encoding)
    checked = []
    for number, (weight, bias) in enumerate(layers, 1):
        with np.errstate(over="ignore"):  # overflow results in infinities, which are rejected below
            w, b = np.asarray(weight).astype(np.float32), np.asarray(bias).astype(np.float32)
        if w.ndim != 2 or w.shape[0] != n_in or b.shape != w.shape[1:]:
            raise NetworkError(
                f"layer {number}: shapes are {w.shape} and {b.shape}; they must be ({n_in}, n) and (n,) for some n"
            )
        if not (np.isfinite(w).all() and np.isfinite(b).all()):
            raise NetworkError(f"layer {number}: a number is not finite")
        n_in = w.shape[1]
        checked.append((w, b))
    if not checked or n_in != len(ACTIONS):
        raise NetworkError(f"layers: the last one has {n_in} outputs; it must have {len(ACTIONS)}")
    return Network(tuple(checked), encoding, softmax)


def largest_digits(rules: Rules) -> np.ndarray:
    """Return the largest value that each digit of a state can have, int64 ``[18]``."""
    status = [rules.hp, 1, rules.feints]
    enemy_status = [rules.hp, rules.hand_size, 1, rules.feints]
    hand = [min(copies, rules.hand_size) for copies in rules.copies]
    return np.array([rules.breaths + 1, *hand, *status, *enemy_status, *rules.copies])


def n_inputs(rules: Rules, encoding: str) -> int:
    """Return the number of inputs in an encoding."""
    if encoding not in ENCODINGS:
        raise NetworkError(f"encoding: {encoding!r} is unknown; the encodings are {', '.join(ENCODINGS)}")
    return int((largest_digits(rules) + 1).sum()) if encoding == "one-hot" else N_DIGITS


def encode(rules: Rules, digits: np.ndarray, encoding: str) -> np.ndarray:
    """Convert digits to inputs of a network, float32 ``[k, n_inputs]``.

    Args:
        rules: The rules of the game.
        digits: uint8 ``[k, 18]``, the digits of states.
        encoding: ``"raw"`` for the digits, ``"scaled"`` for the digits divided by their largest values, or
            ``"one-hot"`` for one input for each value of each digit.
    """
    n = n_inputs(rules, encoding)
    largest = largest_digits(rules)
    if encoding == "raw":
        return digits.astype(np.float32)
    if encoding == "scaled":
        return np.asarray(digits.astype(np.float32) / np.maximum(largest, 1).astype(np.float32))
    starts = np.cumsum(largest + 1) - (largest + 1)
    x = np.zeros((len(digits), n), dtype=np.float32)
    x[np.arange(len(digits))[:, np.newaxis], starts + digits] = 1
    return x


def forward(numerics: Any, layers: Any, x: Any, kept: Sequence[Any] = ()) -> Any:
    """Return the outputs ``z`` of the last layer, before any softmax, ``[..., 11]``.

    Args:
        numerics: NumPy or `jax.numpy`.
        layers: Layers of a `Network`, as arrays of ``numerics``.
        x: ``[..., n_inputs]``, encoded states.
        kept: Dropout factors of the units in the first hidden layers, one array ``[..., n]`` per layer.
    """
    for number, (weight, bias) in enumerate(layers[:-1]):
        x = numerics.maximum(x @ weight + bias, 0)
        if number < len(kept):
            x = x * kept[number]
    weight, bias = layers[-1]
    return x @ weight + bias


def output(network: Network, rules: Rules, digits: np.ndarray) -> np.ndarray:
    """Return the outputs ``y`` of a network for all actions, float64 ``[k, 11]``. ``digits`` is uint8 ``[k, 18]``."""
    z = np.asarray(forward(np, network.layers, encode(rules, digits, network.encoding)), dtype=np.float64)
    return np.asarray(softmax(z, axis=1) if network.softmax else z)


def probabilities(network: Network, rules: Rules, digits: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """Return the probabilities of the legal actions, float64 ``[k, 11]``.

    Args:
        network: The network.
        rules: The rules of the game.
        digits: uint8 ``[k, 18]``, the digits of states.
        legal: bool ``[k, 11]``, True for legal actions in these states.
    """
    z = forward(np, network.layers, encode(rules, digits, network.encoding)).astype(np.float64)
    if network.softmax:
        return np.asarray(softmax(np.where(legal, z, -np.inf), axis=1))
    weight = np.where(legal, np.maximum(z, 0), 0)
    is_empty = ~(weight > 0).any(axis=1, keepdims=True)
    weight = np.where(is_empty, legal, weight)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def network_policy(space: StateSpace, network: Network) -> np.ndarray:
    """Return the policy of a network, float64 ``[n_rows]``."""
    rows, digits = np.arange(space.n_states), digits_of(space)
    legal = legal_mask(space)
    p = np.empty(legal.shape)
    for begin in range(0, len(rows), _STATES_AT_ONCE):
        part = slice(begin, begin + _STATES_AT_ONCE)
        p[part] = probabilities(network, space.rules, digits[part], legal[part])
    return policy_of_table(space, rows, p)


def mean_squared_error(network: Network, rules: Rules, digits: np.ndarray, p: np.ndarray) -> float:
    """Return the mean squared difference between a network's outputs for all actions and target probabilities.

    Args:
        network: A network for ``rules``.
        rules: The rules of the game.
        digits: uint8 ``[k, 18]``, the digits of at least one state.
        p: float64 ``[k, 11]``, the target probabilities of the actions.
    """
    return float(((output(network, rules, digits) - p) ** 2).mean())

"""The networks of MuZero: hidden states, rewards and values."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.games.learn.muzero.network import ModelShape, kinds_of, mean_of, networks_of
from punish_fast.games.learn.networks import n_weights_of, random_weights

pytestmark = pytest.mark.usefixtures("fast_compilation")
SHAPE = ModelShape((2, 3, 3), (), 6, 9)


@pytest.fixture(scope="module")
def weights():
    return random_weights(SHAPE.shapes, np.random.default_rng(1))


def test_all_weights_have_a_place(weights):
    networks = networks_of(SHAPE, weights)
    layers = [*networks.convolved, *networks.representation, *networks.dynamics, *networks.prediction]
    assert sum(part.size for layer in layers for part in layer) == len(weights) == n_weights_of(SHAPE.shapes)


def test_hidden_states_are_between_0_and_1_and_reach_both(weights):
    networks, generator = networks_of(SHAPE, weights), np.random.default_rng(2)
    hidden = networks.represent(generator.normal(size=(20, 18)).astype(np.float32))
    for _ in range(3):
        assert np.asarray(hidden).min(axis=1) == pytest.approx(0)
        assert np.asarray(hidden).max(axis=1) == pytest.approx(1, abs=1e-3)
        hidden, reward = networks.advance(hidden, generator.integers(9, size=20))
        logits, value = networks.predict(hidden)
        assert (logits.shape, value.shape, reward.shape) == ((20, 9), (20, 3), (20, 3))


def test_a_number_is_the_mean_of_its_kinds():
    number = np.linspace(-1, 1, 21, dtype=np.float32)
    kinds = np.asarray(kinds_of(number))
    assert (kinds >= 0).all()
    assert kinds.sum(axis=1) == pytest.approx(1)
    assert kinds @ [-1, 0, 1] == pytest.approx(number)
    with np.errstate(divide="ignore"):
        assert np.asarray(mean_of(np.log(np.maximum(kinds, 1e-30)))) == pytest.approx(number, abs=1e-5)
    assert np.array_equal(kinds_of(np.float32([-1.5, 3])), [[1, 0, 0], [0, 0, 1]])

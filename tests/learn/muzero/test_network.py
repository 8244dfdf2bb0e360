"""The networks of MuZero and the steps of their optimizer, against plain sums."""

import numpy as np
import pytest

from punish_fast.games.learn.muzero.network import ModelShape, kinds_of, losses, mean_of, muzero_steps, networks_of
from punish_fast.games.learn.networks import n_weights_of, random_weights

pytestmark = pytest.mark.usefixtures("fast_compilation")
SHAPE = ModelShape((2, 3, 3), (), 6, 9)


@pytest.fixture(scope="module")
def weights():
    return random_weights(SHAPE.shapes, np.random.default_rng(1))


def test_hidden_states_are_between_0_and_1_and_reach_both(weights):
    networks, generator = networks_of(SHAPE, weights), np.random.default_rng(2)
    hidden = networks.represent(generator.normal(size=(20, 18)).astype(np.float32))
    for _ in range(3):
        assert np.asarray(hidden).min(axis=1) == pytest.approx(0)
        assert np.asarray(hidden).max(axis=1) == pytest.approx(1, abs=1e-3)
        hidden, reward = networks.advance(hidden, generator.integers(9, size=20))
        logits, value = networks.predict(hidden)
        assert (logits.shape, value.shape, reward.shape) == ((20, 9), (20, 3), (20, 3))
    layers = [*networks.convolved, *networks.representation, *networks.dynamics, *networks.prediction]
    assert sum(part.size for layer in layers for part in layer) == len(weights) == n_weights_of(SHAPE.shapes)


def test_a_number_is_the_mean_of_its_kinds():
    number = np.linspace(-1, 1, 21, dtype=np.float32)
    kinds = np.asarray(kinds_of(number))
    assert (kinds >= 0).all()
    assert kinds.sum(axis=1) == pytest.approx(1)
    assert kinds @ [-1, 0, 1] == pytest.approx(number)
    with np.errstate(divide="ignore"):
        assert np.asarray(mean_of(np.log(np.maximum(kinds, 1e-30)))) == pytest.approx(number, abs=1e-5)
    assert np.array_equal(kinds_of(np.float32([-1.5, 3])), [[1, 0, 0], [0, 0, 1]])


SMALL = ModelShape((4,), (), 3, 2)


def batch_of(n, unrolled, seed=1):
    generator = np.random.default_rng(seed)
    return {
        "features": generator.normal(size=(n, 4)).astype(np.float32),
        "action": generator.integers(2, size=(n, unrolled), dtype=np.int32),
        "reward": generator.integers(-1, 2, size=(n, unrolled)).astype(np.float32),
        "value": generator.uniform(-1, 1, size=(n, unrolled + 1)).astype(np.float32),
        "policy": generator.dirichlet(np.ones(2), size=(n, unrolled + 1)).astype(np.float32),
        "has_value": generator.random((n, unrolled + 1)) < 0.8,
        "has_policy": generator.random((n, unrolled + 1)) < 0.8,
        "weight": generator.random(n).astype(np.float32),
    }


@pytest.fixture(scope="module")
def small_weights():
    return random_weights(SMALL.shapes, np.random.default_rng(1))


def surprise(wanted, logits):
    probability = np.exp(logits) / np.exp(logits).sum()
    return -(wanted * np.log(probability)).sum()


def kinds(number):
    return np.array([max(-number, 0), 1 - abs(number), max(number, 0)])


def test_the_loss_is_the_sum_of_what_surprises(small_weights):
    unrolled = 2
    batch, networks, total = batch_of(6, unrolled), networks_of(SMALL, small_weights), 0.0
    for k in range(6):
        hidden = networks.represent(batch["features"][k : k + 1])
        for step in range(unrolled + 1):
            share = batch["weight"][k] * (1 / unrolled if step else 1)
            logits, value = (np.asarray(part[0], dtype=np.float64) for part in networks.predict(hidden))
            total += batch["has_policy"][k, step] * share * surprise(batch["policy"][k, step], logits)
            total += batch["has_value"][k, step] * share * surprise(kinds(batch["value"][k, step]), value)
            if step < unrolled:
                hidden, reward = networks.advance(hidden, batch["action"][k : k + 1, step])
                told = surprise(kinds(batch["reward"][k, step]), np.asarray(reward[0], dtype=np.float64))
                total += batch["has_value"][k, step] * batch["weight"][k] * told
    assert float(losses(SMALL, small_weights, batch)) == pytest.approx(total / 6, rel=1e-4)


def test_the_rate_falls_with_the_root_of_the_number_of_steps(small_weights):
    update, batch = muzero_steps(SMALL, 0.02, 0.0), batch_of(16, 2)
    once = {name: array[np.newaxis] for name, array in batch.items()}
    memory = np.full_like(small_weights, 0.1), np.full_like(small_weights, 1.0)
    early, late = (
        np.asarray(update(small_weights, *memory, np.int32(n), once)[0]) - small_weights for n in (30_000, 630_000)
    )
    assert early == pytest.approx(4 * late, rel=0.02, abs=1e-5)

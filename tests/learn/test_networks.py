"""Networks of action values against plain NumPy."""

import signal
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from punish_fast.games.learn.networks import Architecture, evaluate, n_weights_of, on_processor, random_weights
from punish_fast.runtime.errors import ExtraError

needs_jax = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")

DENSE = Architecture((5,), (), (4, 3), 2)
FILTERED = Architecture((2, 3, 4), (3,), (4,), 2)


def layers_of(architecture, weights):
    layers, begin = [], 0
    for shape in architecture.shapes:
        n = int(np.prod(shape))
        layers.append((weights[begin : begin + n].reshape(shape), weights[begin + n : begin + n + shape[-1]]))
        begin += n + shape[-1]
    assert begin == len(weights) == n_weights_of(architecture.shapes)
    return layers


def by_hand(architecture, weights, x):
    """The values, one unit after the other."""
    layers = layers_of(architecture, weights)
    for filters, bias in layers[: len(architecture.filters)]:
        planes, rows, columns = architecture.inputs
        board = np.zeros((len(x), planes, rows + 2, columns + 2))
        board[:, :, 1:-1, 1:-1] = x.reshape(-1, planes, rows, columns)
        out = np.zeros((len(x), rows, columns, filters.shape[-1]))
        for row in range(rows):
            for column in range(columns):
                seen = board[:, :, row : row + 3, column : column + 3]
                out[:, row, column] = np.maximum(np.einsum("npij,ijpf->nf", seen, filters) + bias, 0)
        x = out.reshape(len(x), -1)
    for number, (weight, bias) in enumerate(layers[len(architecture.filters) :], len(architecture.filters) + 1):
        x = x @ weight + bias
        x = np.maximum(x, 0) if number < len(layers) else x
    return x


@needs_jax
@pytest.mark.parametrize("architecture", [DENSE, FILTERED, Architecture((5,), (), (), 3)])
def test_values_are_those_of_plain_sums(architecture):
    generator = np.random.default_rng(3)
    weights = random_weights(architecture.shapes, generator)
    weights += generator.normal(size=len(weights)).astype(np.float32) / 10
    x = generator.normal(size=(5, int(np.prod(architecture.inputs)))).astype(np.float32)
    found = evaluate(architecture, weights, x)
    assert (found.shape, found.dtype) == ((5, architecture.n_moves), np.float32)
    assert np.allclose(found, by_hand(architecture, weights, x), atol=1e-5)
    many = evaluate(architecture, weights, np.tile(x, (14, 1)))
    assert np.allclose(many, np.tile(found, (14, 1)), atol=1e-6)


def test_first_weights_are_within_their_bounds_and_a_missing_extra_is_named(monkeypatch):
    for weight, bias in layers_of(FILTERED, random_weights(FILTERED.shapes, np.random.default_rng(3))):
        side = int(np.prod(weight.shape[:-2]))
        limit = (6 / (side * (weight.shape[-2] + weight.shape[-1]))) ** 0.5
        assert 0.5 * limit < np.abs(weight).max() <= limit * (1 + 1e-6)
        assert not bias.any()
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ExtraError, match=r"^jax is not installed\. Install it with: pip install jax optax$"):
        evaluate(DENSE, random_weights(DENSE.shapes, np.random.default_rng(3)), np.zeros((1, 5), dtype=np.float32))


@needs_jax
def test_an_interrupt_waits_until_jax_is_done():
    steps = []
    with pytest.raises(KeyboardInterrupt), on_processor():
        signal.raise_signal(signal.SIGINT)
        steps.append("computed")
    assert steps == ["computed"]

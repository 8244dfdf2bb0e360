"""Layers of networks in one vector, against plain loops."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from punish_fast.games.learn.networks import convolutions, n_weights_of, random_weights, split_layers

SHAPES = [(3, 3, 2, 4), (3, 3, 4, 3), (60, 5)]


def test_convolutions_are_those_of_plain_loops():
    pytest.importorskip("jax")
    generator = np.random.default_rng(1)
    weights = random_weights(SHAPES, generator)
    weights += generator.normal(size=len(weights)).astype(np.float32) / 10
    assert len(weights) == n_weights_of(SHAPES)
    layers = split_layers(SHAPES, weights)
    x = generator.normal(size=(2, 2, 4, 5)).astype(np.float32)
    wanted = x.transpose(0, 2, 3, 1)
    for weight, bias in layers[:2]:
        sums = np.zeros((*wanted.shape[:3], len(bias)))
        for n, row, column in product(*map(range, wanted.shape[:3])):
            for i, j in product(range(3), repeat=2):
                near, beside = row + i - 1, column + j - 1
                if 0 <= near < wanted.shape[1] and 0 <= beside < wanted.shape[2]:
                    sums[n, row, column] += wanted[n, near, beside] @ np.asarray(weight)[i, j]
        wanted = np.maximum(sums + np.asarray(bias), 0)
    found = convolutions(layers[:2], (2, 4, 5), x.reshape(2, -1))
    assert np.asarray(found) == pytest.approx(wanted.reshape(2, -1), abs=1e-5)
    assert convolutions([], (2, 4, 5), x) is x

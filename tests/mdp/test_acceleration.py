from __future__ import annotations

import numpy as np
import pytest

from punish_fast.mdp.acceleration import Anderson


def iterate(g, x, n_steps):
    """The points of an accelerated iteration."""
    anderson = Anderson()
    points = [x]
    for _ in range(n_steps):
        points.append(anderson.next(points[-1], g(points[-1])))
    return points


@pytest.mark.parametrize("n", [1, 2, 3])
def test_linear_iteration_ends_after_as_many_steps_as_unknowns_and_two(n):
    generator = np.random.default_rng(n)
    matrix, constant = generator.random((n, n)) / (n + 1), generator.random(n)
    fixed_point = np.linalg.solve(np.eye(n) - matrix, constant)
    points = iterate(lambda x: matrix @ x + constant, np.zeros(n), n + 2)
    assert points[-1] == pytest.approx(fixed_point, abs=1e-10)


def test_first_step_is_a_plain_one():
    assert np.array_equal(Anderson().next(np.zeros(2), np.array([1.0, -2.0])), [1.0, -2.0])


def test_fixed_point_is_left_alone():
    points = iterate(lambda x: x, np.array([3.0, 4.0]), 4)
    assert all(np.array_equal(point, [3.0, 4.0]) for point in points)


def test_acceleration_is_given_up_when_steps_grow_again_and_again():
    anderson = Anderson()
    x = np.zeros(2)
    for size in (1.0, 2.0, 1.0, 2.0, 1.0, 2.0):
        anderson.next(x, np.array([size, -size]))
    # Steps that would be accelerated otherwise.
    for size in (1.0, 0.5, 0.25):
        image = np.array([size, size / 2])
        assert np.array_equal(anderson.next(x, image), image)


def test_given_arrays_are_left_as_they_were():
    x, image = np.zeros(2), np.ones(2)
    anderson = Anderson()
    for _ in range(3):
        anderson.next(x, image)
    assert x.tolist() == [0, 0]
    assert image.tolist() == [1, 1]

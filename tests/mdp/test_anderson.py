import numpy as np
import pytest

from punish_fast.mdp.methods.anderson import Anderson
from punish_fast.mdp.model import from_rows
from punish_fast.mdp.solver import solve


def iterate(g, x, n_steps):
    """The iterates of an accelerated iteration."""
    anderson = Anderson()
    points = [x]
    for _ in range(n_steps):
        points.append(anderson.next(points[-1], g(points[-1])))
    return points


@pytest.mark.parametrize("n", [1, 3])
def test_a_linear_iteration_in_n_unknowns_converges_in_n_plus_two_steps(n):
    generator = np.random.default_rng(n)
    matrix, constant = generator.random((n, n)) / (n + 1), generator.random(n)
    fixed_point = np.linalg.solve(np.eye(n) - matrix, constant)
    points = iterate(lambda x: matrix @ x + constant, np.zeros(n), n + 2)
    assert points[-1] == pytest.approx(fixed_point, abs=1e-10)


def test_very_large_values_are_not_accelerated_and_do_no_harm(scale=1e300):
    points = iterate(lambda x: np.array([[0.5, 0.25], [0.25, 0.5]]) @ x + scale, np.zeros(2), 120)
    assert points[-1] == pytest.approx(np.full(2, 4 * scale))


def test_acceleration_pauses_while_steps_keep_growing():
    anderson = Anderson()
    x = np.zeros(2)
    for size in (1.0, 2.0, 1.0, 2.0, 1.0, 2.0):
        anderson.next(x, np.array([size, -size]))
    # These steps would be accelerated otherwise.
    for size in (1.0, 0.98, 0.96, 0.94):
        image = np.array([size, size / 2])
        assert np.array_equal(anderson.next(x, image), image)
    anderson.next(x, np.array([0.8, 0.4]))
    assert not np.array_equal(anderson.next(x, np.array([0.4, 0.2])), [0.4, 0.2])


@pytest.mark.parametrize("seed", [2, 7])
def test_steps_that_grow_now_and_then_do_not_end_acceleration(seed):
    """Best choices change on the way, and with them the map accelerated; plain sweeps take thousands."""
    generator = np.random.default_rng(seed)
    per_layer, n_layers, ends = 4, 3, 1e-3
    states = []
    for state in range(n_layers * per_layer):
        first = (state // per_layer + 1) % n_layers * per_layer
        rows = []
        for _ in range(2):
            columns = np.sort(generator.choice(per_layer, size=2, replace=False)) + first
            p = generator.dirichlet(np.ones(2)) * (1 - ends)
            after = dict(zip(columns.tolist(), p.tolist(), strict=True)) | {n_layers * per_layer: ends}
            rows.append((float(generator.normal()), after))
        states.append(rows)
    mdp = from_rows(states, [per_layer] * n_layers, [1.0])
    for discount, tolerance in ((1.0, 1e-5), (0.9999, 1e-6)):
        solution = solve(mdp, discount=discount, tolerance=tolerance)
        assert solution.converged
        assert solution.sweeps < 200

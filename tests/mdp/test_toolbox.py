"""The interface of pymdptoolbox: the examples of its manual, with exact values where the manual stops early."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import punish_fast.mdp.toolbox as mdptoolbox
from punish_fast.mdp import toolbox
from punish_fast.mdp.arrays.row_sums import ModelError
from punish_fast.mdp.model.limits import SolveError

pytestmark = pytest.mark.kernels

FOREST, SMALL = mdptoolbox.example.forest(), mdptoolbox.example.small()
SPARSE = [csr_matrix(P) for P in SMALL[0]], SMALL[1]
DISCOUNTED = ["ValueIteration", "ValueIterationGS", "PolicyIteration", "PolicyIterationModified", "LP", "_LP"]
# Optimal values: without a fire, an old forest pays 4 per year. In the small process, x = 10 + .9 y and
# y = -1 + .72 x + .18 y.
FOREST_90, FOREST_96 = (26.244, 29.484, 33.484), (74.6496, 78.1056, 82.1056)
SMALL_90 = (1825 / 43, 1550 / 43)


@pytest.mark.parametrize("name", DISCOUNTED)
@pytest.mark.parametrize(
    ("process", "discount", "values", "policy"),
    [
        (FOREST, 0.9, FOREST_90, (0, 0, 0)),
        (FOREST, 0.96, FOREST_96, (0, 0, 0)),
        (mdptoolbox.example.forest(is_sparse=True), 0.9, FOREST_90, (0, 0, 0)),
        (SMALL, 0.9, SMALL_90, (1, 0)),
        (SPARSE, 0.9, SMALL_90, (1, 0)),
    ],
)
def test_discounted_rewards(name, process, discount, values, policy):
    solver = getattr(mdptoolbox.mdp, name)(*process, discount)
    assert (solver.V, solver.policy, solver.time, solver.iter, solver.verbose) == (None, None, None, 0, False)
    solver.run()
    assert pytest.approx(values, abs=1e-9) == solver.V
    assert solver.policy == policy
    assert all(type(action) is int for action in solver.policy)
    assert min(solver.iter, solver.time) > 0
    assert (solver.S, solver.A, solver.discount) == (len(values), 2, discount)
    assert (len(solver.P), np.stack(solver.R).tolist()) == (2, process[1].T.tolist())


def test_a_finite_horizon():
    solver = mdptoolbox.mdp.FiniteHorizon(*FOREST, 0.9, 3)
    solver.run()
    assert pytest.approx(np.array([[2.6973, 0.81, 0, 0], [5.9373, 3.24, 1, 0], [9.9373, 7.24, 4, 0]])) == solver.V
    assert solver.policy.tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 0]]
    solver = mdptoolbox.mdp.FiniteHorizon(*SMALL, 0.5, 1, h=[4, 8])
    solver.run()
    assert pytest.approx(np.array([[14, 4], [5.8, 8]])) == solver.V
    assert solver.policy.tolist() == [[1], [1]]


def test_average_rewards():
    solver = mdptoolbox.mdp.RelativeValueIteration(*FOREST)
    solver.run()
    assert (solver.average_reward, solver.policy) == (pytest.approx(3.24), (0, 0, 0))
    solver = mdptoolbox.mdp.RelativeValueIteration(*SMALL)
    solver.run()
    assert pytest.approx((10, 35 / 9)) == solver.V
    assert (solver.average_reward, solver.policy) == (pytest.approx(35 / 9), (1, 0))


def test_relative_values_are_largest_also_in_states_that_are_left():
    leave = [csr_matrix([[0.0, 1.0], [0.0, 1.0]])] * 2
    solver = mdptoolbox.mdp.RelativeValueIteration(leave, np.array([[1.0, 3.0], [2.0, 2.0]]))
    solver.run()
    assert (solver.V, solver.policy) == ((3, 2), (1, 0))
    apart = mdptoolbox.mdp.RelativeValueIteration([np.eye(2)], [1.0, 2.0])
    with pytest.raises(SolveError, match=r"^average_reward: differs between states, from 1 to 2; use punish_fast"):
        apart.run()


def test_random_processes_are_those_of_the_manual():
    np.random.seed(0)
    p, r = mdptoolbox.example.rand(4, 3)
    assert p[0, 0] == pytest.approx([0.21977283, 0.14889403, 0.30343592, 0.32789723], abs=1e-8)
    assert p[2, 1] == pytest.approx([0.36348538, 0.24483321, 0.16114188, 0.23053953], abs=1e-8)
    assert r[2, 3] == pytest.approx([0, 0, 0.55810204, 0], abs=1e-8)
    np.random.seed(0)
    p, r = mdptoolbox.example.rand(100, 5, is_sparse=True)
    assert (len(p), len(r), p[0].nnz, r[0].nnz, p[1].nnz == r[1].nnz) == (5, 5, 3296, 3296, True)
    mask = np.eye(4)[[1, 0, 2, 2]]
    mask[3] = 0
    p, _ = mdptoolbox.example.rand(4, 2, mask=mask)
    assert (p[:, :3] == mask[:3]).all()
    mdptoolbox.util.check(p, np.zeros((4, 2)))


def test_checks():
    check = mdptoolbox.util.check
    check(*FOREST)
    objects = np.empty(2, dtype=object)
    objects[:] = SPARSE[0]
    check(objects, objects)
    for p, r in ((np.full((2, 3, 3), 0.5), FOREST[1]), (FOREST[0], np.zeros((4, 2)))):
        with pytest.raises(ModelError):
            check(p, r)
    mdptoolbox.util.checkSquareStochastic(SPARSE[0][0])
    for matrix, told in (([[1.0, 0.0]], "square"), ([[0.5]], "stochastic"), ([[2, -1], [0, 1]], "without negatives")):
        with pytest.raises(ModelError, match=rf"^matrix: must be {told}$"):
            mdptoolbox.util.checkSquareStochastic(matrix)
    assert mdptoolbox.util.getSpan(np.array([3.0, 1.0, 2.0])) == 2


def test_verbose_and_refused_arguments(capsys):
    solver = toolbox.mdp.FiniteHorizon(*FOREST, 1, 1)
    solver.setVerbose()
    solver.run()
    solver.setSilent()
    solver.run()
    assert capsys.readouterr().out == "stage: 0, policy: [0, 1, 0]\n"
    with pytest.raises(SolveError, match=r"^epsilon: 0 is not allowed; it must be a number above 0$"):
        toolbox.mdp.ValueIteration(*FOREST, 0.9, 0)
    with pytest.raises(SolveError, match=r"^QLearning: is not offered, because its values are estimates; use Value"):
        toolbox.mdp.QLearning(*FOREST, 0.9)

"""Arguments of every function: numbers of any type, masked arrays, objects other than an MDP; and paid terminals."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from punish_fast.mdp.arrays.policy import PolicyError, check_policy, greedy, softmax
from punish_fast.mdp.arrays.row_sums import ModelError
from punish_fast.mdp.chain.stationary import stationary_distribution
from punish_fast.mdp.model.limits import SolveError, discount_of
from punish_fast.mdp.model.mdp import MDP, from_rows, validate
from punish_fast.mdp.model.process import Process
from punish_fast.mdp.objectives.average_reward import average_reward
from punish_fast.mdp.objectives.finite_horizon import finite_horizon
from punish_fast.mdp.objectives.reachability import reach_probability, total_reward
from punish_fast.mdp.objectives.solver import evaluate, solve
from punish_fast.mdp.objectives.steps import cumulative_reward

pytestmark = pytest.mark.kernels

HALVES = (Fraction(1, 2), Decimal("0.5"), np.array(0.5), np.float16(0.5), np.longdouble(0.5), np.array(Fraction(1, 2)))
LOOP = from_rows([[(1.0, {0: 1.0})]])
GOAL, ONE = np.array([True]), np.ones(1)


@pytest.mark.parametrize("half", HALVES, ids=lambda half: type(half).__name__)
def test_numbers_may_have_any_real_type(half):
    assert solve(LOOP, half).v == pytest.approx([2.0])
    assert evaluate(LOOP, ONE, half) == pytest.approx([2.0])
    assert finite_horizon(LOOP, 2, half).v[0].tolist() == [1.5]
    assert softmax(np.array([0, 2]), np.array([0.0, np.log(2) / 2]), half) == pytest.approx([1 / 3, 2 / 3])
    assert solve(LOOP, 0.5, tolerance=half).tolerance == 0.5
    assert evaluate(LOOP, ONE, 0.5, half) == pytest.approx([2.0], abs=0.5)
    for found in (reach_probability(LOOP, GOAL, tolerance=half), total_reward(LOOP, GOAL, tolerance=half)):
        assert found.error_bound <= 0.5
    assert average_reward(LOOP, half).gain == pytest.approx([1.0], abs=0.5)


@pytest.mark.parametrize(
    "discount", [True, "0.5", 0.5j, None, np.ones(1), np.array("0.5"), Decimal("NaN"), np.ma.masked]
)
def test_other_objects_are_no_numbers(discount):
    with pytest.raises(SolveError, match=r"^discount: .* is not allowed; it must be a number from 0 to 1$"):
        discount_of(discount)


@pytest.mark.parametrize("above", [Fraction(10**400 + 1, 10**400), 1 - Fraction(1, 10**30), Fraction(10**5000)])
def test_a_discount_that_only_rounds_to_1_is_refused(above):
    with pytest.raises(SolveError, match=r"rounds to 1; it must be 1 or at most 1 - 2\*\*-53$|it must be a number"):
        solve(LOOP, above)


P, R = np.array([[[0.5, 0.5], [0.8, 0.2]]]), np.array([[5.0], [1.0]])


@pytest.mark.parametrize("given", [(P, R, 0.9), ([[(1.0, {0: 1.0})]], 0.9), ({0: {0: [(1.0, 0, 1.0, False)]}}, 0.9)])
@pytest.mark.parametrize(
    "function", [solve, evaluate, reach_probability, total_reward, average_reward, finite_horizon, validate]
)
def test_arrays_lists_and_dictionaries_name_the_constructors(function, given):
    with pytest.raises(ModelError, match=r"it must be an MDP, such as .*from_dense.*from_gymnasium or from_rows"):
        function(*given[: 1 if function in (validate, average_reward) else len(given)])


def masked(values, position=0):
    """An array with one masked entry."""
    array = np.ma.array(values)
    array[np.unravel_index(position, array.shape)] = np.ma.masked
    return array


TABLE = from_rows([[(0.0, {0: 1.0}), (0.0, {1: 1.0})], [(0.0, {1: 1.0}), (0.0, {0: 1.0})]])
MATRIX = TABLE.to_scipy()
DENSE = np.stack([np.eye(2), np.eye(2)[::-1]])
SPARSE = csr_array(np.eye(2))
SPARSE.data = masked(SPARSE.data)
DDP = SimpleNamespace(R=np.zeros((2, 2)), Q=DENSE, s_indices=None, a_indices=None, num_states=2)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: MDP.from_dense(DENSE, masked(np.zeros((2, 2)))), ModelError),
        (lambda: MDP.from_dense(DENSE, [masked(np.zeros((2, 2))), np.zeros((2, 2))]), ModelError),
        (lambda: MDP.from_dense([SPARSE, SPARSE], np.zeros(2)), ModelError),
        (lambda: MDP.from_scipy(MATRIX, masked(np.zeros(4)), [0, 2, 4]), ModelError),
        (lambda: MDP.from_scipy(MATRIX, np.zeros(4), masked([0, 2, 4])), ModelError),
        (lambda: MDP.from_scipy(MATRIX, np.zeros(4), [0, 2, 4], masked([1.0])), ModelError),
        (lambda: MDP.from_scipy(MATRIX, [0.0, 0.0, 0.0, np.ma.masked], [0, 2, 4]), ModelError),
        (lambda: from_rows([[(0.0, {0: 1.0})]], terminals=masked([1.0])), ModelError),
        (lambda: MDP.from_quantecon(SimpleNamespace(**vars(DDP) | {"R": masked(np.zeros((2, 2)))})), ModelError),
        (lambda: validate(replace(TABLE, reward=masked(np.zeros(4)))), ModelError),
        (lambda: solve(TABLE, initial_values=masked(np.zeros(2))), SolveError),
        (lambda: evaluate(TABLE, masked(np.full(4, 0.5))), SolveError),
        (lambda: average_reward(TABLE, policy=masked(np.full(4, 0.5))), SolveError),
        (lambda: reach_probability(TABLE, masked([True, False])), SolveError),
        (lambda: reach_probability(TABLE, GOAL.repeat(2), avoid=masked([True, False])), SolveError),
        (lambda: finite_horizon(TABLE, 1, terminal_value=masked(np.zeros(2))), SolveError),
        (lambda: check_policy(TABLE.state_ptr, masked(np.full(4, 0.5))), PolicyError),
        (lambda: greedy(TABLE.state_ptr, masked(np.zeros(4))), PolicyError),
        (lambda: softmax(TABLE.state_ptr, masked(np.zeros(4)), 1.0), PolicyError),
    ],
)
def test_masked_entries_are_refused(call, error):
    with pytest.raises(error, match="has masked entries; pass an array without a mask"):
        call()


def test_an_array_whose_mask_hides_nothing_is_taken():
    assert solve(MDP.from_dense(DENSE, np.ma.array(np.ones((2, 2)))), 0.5).v == pytest.approx([2.0, 2.0])
    assert evaluate(TABLE, np.ma.array(np.full(4, 0.5)), 0.5).tolist() == [0.0, 0.0]


def test_each_objective_counts_terminals_in_its_own_way():
    mdp, policy = from_rows([[(1.0, {1: 1.0})]], terminals=[2.0]), ONE  # play enters the terminal in the first step
    assert [solve(mdp, 0.5).v[0], evaluate(mdp, policy, 0.5)[0]] == pytest.approx([3.0, 3.0])  # at every step
    assert [solve(mdp, 1.0).v[0], evaluate(mdp, policy, 1.0)[0]] == [3.0, 3.0]  # once
    assert average_reward(mdp).gain[0] == 2.0  # at every step
    assert finite_horizon(mdp, 3).v[0].tolist() == [5.0]  # at each of the two steps that are left
    assert total_reward(mdp, np.array([False, True])).v.tolist() == [1.0]  # never
    assert solve(mdp, objective="reach-probability").v.tolist() == [1.0]  # only its sign


def test_a_duration_is_no_discount():
    with pytest.raises(SolveError, match=r"^discount: np.timedelta64\(1\) is not allowed"):
        solve(LOOP, np.timedelta64(1))


def test_an_unknown_objective_is_refused_beside_the_functions_for_others():
    with pytest.raises(SolveError, match=r"one of discounted, reach-probability; other objectives are functions, such"):
        solve(LOOP, objective="average")


@pytest.mark.parametrize("solver", [solve, average_reward, partial(finite_horizon, n_steps=1), cumulative_reward])
def test_the_direction_is_true_or_false(solver):
    mdp = from_rows([[(1.0, {1: 1.0})]], terminals=[0.0])
    with pytest.raises(SolveError, match="maximize: 'min' is not allowed; it must be True or False"):
        solver(mdp, maximize="min")


def test_successors_of_probability_zero_are_not_explored():
    endless = MDP.from_function(lambda n: {"wait": (1.0, {n: 1 - (n < 3) / 2, n + 1: (n < 3) / 2})}, [0])
    assert endless.names.states == [0, 1, 2, 3]
    with pytest.raises(ModelError, match="add up to 0"):
        MDP.from_function(lambda _: {"wait": (1.0, {0: 0.0})}, [0])


@pytest.mark.parametrize("name", ["max_sweep", "deadline"])
def test_unknown_limits_are_refused_by_name(name):
    for call in (solve, average_reward, lambda mdp, **limits: reach_probability(mdp, GOAL, **limits)):
        with pytest.raises(TypeError, match=rf"^{name}: unknown argument; the optional limits are max_sweeps, max_sec"):
            call(LOOP, **{name: 1})


@pytest.mark.parametrize("policy", ["abc", [[1.0], [0.5, 0.5]], 1j, {0: {0: "x"}, 1: 0}, {0: [0], 1: 0}, object()])
@pytest.mark.parametrize("solver", [evaluate, average_reward, stationary_distribution, MDP.under])
def test_policies_of_other_types_are_refused(solver, policy):
    mdp = from_rows([[(1.0, {0: 0.5, 1: 0.5})], [(0.0, {0: 1.0}), (0.0, {1: 1.0})]])
    with pytest.raises(SolveError, match="policy"):
        solver(mdp, policy=policy)


def test_a_masked_choice_is_refused():
    mdp = from_rows([[(1.0, {0: 0.5, 1: 0.5})], [(0.0, {0: 1.0}), (0.0, {1: 1.0})]])
    with pytest.raises(SolveError, match="policy: has masked entries"):
        evaluate(mdp, np.ma.array([0, 1], mask=[True, False]))


def test_the_stationary_distribution_takes_every_form_of_a_policy():
    mdp = from_rows([[(1.0, {0: 0.5, 1: 0.5})], [(0.0, {0: 1.0}), (0.0, {1: 1.0})]])
    expected = stationary_distribution(mdp, np.array([1.0, 1.0, 0.0])).p
    for policy in ({0: 0, 1: 0}, np.array([0, 1])):
        assert np.array_equal(stationary_distribution(mdp, policy).p, expected)


class Computed(Process):
    """An MDP seen as a process that computes its transitions."""

    def __init__(self, mdp):
        self.mdp, self.rows_pay_ends = mdp, mdp.rows_pay_ends
        for name in ("state_ptr", "reward", "terminal_reward", "terminal_value", "layer_ptr", "action", "names"):
            setattr(self, name, getattr(mdp, name))

    longest_rows = property(lambda self: self.mdp.longest_rows)
    is_cycle = property(lambda self: self.mdp.is_cycle)
    backups = property(lambda self: self.mdp.backups)

    def count_nonzero(self):
        return self.mdp.count_nonzero()


@pytest.mark.parametrize("leaves", [0.3, 1e-4])
def test_long_episodes_of_computed_processes_are_refused(leaves):
    mdp = from_rows([[(0.0, {0: 1 - leaves, 1: leaves / 2, 2: leaves / 2})]], terminals=[0, 1])
    calls = (
        lambda process: solve(process, objective="reach-probability").v,
        lambda process: solve(process, discount=1).v,
        lambda process: evaluate(process, ONE, discount=1),
    )
    for call in calls:
        assert call(mdp) == pytest.approx([0.5])
        if leaves == 0.3:
            assert call(Computed(mdp)) == pytest.approx([0.5])
        else:
            with pytest.raises(SolveError, match="discount: play may be too long for sweeps alone"):
                call(Computed(mdp))

import gc
import math
import weakref
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import compacted, error, exact_values, random_processes, sparse_process

from punish_fast.mdp.arrays.policy import greedy
from punish_fast.mdp.arrays.row_sums import ModelError
from punish_fast.mdp.bounds.stopping_rule import Contraction, discounted
from punish_fast.mdp.methods.value_iteration import Layered
from punish_fast.mdp.model.limits import METHODS, SWEEP_METHODS, SolveError
from punish_fast.mdp.model.mdp import MDP, from_rows
from punish_fast.mdp.model.solution import Payoff
from punish_fast.mdp.objectives.average_reward import average_reward
from punish_fast.mdp.objectives.finite_horizon import finite_horizon
from punish_fast.mdp.objectives.solver import evaluate, solve

pytestmark = pytest.mark.kernels

# State 0 pays 1 and leads to state 1, which pays 2 and leads back.
TWO_STATES = [[(1.0, {1: 1.0})], [(2.0, {0: 1.0})]]


discounts = st.sampled_from([0.0, 0.25, 0.5, 0.9, 0.95])
methods = st.sampled_from(SWEEP_METHODS)


# Closed forms


def test_a_layered_sweep_contracts_by_a_whole_cycle():
    states = [[(0.0, {(k + 1) % 5: 1.0})] for k in range(4)] + [[(1.0, {0: 1.0})]]
    mdp = from_rows(states, [1] * 5)
    layered, jacobi = solve(mdp), solve(mdp, method="jacobi")
    assert 4 * layered.sweeps < jacobi.sweeps


# Error bounds


def test_sweeps_that_do_not_contract_prove_nothing():
    assert not Contraction(1.0, 1.0, np.inf).is_known
    assert Contraction(1.0, 1.0, np.inf).error_bound(0.0, 0.0) == np.inf
    assert Contraction(0.5, 2.0, 9.0).error_bound(0.25, 0.125) == 2 * (0.5 * 0.25 + 0.125) / 0.5


@pytest.mark.parametrize(
    ("rewards", "policy", "largest"),
    [
        ((1, -5), None, 10),
        ((1, -10), None, 20),
        # A row that pays less than -2 * 2 is never optimal: its terms are at most 4 + 0.5 * 2.
        ((1, -100), None, 5),
        ((1, -100), [1, 0], 2),
        ((1, -100), [0, 1], 200),
        ((1e150, -2e150), None, 3e150),
    ],
)
def test_penalties_that_the_best_rows_avoid_do_not_enlarge_the_values(rewards, policy, largest):
    mdp = from_rows([[(float(reward), {0: 1.0}) for reward in rewards]])
    found = discounted(mdp, 0.5, 2, None if policy is None else np.array(policy, dtype=float))
    assert found == pytest.approx((0.25, 1.0, largest))


@pytest.mark.parametrize("method", SWEEP_METHODS)
def test_undiscounted_play_must_not_be_paid_for_ever(method):
    mdp = from_rows([[(1.0, {1: 1.0})], [(1.0, {2: 1.0}), (1.0, {1: 1.0})]], terminals=[0.0])
    message = r"^discount: 1 is allowed only if play ends,? or continues without rewards.*, but from 2 states"
    with pytest.raises(SolveError, match=message):
        solve(mdp, 1.0, method)


@pytest.mark.parametrize("method", ["auto", "layered"])
def test_endless_play_at_a_cost_is_avoided(method):
    waiting = [(-1.0, {1: 1.0}), (0.0, {0: 0.5, 2: 0.5})]
    lost, free = [(-1.0, {3: 1.0})], [(0.0, {2: 1.0}), (-2.0, {4: 1.0})]
    found = solve(from_rows([[(-1.0, {1: 1.0})], waiting, free, lost], terminal_value=[9.0]), 1.0, method)
    assert found.v.tolist() == pytest.approx([5.0, 6.0, 7.0, -np.inf])
    assert (found.lower[3], found.upper[3]) == (-np.inf, -np.inf)
    assert found.choice.tolist() == [0, 2, 4, 5]
    # Sweeps of all states together allow no costs.
    with pytest.raises(SolveError, match=r"^discount: 1 .* play ends or continues without rewards, but from 1 states"):
        solve(from_rows([[(-1.0, {0: 1.0})]]), 1.0, "jacobi")
    # Only the second state can avoid its costs.
    with pytest.raises(SolveError, match=r"but from 1 states \(the first is 1\) it can collect unbounded or canceling"):
        solve(from_rows([[(-1.0, {0: 1.0})], [(0.0, {0: 1.0}), (1.0, {1: 1.0})]]), 1.0, method)
    # A cycle that pays as much as it costs has no total.
    for paid in (1.0, 2.0):
        with pytest.raises(SolveError, match=r"^discount: 1 is .* it can collect unbounded or canceling"):
            solve(from_rows([[(-1.0, {1: 1.0})], [(paid, {0: 1.0}), (0.0, {2: 1.0})]], terminals=[0.0]), 1.0, method)


COIN = [[(0.0, {1: 0.5, 2: 0.5}), (0.25, {1: 1.0})]]
GAMBLER = [[(0.0, {1: 0.4, 3: 0.6})], [(0.0, {0: 0.6, 2: 0.4})], [(0.0, {1: 0.6, 4: 0.4})]]


@pytest.mark.parametrize(
    ("states", "right"), [(COIN, [0.5]), (GAMBLER, [0.16 * 0.4 / 0.52, 0.16 / 0.52, 0.4 + 0.6 * 0.16 / 0.52])]
)
@pytest.mark.parametrize("layers", [None, [1, 0], [0, 1]])
@pytest.mark.parametrize("method", ["auto", *SWEEP_METHODS])
def test_the_reward_of_a_terminal_counts_once_on_entry_without_a_discount(states, right, layers, method):
    sizes = None if layers is None else [len(states) * n for n in layers]
    mdp = from_rows(states, sizes, terminals=[0.0, 1.0])
    found = solve(mdp, 1.0, method)
    assert found.v == pytest.approx(right, abs=1e-9)
    assert found.choice.tolist() == list(mdp.state_ptr[:-1])
    assert found.q == pytest.approx([*right, 0.25][: mdp.n_rows], abs=1e-9)
    assert evaluate(mdp, found.policy, 1.0) == pytest.approx(right, abs=1e-9)
    # In Punish, the rewards of rows contain it already.
    assert solve(replace(mdp, rows_pay_ends=True), 1.0, method).v.max() == (0.25 if states is COIN else 0.0)


@pytest.mark.parametrize(("discount", "paid"), [(0.5, 1e308), (0.9, -1e308), (1 - 2.0**-30, 2.3e299)])
@pytest.mark.parametrize("method", METHODS)
def test_terminals_whose_values_are_too_large_are_refused(discount, paid, method):
    """Avoidable or not."""
    for rows in ([(0.0, {0: 0.5, 1: 0.5})], [(0.0, {0: 1.0}), (0.0, {1: 1.0})]):
        mdp = from_rows([rows], terminals=[paid])
        calls = [lambda mdp=mdp: solve(mdp, discount, method)]
        calls += [lambda mdp=mdp: evaluate(mdp, np.full(mdp.n_rows, 1 / mdp.n_rows), discount)]
        for call in calls:
            with pytest.raises(SolveError, match=r"^terminal_reward: terminal 0 pays .*, too large"):
                call()


@given(random_processes(), discounts | st.just(0.999), methods, st.integers(1, 12))
def test_error_bound_holds_after_any_number_of_sweeps(sample, discount, method, sweeps):
    states, layers, terminals = sample
    solution = solve(from_rows(states, layers, terminals), discount, method, sweeps=sweeps)
    assert solution.sweeps == sweeps
    assert solution.tolerance is None
    assert solution.converged
    assert error(solution.v, exact_values(states, terminals, discount)) <= solution.error_bound


@given(random_processes(), discounts, methods)
def test_a_tolerance_below_the_rounding_floor_is_reported_as_not_reached(sample, discount, method):
    states, layers, terminals = sample
    states = [[(reward + 1, successors) for reward, successors in rows] for rows in states]
    solution = solve(from_rows(states, layers, terminals), discount, method, tolerance=1e-300)
    exact = exact_values(states, terminals, discount)
    assert error(solution.v, exact) <= solution.error_bound
    if any(exact):
        assert not solution.converged
        assert solution.error_bound < 1e-9


@settings(max_examples=10)
@given(random_processes(), discounts, methods)
def test_a_compact_process_has_the_same_bits(sample, discount, method):
    mdp = from_rows(*sample)
    compact = compacted(mdp)
    one, other = solve(mdp, discount, method), solve(compact, discount, method)
    assert (one.v.tobytes(), one.q.tobytes()) == (other.v.tobytes(), other.q.tobytes())
    assert (one.choice.tolist(), one.error_bound) == (other.choice.tolist(), other.error_bound)
    policy = np.repeat(1 / np.diff(mdp.state_ptr), np.diff(mdp.state_ptr))
    assert evaluate(mdp, policy, discount).tobytes() == evaluate(compact, policy, discount).tobytes()


@pytest.mark.parametrize("layers", [[2], [1, 1]])
def test_the_bound_on_the_loss_of_a_policy_is_above_the_loss_and_close(layers):
    """Values that fall from a start above them are more than the policy earns."""
    mdp = from_rows(TWO_STATES, layers)
    payoff = Payoff(mdp.reward, np.zeros(0))
    iteration = Layered(mdp, 0.9, payoff, initial_values=np.full(2, 100.0))
    iteration.sweep()
    iteration.close()
    loss = (iteration.v - np.array([1 + 0.9 * 2, 2 + 0.9 * 1]) / (1 - 0.9**2)).max()
    assert loss <= iteration.settle([math.inf]) <= 2 * loss


# Warm starts


def test_start_at_the_solution_needs_one_sweep():
    mdp = sparse_process(50)
    cold = solve(mdp, method="layered", tolerance=1e-11)
    warm = solve(mdp, method="layered", initial_values=cold.v, tolerance=1e-9)
    assert cold.sweeps > 5
    assert warm.sweeps == 1
    assert np.abs(warm.v - cold.v).max() <= warm.error_bound + cold.error_bound


# Fields of a solution


@pytest.mark.parametrize("method", SWEEP_METHODS)
def test_log_has_one_entry_for_each_sweep(method):
    told = []
    solution = solve(from_rows(TWO_STATES), method=method, sweeps=7, progress=lambda *args: told.append(args))
    assert len(solution.log.residual) == len(solution.log.seconds) == solution.sweeps == 7
    assert solution.residual == solution.log.residual[-1]
    n_published = 7 if method == "jacobi" else 0
    assert len(solution.log.rmse) == len(solution.log.choice_changes) == n_published
    assert [(stage, sweep) for stage, sweep, _ in told] == [("solve", k) for k in range(1, 8)]
    bounds = [bound for _, _, bound in told]
    assert bounds == sorted(bounds, reverse=True)
    assert solution.error_bound <= bounds[-1]


def test_jacobi_logs_the_published_figures():
    # q starts as r = (1, 2, 0) and v as (1, 2); the terminal's value grows from 1 by powers of the discount.
    mdp = from_rows([[(1.0, {1: 1.0}), (0.0, {2: 1.0})], [(2.0, {0: 1.0})]], terminals=[1.0])
    solution = solve(mdp, 0.5, "jacobi", sweeps=2)
    # First sweep: q = (1 + 0.5 * 2, 0.5 * 1, 2 + 0.5 * 1), the terminal becomes 1.5.
    first = [1.0, 0.5, 0.5, 0.5]
    # Second sweep: v is (2, 2.5) and the terminal 1.5, so q = (2.25, 0.75, 3), the terminal becomes 1.75.
    second = [0.25, 0.25, 0.5, 0.25]
    assert solution.log.rmse == pytest.approx([math.hypot(*first), math.hypot(*second)])
    assert solution.q == pytest.approx([2.25, 0.75, 3.0])
    assert solution.log.residual == pytest.approx([1.0, 0.5])


def test_digest_is_equal_exactly_for_equal_bits():
    mdp = from_rows(TWO_STATES)
    one, again, other = solve(mdp, sweeps=9), solve(mdp, sweeps=9), solve(mdp, sweeps=10)
    assert one.digest == again.digest
    assert one.digest != other.digest
    assert len(one.digest) == 16


# Options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"discount": 1.01}, "discount: 1.01 is not allowed; it must be a number from 0 to 1"),
        ({"discount": "0.9"}, "discount: '0.9' is not allowed; it must be a number from 0 to 1"),
        ({"tolerance": None}, "tolerance: None is not allowed; it must be a number above 0"),
        ({"discount": -0.1}, "discount: -0.1"),
        ({"discount": 1, "method": "policy-iteration"}, "method: policy-iteration needs a discount below 1"),
        ({"discount": 0.95, "objective": "reach-probability"}, r"discount: 0\.95 is not allowed with the objective"),
        ({"method": "jacobi", "objective": "reach-probability"}, "method: jacobi is not allowed with the objective"),
        ({"method": "zigzag"}, "method: 'zigzag' is not allowed; it must be one of auto, layered, jacobi"),
        ({"objective": "draw"}, "objective: 'draw' is not allowed; it must be one of discounted, reach-pr"),
        ({"tolerance": 0.0}, "tolerance: 0.0 is not allowed; it must be a number above 0"),
        ({"tolerance": math.inf}, "tolerance: inf"),
        ({"sweeps": 0}, "sweeps: 0 is not allowed; it must be a whole number from 1"),
        ({"sweeps": 3.0}, "sweeps: 3.0 is not allowed"),
        ({"sweeps": 5, "method": "policy-iteration"}, "sweeps: not allowed with policy-iteration"),
        ({"initial_values": np.zeros(3)}, "initial_values: must be 2 finite numbers"),
        ({"initial_values": [0.0, 10**400]}, "initial_values: must be an array of real numbers"),
        ({"initial_values": np.array([0.0, math.nan])}, "initial_values: must be 2 finite numbers"),
        ({"initial_values": np.zeros(2), "method": "jacobi"}, "initial_values: not allowed with the method jacobi"),
    ],
)
def test_option_out_of_range_is_named(options, message):
    with pytest.raises(SolveError, match=rf"^{message}") as caught:
        solve(from_rows(TWO_STATES), **options)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ([1.0], r"policy: float64 \(1,\); it must be float64 \(2,\)"),
        ([1.0, -1.0], "policy: a probability is below 0 or not a number"),
        ([1.0, 0.5], "policy: the probabilities of state 1 do not add up to 1"),
        ([1.0, math.inf], "policy: the probabilities of state 1 do not add up to 1"),
    ],
)
def test_invalid_policies_are_refused(policy, message):
    with pytest.raises(SolveError, match=rf"^{message}"):
        evaluate(from_rows(TWO_STATES), np.array(policy))


def test_the_bound_of_an_evaluation_counts_rounding_over_rows():
    """With very many rows in a state, the rounding of their sum exceeds that of each row."""
    n = 20_000
    rows = np.arange(n + 1)
    one = from_rows([[(1.0, {0: 1.0})]])
    mdp = replace(
        one,
        state_ptr=np.array([0, n]),
        indptr=rows,
        indices=np.zeros(n, dtype=np.int32),
        data=np.ones(n),
        reward=np.ones(n),
        action=np.zeros(n, dtype=np.uint8),
    )
    iteration = Layered(mdp, 0.999, Payoff(mdp.reward, np.zeros(0)), policy=np.full(n, 1 / n))
    for _ in range(40):
        bound = iteration.sweep()
        assert abs(Fraction(iteration.v[0]) - Fraction(1) / (1 - Fraction(0.999))) <= bound
    # Each sum may be off by one rounding for each row.
    assert iteration._rounding()[0] >= n * 2**-53 * 1000


def test_an_extreme_start_converges():
    mdp = sparse_process(50)
    solution = solve(mdp, initial_values=np.full(mdp.n_states, -1.7e308))
    assert solution.converged
    assert solution.error_bound <= 1e-10


# Differences of infinities are NaN, which only interpreted kernels say.
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_probabilities_that_are_not_finite_are_refused(value):
    mdp = sparse_process(50)
    mdp.data[7] = value
    for work in (lambda: solve(mdp), lambda: evaluate(mdp, greedy(mdp.state_ptr, mdp.reward))):
        with pytest.raises(ModelError, match=r"^data: a probability is not from 0 to 1"):
            work()


def test_rewards_without_finite_values_are_refused():
    assert solve(from_rows([[(1e305, {0: 1.0})]])).v == pytest.approx([2e306])
    with pytest.raises(SolveError, match=r"^reward: a value is too large for floating point"):
        solve(from_rows([[(1e308, {0: 1.0})]]))


@pytest.mark.parametrize(("discount", "value"), [(0.95, 20.0), (1.0, 2.0)])
def test_evaluation_goes_by_the_rows_of_its_policy_alone(discount, value):
    """A row that is never taken pays a million, and lasts a thousand times as long."""
    leak = 0.5 if discount == 1 else 0.0
    rows = [(1.0, {0: 1 - leak, 1: leak}), (1e6, {0: 1 - leak / 1000, 1: leak / 1000})]
    mdp = from_rows([[(r, {t: p for t, p in row.items() if p}) for r, row in rows]], terminals=[0.0])
    assert abs(evaluate(mdp, np.array([1.0, 0.0]), discount, tolerance=1e-10)[0] - value) <= 1.1e-10


def test_evaluation_without_a_discount_asks_its_policy_alone_to_end():
    mdp = from_rows([[(1.0, {1: 1.0}), (1.0, {0: 1.0})]], terminals=[0.0])
    assert evaluate(mdp, np.array([1.0, 0.0]), 1.0).tolist() == [1.0]
    with pytest.raises(
        SolveError, match=r"^discount: 1 is allowed only if play ends, but from 1 states .* it never ends under"
    ):
        evaluate(mdp, np.array([0.0, 1.0]), 1.0)
    slow = from_rows([[(1.0, {0: 1 - 1e-9, 1: 1e-9})]], terminals=[0.0])
    assert evaluate(slow, np.ones(1), 1.0) == pytest.approx([1e9])


@pytest.mark.parametrize("name", ["state_ptr", "indptr"])
def test_arrays_of_the_wrong_dtype_are_refused_before_a_sweep(name):
    mdp = from_rows([[(1, {0: 1.0})]])
    wrong = replace(mdp, **{name: getattr(mdp, name).astype(np.int32)})
    with pytest.raises(ModelError, match=name):
        solve(wrong)
    with pytest.raises(ModelError, match=name):
        evaluate(wrong, np.ones(1))


@pytest.mark.parametrize(("layers", "discount"), [([2], 0.9), ([1, 1], 1.0)])
def test_a_solved_process_is_freed_at_once(discount, layers):
    mdp = from_rows([[(1.0, {1: 1.0})], [(2.0, {2: 1.0})]], layers, terminals=[0.0])
    seen = weakref.ref(mdp)
    gc.collect()
    gc.disable()
    try:
        solve(mdp, discount)
        del mdp
        assert seen() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("options", [{"method": "layered"}, {"method": "jacobi"}, {"sweeps": 30}, {}])
def test_rows_off_by_an_accepted_difference_are_divided_by_their_sums(options):
    off = 9e-13
    rows = [[(1e6, {1: 0.999, 2: 0.001})], [(1e6, {0: 0.999, 2: 0.001})]]
    mdp = replace(from_rows(rows, terminals=[0.0]), layer_ptr=np.array([0, 1, 2]))
    given = replace(mdp, data=mdp.data + off * (mdp.data > 0.5))
    for process in (given, compacted(given)):
        right, found = (solve(one, 0.95, **options) for one in (mdp, process))
        assert error(found.v, right.v) <= found.error_bound + right.error_bound
        assert error(evaluate(process, np.ones(2)), evaluate(mdp, np.ones(2))) <= 1e-6


def test_play_ends_even_if_products_of_probabilities_underflow():
    mdp = from_rows([[(0.0, {0: 1.0, 1: 5e-324})], [(0.0, {1: 0.75, 2: 0.25})]], [1, 1], [1.0])
    assert solve(mdp, objective="reach-probability").v.tolist() == [1.0, 1.0]


def test_values_of_layers_whose_bound_is_too_large_for_sweeps_are_solved():
    mdp = from_rows([[(2e303, {1: 1.0})], [(1e303, {2: 1.0})]], [1, 1], [0.0])
    solution = solve(mdp, discount=0.99, method="layered")
    assert solution.v == pytest.approx([2.99e303, 1e303])
    assert solution.method == "layered"
    with pytest.raises(
        SolveError, match=r"^reward: values can reach 2e\+305 at discount 0\.99; the maximum is 1e\+305"
    ):
        solve(mdp, discount=0.99, sweeps=3)


def opposite(mdp):
    """The process with the opposite rewards and values of terminals."""
    value = None if mdp.terminal_value is None else -mdp.terminal_value
    return replace(mdp, reward=-mdp.reward, terminal_reward=-mdp.terminal_reward, terminal_value=value)


@pytest.mark.parametrize("discount", [0.95, 1.0])
@pytest.mark.parametrize("layers", [None, [1, 1]])
def test_values_are_exact_if_nothing_is_paid(layers, discount):
    mdp = from_rows([[(0.0, {0: 0.5, 1: 0.5})], [(0.0, {1: 1.0}), (0.0, {2: 1.0})]], layers, terminals=[0.0])
    for method in ("auto", "layered", "jacobi"):
        assert solve(mdp, discount, method).error_bound == 0
    assert finite_horizon(mdp, 3).error_bound == 0


@pytest.mark.parametrize("layers", [None, [1, 1]])
def test_costs_are_minimized_by_every_objective(layers):
    states = [[(2.0, {1: 1.0}), (2.5, {0: 0.5, 2: 0.5})], [(1.0, {0: 0.5, 3: 0.5}), (4.0, {2: 1.0})]]
    mdp = from_rows(states, layers, terminals=[0.0, 0.0], terminal_value=[0.0, 5.0])
    last = np.array([1.0, -2.0])
    calls = [
        lambda mdp, _, **more: solve(mdp, 0.9, **more),
        lambda mdp, _, **more: solve(mdp, 1.0, **more),
        lambda mdp, _, **more: solve(mdp, 0.9, initial_values=np.zeros(2), method="layered", **more),
        lambda mdp, _, **more: average_reward(mdp, **more),
        lambda mdp, sign, **more: finite_horizon(mdp, 3, terminal_value=sign * last, **more).at(),
    ]
    for call in calls:
        least, greatest = call(mdp, 1.0, maximize=False), call(opposite(mdp), -1.0)
        pairs = (least.v, greatest.v), (least.lower, greatest.upper), (least.upper, greatest.lower)
        for found, other in pairs:
            assert found == pytest.approx(-other, abs=1e-15)
        assert least.actions() == greatest.actions()
        assert not np.signbit(least.v[least.v == 0]).any()
    assert solve(mdp, 1.0, maximize=False).v == pytest.approx([5.0, 4.0])
    soft = solve(mdp, 1.0, maximize=False).softmax(1.0)
    assert soft[0] < soft[1]
    saved = []
    solve(mdp, 0.9, "layered", 1e-9, save=lambda v: saved.append(v.copy()), maximize=False)
    assert saved[-1].min() > 0
    with pytest.raises(SolveError, match=r"^maximize: False is not allowed with the objective reach-probability; use"):
        solve(mdp, objective="reach-probability", maximize=False)


FOREST = [[[0.1, 0.9, 0.0], [0.1, 0.0, 0.9], [0.1, 0.0, 0.9]], [[1.0, 0.0, 0.0]] * 3], [[0, 0], [0, 1], [4, 2]]
SMALL = [[[0.5, 0.5], [0.8, 0.2]], [[0.0, 1.0], [0.1, 0.9]]], [[5, 10], [-1, 2]]


@pytest.mark.parametrize(
    ("example", "discount", "values", "actions"),
    [
        # Without a fire, an old forest pays 4 per year. In the small process, x = 10 + .9 y and y = -1 + .72 x + .18 y.
        (FOREST, 0.9, [26.244, 29.484, 33.484], [0, 0, 0]),
        (FOREST, 0.96, [74.6496, 78.1056, 82.1056], [0, 0, 0]),
        (SMALL, 0.9, [1825 / 43, 1550 / 43], [1, 0]),
    ],
)
def test_examples_of_pymdptoolbox_have_their_policies_and_optimal_values(example, discount, values, actions):
    mdp = MDP.from_dense(*map(np.array, example))
    found = solve(mdp, discount)
    assert found.v == pytest.approx(values, abs=1e-9)
    assert mdp.action[found.choice].tolist() == actions
    assert example is FOREST or average_reward(mdp).gain == pytest.approx([35 / 9, 35 / 9])

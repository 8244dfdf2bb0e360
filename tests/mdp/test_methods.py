"""Methods agree; policy iteration and win probabilities against exact values."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from processes import (
    compacted,
    empty_process,
    endless_values,
    error,
    gambler,
    gambler_wins,
    random_processes,
    sparse_process,
    total_rewards,
)

from punish_fast.mdp.bounds.stopping_rule import terminal_values
from punish_fast.mdp.methods import policy_evaluation
from punish_fast.mdp.methods.anderson import Anderson
from punish_fast.mdp.methods.totals import Total
from punish_fast.mdp.methods.value_iteration import Layered
from punish_fast.mdp.model.limits import GENERAL_METHODS, SolverOptions
from punish_fast.mdp.model.mdp import from_rows
from punish_fast.mdp.model.results import PROBABILITY
from punish_fast.mdp.model.solution import Payoff
from punish_fast.mdp.objectives.solver import solve
from punish_fast.runtime import _jit

NAMES = ("auto", *GENERAL_METHODS)


@pytest.mark.compiled
@pytest.mark.parametrize("name", NAMES)
def test_methods_agree_and_have_the_same_bits_for_any_number_of_threads(name):
    mdp, before = sparse_process(3000, reach=5), _jit.threads()
    found = []
    try:
        for n_threads in (1, min(2, _jit.max_threads())):
            _jit.set_threads(n_threads)
            found.append(solve(mdp, 0.98, name, 1e-8))
    finally:
        _jit.set_threads(before)
    assert found[0].digest == found[1].digest
    assert found[0].sweeps == found[1].sweeps
    assert np.abs(found[0].v - solve(mdp, 0.98, "layered", 1e-8).v).max() <= 2e-8


@pytest.mark.compiled
def test_play_that_forgets_where_it_began_takes_few_backups_at_any_discount():
    mdp = sparse_process(2000)
    sweeps = {discount: solve(mdp, discount, tolerance=1e-6).sweeps for discount in (0.9, 0.999)}
    assert sweeps[0.999] <= sweeps[0.9] + 5 < 20
    assert solve(mdp, 0.9, "layered", 1e-6).sweeps > 100


@pytest.mark.compiled
def test_auto_says_what_it_did():
    solution = solve(sparse_process(2000), 0.9)
    assert "; policy evaluation: modified-policy-iteration (" in solution.reason
    assert solve(from_rows([[(1.0, {1: 1.0})]], terminals=[0.0]), 0.0).reason == "direct policy iteration"


@pytest.mark.compiled
def test_auto_tries_a_krylov_method_where_sweeps_are_slow():
    problem = discounted_problem(sparse_process(300, reach=3), 0.999, SolverOptions(1e-6, 1000))
    assert set(policy_evaluation.evaluate_policies(problem).reason.split()) >= {*GENERAL_METHODS}


@pytest.mark.compiled
def test_an_advance_that_leads_astray_is_made_up_for(monkeypatch):
    def astray(point, *_):
        point.v[: point.mdp.n_states] = np.nan
        return 1.0

    mdp = sparse_process(50)
    monkeypatch.setattr(policy_evaluation, "_sweep", astray)
    found = policy_evaluation.evaluate_policies(discounted_problem(mdp, 0.9, SolverOptions(1e-6, 1000)))
    assert np.abs(found.v - solve(mdp, 0.9, "layered").v).max() <= 1e-6


@pytest.mark.compiled
def test_the_values_with_the_smallest_bound_are_kept_if_the_time_is_over(monkeypatch):
    def astray(point, *_):
        if len(problem.evaluation[2].residual) > 3:
            point.v[: point.mdp.n_states] = 1e6
        return 1.0

    problem = discounted_problem(sparse_process(50), 0.9, SolverOptions(1e-9, max_seconds=1.0))
    monkeypatch.setattr(policy_evaluation, "_sweep", astray)
    monkeypatch.setattr(SolverOptions, "is_over", property(lambda _: len(problem.evaluation[2].residual) == 5))
    found = policy_evaluation.evaluate_policies(problem).found
    point = problem.evaluation[0]
    assert point.bound.error > 10 * point.best[0]
    assert found.error_bound <= point.best[0]


@pytest.mark.parametrize("name", NAMES)
def test_compact_processes_and_layers_are_solved(name):
    states = [[(0.0, {1: 0.5, 2: 0.5})], [(1.0, {0: 1.0}), (0.0, {2: 1.0})]]
    mdp = from_rows(states, [1, 1], [1.0])
    expected = solve(mdp, 0.9, "jacobi").v
    assert solve(mdp, 0.9, name).v == pytest.approx(expected, abs=2e-10)
    assert solve(compacted(mdp), 0.9, name).v == pytest.approx(expected, abs=2e-10)


def test_layers_are_swept_unless_asked_otherwise():
    states = [[(0.0, {1: 1.0})], [(1.0, {0: 1.0})]]
    assert solve(from_rows(states, [1, 1])).method == "layered"
    assert solve(from_rows(states)).method == "auto"
    assert solve(from_rows(states), sweeps=5).sweeps == 5


@pytest.mark.compiled
def test_progress_is_told_after_every_backup():
    told: list[tuple[str, int, float]] = []
    solution = solve(sparse_process(100), 0.9, GENERAL_METHODS[0], progress=lambda *what: told.append(what))
    assert [n for _, n, _ in told] == list(range(1, solution.sweeps + 1))
    assert told[-1][2] <= solution.tolerance


def test_small_components_from_which_play_seldom_leaves_are_left_to_policy_iteration():
    leak = 2.0**-20
    states = [[(1.0, {k ^ 1: 1 - leak, 2 * (k // 2 + 1): leak})] for k in range(200)]
    mdp = from_rows(states, terminals=[200])
    problem = discounted_problem(mdp, 1 - 1e-9, SolverOptions(1e-10, 4))
    policy_evaluation.evaluate_policies(problem)
    assert problem.evaluation[0].work < 2000 * mdp.nnz
    assert solve(mdp, 1 - 1e-9).reason.endswith("; elimination")


def discounted_problem(mdp, discount, limits):
    """A problem that is left to policy evaluation, even if an elimination is cheap."""
    payoff = Payoff(mdp.reward, terminal_values(mdp, discount))
    problem = Total(mdp, payoff, limits, discount)
    problem.is_auto = False
    return problem


def accelerated(g, x, n_steps):
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
    points = accelerated(lambda x: matrix @ x + constant, np.zeros(n), n + 2)
    assert points[-1] == pytest.approx(fixed_point, abs=1e-10)


def test_very_large_values_are_not_accelerated_and_do_no_harm(scale=1e300):
    points = accelerated(lambda x: np.array([[0.5, 0.25], [0.25, 0.5]]) @ x + scale, np.zeros(2), 120)
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


def test_a_loop_has_the_value_of_leaving_it():
    """Looping for ever looks as good as leaving; sweeps from above would not tell the two apart."""
    goal, pit = 2, 3
    mdp = from_rows([[(0, {1: 1.0}), (0, {goal: 0.3, pit: 0.7})], [(0, {0: 1.0})]], terminals=[1, 0])
    solution = solve(mdp, objective="reach-probability")
    assert solution.v == pytest.approx([0.3, 0.3], abs=1e-15)
    assert solution.choice.tolist() == [1, 2]


@pytest.mark.parametrize(("n", "p"), [(30, 0.5), (30, 0.3), (400, 0.5)])
def test_gamblers_ruin_in_closed_form(n, p):
    mdp = from_rows(gambler(n, p), terminals=[0.0, 1.0])
    solution = solve_reachability(mdp, method="auto", tolerance=1e-13)
    assert_bracketed(solution, gambler_wins(n, p))
    assert solution.v == pytest.approx([float(win) for win in gambler_wins(n, p)], rel=1e-11)


@given(random_processes())
def test_values_are_the_best_of_all_policies(sample):
    states, _, terminals = sample
    worth = (1.0, 0.25)[: len(terminals)]
    unpaid = [[(0.0, row) for _, row in rows] for rows in states]
    solution = solve(from_rows(unpaid, terminals=worth), discount=1, tolerance=1e-13)
    expected = endless_values(unpaid, worth)
    assert error(solution.v, expected) <= solution.error_bound <= 1e-13
    rows = [row for rows in unpaid for row in rows]
    earned = total_rewards([rows[row] for row in solution.choice], worth)
    assert all(most - each <= solution.error_bound for most, each in zip(expected, earned, strict=True))


def solve_reachability(mdp, **options):
    return solve(mdp, objective="reach-probability", **({"method": "layered"} | options))


def assert_bracketed(solution, exact):
    """Check that every exact probability, a fraction, lies between bounds as close as the error bound says."""
    assert error(solution.v, exact) <= solution.error_bound
    for low, x, high in zip(solution.lower.tolist(), exact, solution.upper.tolist(), strict=True):
        assert 0 <= low <= high <= 1
        # Adding the bound to a value rounds once more.
        assert Fraction(low) - Fraction(1, 2**53) <= x <= Fraction(high) + Fraction(1, 2**53)
        assert high - low <= 2 * solution.error_bound * (1 + 1e-6) + 1e-15


@pytest.mark.parametrize(
    ("layers", "p", "tolerance"), [([9], 0.25, 1e-2), ([0, 4, 5], 0.5, 1e-6), ([1] * 9, 0.75, 1e-10)]
)
def test_gamblers_ruin(layers, p, tolerance):
    solution = solve_reachability(from_rows(gambler(10, p), layers, [0.0, 1.0]), tolerance=tolerance)
    assert_bracketed(solution, gambler_wins(10, p))
    assert solution.converged
    assert (solution.objective, solution.discount) == ("reach-probability", 1.0)


def test_a_long_walk():
    """Errors are a hundred times the last changes here."""
    solution = solve_reachability(from_rows(gambler(20, 0.5), terminals=[0.0, 1.0]), tolerance=1e-6)
    assert_bracketed(solution, gambler_wins(20, 0.5))
    assert solution.converged


def test_only_arrivals_at_winning_terminals_count():
    """Earlier rewards, and terminals without a positive reward, do not count; all winning terminals are equal."""
    states = [[(9.0, {1: 1.0}), (-9.0, {3: 0.25, 4: 0.5, 2: 0.25})], [(100.0, {2: 1.0})]]
    solution = solve_reachability(from_rows(states, terminals=[0.0, 0.5, 7.0]))
    assert_bracketed(solution, [Fraction(3, 4), Fraction(0)])
    assert solution.q == pytest.approx([0.0, 0.75, 0.0], abs=1e-10)
    assert solution.choice.tolist() == [1, 2]


@pytest.mark.parametrize("rewards", [[-1.0], [0.0, -2.0], []])
def test_without_a_winning_terminal_the_probability_is_0(rewards):
    mdp = from_rows([[(1.0, {1: 1.0})]], terminals=rewards) if rewards else empty_process()
    solution = solve_reachability(mdp)
    assert solution.v.tolist() == [0.0] * mdp.n_states
    assert solution.converged


def test_a_certain_win_has_probability_1():
    """Probabilities whose floating-point sum is above 1 give no win probability above 1."""
    p = np.array([8, 4, 7, 6, 3, 5, 2]) / 35
    solution = solve_reachability(from_rows([[(0.0, dict(enumerate(p, 1)))]], terminals=[1.0] * 7))
    assert solution.q.tolist() == solution.v.tolist() == [1.0]


def test_play_that_ends_is_recognized_however_slowly_it_ends():
    """A cycle of states that ends only from the last one, with a small probability."""
    n, leak = 6, 2.0**-45
    states = [[(0.0, {k + 1: 1.0})] for k in range(n - 1)] + [[(0.0, {0: 1 - leak, n: leak / 2, n + 1: leak / 2})]]
    payoff = Payoff(np.zeros(n), np.array([1.0, 0.0]), PROBABILITY)
    assert Layered(from_rows(states, terminals=[1.0, -1.0]), 1.0, payoff).endless is None
    states[-1].append((0.0, {0: 1.0}))
    payoff = payoff._replace(row=np.zeros(n + 1))
    assert Layered(from_rows(states, terminals=[1.0, -1.0]), 1.0, payoff).endless.all()

"""Equilibrium learning, and runs until a target with checkpoints."""

import itertools
import signal

import duel_twin
import numpy as np
import pytest
from duel_twin import Node, Position
from houses import TINY
from policies import uniform
from positions import nodes_of, positions_of

from bench import reference
from punish_fast.duel.evaluation import head_to_head
from punish_fast.duel.graph import GameGraph, Outline
from punish_fast.equilibrium import regret_minimizers, restricted_game, solver
from punish_fast.equilibrium import run as run_module
from punish_fast.equilibrium._restricted_game import INSIDE, NEEDED, OUTSIDE
from punish_fast.equilibrium.exploitation.best_response import best_response
from punish_fast.equilibrium.run import Target, TargetError, run_equilibrium
from punish_fast.equilibrium.solver import Equilibrium, bytes_needed, exploiter_start
from punish_fast.punish.rules import Rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import policy_of
from punish_fast.runtime import deadline
from punish_fast.runtime._jit import set_threads

NEVER = (0, 0, 0, 0, 0)
_SHORT = Rules(healing=0, reveal_size=0, hp=2, exhausting=NEVER, redeal="reshuffle")
# Several measures, without a kept card.
MEASURES = _SHORT._replace(
    copies=(2, 2, 1, 1, 1), hand_size=3, reveal_size=1, breaths=3, feints=0, damage=(1, 1, 1, 2, 3)
)


def learned(graph, iterations, share=0.0):
    learning = Equilibrium(graph, share=share)
    for _ in range(iterations):
        learning.iterate()
    return learning


@pytest.mark.compiled
def test_nothing_beats_the_average_of_self_play_under_perfect_recall():
    graph = GameGraph(StateSpace(MEASURES, "memory"))
    assert best_response(graph, uniform(graph.space), "belief").win_probability > 0.55
    assert best_response(graph, learned(graph, 500).average, "belief").win_probability < 0.5 + 1e-3


def restrict_iterations(monkeypatch, first, each, most=1.0):
    """Make the first iterations full, then one in ``each``; restricted games leave out a lot."""
    monkeypatch.setattr(regret_minimizers, "_FULL_ITERATIONS", first)
    monkeypatch.setattr(regret_minimizers, "_FULL_EVERY", each)
    monkeypatch.setattr(restricted_game, "LEAST_STATE", 0.004)
    monkeypatch.setattr(restricted_game, "LEAST_FULL", 0.001)
    monkeypatch.setattr(restricted_game, "LEAST_PLAYED", 0.1)
    monkeypatch.setattr(restricted_game, "MOST", most)


def test_self_play_wins_half_of_the_games(graph):
    learning = learned(graph, 20)
    assert head_to_head(graph, learning.average, learning.average).win_probability == pytest.approx(0.5, abs=1e-12)
    worth = dict(zip(nodes_of(graph), learning.nodes.tolist(), strict=True))
    for node, value in worth.items():
        other = Node(node.enemy, node.own, node.enemy_hp, node.own_hp)
        assert value + worth[other] == pytest.approx(1, abs=1e-12)


@pytest.mark.compiled
@pytest.mark.parametrize(("model", "share"), [("memoryless", 0.5), ("memory", 0.0)])
def test_one_thread_and_two_learn_the_same_bits(model, share, monkeypatch):
    # The last iterations are restricted.
    restrict_iterations(monkeypatch, 3, 16)
    graph = GameGraph(StateSpace(TINY, model))
    found = []
    for threads in (1, 2):
        set_threads(threads)
        learning = learned(graph, 5, share)
        found.append([*(table.tobytes() for table in learning.state_dict().values()), learning.average.tobytes()])
    set_threads(2)
    assert found[0] == found[1]


@pytest.mark.parametrize(("share", "done"), [(0.0, 4), (0.5, 2), (0.5, 3)])
def test_a_resumed_equilibrium_learns_the_same(graph, share, done, monkeypatch):
    # The first two iterations are full, and the fourth and eighth; the others are restricted.
    restrict_iterations(monkeypatch, 2, 4)
    first = learned(graph, done, share)
    tables = {name: table.copy() for name, table in first.state_dict().items()}
    second = Equilibrium(graph, share=share)
    second.resume(done, tables)
    for _ in range(4):
        first.iterate()
        second.iterate()
    assert first.iterations == second.iterations == done + 4
    assert all(np.array_equal(first.state_dict()[name], second.state_dict()[name]) for name in tables)
    assert first.average.tobytes() == second.average.tobytes()


def test_inconsistent_tables_are_refused(graph):
    learning = learned(graph, 2, 0.5)
    tables = {name: table.copy() for name, table in learning.state_dict().items()}
    tables["marked_full"][0] = OUTSIDE
    with pytest.raises(ValueError, match="a marked entry refers to one that is not marked"):
        learning.resume(2, tables)


def test_the_enemy_mixes_the_own_strategy_and_the_response(graph):
    share = 0.3
    learning = learned(graph, 3, share)
    before = learning.state_dict()["response"].copy()
    learning.iterate()
    own, enemy = learning._whole.strategy, learning._whole.enemy
    chosen = np.zeros(len(own))
    chosen[learning.state_dict()["response"]] = 1
    assert enemy == pytest.approx((1 - share) * own + share * chosen, abs=1e-15)
    assert np.add.reduceat(enemy, graph.space.state_ptr[: len(before)]) == pytest.approx(1)
    assert not np.array_equal(before, learning.state_dict()["response"])


def test_rare_actions_are_dropped_from_the_average(graph):
    learning = learned(graph, 1, 0.5)
    ptr, total = graph.space.state_ptr, learning.state_dict()["strategy_sum"]
    first, last = next((a, b) for a, b in itertools.pairwise(ptr) if b - a > 1)
    total[first:last] = 1.0
    total[first] = 5e-5 * (last - first)
    average = learning.average
    assert average[first] == 0
    assert average[first + 1 : last] == pytest.approx(1 / (last - first - 1))
    policy_of(average, graph.space)


def test_reached_states_follow_from_own_choices(graph):
    learning = learned(graph, 1, 0.5)
    # One action in each state, and a few more.
    total = np.random.default_rng(1).random(len(learning.state_dict()["strategy_sum"])) < 0.1
    total[graph.space.state_ptr[: len(graph.full.ptr) - 1]] = True
    learning.state_dict()["strategy_sum"][:] = total
    reached, average = learning.reachable, learning.average
    positions, rows = positions_of(graph), np.repeat(np.arange(len(reached)), np.diff(graph.full.ptr))
    row_of = {position.view: row for position, row in zip(positions, rows.tolist(), strict=True)}
    expected = np.arange(len(reached)) < graph.space.layer_ptr[1]
    for position in positions:
        row = row_of[position.view]
        if not expected[row]:
            continue
        for own_row in range(*graph.space.state_ptr[row : row + 2]):
            if average[own_row] > 0:
                for enemy in reference.legal_actions(graph.space.rules, duel_twin.enemy_view(position)):
                    law = duel_twin.breath(graph.space.rules, position, int(graph.space.action[own_row]), enemy)
                    for then in law:
                        if isinstance(then, Position):
                            expected[row_of[then.view]] = True
    assert 0 < expected.sum() < len(expected)
    assert np.array_equal(reached, expected)


def test_most_iterations_run_on_a_restricted_game(graph, monkeypatch):
    restrict_iterations(monkeypatch, 2, 4)
    learning, parts, marks = Equilibrium(graph, share=0.5), [], []
    for _ in range(8):
        learning.iterate()
        parts.append(learning._part)
        marks.append(learning._marks.full.tobytes())
    assert [part is None for part in parts] == [True, True, False, True, False, False, False, True]
    # The restricted game is built once, and the next one is marked after each full iteration.
    assert parts[4] is parts[5] is parts[6] is not parts[2]
    assert [one == other for one, other in itertools.pairwise(marks)] == [False, False, False, False, True, True, False]


def test_restricted_iterations_leave_deals_and_entries_outside_unchanged(graph, monkeypatch):
    restrict_iterations(monkeypatch, 2, 8)
    learning, before = Equilibrium(graph, share=0.5), {}
    for iteration in range(1, 8):
        before = {name: table.copy() for name, table in learning.state_dict().items()}
        learning.iterate()
        if iteration <= 2:
            continue
        now = learning.state_dict()
        rows, full = now["marked_rows"], now["marked_full"]
        for name in ("logit", "strategy_sum"):
            assert np.array_equal(now[name][rows != INSIDE], before[name][rows != INSIDE])
            assert (now[name][rows == INSIDE] != before[name][rows == INSIDE]).any()
        for name in ("values", "response_values"):
            assert np.array_equal(now[name][full != INSIDE], before[name][full != INSIDE])
            assert (now[name][full == INSIDE] != before[name][full == INSIDE]).any()
        assert {OUTSIDE, INSIDE, NEEDED} == set(rows.tolist())
        assert 0 < np.mean(full != INSIDE) < 1
        assert all(np.array_equal(now[name], before[name]) for name in ("reach", "response_reach"))
        if iteration > 3:
            assert np.array_equal(rows, before["marked_rows"])


def test_reading_results_changes_nothing(graph, monkeypatch):
    restrict_iterations(monkeypatch, 2, 4)
    looked, plain = Equilibrium(graph, share=0.5), learned(graph, 8, 0.5)
    for _ in range(8):
        looked.iterate()
        for name in ("average", "nodes", "reachable", "regret_minimizer", "reach"):
            getattr(looked, name)
        looked.state_dict()
        exploiter_start(looked)
    assert all(np.array_equal(table, plain.state_dict()[name]) for name, table in looked.state_dict().items())
    assert np.array_equal(looked.average, plain.average)


def test_a_game_is_not_restricted_if_it_does_not_pay(graph, monkeypatch):
    restrict_iterations(monkeypatch, 2, 4, most=0.01)
    few = learned(graph, 7, 0.5)
    monkeypatch.setattr(regret_minimizers, "_FULL_ITERATIONS", 100)
    every = learned(graph, 7, 0.5)
    assert all(np.array_equal(table, every.state_dict()[name]) for name, table in few.state_dict().items())
    assert (few.state_dict()["marked_rows"] == INSIDE).all()


@pytest.mark.parametrize(("model", "share"), [("memoryless", 0.5), ("memory", 0.0)])
def test_arrays_fit_into_the_estimated_memory(model, share):
    graph = GameGraph(StateSpace(TINY, model))
    learning = learned(graph, 2, share)
    whole = learning._whole
    arrays = [whole.v, whole.strategy, whole.state_reach, *learning.state_dict().values(), *graph.full]
    arrays += [array for name, array in vars(whole.reach).items() if isinstance(array, np.ndarray)]
    if share > 0:
        arrays += [learning.regret_minimizer.regret, whole.enemy, whole.response.v]
    # The program is large beside a small game, so it is left out.
    estimated = bytes_needed(Outline(graph.space), share) - solver._PROGRAM
    assert sum(array.nbytes for array in arrays) < estimated < 10 * sum(array.nbytes for array in arrays)


def test_the_search_for_an_exploiter_starts_at_the_response_or_the_average(graph):
    self_play, trained = learned(graph, 5), learned(graph, 40, share=0.8)
    policy, nodes, _ = exploiter_start(self_play)
    assert np.array_equal(policy, self_play.average)
    assert np.array_equal(nodes[:, 0], self_play.nodes)
    policy, nodes, _ = exploiter_start(trained)
    policy_of(policy, graph.space)
    assert set(policy) == {0.0, 1.0}
    duel = head_to_head(graph, policy, trained.average)
    assert duel.win_probability > 0.5
    # It responds to the last strategy, not to the average.
    assert nodes[:, 0] == pytest.approx(duel.v[graph.n_full : -2, 0], abs=0.05)


def test_a_share_outside_0_to_1_is_refused(graph):
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="it must be from 0 to 1"):
            Equilibrium(graph, share=share)


@pytest.fixture
def equilibrium(graph):
    return Equilibrium(graph, share=0.9)


def test_a_run_ends_after_its_iterations_and_measures_the_average(graph, equilibrium):
    statuses = []
    run = run_equilibrium(equilibrium, Target(iterations=12), progress=statuses.append)
    assert run.iterations == equilibrium.iterations == 12
    assert [(status.iteration, status.last) for status in statuses] == [(n, 12) for n in range(1, 13)]
    assert statuses[-1].seconds_left == 0
    assert statuses[4].seconds_left == pytest.approx(7 * statuses[4].seconds_each)
    assert set(run.seconds) == {"iterations", "measure", "checkpoint"}
    # No response found from another start wins much more.
    assert run.exploitability > 0
    found = best_response(graph, equilibrium.average, "belief").win_probability
    assert 100 * (found - 0.5) == pytest.approx(run.exploitability, abs=0.2)
    duel = head_to_head(graph, run.response, equilibrium.average)
    assert 100 * (duel.win_probability - 0.5) == pytest.approx(run.exploitability, abs=1e-7)


def test_a_run_ends_at_its_exploitability(graph):
    equilibrium, statuses, saved = Equilibrium(graph), [], []
    run = run_equilibrium(
        equilibrium, Target(exploitability=0.3), lambda each: saved.append(each.iterations), statuses.append
    )
    assert run.exploitability <= 0.3
    assert run.iterations in (25, 50, 100, 200, 400)
    assert {status.last for status in statuses} == {None}
    assert {status.seconds_left for status in statuses} == {None}
    # Once before each measurement.
    assert saved[0] == 25
    assert saved == [25 * 2**k for k in range(len(saved))]
    assert saved[-1] == run.iterations


def test_a_run_ends_in_time(equilibrium):
    statuses = []
    run = run_equilibrium(equilibrium, Target(seconds=0.01), progress=statuses.append)
    assert run.iterations < 500
    assert all(status.seconds_left <= 0.01 for status in statuses)


def test_a_run_ends_within_the_time_limit_of_the_command(equilibrium, monkeypatch):
    now, responses = [0.0], []
    monkeypatch.setattr(deadline, "_now", lambda: now[0])

    def pass_time(_status):
        now[0] += 1

    with deadline.time_limit(8):
        run = run_equilibrium(equilibrium, None, None, pass_time, lambda *response: responses.append(response))
        assert run.iterations <= 8
        # No time is left to improve the first response.
        assert len(responses) == 1
        assert run.exploitability == pytest.approx(100 * (responses[0][2] - 0.5))
        now[0] += 6
        with pytest.raises(deadline.TimeLimitError):
            equilibrium.iterate()
        late = run_equilibrium(equilibrium, Target(iterations=1))
    assert np.isnan(late.exploitability)
    policy_of(late.response, equilibrium.graph.space)


def test_checkpoints_are_saved_every_minute(equilibrium, monkeypatch):
    monkeypatch.setattr(run_module, "_SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    saved = []
    run_equilibrium(equilibrium, Target(iterations=3), lambda each: saved.append(each.iterations))
    assert saved == [1, 2, 3]


def test_a_run_that_is_past_its_target_only_measures(equilibrium):
    run_equilibrium(equilibrium, Target(iterations=4))
    statuses = []
    run = run_equilibrium(equilibrium, Target(iterations=3), progress=statuses.append)
    assert (run.iterations, statuses) == (4, [])
    assert run.exploitability is not None


def test_an_interrupted_run_ends_its_iteration_and_saves(equilibrium):
    saved = []

    def interrupt(status):
        if status.iteration == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run_equilibrium(equilibrium, Target(iterations=8), lambda each: saved.append(each.iterations), interrupt)
    assert saved == [3]


@pytest.mark.parametrize(
    ("name", "value"),
    [("iterations", 0), ("iterations", 10_001), ("exploitability", -1.0), ("exploitability", np.nan), ("seconds", 0.0)],
)
def test_impossible_targets_are_refused(name, value):
    with pytest.raises(TargetError, match=f"{name}: {value} is not allowed; (it must be above 0|the maximum)"):
        Target(**{name: value})

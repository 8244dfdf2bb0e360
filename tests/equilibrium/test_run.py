"""Running an equilibrium until a target, with checkpoints."""

import signal

import numpy as np
import pytest

from punish_fast.duel.exact_evaluation import head_to_head
from punish_fast.equilibrium import run as run_module
from punish_fast.equilibrium.exploitation.best_response import best_response
from punish_fast.equilibrium.run import Target, TargetError, run_equilibrium
from punish_fast.equilibrium.solver import Equilibrium


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
    found = best_response(graph, equilibrium.average, "true").win_probability
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
    with pytest.raises(TargetError, match=f"{name}: {value}; (it must be above 0|the maximum)"):
        Target(**{name: value})

from __future__ import annotations

import math
import re
import signal

import numpy as np
import pytest

from punish_fast.cli.strategies.equilibrium import status_line
from punish_fast.duel import graph as graph_module
from punish_fast.duel.graph import GameGraph
from punish_fast.equilibrium import run as equilibrium_run
from punish_fast.equilibrium.run import IterationStatus
from punish_fast.equilibrium.solver import Equilibrium, least_bytes
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime import limits
from punish_fast.store.reader import load

RULES = true_rules(PRESETS["tiny"])
TINY = ("--rules", "tiny", "--quiet")


@pytest.mark.parametrize(
    ("name", "output", "share"),
    [("memoryless", "tiny-equilibrium.h5", 0.9), ("memory", "tiny-equilibrium-memory.h5", 0.8)],
)
def test_an_equilibrium_is_written_and_told(run, folder, name, output, share):
    report = run("equilibrium", *TINY, "--information", name, "--iterations", "12", "--json").report
    space = StateSpace(RULES, name)
    equilibrium = Equilibrium(GameGraph(space), share=share)
    for _ in range(12):
        equilibrium.iterate()
    found = load(folder / output).policy(space)
    reached = np.repeat(equilibrium.reachable, np.diff(space.state_ptr[: len(equilibrium.reachable) + 1]))
    assert found[: len(reached)][reached] == pytest.approx(equilibrium.average[: len(reached)][reached], abs=1e-4)
    assert (report["iterations"], report["best_response_share"], report["information"]) == (12, share, name)
    assert report["output"] == output
    assert report["full_states"] == equilibrium.graph.n_full
    n_states = space.layer_ptr[RULES.breaths]
    assert (report["states"], report["rows"]) == (n_states, space.state_ptr[n_states])
    assert report["exploiter_wins"] == pytest.approx(0.5 + report["exploitability"] / 100)
    assert 0 < report["exploitability"] < 5
    assert load(folder / output).origin["iterations"] == 12


def test_the_exploitability_is_printed_as_a_lower_estimate(run, folder):
    done = run("equilibrium", "--rules", "tiny", "--iterations", "12")
    told = " ".join(done.out.split())
    points = re.search(r"at least (\d\.\d\d) percentage points \(by opponents with the same memory\)\.$", told)
    exploitability = load(folder / "tiny-equilibrium.h5").origin["exploitability"]
    assert 0 <= exploitability - float(points[1]) < 0.01
    assert done.suggestion == "punish-fast exploit tiny-equilibrium.h5 --bracket\n"


def test_too_large_a_game_is_refused_before_its_full_states_are_counted(run, monkeypatch):
    monkeypatch.setattr(graph_module, "tabulate_draws", None)
    least = least_bytes(StateSpace(RULES))
    monkeypatch.setattr(limits, "total_memory", lambda: least - 1)
    run("equilibrium", *TINY).failed_with("even the smallest tables of this equilibrium would take")


def test_a_target_is_reached_or_reported_as_missed(run, folder):
    assert run("equilibrium", *TINY, "--exploitability", "0.3", "--json").report["exploitability"] <= 0.3
    done = run("equilibrium", *TINY, "--exploitability", "0.0001", "--iterations", "30", "-o", "b.h5")
    done.failed_with("the target of 0.0001 points was not reached", "after 30 iterations")
    assert done.code == 1
    assert (folder / "b.h5").exists()


def test_a_target_is_missed_if_the_exploitability_was_not_measured(run, monkeypatch):
    run_equilibrium = equilibrium_run.run_equilibrium

    def unmeasured(*arguments):
        return run_equilibrium(*arguments)._replace(exploitability=math.nan)

    monkeypatch.setattr(equilibrium_run, "run_equilibrium", unmeasured)
    done = run("equilibrium", *TINY, "--iterations", "2", "--exploitability", "0.5")
    done.failed_with("the target of 0.5 points was not reached: the exploitability was not measured in time\n")


def test_a_run_ends_in_time(run):
    assert run("equilibrium", *TINY, "--time", "0.01", "--json").report["iterations"] < 500


def test_a_resumed_run_ends_like_an_unbroken_one(run, folder):
    run("equilibrium", *TINY, "--iterations", "10", "-o", "whole.h5")
    run("equilibrium", *TINY, "--iterations", "4", "--resume", "run.h5", "-o", "part.h5")
    report = run("equilibrium", *TINY, "--iterations", "10", "--resume", "run.h5", "-o", "part.h5", "--json").report
    assert report["iterations"] == 10
    whole, part = (load(folder / name).strategy() for name in ("whole.h5", "part.h5"))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(whole, part, strict=True))


def test_iterations_are_not_taken_back(run, folder):
    run("equilibrium", *TINY, "--iterations", "4", "--resume", "run.h5", "-o", "a.h5")
    done = run("equilibrium", *TINY, "--iterations", "3", "--resume", "run.h5", "-o", "b.h5")
    assert (done.code, done.err) == (0, "run.h5: has 4 iterations, more than the target 3\n")
    assert load(folder / "b.h5").origin["iterations"] == 4


def test_its_files_are_shown(run):
    run("equilibrium", *TINY, "--iterations", "2", "--information", "memory", "--resume", "run.h5", "-o", "a.h5")
    assert re.search(r"^iterations +2$", run("show", "run.h5").out, re.MULTILINE)
    assert re.search(r"^origin +kind equilibrium, iterations 2, best response", run("show", "a.h5").out, re.MULTILINE)
    assert run("show", "a.h5", "--json").report["origin"]["iterations"] == 2
    assert run("show", "run.h5", "--json").report["iterations"] == 2
    run("arena", "run.h5", "random", "-q").refused("is a checkpoint of an equilibrium")
    report = run("enemy", "show", "a.h5", "--json").report
    assert report["information"] == "memory"
    assert report["covered"] == report["states"] == sum(StateSpace(RULES, "memory").states_by_breath)
    assert 0 < report["entropy"] < report["uniform_entropy"]
    assert re.search(r"^information +memory$", run("enemy", "show", "a.h5").out, re.MULTILINE)
    run("solve", "--enemy", "a.h5", *TINY).refused("a.h5: information model memory; it must be memoryless here")
    run("openings", "a.h5").refused(
        "it must be memoryless here; use a strategy made by equilibrium --information memoryless"
    )


def test_an_interrupt_in_the_third_iteration_saves_a_checkpoint_if_one_is_named(run, folder, monkeypatch):
    iterate, made = Equilibrium.iterate, []

    def interrupted(equilibrium):
        made.append(1)
        if len(made) in (3, 6):
            signal.raise_signal(signal.SIGINT)
        iterate(equilibrium)

    monkeypatch.setattr(Equilibrium, "iterate", interrupted)
    done = run("equilibrium", *TINY, "--iterations", "8")
    assert done.code == 130
    assert done.err.startswith("the iterations made are not saved; use --resume FILE to save them\ninterrupted")
    assert not list(folder.iterdir())
    goal = ("equilibrium", *TINY, "--iterations", "8", "--resume", "run.h5", "-o", "a.h5")
    done = run(*goal)
    assert done.code == 130
    assert done.err.startswith("run.h5 contains the iterations made; repeat the command to resume")
    # The iteration in which it came was made to its end.
    assert load(folder / "run.h5").attributes["iterations"] == 3
    run(*goal)
    run("equilibrium", *TINY, "--iterations", "8", "-o", "b.h5")
    one, other = (load(folder / name).policy(StateSpace(RULES)) for name in ("a.h5", "b.h5"))
    assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (IterationStatus(13, 80, 2.14, 141.2, None), "iteration 13 of 80, 2.1 s each"),
        (IterationStatus(1300, None, 0.0123, None, 0.61), "iteration 1,300, 0.012 s each, exploitability 0.610"),
        (IterationStatus(5, None, 1.0, 59.6, None), "iteration 5, 1.0 s each"),
    ],
)
def test_progress_says_how_far_it_is(status, line):
    assert status_line(status) == f"equilibrium: {line}"


@pytest.mark.parametrize("information", ["memoryless", "memory"])
def test_exploit_finds_no_less_than_the_run_reported(run, folder, information):
    arguments = ("--rules", "tiny", "--information", information, "--iterations", "6", "-o", "x.h5", "-q", "--json")
    told = run("equilibrium", *arguments).report["exploiter_wins"]
    found = run("exploit", "x.h5", "--exploiter", "belief", "-q", "--json").report
    # Strategies of a finer model are rounded.
    assert found["exploiters"]["belief"] > told - (1e-9 if information == "memoryless" else 1e-3)
    stored = load(folder / "x.h5")
    assert stored.response(StateSpace(stored.rules, information)) is not None


def test_only_its_own_checkpoint_is_taken(run):
    run("equilibrium", *TINY, "--iterations", "1", "--resume", "run.h5")
    for arguments, text in (
        (["--resume", "tiny-equilibrium.h5", "-o", "b.h5"], "needs a checkpoint of an equilibrium"),
        (["--resume", "run.h5", "--information", "memory"], "has the information model 'memoryless'"),
        (["--resume", "run.h5", "-o", "run.h5"], "would be written twice"),
    ):
        run("equilibrium", *TINY, *arguments).refused(text)
    run("equilibrium", "--rules", "tabletop", "-q", "--resume", "run.h5").refused("made for rules")

"""``equilibrium``: what it writes and says, how it stops and goes on, and what it refuses."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from cli.conftest import COMMAND, clean_environment
from punish_fast.duel.graph import Graph
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.space import StateSpace
from punish_fast.store.checkpoints import load_checkpoint, save_checkpoint
from punish_fast.store.reader import load

RULES = true_rules(PRESETS["tiny"])
TINY = ("--rules", "tiny", "--quiet")


@pytest.mark.parametrize(
    ("name", "output", "share"), [("view", "equilibrium.h5", 0.9), ("memory", "equilibrium-memory.h5", 0.8)]
)
def test_an_equilibrium_is_written_and_told(run, folder, name, output, share):
    report = run("equilibrium", *TINY, "--information", name, "--iterations", "12", "--json").report
    space = StateSpace(RULES, name)
    equilibrium = Equilibrium(Graph(space), share=share)
    for _ in range(12):
        equilibrium.iterate()
    found = load(folder / output).policy(space)
    reached = np.repeat(equilibrium.reached, np.diff(space.state_ptr[: len(equilibrium.reached) + 1]))
    assert found[: len(reached)][reached] == pytest.approx(equilibrium.average[: len(reached)][reached], abs=1e-4)
    assert (report["iterations"], report["answers"], report["information"]) == (12, share, name)
    assert report["output"] == output
    assert report["full_states"] == equilibrium.graph.n_full
    assert report["exploiter_wins"] == pytest.approx(0.5 + report["concedes_points"] / 100)
    assert 0 < report["concedes_points"] < 5
    assert load(folder / output).origin["iterations"] == 12


def test_it_is_told_in_words(run):
    done = run("equilibrium", "--rules", "tiny", "--iterations", "3")
    assert done.code == 0
    assert "percentage points" in done.out
    assert "wrote equilibrium.h5" in done.out
    assert "information states" in done.err


def test_a_dry_run_says_how_much_memory_and_does_nothing(run, folder):
    report = run("equilibrium", *TINY, "--dry-run", "--json").report
    assert report["memory_bytes"] > 0
    assert report["states"] == 508
    assert not list(folder.iterdir())
    done = run("equilibrium", "--rules", "tiny", "--dry-run")
    assert (done.code, done.err) == (0, "")
    assert "of memory" in done.out


def test_it_stops_at_the_target_or_says_that_it_was_missed(run, folder):
    report = run("equilibrium", *TINY, "--answers", "0", "--target", "0.3", "--json").report
    assert (report["answers"], report["concedes_points"] <= 0.3) == (0, True)
    done = run("equilibrium", *TINY, "--target", "0.0001", "--iterations", "30", "-o", "b.h5")
    done.failed_with("the target of 0.0001 points was not reached", "after 30 iterations")
    assert done.code == 1
    assert (folder / "b.h5").exists()


def test_it_stops_in_time(run):
    assert run("equilibrium", *TINY, "--time", "0.01", "--json").report["iterations"] < 500


def test_it_goes_on_as_if_it_had_never_stopped(run, folder):
    run("equilibrium", *TINY, "--iterations", "10", "-o", "whole.h5")
    run("equilibrium", *TINY, "--iterations", "4", "--resume", "run.h5", "-o", "part.h5")
    report = run("equilibrium", *TINY, "--iterations", "10", "--resume", "run.h5", "-o", "part.h5", "--json").report
    assert report["iterations"] == 10
    whole, part = (load(folder / name).strategy() for name in ("whole.h5", "part.h5"))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(whole, part, strict=True))


def test_iterations_are_not_taken_back(run, folder):
    run("equilibrium", *TINY, "--iterations", "4", "--resume", "run.h5", "-o", "a.h5")
    done = run("equilibrium", *TINY, "--iterations", "3", "--resume", "run.h5", "-o", "b.h5")
    assert (done.code, done.err) == (0, "run.h5: holds 4 iterations, more than the 3 after which to stop\n")
    assert load(folder / "b.h5").origin["iterations"] == 4


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["--information", "everything"], ["'everything' is not allowed", "view, memory"]),
        (["--iterations", "0"], ["--iterations is 0"]),
        (["--iterations", "10001"], ["allowed are up to 10000"]),
        (["--target", "-1"], ["--target is -1"]),
        (["--answers", "1.5"], ["--answers is 1.5, allowed is from 0 to 1"]),
        (["--answers", "nan"], ["--answers is nan"]),
        (["--target", "nan"], ["--target is nan"]),
        (["--time", "0"], ["--time is 0"]),
        (["-o", "nowhere/a.h5"], ["nowhere"]),
        (["-o", "a.h5", "--resume", "a.h5"], ["would be written twice"]),
    ],
)
def test_what_cannot_be_is_refused(run, folder, arguments, texts):
    run("equilibrium", *TINY, *arguments).refused(*texts)
    assert not list(folder.iterdir())


def test_what_was_learned_is_shown(run):
    run("equilibrium", *TINY, "--iterations", "2", "--information", "memory", "--resume", "run.h5", "-o", "a.h5")
    assert "information memory\niterations 2\n" in run("show", "run.h5").out
    assert "information memory\norigin: kind equilibrium, iterations 2, answers 0.8, con" in run("show", "a.h5").out
    assert run("show", "a.h5", "--json").report["origin"]["iterations"] == 2
    assert run("show", "run.h5", "--json").report["iterations"] == 2
    run("show", "run.h5", "102012300350000300").refused("is an equilibrium, positions can be shown of tensors")
    run("arena", "run.h5", "random", "-q").refused("is what an equilibrium goes on from")
    run("enemy", "show", "a.h5").refused("'memory' is not allowed here")


def test_only_its_own_checkpoint_is_taken(run):
    run("equilibrium", *TINY, "--iterations", "1", "--resume", "run.h5")
    run("equilibrium", *TINY, "--resume", "equilibrium.h5", "-o", "b.h5").refused("takes an equilibrium's own")
    run("equilibrium", *TINY, "--resume", "run.h5", "--information", "memory").refused("of the model 'view'")
    run("equilibrium", *TINY, "--resume", "run.h5", "--answers", "0").refused("with --answers 0.9, not 0")
    # Who says nothing goes on as it was begun.
    own = ("--resume", "own.h5", "--iterations", "3", "--json")
    assert run("equilibrium", *TINY, *own, "--answers", "0.3").report["answers"] == 0.3
    assert run("equilibrium", *TINY, *own).report["answers"] == 0.3
    run("equilibrium", "--rules", "tabletop", "-q", "--resume", "run.h5").refused("made for rules")


def test_a_checkpoint_that_cannot_be_is_refused(run, folder):
    run("equilibrium", *TINY, "--iterations", "1", "--resume", "run.h5")
    space = StateSpace(RULES)
    kept = load_checkpoint(load(folder / "run.h5"), Equilibrium(Graph(space), share=0.9).tables)
    kept.tables["marked_full"][0] = 0
    save_checkpoint(folder / "run.h5", space, kept)
    run("equilibrium", *TINY, "--resume", "run.h5").refused(
        "run.h5: /equilibrium", "a marked entry needs one that is not marked"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for children")
def test_an_interrupt_says_what_is_kept(folder):
    command = [*COMMAND, "equilibrium", "--rules", "tiny", "--time", "60", "-q"]
    child = subprocess.Popen(command, cwd=folder, env=clean_environment(), stderr=subprocess.PIPE, text=True)
    time.sleep(8)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert "is not kept; with --resume FILE it would be" in err or "interrupted" in err
    assert not list(folder.iterdir())


def test_an_interrupt_keeps_what_was_learned_so_far(run, folder, monkeypatch):
    iterate, made = Equilibrium.iterate, []

    def interrupted(equilibrium):
        made.append(1)
        if len(made) == 3:
            signal.raise_signal(signal.SIGINT)
        iterate(equilibrium)

    monkeypatch.setattr(Equilibrium, "iterate", interrupted)
    goal = ("equilibrium", *TINY, "--iterations", "8", "--resume", "run.h5", "-o", "a.h5")
    done = run(*goal)
    assert done.code == 130
    assert done.err.startswith("run.h5 holds what was learned; the same command goes on with it")
    # The iteration in which it came was made to its end.
    assert load(folder / "run.h5").attributes["iterations"] == 3
    run(*goal)
    run("equilibrium", *TINY, "--iterations", "8", "-o", "b.h5")
    one, other = (load(folder / name).policy(StateSpace(RULES)) for name in ("a.h5", "b.h5"))
    assert np.array_equal(one, other)


def test_players_who_remember_meet_all_others(run):
    run("equilibrium", *TINY, "--information", "memory", "--iterations", "40")
    run("equilibrium", *TINY, "--iterations", "40")
    report = run("arena", "equilibrium-memory.h5", "equilibrium.h5", "random", *TINY, "--json").report
    assert report["win"][0][2] > 0.6
    assert report["win"][0][1] == pytest.approx(0.5, abs=0.02)
    players = ("equilibrium-memory.h5", "random", *TINY)
    run("arena", *players, "--games", "10", "--record", "a.db").refused("--record goes with players of the view only")
    games = run("arena", "equilibrium-memory.h5", "random", *TINY, "--games", "20000", "--seed", "1", "--json").report
    assert games["win"][0][1] == pytest.approx(report["win"][0][2], abs=0.02)


def test_exploiters_know_no_less_than_the_one_before(run):
    run("equilibrium", *TINY, "--iterations", "40")
    report = run("exploit", "equilibrium.h5", "-q", "--json", "--ceiling", "--seed", "1").report
    wins, error = report["exploiters"], report["bayes_standard_error"]
    assert wins["uniform"] <= wins["true"] + 1e-9
    assert 0.5 < wins["true"] <= wins["memory"] + 1e-9
    assert wins["true"] - 4 * error <= wins["bayes"] <= report["ceiling"] + 4 * error
    assert wins["memory"] <= report["ceiling"] + 1e-4
    assert (report["seed"], report["games"]) == (1, 20_000)
    run("equilibrium", *TINY, "--information", "memory", "--iterations", "40")
    wins = run("exploit", "equilibrium-memory.h5", "-q", "--json").report["exploiters"]
    assert wins["uniform"] is None
    assert wins["true"] == wins["memory"] > 0.5
    only = run("exploit", "equilibrium.h5", "-q", "--json", "--exploiter", "true").report["exploiters"]
    assert set(only) == {"true"}
    run("exploit", "equilibrium-memory.h5", "-q", "--exploiter", "uniform").refused("no player of the model 'memory'")
    told = run("exploit", "equilibrium.h5", "-q", "--exploiter", "bayes", "--ceiling").out
    assert "nobody more than" in told
    assert "+- two standard errors" in told
    run("exploit", "equilibrium.h5", "-q", "--seed", "-1").refused("--seed is -1")
    run("exploit", "equilibrium.h5", "-q", "--exploiter", "luck").refused("--exploiter is 'luck'", "uniform, true")

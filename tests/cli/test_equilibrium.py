"""``equilibrium``: files, reports, targets, checkpoints, and what is refused."""

from __future__ import annotations

import re
import signal

import numpy as np
import pytest

from punish_fast.cli.frame import report as reporting
from punish_fast.cli.strategies.equilibrium import status_line
from punish_fast.duel.graph import Graph
from punish_fast.equilibrium.run import IterationStatus
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.store.checkpoints import load_checkpoint, save_checkpoint
from punish_fast.store.reader import load
from punish_fast.store.responses import response_of

RULES = true_rules(PRESETS["tiny"])
TINY = ("--rules", "tiny", "--quiet")


@pytest.mark.parametrize(
    ("name", "output", "share"), [("view", "tiny-equilibrium.h5", 0.9), ("memory", "tiny-equilibrium-memory.h5", 0.8)]
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
    assert (report["iterations"], report["best_response_share"], report["information"]) == (12, share, name)
    assert report["output"] == output
    assert report["full_states"] == equilibrium.graph.n_full
    assert report["exploiter_wins"] == pytest.approx(0.5 + report["exploitability"] / 100)
    assert 0 < report["exploitability"] < 5
    assert load(folder / output).origin["iterations"] == 12


def test_results_are_printed(run):
    done = run("equilibrium", "--rules", "tiny", "--iterations", "3")
    assert done.code == 0
    assert re.search("^output +tiny-equilibrium.h5$", done.out, re.MULTILINE)
    assert "information states" in done.err


def test_a_target_is_reached_or_reported_as_missed(run, folder):
    assert run("equilibrium", *TINY, "--target", "0.3", "--json").report["exploitability"] <= 0.3
    done = run("equilibrium", *TINY, "--target", "0.0001", "--iterations", "30", "-o", "b.h5")
    done.failed_with("the target of 0.0001 points was not reached", "after 30 iterations")
    assert done.code == 1
    assert (folder / "b.h5").exists()


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


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["--information", "everything"], ["everything", "view"]),
        (["--iterations", "0"], ["--iterations is 0, allowed is more than 0"]),
        (["--iterations", "10001"], ["allowed are up to 10000"]),
        (["--target", "-1"], ["--target is -1"]),
        (["--target", "nan"], ["--target is nan"]),
        (["--time", "0"], ["--time is 0"]),
        (["-o", "nowhere/a.h5"], ["nowhere"]),
        (["-o", "a.h5", "--resume", "a.h5"], ["would be written twice"]),
    ],
)
def test_wrong_input_is_refused(run, folder, arguments, texts):
    run("equilibrium", *TINY, *arguments).refused(*texts)
    assert not list(folder.iterdir())


def test_a_file_of_rules_is_not_replaced(run, folder):
    (folder / "my.toml").write_text("hp = 2\n")
    for option in ("-o", "--resume"):
        run("equilibrium", "--rules", "my.toml", option, "my.toml").refused("my.toml: is the file to read")
    assert (folder / "my.toml").read_text() == "hp = 2\n"


def test_its_files_are_shown(run):
    run("equilibrium", *TINY, "--iterations", "2", "--information", "memory", "--resume", "run.h5", "-o", "a.h5")
    assert "information memory\niterations 2\n" in run("show", "run.h5").out
    assert (
        "information memory\norigin: kind equilibrium, iterations 2, best response share 0.8, exp"
        in run("show", "a.h5").out
    )
    assert run("show", "a.h5", "--json").report["origin"]["iterations"] == 2
    assert run("show", "run.h5", "--json").report["iterations"] == 2
    run("arena", "run.h5", "random", "-q").refused("is a checkpoint of an equilibrium")
    report = run("enemy", "show", "a.h5", "--json").report
    assert report["information"] == "memory"
    assert report["covered"] == report["states"] == sum(StateSpace(RULES, "memory").states_by_breath)
    assert 0 < report["entropy"] < report["uniform_entropy"]
    assert "all" in run("enemy", "show", "a.h5").out
    run("solve", "--enemy", "a.h5", *TINY).refused("a.h5: information model memory, allowed here is view")


def test_only_its_own_checkpoint_is_taken(run):
    run("equilibrium", *TINY, "--iterations", "1", "--resume", "run.h5")
    for arguments, text in (
        (["--resume", "tiny-equilibrium.h5", "-o", "b.h5"], "takes a checkpoint of an equilibrium"),
        (["--resume", "run.h5", "--information", "memory"], "of the information model 'view'"),
    ):
        run("equilibrium", *TINY, *arguments).refused(text)
    run("equilibrium", "--rules", "tabletop", "-q", "--resume", "run.h5").refused("made for rules")


def test_a_checkpoint_that_cannot_be_is_refused(run, folder):
    run("equilibrium", *TINY, "--iterations", "1", "--resume", "run.h5", "-o", "x.h5")
    space = StateSpace(RULES)
    kept = load_checkpoint(load(folder / "run.h5"), Equilibrium(Graph(space), share=0.9).tables)
    kept.tables["marked_full"][0] = 0
    save_checkpoint(folder / "run.h5", space, kept)
    run("equilibrium", *TINY, "--resume", "run.h5").refused(
        "run.h5: /equilibrium", "a marked entry needs one that is not marked"
    )


@pytest.fixture
def interrupted_third(monkeypatch):
    """An interrupt in the third iteration."""
    iterate, made = Equilibrium.iterate, []

    def interrupted(equilibrium):
        made.append(1)
        if len(made) == 3:
            signal.raise_signal(signal.SIGINT)
        iterate(equilibrium)

    monkeypatch.setattr(Equilibrium, "iterate", interrupted)


@pytest.mark.usefixtures("interrupted_third")
def test_an_interrupt_says_what_is_lost(run, folder):
    done = run("equilibrium", *TINY, "--iterations", "8")
    assert done.code == 130
    assert done.err.startswith("the iterations made are not saved; --resume FILE would save them\ninterrupted")
    assert not list(folder.iterdir())


@pytest.mark.usefixtures("interrupted_third")
def test_an_interrupt_saves_a_checkpoint(run, folder):
    goal = ("equilibrium", *TINY, "--iterations", "8", "--resume", "run.h5", "-o", "a.h5")
    done = run(*goal)
    assert done.code == 130
    assert done.err.startswith("run.h5 has the iterations made; the same command resumes from it")
    # The iteration in which it came was made to its end.
    assert load(folder / "run.h5").attributes["iterations"] == 3
    run(*goal)
    run("equilibrium", *TINY, "--iterations", "8", "-o", "b.h5")
    one, other = (load(folder / name).policy(StateSpace(RULES)) for name in ("a.h5", "b.h5"))
    assert np.array_equal(one, other)


def test_players_with_a_memory_meet_all_others(run):
    run("equilibrium", *TINY, "--information", "memory", "--iterations", "40")
    run("equilibrium", *TINY, "--iterations", "40")
    report = run("arena", "tiny-equilibrium-memory.h5", "tiny-equilibrium.h5", "random", *TINY, "--json").report
    assert report["win"][0][2] > 0.6
    assert report["win"][0][1] == pytest.approx(0.5, abs=0.02)
    players = ("tiny-equilibrium-memory.h5", "random", *TINY)
    run("arena", *players, "--games", "10", "--record", "a.db").refused("--record stores games of the view only")
    games = run(
        "arena", "tiny-equilibrium-memory.h5", "random", *TINY, "--games", "20000", "--seed", "1", "--json"
    ).report
    assert games["win"][0][1] == pytest.approx(report["win"][0][2], abs=0.02)


@pytest.mark.slow
def test_better_informed_exploiters_win_no_less(run):
    run("equilibrium", *TINY, "--iterations", "40")
    report = run("exploit", "tiny-equilibrium.h5", "-q", "--json", "--upper-bound").report
    wins, error = report["exploiters"], report["bayes_standard_error"]
    assert wins["uniform"] <= wins["true"] + 1e-9
    assert 0.5 < wins["true"] <= wins["memory"] + 1e-9
    assert wins["true"] - 4 * error <= wins["bayes"] <= report["upper_bound"] + 4 * error
    assert wins["memory"] <= report["upper_bound"] + 1e-4
    assert (report["seed"], report["games"]) == (0, 20_000)
    run("equilibrium", *TINY, "--information", "memory", "--iterations", "40")
    wins = run("exploit", "tiny-equilibrium-memory.h5", "-q", "--json").report["exploiters"]
    assert wins["uniform"] is None
    assert wins["true"] == wins["memory"] > 0.5
    only = run("exploit", "tiny-equilibrium.h5", "-q", "--json", "--exploiter", "true").report["exploiters"]
    assert set(only) == {"true"}
    run("exploit", "tiny-equilibrium-memory.h5", "-q", "--exploiter", "uniform").refused(
        "policy of the information model 'memory'"
    )
    told = run("exploit", "tiny-equilibrium.h5", "-q", "--exploiter", "bayes", "--upper-bound").out
    assert "upper bound" in told
    assert "bayes standard error" in told
    run("exploit", "tiny-equilibrium.h5", "-q", "--exploiter", "luck").refused("--exploiter is 'luck'", "uniform, true")


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (IterationStatus(13, 80, 2.14, 141.2, None), "iteration 13 of 80, 2.1 s each, 2:21 left"),
        (IterationStatus(1300, None, 0.0123, None, 0.61), "iteration 1,300, 0.012 s each, exploitability 0.610"),
        (IterationStatus(5, None, 1.0, 59.6, None), "iteration 5, 1.0 s each, 1:00 left"),
    ],
)
def test_progress_says_how_far_it_is(status, line):
    assert status_line(status) == f"equilibrium: {line}"


def test_every_stage_is_told_on_stderr(run, folder, monkeypatch):  # noqa: ARG001
    monkeypatch.setattr(reporting, "_SECONDS_BETWEEN_LINES", 0.0)
    err = run("equilibrium", "--rules", "tiny", "--iterations", "2", "-o", "x.h5", "--json").err
    stages = [
        line for line in err.splitlines() if line.startswith(("game: ", "equilibrium")) and not line.endswith(" s")
    ]
    beginnings = (
        "game: information",
        "game: graph (2",
        "equilibrium",
        "equilibrium: iteration 1",
        "equilibrium: iteration 2",
    )
    assert len(stages) == len(beginnings) + 1, err
    assert all(line.startswith(each) for line, each in zip(stages, beginnings, strict=False)), err
    assert stages[-1] == "equilibrium: writing"


@pytest.mark.parametrize("information", ["view", "memory"])
def test_exploit_finds_no_less_than_the_run_reported(run, folder, information):
    arguments = ("--rules", "tiny", "--information", information, "--iterations", "6", "-o", "x.h5", "-q", "--json")
    told = run("equilibrium", *arguments).report["exploiter_wins"]
    found = run("exploit", "x.h5", "--exploiter", "true", "-q", "--json").report
    # Strategies of a finer model are rounded.
    assert found["exploiters"]["true"] > told - (1e-9 if information == "view" else 1e-3)
    stored = load(folder / "x.h5")
    assert response_of(stored, StateSpace(stored.rules, information)) is not None

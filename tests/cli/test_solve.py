from __future__ import annotations

import json
import re

import h5py
import numpy as np
import pytest

from punish_fast.cli.frame import progress as reporting
from punish_fast.cli.frame.report import clear_progress
from punish_fast.mdp.arrays.policy import greedy, softmax
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.codes import to_decimal
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions import row_batches
from punish_fast.punish.transitions.tensor import build
from punish_fast.runtime import _jit
from punish_fast.store.reader import load

STAGES = {"states", "tensor", "store", "solve", "openings", "total"}


def contents(path):
    """All datasets of a file, as bytes."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset) and name != "log/seconds":
            found[name] = (item.dtype.str, item.shape, item[...].tobytes())

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_solve_reports_what_it_did(run, folder):
    report = run("solve", "--rules", "tiny", "--json").report
    assert report["states_by_breath"] == [46, 462, 50]
    assert (report["states"], report["rows"], report["nnz"]) == (560, 911, 4111)
    assert report["longest_row"] == 46
    assert report["seconds"].keys() == STAGES
    assert all(seconds >= 0 for seconds in report["seconds"].values())
    assert sum(report["seconds"].values()) <= 2 * report["seconds"]["total"] + 1e-6
    assert report["error_bound"] <= 1e-10
    assert report["converged"] is True
    assert report["threads"] == _jit.threads()
    assert report["output"] == "tiny-naive.h5"
    assert names(folder) == ["tiny-naive.h5"]
    assert report["output_bytes"] == (folder / "tiny-naive.h5").stat().st_size


def test_a_tensor_solved_later_has_the_same_values(run, folder):
    built = run("build", "--rules", "tiny", "--json").report
    assert built["output"] == "tiny-naive-tensor.h5"
    assert built["seconds"].keys() == STAGES
    assert "sweeps" not in built
    assert load(folder / built["output"]).kind == "tensor"
    later = run("solve", built["output"], "-o", "later.h5", "--json").report
    at_once = run("solve", "--rules", "tiny", "-o", "once.h5", "--json").report
    assert later["digest"] == at_once["digest"]
    assert contents(folder / "later.h5") == contents(folder / "once.h5")
    assert later["states_by_breath"] == at_once["states_by_breath"]


def test_the_tensor_can_be_left_out(run, folder):
    small = run("solve", "--rules", "tiny", "--no-tensor", "-o", "small.h5", "--json").report
    whole = run("solve", "--rules", "tiny", "-o", "whole.h5", "--json").report
    assert small["digest"] == whole["digest"]
    assert small["output_bytes"] < whole["output_bytes"]
    left_out = {"transitions/indptr", "transitions/indices", "transitions/data"}
    assert contents(folder / "whole.h5").keys() - contents(folder / "small.h5").keys() == left_out
    run("solve", "small.h5", "-o", "x.h5").refused("small.h5", "/transitions/indptr: missing")


HOUSE, WINNING = ("--rules", "house.toml"), ("--objective", "reach-probability")


@pytest.fixture
def modes(run, folder, monkeypatch):
    """The bytes of each mode under some rules, with batches that are smaller than a tensor."""
    (folder / "house.toml").write_text(
        "copies = [2, 2, 1, 2, 1]\nhand_size = 2\nreveal_size = 1\nhp = 3\nbreaths = 2\n"
    )
    monkeypatch.setattr(row_batches, "_BATCH", 100)
    report = run("solve", *HOUSE, "--dry-run", "--json").report
    sizes = {mode["mode"]: mode["bytes"] for mode in report["modes"]}
    assert sizes["matrix-free"] < sizes["compact"] < sizes["tensor"]
    return sizes


def test_any_memory_gives_the_same_file(run, folder, modes):
    options = ("solve", *HOUSE, "--no-tensor", "--json", "--memory-limit")
    reports = [run(*options, f"{modes[name]}B", "-o", f"{name}.h5").report for name in ("compact", "matrix-free")]
    assert [report["mode"] for report in reports] == ["compact", "matrix-free"]
    for name in ("digest", "nnz", "longest_row", "sweeps", "error_bound", "residual"):
        assert reports[0][name] == reports[1][name], name
    assert contents(folder / "compact.h5") == contents(folder / "matrix-free.h5")
    least = ("--no-tensor", "--memory-limit", f"{modes['matrix-free']}B")
    assert run("solve", *HOUSE, *least, "-o", "least.h5", "--json").report["mode"] == "matrix-free"
    against = ("solve", *HOUSE, "--enemy", "compact.h5@2", "--no-tensor", "-o", "against.h5", "--json")
    run(*against, *least).failed_with("matrix-free would take")
    much, counted = run(*against).report, run(*against, "--dry-run").report
    little = run(*against, "--memory-limit", f"{counted['modes'][2]['bytes']}B").report
    assert (little["mode"], much["mode"]) == ("matrix-free", "compact")
    assert (little["digest"], little["nnz"]) == (much["digest"], much["nnz"])


def test_what_does_not_fit_is_refused_with_what_would(run, folder, modes):
    done = run("solve", *HOUSE, "--memory-limit", f"{modes['matrix-free']}B", "-o", "x.h5")
    done.failed_with("tensor would take", "solve --no-tensor (matrix-free) would take")
    little = f"{modes['matrix-free'] - 1}B"
    run("build", *HOUSE, "--memory-limit", little, "-o", "x.h5").failed_with("tensor would take", "the limit is ")
    run("solve", *HOUSE, "--no-tensor", "--memory-limit", little, "-o", "x.h5").failed_with("matrix-free would take")
    run("build", *HOUSE, "--memory-limit", "1kB", "-o", "x.h5").failed_with("states, but there is room for 13")
    run("solve", "--memory-limit", "much", "-o", "x.h5").refused(
        "--memory-limit: 'much' is not a size, such as 4GB or 800MB"
    )
    run("solve", "--memory-limit", "4", "-o", "x.h5").refused("--memory-limit: '4' is not a size", "; write 4GB")
    assert names(folder) == ["house.toml"]


def test_a_dry_run_counts_and_writes_nothing(run, folder, modes):
    made = run("solve", *HOUSE, "--json", "-o", "x.h5").report
    (folder / "x.h5").unlink()
    report = run("solve", *HOUSE, "--dry-run", "--json").report
    for name in ("rules", "enemy", "states_by_breath", "states", "rows", "nnz", "longest_row", "threads"):
        assert report[name] == made[name], name
    assert [mode["mode"] for mode in report["modes"]] == ["tensor", "compact", "matrix-free"]
    assert all(mode["fits"] and mode["seconds"] > 0 for mode in report["modes"])
    least = run("solve", *HOUSE, "--dry-run", "--memory-limit", f"{modes['matrix-free']}B", "--json").report
    assert [mode["fits"] for mode in least["modes"]] == [False, False, True]
    told = ("--dry-run", "--sweeps", "3", "--memory-limit", f"{modes['matrix-free']}B")
    # The suggested command repeats the options. Without a tensor, it has enough memory.
    then = f"punish-fast solve --rules house.toml {' '.join(told[3:])} --sweeps 3 --no-tensor"
    assert run("solve", *HOUSE, *told).then == run("solve", *HOUSE, "--no-tensor", *told).then == then
    assert run(*then.split()[1:], "-o", "x.h5").code == 0
    (folder / "x.h5").unlink()
    assert not run("solve", *HOUSE, "--dry-run", "--memory-limit", "1B").then
    far = ("--cluster", "tcp://host:8786")
    then = f"punish-fast solve --rules house.toml {' '.join(far)} --no-tensor"
    assert run("solve", *HOUSE, "--dry-run", *far, "--memory-limit", "1GB").then == then
    against = run("solve", *HOUSE, "--dry-run", "--memory-limit", "1B", "--enemy", "careful", "--json").report
    assert against["nnz"] == made["nnz"]
    assert names(folder) == ["house.toml"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--discount", "0.5"], {"discount": 0.5}),
        (["--discount", "1"], {"discount": 1.0, "objective": "discounted"}),
        (["--objective", "reach-probability"], {"discount": 1.0, "objective": "reach-probability", "converged": True}),
        (["--method", "jacobi"], {"method": "jacobi", "converged": True}),
        (["--method", "jacobi", "--sweeps", "7"], {"sweeps": 7, "method": "jacobi"}),
        (["--tolerance", "0.01"], {"tolerance": 0.01, "converged": True}),
    ],
)
def test_options_of_the_solver_arrive(run, files, options, expected):
    report = run("solve", "tensor.h5", *options, "-o", "x.h5", "--json").report
    assert {name: report[name] for name in expected} == expected
    solution = load(files / "x.h5").solution()
    for name in expected:
        assert getattr(solution, name) == expected[name]
    assert len(solution.log.seconds) == report["sweeps"]


@pytest.mark.usefixtures("files")
def test_an_agent_for_the_real_game_maximizes_wins_by_default(run):
    for tensor, options, objective, discount in (
        ("tensor.h5", [], "discounted", 0.95),
        ("other-tensor.h5", [], "reach-probability", 1.0),
        ("other-tensor.h5", ["--objective", "discounted"], "discounted", 0.95),
        ("other-tensor.h5", ["--discount", "0.9"], "discounted", 0.9),
        ("other-tensor.h5", ["--method", "jacobi", "--sweeps", "2"], "discounted", 0.95),
    ):
        report = run("solve", tensor, *options, "-o", "x.h5", "--json").report
        assert (report["objective"], report["discount"]) == (objective, discount)
        assert report["loss_value"] == (0 if objective == "reach-probability" else -report["win_value"])
        assert ("lower" in report) == (objective == "reach-probability")
        assert report["worst_opening"] <= report["win_probability"] <= report["best_opening"]
        if objective == "reach-probability":
            assert report["lower"] <= report["win_probability"] <= report["upper"]
            assert report["upper"] - report["lower"] == pytest.approx(2 * report["error_bound"], rel=1e-3)
            assert report["error_bound"] == load("x.h5").solution().error_bound <= 1e-10


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("start", "objective"), [("agent.h5", "reach-probability"), ("chances.h5", "discounted")])
def test_start_values_are_brought_to_the_scale_of_the_objective(run, start, objective):
    run("solve", "tensor.h5", "--objective", "reach-probability", "-o", "chances.h5")
    cold = run("solve", "tensor.h5", "--objective", objective, "-o", "cold.h5", "--json").report
    warm = run("solve", "tensor.h5", "--objective", objective, "--from", start, "-o", "x.h5", "--json").report
    one, other = load("cold.h5").solution(), load("x.h5").solution()
    assert np.abs(one.v - other.v).max() <= one.error_bound + other.error_bound
    assert warm["sweeps"] <= cold["sweeps"]


def test_a_tolerance_out_of_reach_keeps_the_best_and_says_so(run, files):
    done = run("solve", "tensor.h5", "--tolerance", "1e-300", "-o", "x.h5", "--json")
    assert done.code == 1
    done.failed_with("rounding allows no lower one", "x.h5 contains the best values found")
    report = json.loads(done.out)
    assert f"accept it with --tolerance {2 * report['error_bound']:.0e}\n" in done.err
    assert report["converged"] is False
    assert load(files / "x.h5").solution().digest == report["digest"]


def test_states_that_no_play_reaches_are_told(run, folder):
    text = "copies = [2, 1, 0, 0, 1]\nhand_size = 1\nreveal_size = 0\nhp = 2\nbreaths = 3\nfeints = 0\nhealing = 0\n"
    (folder / "few.toml").write_text(text)
    assert run("solve", "--rules", "few.toml", "-o", "few.h5", "--json").report["reachable"] == 11
    report = run("show", "few.h5", "--json").report
    assert (report["reachable"], report["states"]) == (11, 38)
    code = to_decimal(StateSpace(load("few.h5").rules).state(0))
    assert "feint" not in run("show", "few.h5", str(code)).out
    run("solve", "few.h5", "--no-tensor", "-o", "agent.h5")
    assert run("show", "agent.h5", "--json").report["reachable"] is None


def test_a_discount_very_near_1_is_solved_to_the_limit_of_rounding(run, files):
    done = run("solve", "--rules", "tiny", "--discount", "0.9999999999999", "-o", "x.h5", "--json")
    assert done.code == 0
    assert "above the tolerance 1e-10" in done.err
    solution = load(files / "x.h5").solution()
    assert solution.error_bound == json.loads(done.out)["error_bound"]
    assert solution.error_bound <= 1e-9 * np.abs(solution.v).max()


@pytest.mark.parametrize("temperature", [None, 0.5])
def test_an_agent_as_enemy_plays_its_policy(run, files, temperature):
    name = "agent.h5" if temperature is None else f"agent.h5@{temperature}"
    report = run("solve", "--rules", "tiny", "--enemy", name, "-o", "x.h5", "--quiet", "--json").report
    space = StateSpace(PRESETS["tiny"])
    q = load(files / "agent.h5").solution().q
    weight = softmax(space.state_ptr, q, temperature) if temperature else greedy(space.state_ptr, q)
    mdp = build(space, weight)
    assert report["nnz"] == mdp.nnz
    assert report["digest"] == solve(mdp).digest
    arguments = ["--rules", "tiny", "--enemy", name, "-o", "y.h5", "--no-tensor", "--quiet", "--json"]
    without = run("solve", *arguments).report
    assert (without["nnz"], without["longest_row"]) == (mdp.nnz, mdp.longest_row)
    assert np.abs(load(files / "y.h5").solution().v - solve(mdp).v).max() <= 2e-10
    enemy = load(files / "x.h5").enemy
    assert enemy["kind"] == "agent"
    assert enemy["file"] == "agent.h5"
    assert enemy["digest"] == load(files / "agent.h5").solution().digest
    assert enemy.get("temperature") == temperature
    against = ("solve", "--rules", "tiny", "--enemy", "strategy.h5", "-o", "x.h5", "--quiet", "--json")
    policy = load(files / "strategy.h5").policy(space)
    assert run(*against).report["digest"] == solve(build(space, policy)).digest
    assert load(files / "x.h5").enemy == {"kind": "strategy", "file": "strategy.h5"}


def test_results_go_to_stdout_and_progress_to_stderr(run, monkeypatch):
    monkeypatch.setattr(reporting, "_SECONDS_BETWEEN_LINES", 0.0)
    done = run("solve", "--rules", "tiny", "--json")
    assert done.code == 0
    json.loads(done.out)
    assert "states (558 so far), breaths: 3 of 3" in done.err
    assert "tensor: 3 of 3" in done.err
    assert re.search(r"solve: sweep 9, error bound", done.err)
    quiet = run("solve", "--rules", "tiny", "--json", "--quiet")
    assert quiet.report["rules"] == "tiny"


def test_progress_on_a_terminal_is_one_line_that_vanishes(monkeypatch, capsys):
    monkeypatch.setattr(reporting.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(reporting, "_SECONDS_BETWEEN_UPDATES", 0.0)
    progress = reporting.Progress()
    progress.step("states", 1, 2)
    progress.step("states", 2, 2)
    progress.sweep("solve", 3, 1e-5)
    clear_progress()
    clear_progress()
    err = capsys.readouterr().err
    assert "\n" not in err
    assert "states: 1 of 2" in err
    assert err.endswith(" \r")
    assert err.rsplit("\r", 2)[1].strip() == ""
    # What is said takes the place of progress.
    progress.step("states", 1, 2)
    reporting.say("interrupted")
    reporting.say("again")
    line, blank, said = capsys.readouterr().err.lstrip("\r").split("\r")
    assert line.startswith("states: 1 of 2")
    assert (blank.strip(), len(blank)) == ("", len(line))
    assert said == "interrupted\nagain\n"


@pytest.mark.usefixtures("folder")
def test_solve_ends_with_the_win_probability_and_the_next_command(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    chances, discounted = (run("solve", "--rules", "tiny", *more, "-o", "a b.h5") for more in (WINNING, ()))
    ending = chances.out.split("\n\n")[-1]
    assert ending == discounted.out.split("\n\n")[-1]
    assert ending.startswith(
        "a b.h5 wins 72.9% of games against random in the one-player model (`arena` plays the two-player game): 100.0% "
        "with the best opening (2 strike; revealed"
    )
    assert chances.then == "punish-fast play 'a b.h5'"


@pytest.mark.usefixtures("folder")
def test_solve_prints_six_lines_and_all_fields_on_request(run):
    short = run("solve", "--rules", "tiny", "--no-tensor").out.split("\n\n")[0].splitlines()
    assert [line.split("  ")[0] for line in short] == ["rules", "enemy", "states", "seconds", "output", "error bound"]
    assert "states by breath" in run("solve", "--rules", "tiny", "--no-tensor", "--verbose").out

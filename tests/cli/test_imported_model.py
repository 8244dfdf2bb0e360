"""``solve MODEL.umb``: objectives in models of other programs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from store.formats.test_umb_import import archive, numbers, small_model

from punish_fast.mdp.conversion.objective_text import NamedProcess
from punish_fast.mdp.model.results import rows_of
from punish_fast.mdp.model.solution import BoundedValues


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return archive(tmp_path / "model.umb", *small_model())


@pytest.mark.usefixtures("model")
def test_values_of_initial_states_are_printed_with_their_bound(run):
    done = run("solve", "model.umb", "--objective", 'min R{"cost"}', "--discount", "0.5")
    assert (done.code, done.err) == (0, "")
    # To go pays 33.25 at once and then 4 for ever, to wait pays 15.5 and then 34 or more.
    assert ["0", "37.25", "go"] in [line.split() for line in done.out.splitlines()]
    assert done.out.endswith("Values of the initial states: 37.25, with an error of at most 2.7e-13.\n")
    done = run("solve", "model.umb", "--objective", 'min R{"cost"}', "--discount", "0.5", "--verbose")
    assert re.search("^method +direct policy iteration", done.out, re.MULTILINE)


@pytest.mark.usefixtures("model")
def test_the_report_has_all_of_it(run):
    report = run("solve", "model.umb", "--objective", 'max P [!"init" U "the goal"]', "--json").report
    assert report["initial"] == [{"state": 0, "value": 0.0, "action": "wait"}]
    assert (report["states"], report["rows"], report["nnz"]) == (3, 4, 5)
    assert (report["labels"], report["rewards"]) == ({"init": 1, "the goal": 1}, ["cost"])
    assert (report["objective"], report["discount"]) == ('max P [!"init" U "the goal"]', None)
    assert report["converged"]
    assert set(report["seconds"]) == {"read", "solve", "total"}


def test_a_model_in_another_format_is_refused_with_the_way_to_solve_it(run, folder):
    (folder / "model.prism").write_text("mdp\n", encoding="utf-8")
    run("solve", "model.prism").failed_with("not a file of punish-fast; export the model as .umb")
    (folder / "model.npz").write_bytes(b"PK")
    told = "model.npz: not a file of punish-fast; commands read .h5 files, and solve also reads .umb files"
    run("solve", "model.npz").failed_with(told)


@pytest.mark.usefixtures("model")
def test_infinite_values_have_their_sign(run):
    never = ("solve", "model.umb", "--objective", 'max R{"cost"} [F !true]')
    assert run(*never, "--json").report["initial"][0]["value"] == "inf"
    assert ["0", "inf"] in [line.split()[:2] for line in run(*never).out.splitlines()]


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("tolerance", "relative_bound", "code", "said"),
    [
        (None, 9e-10, 0, "above the tolerance 1e-10"),
        (None, 1.1e-9, 1, "rounding allows no lower one; values.npz contains the best values found; accept it with"),
        (None, np.inf, 1, "the error bound inf is"),
        ("1e-9", 9e-10, 1, "rounding allows no lower one; values.npz contains the best values found; accept it with"),
        ("7e-8", 9e-10, 0, ""),
    ],
)
def test_an_error_bound_above_the_tolerance_fails(run, monkeypatch, tolerance, relative_bound, code, said):
    def proved(process, *_options):
        v = np.array([-37.25, 34.0, np.inf])
        return BoundedValues(v, v, v, 37.25 * relative_bound, process.mdp.state_ptr[:-1], rows_of(process.mdp))

    monkeypatch.setattr(NamedProcess, "solve", proved)
    if tolerance is not None:
        monkeypatch.setenv("PUNISH_FAST_TOLERANCE", tolerance)
    done = run("solve", "model.umb", "--objective", "max R", "-o", "values.npz")
    assert done.code == code
    assert said in done.err
    assert len(done.err.splitlines()) == bool(said)
    assert Path("values.npz").exists()


def test_values_and_choices_are_written(run, model):
    done = run("solve", model, "--objective", 'max P [F "the goal"]', "-o", "values.npz")
    assert done.code == 0
    with np.load("values.npz") as file:
        assert file["v"] == pytest.approx(1, abs=1e-9)
        assert file["choice"].shape == (3,)
        names = file["action_names"]
        assert {str(names[k]) for k in file["action"]} <= {"go", "wait"}
        assert file["initial"].tolist() == [0]
        assert float(file["error_bound"]) <= 1e-10
        assert str(file["objective"]) == 'max P [F "the goal"]'


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], '--objective is missing, such as \'max P [F "goal"]\'; labels "init", "the goal"; rewards "cost"'),
        (["--objective", "max Q"], "--objective: 'max Q' is not understood"),
        (["--objective", 'max P [F "x"]'], 'label "x" is not in the model, which has "init", "the goal"'),
        (["--objective", "max R", "--rules", "tiny"], "--rules: does not apply to models of other programs"),
        (["--objective", "max R", "--from", "x.h5"], "--from: does not apply to models of other programs"),
        (
            ["--objective", "max R", "--discount", "1"],
            "--discount: 1 is allowed only if play ends, or continues without rewards or at",
        ),
        (
            ["--objective", "max P [F true]", "--discount", "0.5"],
            "--discount: 0.5 is allowed only for rewards without a goal",
        ),
    ],
)
def test_wrong_options_are_refused(run, options, said):
    run("solve", "model.umb", *options).refused(said)


def test_rows_of_other_sums_are_refused_or_normalized(run, model):
    index, files = small_model()
    third = float(np.float32(1 / 3))
    files["branch-to-probability.bin"] = numbers([third, 2 * third, 1.0, third, 2 * third], "<f8")
    archive(model, index, files)
    command = ("solve", "model.umb", "--objective", 'min P [F "the goal"]')
    done = run(*command)
    done.refused("is not a Markov decision process: transitions: the probabilities of action 'wait' of state 0 add up")
    assert "the option normalize divides them by their sum" in done.err
    assert run(*command, "--normalize", "--json").report["initial"][0]["value"] == 1.0
    run("solve", "--normalize").refused("--normalize applies only to .umb files")

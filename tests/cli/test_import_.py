"""``export --to notebook-json`` and ``import``: agents and strategies go to the original game and come back."""

from __future__ import annotations

import json

import pytest

from punish_fast.punish.rules import PRESETS
from punish_fast.store.reader import load

TINY = ("--rules", "tiny")
KNOWN = "101010200220000001"


@pytest.mark.usefixtures("files")
def test_an_agent_goes_and_comes_back(run):
    there = run("export", "agent.h5", "--to", "notebook-json", "--json").report
    assert (there["kind"], there["output"], there["states"], there["rows"]) == ("agent", "agent.json", 560, 911)
    back = run("import", "agent.json", *TINY, "-o", "back.h5", "--json").report
    assert (back["kind"], back["values"]) == ("agent", 911)
    assert back["terminals"] == list(load("agent.h5").terminal_values) == pytest.approx([20, -20], rel=1e-15)
    assert (back["discount"], back["rules_digest"]) == (0.95, PRESETS["tiny"].digest)
    first, second = (load(name).solution() for name in ("agent.h5", "back.h5"))
    assert first.q.tobytes() == second.q.tobytes()
    assert first.fingerprint == second.fingerprint


@pytest.mark.usefixtures("files")
def test_a_strategy_goes_and_comes_back(run):
    there = run("export", "strategy.h5", "--to", "notebook-json", "-o", "s.json", "--json").report
    assert (there["kind"], there["states"]) == ("strategy", 558)
    back = run("import", "s.json", *TINY, "--json").report
    assert (back["kind"], back["states"], back["output"]) == ("strategy", 558, "s.h5")
    first, second = (load(name).strategy() for name in ("strategy.h5", "s.h5"))
    assert [array.tobytes() for array in first] == [array.tobytes() for array in second]


@pytest.mark.usefixtures("files")
def test_an_agent_without_its_tensor_goes_too(run):
    assert run("solve", *TINY, "--no-tensor", "-o", "x.h5").code == 0
    assert run("export", "x.h5", "--to", "notebook-json").code == 0
    assert run("import", "x.json", *TINY, "-o", "y.h5").code == 0
    # What came back is shown, plays, and starts a solver.
    report = run("show", "y.h5", "--json").report
    assert (report["schedule"], report["error_bound"], report["residual"]) == ("imported", None, None)
    assert run("show", "y.h5").code == 0
    assert run("show", "y.h5", KNOWN, "--json").report["value"] == run("show", "x.h5", KNOWN, "--json").report["value"]
    assert run("solve", *TINY, "--enemy", "y.h5", "-o", "z.h5").code == 0
    assert run("solve", *TINY, "--from", "y.h5", "-o", "z.h5").code == 0
    assert run("compare", "x.h5", "y.h5", "--json").report["agents"][1]["error_bound"] is None


@pytest.mark.usefixtures("files")
def test_a_tensor_has_nothing_for_the_notebook(run):
    run("export", "tensor.h5", "--to", "notebook-json").refused("tensor.h5: kind: a tensor has no solution")


@pytest.mark.parametrize(
    ("content", "options", "texts"),
    [
        ({KNOWN: {"20": 0.5}}, [], [f"x.json: strategy: state {KNOWN} has probabilities that add up to 0.5"]),
        ({KNOWN: {"20": 1.0}}, ["--discount", "2"], ["discount: 2.0 is not allowed"]),
        ({KNOWN: {"20": 1.0}}, ["-o", "x.json"], ["x.json: is the file to import"]),
        ({"101010200220000002": {"20": 1.0}}, [], ["state 101010200220000002: no game under these rules reaches it"]),
        ([], [], ["x.json: must be one object of states"]),
    ],
)
def test_what_cannot_be_imported_is_refused(run, folder, content, options, texts):
    (folder / "x.json").write_text(json.dumps(content))
    run("import", "x.json", *TINY, *options).refused(*texts)
    assert [path.name for path in folder.iterdir()] == ["x.json"]

from __future__ import annotations

import csv
import json
import re
import time

import pytest

from punish_fast.punish.codes import FIELDS
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.store.formats import umb
from punish_fast.store.reader import load

TINY = ("--rules", "tiny")
KNOWN = "101010200220000001"


@pytest.mark.parametrize("target", ["umb", "npz"])
@pytest.mark.parametrize("kind", ["tensor", "agent"])
def test_a_file_is_exported_beside_itself(run, files, kind, target):
    report = run("export", f"{kind}.h5", "--to", target, "--json").report
    mdp = load(files / f"{kind}.h5").mdp()
    assert report["output"] == f"{kind}.{target}"
    assert report["output_bytes"] == (files / f"{kind}.{target}").stat().st_size
    assert (report["file"], report["format"]) == (f"{kind}.h5", target)
    assert (report["states"], report["rows"], report["nnz"]) == (mdp.n_columns, mdp.n_rows, mdp.nnz)
    assert (report["rules"], report["enemy"]) == ("tiny", {"kind": "built-in", "name": "random"})
    assert set(report["seconds"]) == {"read", "write", "total"}
    assert not list(files.glob(".*"))


def test_the_umb_file_is_that_of_the_library(run, files, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 1.5)
    file = load(files / "agent.h5")
    umb.export_punish_umb("library.umb", file, file.mdp(), file.enemy)
    assert run("export", "agent.h5", "--to", "umb").code == 0
    assert (files / "agent.umb").read_bytes() == (files / "library.umb").read_bytes()


@pytest.mark.usefixtures("files")
def test_what_the_values_are_is_told(run):
    run("solve", "tensor.h5", "--objective", "reach-probability", "-o", "win.h5")
    expected = {
        ("agent.h5", "notebook-json"): "rewards at discount 0.95",
        ("win.h5", "notebook-json"): "win probability minus loss probability, from -1 to 1",
        ("win.h5", "umb"): None,
    }
    for (name, target), values in expected.items():
        output = "x.umb" if target == "umb" else "x.json"
        assert run("export", name, "--to", target, "-o", output, "--json").report["values"] == values
    run("export", "win.h5", "--to", "umb", "-o", "x.npz").refused("x.npz: the name of this file must end in .umb")


def test_a_table_has_a_row_for_each_action(run, files):
    report = run("export", "agent.h5", "--to", "csv", "--json").report
    file = load(files / "agent.h5")
    space = StateSpace(PRESETS["tiny"])
    with (files / "agent.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert (report["rows"], report["values"]) == (len(rows), "discounted, discount 0.95")
    assert [float(row["value"]) for row in rows] == file.solution().q.tolist()
    assert [float(row["probability"]) for row in rows] == file.policy(space).tolist()
    assert [row["state"] for row in rows][: space.state_ptr[1]] == ["100011200220000010"] * 4
    assert [row["action"] for row in rows][:2] == ["strike", "feint with strike"]
    assert ["".join(row[name] for name in FIELDS) for row in rows] == [row["state"] for row in rows]
    assert re.search("^states +558$", run("export", "agent.h5", "--to", "csv", "-o", "x.csv").out, re.MULTILINE)
    assert run("export", "careful", "--to", "csv", "-o", "careful.csv", "--json").report["values"] is None
    run("export", "tensor.h5", "--to", "csv").refused("tensor.h5 is a tensor, not an agent")


def test_what_cannot_be_exported_is_refused(run, files):
    before = sorted(files.iterdir())
    told = "strategy.h5 is a strategy, not a tensor. Build one first: punish-fast build"
    run("export", "strategy.h5", "--to", "umb").refused(told)
    run("export", "tensor.h5", "--to", "notebook-json").refused("tensor.h5 is a tensor, not an agent. Solve it")
    run("export", "careful", "--to", "umb").refused("careful: is built in and has no tensor")
    assert sorted(files.iterdir()) == before


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
    assert first.digest == second.digest


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
    report = run("show", "y.h5", "--json").report
    assert (report["method"], report["error_bound"], report["residual"]) == ("imported", None, None)
    assert run("show", "y.h5", KNOWN, "--json").report["value"] == run("show", "x.h5", KNOWN, "--json").report["value"]
    assert run("compare", "x.h5", "y.h5", "--json").report["agents"][1]["error_bound"] is None


@pytest.mark.parametrize(
    ("content", "options", "texts"),
    [
        ({KNOWN: {"20": 0.5}}, [], [f"x.json: strategy: state {KNOWN} has probabilities that add up to 0.5"]),
        ({KNOWN: {"20": 1.0}}, ["--discount", "2"], ["discount: 2.0 is not allowed"]),
        ({"101010200220000002": {"20": 1.0}}, [], ["state 101010200220000002: no game under these rules reaches it"]),
        ([], [], ["x.json: must be one object of states"]),
    ],
)
def test_what_cannot_be_imported_is_refused(run, folder, content, options, texts):
    (folder / "x.json").write_text(json.dumps(content))
    run("import", "x.json", *TINY, *options).refused(*texts)
    assert [path.name for path in folder.iterdir()] == ["x.json"]

"""``export``: a file in another format, beside the one it comes from, or one line that says why not."""

from __future__ import annotations

import json
import tarfile

import pytest

from punish_fast.store.formats import umb
from punish_fast.store.reader import load

FORMATS = ("umb", "npz")


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("kind", ["tensor", "agent"])
def test_a_file_is_exported_beside_itself(run, files, kind, target):
    report = run("export", f"{kind}.h5", "--to", target, "--json").report
    mdp = load(files / f"{kind}.h5").mdp()
    assert report["output"] == f"{kind}.{target}"
    assert report["output_bytes"] == (files / f"{kind}.{target}").stat().st_size
    assert (report["file"], report["format"]) == (f"{kind}.h5", target)
    assert (report["states"], report["rows"], report["nonzeros"]) == (mdp.n_columns, mdp.n_rows, mdp.n_entries)
    assert (report["rules"], report["enemy"]) == ("tiny", {"kind": "built-in", "name": "random"})
    assert set(report["seconds"]) == {"read", "write", "total"}
    assert not list(files.glob(".*"))


def test_the_umb_file_is_that_of_the_library(run, files, monkeypatch):
    monkeypatch.setattr(umb.time, "time", lambda: 1.5)
    file = load(files / "agent.h5")
    umb.export_umb("library.umb", file, file.mdp(), file.enemy)
    assert run("export", "agent.h5", "--to", "umb").code == 0
    assert (files / "agent.umb").read_bytes() == (files / "library.umb").read_bytes()
    with tarfile.open("agent.umb") as archive:
        index = json.load(archive.extractfile("index.json"))
    assert index["transition-system"]["#states"] == 560


@pytest.mark.usefixtures("files")
def test_what_the_values_are_is_told(run):
    run("solve", "tensor.h5", "--objective", "win-probability", "-o", "win.h5")
    expected = {
        ("agent.h5", "notebook-json"): "rewards at discount 0.95",
        ("win.h5", "notebook-json"): "win probability minus loss probability, from -1 to 1",
        ("win.h5", "umb"): None,
    }
    for (name, target), values in expected.items():
        assert run("export", name, "--to", target, "-o", "x", "--json").report["values"] == values


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["no.h5", "--to", "umb"], ["no.h5: there is no such file"]),
        (["strategy.h5", "--to", "umb"], ["strategy.h5: kind: a strategy has no tensor"]),
        (["agent.h5", "--to", "umb", "-o", "no/x.umb"], ["there is no folder no"]),
        (["agent.h5", "--to", "npz", "-o", "agent.h5"], ["agent.h5: is the file to export"]),
    ],
)
def test_what_cannot_be_exported_is_refused(run, folder, arguments, texts):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    run("export", *arguments).refused(*texts)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

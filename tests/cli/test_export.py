"""``export``: a file in another format, beside the one it comes from, or one line that says why not."""

from __future__ import annotations

import json
import os
import resource
import tarfile

import numpy as np
import pytest
import scipy.sparse

from cli.conftest import run_apart
from punish_fast.store.formats import umb
from punish_fast.store.reader import load

FORMATS = ("umb", "npz")
OLD = b"the old file\n" * 99


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
def test_the_npz_file_is_read_by_scipy(run):
    assert run("export", "tensor.h5", "--to", "npz", "-o", "x.bin").code == 0
    matrix = scipy.sparse.load_npz("x.bin")
    assert matrix.shape == (911, 560)
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-12


@pytest.mark.parametrize("target", FORMATS)
def test_what_was_done_is_told(run, files, target):
    done = run("export", files / "agent.h5", "--to", target)
    assert (done.code, done.err) == (0, "")
    assert f"output             {files / 'agent'}.{target}\n" in done.out


@pytest.mark.usefixtures("files")
def test_what_the_values_are_is_told(run):
    run("solve", "tensor.h5", "--objective", "win-probability", "-o", "win.h5")
    expected = {
        ("agent.h5", "notebook-json"): "rewards at discount 0.95",
        ("win.h5", "notebook-json"): "probability to win less probability to lose, from -1 to 1",
        ("win.h5", "umb"): None,
    }
    for (name, target), values in expected.items():
        assert run("export", name, "--to", target, "-o", "x", "--json").report["values"] == values


@pytest.mark.parametrize("target", FORMATS)
def test_an_output_that_exists_is_replaced(run, files, target):
    (files / "x").write_bytes(OLD)
    assert run("export", "agent.h5", "--to", target, "-o", "x").code == 0
    assert (files / "x").read_bytes() != OLD


def test_options_come_from_the_environment(run, files, monkeypatch):
    monkeypatch.setenv("PUNISH_FAST_TO", "umb")
    assert run("export", "agent.h5").code == 0
    assert (files / "agent.umb").is_file()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["agent.h5", "--to", "drn"], ["'drn' is not one of 'umb', 'npz', 'notebook-json'"]),
        (["agent.h5", "--to", ""], ["--to"]),
        (["agent.h5"], ["--to"]),
        (["--to", "umb"], ["FILE.h5"]),
        (["no.h5", "--to", "umb"], ["no.h5: there is no such file"]),
        (["no.h5", "--to", "drn"], ["--to"]),
        ([".", "--to", "umb"], ["is a folder"]),
        (["strategy.h5", "--to", "umb"], ["strategy.h5: kind: a strategy is no tensor"]),
        (["agent.h5", "--to", "umb", "-o", "."], ["is a folder"]),
        (["agent.h5", "--to", "umb", "-o", "no/x.umb"], ["there is no folder no"]),
        (["agent.h5", "--to", "npz", "-o", "agent.h5"], ["agent.h5: is the file to export"]),
        (["agent.h5", "--to", "npz", "-o", "./other/../agent.h5"], ["there is no folder"]),
        (["agent.h5", "--to", "npz", "-o", "x" * 5000], ["cannot write here"]),
    ],
)
def test_what_cannot_be_exported_is_refused(run, folder, arguments, texts):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    run("export", *arguments).refused(*texts)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_foreign_file_is_refused(run, folder):
    (folder / "x.h5").write_bytes(OLD)
    run("export", "x.h5", "--to", "umb").refused("x.h5: not a file of punish-fast")


@pytest.mark.usefixtures("files")
def test_an_agent_without_its_tensor_is_refused(run):
    assert run("solve", "--rules", "tiny", "--no-tensor", "-o", "x.h5", "-q").code == 0
    run("export", "x.h5", "--to", "umb").refused("x.h5: /transitions/indptr: missing")


def test_the_source_is_not_replaced_even_by_another_name(run, files):
    before = (files / "agent.h5").read_bytes()
    os.link("agent.h5", "hard.umb")
    (files / "soft.umb").symlink_to("agent.h5")
    for name in ("hard.umb", "soft.umb"):
        run("export", "agent.h5", "--to", "umb", "-o", name).refused(f"{name}: is the file to export")
    run("export", "hard.umb", "--to", "umb").refused("hard.umb: is the file to export")
    assert (files / "agent.h5").read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("limit", [1, 3000, 50_000])
def test_a_file_that_may_not_grow(files, target, limit):
    (files / "x").write_bytes(OLD)
    done = run_apart(
        *("export", "tensor.h5", "--to", target, "-o", "x", "--json"),
        cwd=files,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert (done.code, done.out) == (1, ""), done.err[-500:]
    done.failed_with("x: ", "too large", "nothing was changed")
    assert (files / "x").read_bytes() == OLD
    assert not list(files.glob(".*"))


@pytest.mark.parametrize(("target", "owner", "name"), [("umb", tarfile.TarFile, "addfile"), ("npz", np, "savez")])
def test_an_interrupt_leaves_the_old_file(run, files, target, owner, name, monkeypatch):
    def interrupt(first, *_others, **_arrays):
        file = getattr(first, "fileobj", first)
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, name, interrupt)
    (files / "x").write_bytes(OLD)
    done = run("export", "agent.h5", "--to", target, "-o", "x")
    assert (done.code, done.out) == (130, "")
    assert (files / "x").read_bytes() == OLD
    assert not list(files.glob(".*"))


def test_every_format_is_in_the_help(run):
    # A line may end after the hyphen of a name.
    text = "".join(run("export", "--help").out.split())
    assert all(f"{name}:" in text for name in (*FORMATS, "notebook-json"))
    assert "umb|npz|notebook-json" in text

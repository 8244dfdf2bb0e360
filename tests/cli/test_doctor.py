from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from cli.commands import EXAMPLES, make_files
from cli.conftest import clean_environment, run_apart
from punish_fast import __version__
from punish_fast.cli.installation import warmup
from punish_fast.runtime import _jit
from punish_fast.runtime.folders import Place
from punish_fast.store import solution_cache


def test_doctor_finds_nothing(run, folder, monkeypatch):
    report = run("doctor", "--json").report
    assert report["ok"] is True
    assert all(report["checks"].values())
    assert len(report["checks"]) >= 4
    assert report["punish_fast"] == __version__
    assert report["packages"]["numpy"] == np.__version__
    assert report["packages"]["numba"] == numba.__version__
    assert report["max_threads"] == _jit.max_threads()
    assert 1 <= report["threads"] <= report["max_threads"]
    assert report["jit"] == (not numba.config.DISABLE_JIT)
    assert report["cache"] == (_jit.cache_folder and str(_jit.cache_folder))
    assert report["cache_reason"] == _jit.cache_reason
    kernels = report["kernels"]
    n_kernels = 0 if numba.config.DISABLE_JIT else len(_jit.cached_kernels())
    assert kernels["compiled"] + kernels["shipped"] + kernels["missing"] == n_kernels
    assert kernels["package"] == "punish-fast-kernels is not installed"
    assert report["games"].keys() == {"folder", "reason"}
    assert list(folder.iterdir()) == []
    monkeypatch.setattr(_jit, "cache_folder", None)
    done = run("doctor")
    assert "46, 462 and 50 states by breath" in done.out
    assert re.search("^cache  ", done.out, re.MULTILINE) is None
    assert re.search("^cache reason  ", done.out, re.MULTILINE)


def test_doctor_runs_without_the_compiler():
    environment = clean_environment() | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "punish_fast", "doctor", "--json"],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout)["kernels"].items() >= {"compiled": 0, "shipped": 0, "missing": 0}.items()


def test_doctor_shows_and_clears_the_cache_of_solutions(run, tmp_path, monkeypatch):
    old = tmp_path / f"punish_fast.gone.{sys.implementation.cache_tag}.0123.nbc"
    old.touch()
    monkeypatch.setattr(_jit, "cache_folder", tmp_path)
    monkeypatch.setattr(solution_cache, "place", lambda: Place(tmp_path / "cache", "a test"))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "a.h5").write_bytes(b"12345")
    shown = {"folder": str(tmp_path / "cache"), "reason": "a test", "files": 1, "bytes": 5}
    assert run("doctor", "--json").report["solutions"] == shown
    assert run("doctor", "--clear", "--json").report["solutions"] == shown | {"files": 0, "bytes": 0}
    assert not old.exists()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="there is nothing to compile")
def test_warmup_runs_its_commands_and_tells_where(run, folder, monkeypatch):
    monkeypatch.setattr(warmup, "_COMMANDS", warmup._COMMANDS[:1])
    monkeypatch.setattr(warmup, "_call_library", lambda: None)
    report = run("warmup", "--json").report
    assert report["seconds"] > 0
    assert report["cache"] == str(_jit.cache_folder)
    assert Path(report["cache"]).is_dir()
    assert list(folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="there is nothing to compile")
def test_after_warmup_no_small_command_compiles_a_kernel(_files, tmp_path_factory, folder):
    make_files(_files, tmp_path_factory, folder)
    kernels, package = str(tmp_path_factory.mktemp("kernels")), str(Path(__file__).parents[2])
    environment = clean_environment(NUMBA_CACHE_DIR=kernels, PUNISH_FAST_QUIET="0", PYTHONPATH=package)
    done = run_apart("warmup", "--json", env=environment, timeout=1500)
    assert (done.code, json.loads(done.out)["missing"]) == (0, [])
    compiled = {}
    for name in EXAMPLES:
        done = run_apart(*name.split(), *EXAMPLES[name], env=environment, stdin=subprocess.DEVNULL)
        assert done.code == 0, (name, done.err)
        compiled[name] = done.compiled
    assert [name for name, lines in compiled.items() if lines] == []

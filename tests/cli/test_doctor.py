"""``doctor`` and ``warmup``."""

from __future__ import annotations

from pathlib import Path

import numba
import numpy as np
import pytest

from punish_fast import __version__
from punish_fast.cli.installation import warmup
from punish_fast.runtime import _jit


def test_doctor_finds_nothing(run, folder):
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
    assert report["cache"] == _jit.cache_folder
    assert list(folder.iterdir()) == []


def test_doctor_tells_what_is_missing(run, monkeypatch):
    monkeypatch.setattr(_jit, "cache_folder", None)
    assert run("doctor", "--json").report["cache"] is None
    assert "46, 462 and 50 states by breath" in run("doctor").out


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="there is nothing to compile")
def test_warmup_runs_its_commands_and_tells_where(run, folder, monkeypatch):
    monkeypatch.setattr(warmup, "_COMMANDS", warmup._COMMANDS[:1])
    monkeypatch.setattr(warmup, "_call_library", lambda: None)
    report = run("warmup", "--json").report
    assert report["seconds"] > 0
    assert report["cache"] == _jit.cache_folder
    assert Path(report["cache"]).is_dir()
    assert list(folder.iterdir()) == []

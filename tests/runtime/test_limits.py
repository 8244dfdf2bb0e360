import ctypes
import math
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from punish_fast.runtime import limits
from punish_fast.runtime.limits import memory_limit, parse_size, require_memory, total_memory, usable_cores

V2, V1 = "0::/a/b\n", "4:memory:/docker/x\n1:cpu,cpuacct:/docker/x\n0::/\n"


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Make control groups of these files, for a process with 64 cores."""
    monkeypatch.setattr(limits, "_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(limits, "_OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: set(range(64)), raising=False)

    def make(own, files):
        (tmp_path / "own").write_text(own)
        for name, text in files.items():
            path = tmp_path / "cgroup" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")

    return make


@pytest.mark.parametrize(
    ("own", "files", "cores"),
    [
        ("0::/\n", {"cpu.max": "200000 100000"}, 2),
        (V2, {"a/b/cpu.max": "150000 100000", "a/cpu.max": "max 100000"}, 2),
        (V2, {"a/b/cpu.max": "900000 100000", "a/cpu.max": "10000 100000"}, 1),
        (V2, {"a/b/cpu.max": "max 100000"}, 64),
        (V1, {"cpu/docker/x/cpu.cfs_quota_us": "400000", "cpu/docker/x/cpu.cfs_period_us": "100000"}, 4),
        # A container that sees its own group as the root.
        (V1, {"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"}, 3),
        (V1, {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 64),
        (V2, {"cpu.max": "no numbers"}, 64),
    ],
)
def test_cores_are_those_of_affinity_and_quota(groups, own, files, cores):
    groups(own, files)
    assert usable_cores() == cores


@pytest.mark.parametrize(
    ("own", "files", "n_bytes"),
    [
        ("0::/\n", {"memory.max": "1000000"}, 1_000_000),
        (V2, {"a/b/memory.max": "max", "a/memory.max": "2000000"}, 2_000_000),
        (V1, {"memory/docker/x/memory.limit_in_bytes": "3000000"}, 3_000_000),
        (V1, {"memory/memory.limit_in_bytes": "4000000", "memory.max": "5000000"}, 4_000_000),
        (V2, {"a/b/memory.max": "max"}, math.inf),
    ],
)
def test_memory_is_that_of_the_smallest_group(groups, monkeypatch, own, files, n_bytes):
    groups(own, files)
    assert memory_limit() == n_bytes
    monkeypatch.setattr(limits, "_physical_memory", lambda: 10**9)
    assert total_memory() == min(n_bytes, 10**9)


def test_systems_without_control_groups_have_no_limits(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "_OWN_GROUPS", tmp_path / "none")
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert (usable_cores(), memory_limit()) == (1, math.inf)


def test_windows_is_asked_for_memory(monkeypatch):
    """Emulated."""

    def fill(status):
        assert status._obj.length == 64
        status._obj.total_physical = 16 << 30
        return 1

    kernel32 = SimpleNamespace(GlobalMemoryStatusEx=fill)
    monkeypatch.setattr(ctypes, "WinDLL", lambda _name: kernel32, raising=False)
    monkeypatch.setattr(limits, "memory_limit", lambda: math.inf)
    monkeypatch.setattr(os, "name", "nt")
    found = total_memory()
    monkeypatch.undo()
    assert found == 16 << 30


@pytest.mark.parametrize(("text", "n_bytes"), [("1.5 GB", 1_500_000_000), ("800MB", 8 * 10**8), ("20k", 20_000)])
def test_sizes_have_units_of_a_thousand(text, n_bytes):
    assert parse_size(text) == parse_size(f" {text} ") == n_bytes


@pytest.mark.parametrize("text", ["", "4", "123456", "-4GB", "0.0GB", "4 G B", "4gb", "1e9", "٤GB", "4GiB"])
def test_other_texts_are_no_sizes(text):
    with pytest.raises(ValueError, match="is not a size, such as 4GB or 800MB"):
        parse_size(text)


def test_what_the_machine_does_not_have_is_refused(monkeypatch):
    monkeypatch.setattr(limits, "total_memory", lambda: 10**9)
    require_memory(10**9, "this")
    with pytest.raises(MemoryError, match="this would take 2 GB; this machine has 1 GB"):
        require_memory(2 * 10**9, "this")
    monkeypatch.setattr(limits, "total_memory", lambda: None)
    require_memory(10**30, "this")


PRINT_THREADS = """
import importlib, os, sys
from pathlib import Path
os.sched_getaffinity = lambda _process: {0, 1, 2, 3}
os.environ.pop("NUMBA_NUM_THREADS", None)
from punish_fast.runtime import limits
limits._GROUPS, limits._OWN_GROUPS = Path(sys.argv[1]) / "cgroup", Path(sys.argv[1]) / "own"
from punish_fast.runtime import _jit
print(_jit.threads(), _jit.max_threads())
os.environ["NUMBA_NUM_THREADS"] = "4"
print(importlib.reload(_jit).threads())
"""


def test_threads_are_as_many_as_the_quota_unless_the_user_says_otherwise(groups, tmp_path):
    groups("0::/\n", {"cpu.max": "100000 100000"})
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_NUM_THREADS"}
    command = [sys.executable, "-c", PRINT_THREADS, tmp_path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "4", "4"]

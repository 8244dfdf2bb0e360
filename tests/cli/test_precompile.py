"""Which kernels ``solve`` calls, and how they are compiled by two processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from numba import config

from punish_fast.cli import precompile
from punish_fast.runtime import _jit

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="there is nothing to compile")

OPTIONS = {False: [], True: ["--no-tensor"]}

# Kernels that a command called but had not named before, and whether what only compiling needs was imported.
CALLED = """
import sys
from numba.core.dispatcher import Dispatcher
from punish_fast.runtime import _jit
from punish_fast.cli.app import app
named = []
begin = _jit.load_ahead
_jit.load_ahead = lambda kernels=(), if_missing=None: (named.extend(kernels), begin(kernels))
app(["solve", "--rules", "tiny", "-o", sys.argv[1], "--quiet", *sys.argv[2:]], standalone_mode=False)
ours = [vars(module) for name, module in sys.modules.items() if name.startswith("punish_fast")]
called = {f for names in ours for f in names.values() if isinstance(f, Dispatcher) and f.stats.cache_hits}
print(sorted(f.__name__ for f in called - set(named)), "numba.np.arrayobj" in sys.modules, file=sys.stderr)
"""


@pytest.fixture(params=OPTIONS)
def solved(request, tmp_path):
    """Whether the tensor is compact, a cache with all that a solution of it called, and what another one tells."""
    command = [sys.executable, "-c", CALLED, str(tmp_path / "x.h5"), *OPTIONS[request.param]]
    # What is compiled already need not be again, but others may be writing to where it is.
    cache = tmp_path / "cache"
    shutil.copytree(_jit.cache_folder, cache, ignore=shutil.ignore_patterns("*.tmp*"))
    for _ in range(2):
        environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return request.param, cache, done.stderr.splitlines()[-1]


def compile_beside(cache, is_compact, parent):
    """Run what compiles beside the process ``parent``; return the compiled functions in ``cache``."""
    command = [sys.executable, "-m", "punish_fast.cli.precompile", str(parent), *(["compact"] if is_compact else [])]
    subprocess.run(command, env=os.environ | {"NUMBA_CACHE_DIR": str(cache)}, check=True)
    return compiled(cache)


def compiled(cache):
    return {path.name: path.stat().st_mtime_ns for path in cache.rglob("*.nbc")}


def test_solve_loads_all_it_calls_ahead_and_nothing_else(solved):
    assert solved[2] == "[] False"


def test_kernels_are_compiled_for_the_types_that_solve_calls_them_with(solved):
    is_compact, cache, _ = solved
    before = compiled(cache)
    assert before
    assert compile_beside(cache, is_compact, os.getpid()) == before


def test_what_is_not_compiled_yet_is_compiled_beside(solved):
    is_compact, cache, _ = solved
    for path in cache.rglob("_bellman.find_successors*"):
        path.unlink()
    before = compiled(cache)
    new = compile_beside(cache, is_compact, os.getpid()).keys() - before.keys()
    assert [name.split("-")[0] for name in new] == ["_bellman.find_successors"]


def test_nothing_is_compiled_for_a_process_that_is_gone(tmp_path):
    assert compile_beside(tmp_path, False, os.getpid() + 1) == {}


@pytest.fixture
def begun(monkeypatch, tmp_path):
    """The commands that were begun, with their environments."""
    commands = []
    monkeypatch.setattr(precompile.subprocess, "Popen", lambda command, **how: commands.append((command, how["env"])))
    monkeypatch.setattr(_jit, "cache_folder", str(tmp_path))
    monkeypatch.setattr(_jit, "max_threads", lambda: 2)
    return commands


@pytest.mark.parametrize("is_compact", [False, True])
def test_another_process_compiles_if_a_kernel_is_missing(begun, monkeypatch, tmp_path, is_compact):
    monkeypatch.setattr(_jit, "load_ahead", lambda _kernels, if_missing: if_missing())
    precompile.load_solver(is_compact)
    [(command, environment)] = begun
    assert command[:5] == [sys.executable, "-P", "-m", "punish_fast.cli.precompile", str(os.getpid())]
    assert command[5:] == (["compact"] if is_compact else [])
    assert environment["NUMBA_CACHE_DIR"] == str(tmp_path)


def test_who_asks_for_one_thread_gets_one_process(begun, monkeypatch):
    monkeypatch.setattr(_jit, "load_ahead", lambda _kernels, if_missing: if_missing and if_missing())
    precompile.load_solver(False, 1)
    assert begun == []
    precompile.load_solver(False, 2)
    assert len(begun) == 1


def test_no_other_process_compiles_on_a_single_processor_or_for_no_cache(begun, monkeypatch):
    monkeypatch.setattr(_jit, "max_threads", lambda: 1)
    precompile._begin_to_compile(False)
    monkeypatch.setattr(_jit, "max_threads", lambda: 2)
    monkeypatch.setattr(_jit, "cache_folder", None)
    precompile._begin_to_compile(False)
    assert begun == []


def test_who_cannot_begin_another_process_compiles_alone(monkeypatch):
    def refuse(*_command, **_how):
        raise OSError("too many processes")

    monkeypatch.setattr(precompile.subprocess, "Popen", refuse)
    precompile._begin_to_compile(False)

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys

import pytest
from numba import config

from punish_fast import _jit

# Pages that the process has got from the system for an array, before and after one like it was freed.
PAGES = """
import gc, resource, threading
gc.disable()
from punish_fast.cli.startup import prepare_kernels
prepare_kernels()
for thread in threading.enumerate():
    if thread.name == "loader":
        thread.join()
import numpy as np
def pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(3_000_000, dtype=np.uint8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(pages(), pages(), gc.isenabled())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU library can be told")
def test_freed_memory_is_used_again_and_garbage_looked_for():
    command = [sys.executable, "-c", PAGES]
    first, second, collects = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert int(first) > 500
    assert int(second) < 10
    assert collects == "True"


# Kernels that a command called but had not named before, and whether what only compiling needs was imported.
CALLED = """
import sys
from numba.core.dispatcher import Dispatcher
from punish_fast import _jit
from punish_fast.cli.app import app
named = []
begin = _jit.load_ahead
_jit.load_ahead = lambda kernels=(): (named.extend(kernels), begin(kernels))
app(["solve", "--rules", "tiny", "-o", sys.argv[1], "--quiet", *sys.argv[2:]], standalone_mode=False)
ours = [vars(module) for name, module in sys.modules.items() if name.startswith("punish_fast")]
called = {f for names in ours for f in names.values() if isinstance(f, Dispatcher) and f.stats.cache_hits}
print(sorted(f.__name__ for f in called - set(named)), "numba.np.arrayobj" in sys.modules, file=sys.stderr)
"""


@pytest.mark.skipif(config.DISABLE_JIT, reason="there is nothing to compile")
@pytest.mark.parametrize("options", [[], ["--no-tensor"]])
def test_solve_loads_all_it_calls_ahead_and_nothing_else(tmp_path, options):
    command = [sys.executable, "-c", CALLED, str(tmp_path / "x.h5"), *options]
    # What is compiled already need not be again, but others may be writing to where it is.
    cache = tmp_path / "cache"
    shutil.copytree(_jit.cache_folder, cache, ignore=shutil.ignore_patterns("*.tmp*"))
    for _ in range(2):
        environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "[] False"

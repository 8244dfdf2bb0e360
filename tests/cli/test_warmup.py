"""What ``warmup`` compiles, in a process of its own, since other tests call the same kernels."""

from __future__ import annotations

import subprocess
import sys

import pytest
from numba import config

REHEARSED = """
import importlib, pkgutil
import punish_fast
from punish_fast.cli.app import run
from punish_fast.cli.rehearsal import rehearse
from punish_fast.runtime._jit import _kernels

def kernels():
    found = {}
    for module in pkgutil.walk_packages(punish_fast.__path__, "punish_fast."):
        if module.name.split(".")[-1].startswith("_") and not module.name.endswith("__main__"):
            for name, made in vars(importlib.import_module(module.name)).items():
                if callable(made) and made in _kernels and made.__module__ == module.name:
                    found[name] = len(made.signatures)
    return found

rehearse()
rehearsed = kernels()
print("not compiled", *sorted(name for name, n in rehearsed.items() if n == 0))
"""
COMMANDS = """
for command in (
    "equilibrium --rules tiny --quiet --iterations 2 --information memory",
    "equilibrium --rules tiny --quiet --iterations 2 --best-response-share 0",
    "arena --rules tiny --quiet random careful",
    "arena --quiet --games 10 random tiny-equilibrium-memory.h5",
    "exploit --rules tiny --quiet --upper-bound random",
    "exploit --quiet --exploiter true --exploiter bayes --upper-bound tiny-equilibrium-memory.h5",
    "lessons tiny-equilibrium.h5",
    "solve --rules tiny --quiet -o agent.h5",
    "show agent.h5",
    "games solve tapnswap",
    "games solve incan-gold",
):
    assert run(command.split()) == 0, command
print("compiled later", *sorted(name for name, n in kernels().items() if n > rehearsed[name]))
"""


def rehearsed(folder, program):
    """The last line that a process prints that has rehearsed."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[-1].split()


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="there is nothing to compile")
def test_every_kernel_is_rehearsed(tmp_path):
    # No command calls pair_digit by itself; it is compiled with its callers, unless these come from the cache.
    assert set(rehearsed(tmp_path, REHEARSED)) - {"pair_digit"} == {"not", "compiled"}


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="there is nothing to compile")
def test_nothing_is_compiled_after_the_rehearsal(tmp_path):
    assert rehearsed(tmp_path, REHEARSED + COMMANDS) == ["compiled", "later"]

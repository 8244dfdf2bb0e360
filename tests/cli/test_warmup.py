"""The kernels that ``warmup`` compiles."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from numba import config

from cli.commands import EXAMPLES, make_files
from cli.conftest import clean_environment, run_apart

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(config.DISABLE_JIT, reason="there is nothing to compile")
def test_after_warmup_no_small_command_compiles_a_kernel(_files, tmp_path_factory, folder):
    make_files(_files, tmp_path_factory, folder)
    environment = clean_environment(
        NUMBA_CACHE_DIR=str(tmp_path_factory.mktemp("kernels")), PUNISH_FAST_QUIET="0", PYTHONPATH=str(ROOT)
    )
    assert run_apart("warmup", env=environment, timeout=1500).code == 0
    compiled = {}
    for name in EXAMPLES:
        done = run_apart(*name.split(), *EXAMPLES[name], env=environment, stdin=subprocess.DEVNULL)
        assert done.code == 0, (name, done.err)
        compiled[name] = done.compiled
    assert [name for name, lines in compiled.items() if lines] == []

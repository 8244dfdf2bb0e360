from __future__ import annotations

import subprocess
import sys

import pytest

from bench.child import environment, run_child
from bench.stages import STAGES, play
from punish_fast.punish.rules import PRESETS


def test_each_stage_is_timed():
    mdp, seconds = play(PRESETS["tiny"])
    assert len(seconds) == len(STAGES)
    assert min(seconds) > 0
    assert mdp.n_entries == 4111


def test_a_child_returns_times_sizes_and_memory(lines):
    found = run_child("bench.stages", {"rules": "tiny", "threads": 1, "repeats": 3}, lines.append, "tiny")
    assert {name: len(seconds) for name, seconds in found["seconds"].items()} == dict.fromkeys((*STAGES, "all"), 3)
    sums = [sum(run) for run in zip(*(found["seconds"][stage] for stage in STAGES), strict=True)]
    assert found["seconds"]["all"] == pytest.approx(sums)
    assert (found["states"], found["rows"], found["nonzeros"]) == (558, 911, 4111)
    assert found["peak_bytes"] >= found["baseline_bytes"] > 0


@pytest.mark.skipif(sys.platform != "linux", reason="free memory is known only on Linux")
def test_too_large_a_game_ends_no_other_process():
    code = "from bench.stages import limit_memory; limit_memory(); bytearray(10**15)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False)
    assert "MemoryError" in done.stderr

from __future__ import annotations

import subprocess
import sys
import time

from punish_fast.runtime.folder_lock import folder_lock

HOLD = """
import sys, time
from pathlib import Path
from punish_fast.runtime.folder_lock import folder_lock
with folder_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(0.5)
"""


def test_one_process_at_a_time_is_in_the_block(tmp_path):
    with subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        begin = time.perf_counter()
        with folder_lock(tmp_path):
            assert time.perf_counter() - begin > 0.2
    assert list(tmp_path.iterdir()) == []


def test_blocks_with_other_folders_and_folders_that_cannot_be_locked_run(tmp_path):
    with folder_lock(tmp_path), folder_lock(tmp_path.parent), folder_lock(tmp_path / "none"):
        pass

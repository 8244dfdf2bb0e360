from __future__ import annotations

import errno
import os
import subprocess
import sys
import time

import pytest

from punish_fast.runtime.folder_lock import file_lock, folder_lock

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


CLAIM_TWICE = """
import sys, warnings
from pathlib import Path
sys.modules["fcntl"] = None
warnings.simplefilter("ignore")
from punish_fast.runtime.folder_lock import file_lock, folder_lock
path = Path(sys.argv[1]) / "x.lock"
with folder_lock(path.parent), file_lock(path, 0) as ours, file_lock(path, 0) as theirs:
    print(ours, theirs)
with file_lock(path, 0) as ours:
    print(ours)
"""


def test_a_system_without_fcntl_has_locks(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", CLAIM_TWICE, tmp_path], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("True False\nTrue\n", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_folders_without_locks_need_none(tmp_path, monkeypatch, number):
    def refuse(*_args):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(pytest.importorskip("fcntl"), "flock", refuse)
    with folder_lock(tmp_path), file_lock(tmp_path / "x.lock", 0) as ours:
        assert ours
    assert list(tmp_path.iterdir()) == []

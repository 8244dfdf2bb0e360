from __future__ import annotations

import platform
import subprocess
import sys

import pytest

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

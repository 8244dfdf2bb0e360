"""Time limits, with a clock of the tests."""

from __future__ import annotations

import subprocess
import sys
from math import inf

import numba
import numpy as np
import pytest
from numba import config

from punish_fast.runtime import deadline
from punish_fast.runtime.deadline import TimeLimitError, check_time, seconds_left, time_limit
from punish_fast.runtime.parallel import for_each


@pytest.fixture
def now(monkeypatch):
    """The time, a list of one number."""
    now = [0.0]
    monkeypatch.setattr(deadline, "_now", lambda: now[0])
    return now


def test_stages_share_the_time_of_the_command(now):
    assert seconds_left() == inf
    with time_limit(40):
        with time_limit(share=1 / 2):
            assert seconds_left() == 20
            now[0] = 30
            # Work that takes longer is not stopped at the end of its part.
            assert seconds_left() == 0
            check_time()
            with (
                time_limit(has_overtime=False),
                pytest.raises(TimeLimitError, match="the time limit of 40 s has passed"),
            ):
                check_time()
        assert seconds_left() == 10
        now[0] = 46
        check_time()
        now[0] = 47
        with pytest.raises(TimeLimitError, match="allow more with --time"):
            check_time()
        with time_limit(inf):
            check_time()
    check_time()


@pytest.mark.parametrize("alone", [True, False])
def test_kernels_are_not_called_after_the_time_limit(now, alone):
    def kernel(_begin, _end):
        now[0] += 10

    with time_limit(40), pytest.raises(TimeLimitError):
        for_each(kernel, 1000, alone=alone)
    assert now[0] < 100


@pytest.mark.skipif(config.DISABLE_JIT, reason="compiles a function")
def test_compilation_stops_after_the_time_limit_and_can_be_repeated(now):
    twice = numba.njit(lambda x: 2 * x)
    with time_limit(1), pytest.raises(TimeLimitError):
        now[0] = 5
        twice(np.int64(4))
    assert twice(np.int64(4)) == 8


def test_a_library_that_does_not_respond_does_not_hold_up_the_command():
    code = (
        "import time; from punish_fast.runtime import deadline; from punish_fast.cli.frame import errors as frame\n"
        "deadline._GRACE, frame._PATIENCE = 0, 0.1\n"
        "with frame.limited(0.1): time.sleep(60)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50, check=False)
    told = "error: the time limit of 0.1 s has passed; allow more with --time\n"
    assert (done.returncode, done.stderr) == (1, told)

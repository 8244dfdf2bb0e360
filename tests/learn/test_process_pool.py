"""Tasks shared among processes."""

from __future__ import annotations

import os
import signal

import pytest
from numba import config

from punish_fast.games.learn.process_pool import WorkerError, run_all

WITH_JIT = pytest.mark.skipif(config.DISABLE_JIT, reason="processes are tried with the JIT on")


def square(number):
    return number * number, os.getpid()


def fail(number):
    raise ValueError(f"no {number}")


def die(_number):
    os.kill(os.getpid(), signal.SIGKILL)


def test_one_process_is_this_one():
    seen = []
    results = run_all(square, [(k,) for k in range(4)], 1, lambda done, total: seen.append((done, total)))
    assert results == [(k * k, os.getpid()) for k in range(4)]
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert run_all(square, [], 3) == []


@WITH_JIT
def test_results_come_in_order_from_other_processes():
    results = run_all(square, [(k,) for k in range(6)], 2)
    assert [result[0] for result in results] == [k * k for k in range(6)]
    assert os.getpid() not in {result[1] for result in results}


@WITH_JIT
def test_errors_pass_through():
    with pytest.raises(ValueError, match="no 3"):
        run_all(fail, [(3,), (3,)], 2)


@WITH_JIT
def test_a_killed_process_is_reported():
    with pytest.raises(WorkerError, match=r"^a process was killed; finished work is kept"):
        run_all(die, [(1,), (2,)], 2)


def is_blocked():
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, set())


def test_interrupts_never_reach_the_processes_not_even_while_they_start():
    assert run_all(is_blocked, [(), ()], 2) == [True, True]
    assert not is_blocked()

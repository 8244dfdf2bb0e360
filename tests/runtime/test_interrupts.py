"""Interrupts wait for the end of a block; a second one does not. A forked child needs no other thread."""

import os
import signal
import subprocess
import sys

import pytest
from numba import config

from punish_fast.runtime import interrupts
from punish_fast.runtime.interrupts import SIGNALS, uninterrupted

# A process that is interrupted twice in nested blocks, while it writes a file.
_TWICE = """
import signal, sys
from pathlib import Path
from punish_fast.runtime.files import replacing
from punish_fast.runtime.interrupts import uninterrupted

with replacing(Path(sys.argv[1])) as temporary, uninterrupted():
    temporary.write_text("half")
    with uninterrupted() as pending:
        signal.raise_signal(int(sys.argv[2]))
        print(len(pending), flush=True)
    signal.raise_signal(int(sys.argv[2]))
    print("went on", flush=True)
"""


@pytest.fixture
def arrived():
    """The signals that handlers have got."""
    found = []
    before = {number: signal.signal(number, lambda number, _frame: found.append(number)) for number in SIGNALS}
    yield found
    for number, handler in before.items():
        signal.signal(number, handler)
    assert interrupts._blocks == []


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_waits_for_the_outermost_block(arrived, number):
    with uninterrupted() as outer:
        with uninterrupted() as inner:
            signal.raise_signal(number)
            assert (inner, arrived) == ([number], [])
        assert (outer, arrived) == ([number], [])
    assert arrived == [number]


def test_handlers_are_put_back_after_an_error(arrived):
    with pytest.raises(ZeroDivisionError), uninterrupted():
        raise ZeroDivisionError
    signal.raise_signal(signal.SIGINT)
    assert arrived == [signal.SIGINT]


@pytest.mark.skipif(os.name == "nt", reason="processes end by signals on POSIX systems")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_second_signal_ends_the_process_and_leaves_no_temporary_file(tmp_path, number):
    command = [sys.executable, "-c", _TWICE, str(tmp_path / "x.h5"), str(int(number))]
    child = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (child.returncode, child.stdout) == (-number, "1\n")
    assert list(tmp_path.iterdir()) == []


FORK = """
import os, signal, sys, threading, time

def fork(child):
    \"\"\"Return the exit code of a forked child that calls a function; an alarm ends the child after a minute.\"\"\"
    number = os.fork()
    if number == 0:
        signal.setitimer(signal.ITIMER_REAL, 60)
        os._exit(child())
    _, status = os.waitpid(number, 0)
    return os.waitstatus_to_exitcode(status)
"""
AFTER_A_SOLVE = """
import numpy as np
from punish_fast.mdp.model.mdp import from_rows
from punish_fast.mdp.objectives.solver import solve
from punish_fast.runtime._jit import set_threads, threads
from punish_fast.runtime.parallel import for_each

def work():
    visits = np.zeros(100)
    def visit(begin, end):
        visits[begin:end] += 1
    for_each(visit, 100)
    return int(visits.tolist() == [1.0] * 100)

def child():
    return 10 * work() + int(abs(solve(model, 0.9).v[0] - 10) < 1e-8)

set_threads(2)
model = from_rows([[(1.0, {0: 1.0})]])
assert child() == 11
print(fork(child), child(), threads())
"""
FROM_ANOTHER_THREAD = """
from punish_fast.runtime.interrupts import uninterrupted

def child():
    signal.raise_signal(signal.SIGTERM)
    return 1

with uninterrupted() as pending:
    codes = []
    thread = threading.Thread(target=lambda: codes.append(fork(child)))
    thread.start()
    thread.join()
    codes.append(fork(lambda: len(pending) + (signal.raise_signal(signal.SIGTERM) or 10 * len(pending))))
print(*codes, signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)
"""
WHILE_ANOTHER_THREAD_COMPILES = """
from punish_fast.runtime import _jit
from punish_fast.runtime.compilation.compile_progress import announce_to
_jit.cache_folder = None

@_jit.kernel
def double(n):
    return 2 * n

@_jit.kernel
def triple(n):
    return 3 * n

def compiling(name, *_):
    if name == "double":
        begun.set()
        time.sleep(0.2)

begun = threading.Event()
announce_to(compiling)
thread = threading.Thread(target=double, args=(3,))
thread.start()
begun.wait()
print(fork(lambda: triple(2)), double(2))
thread.join()
"""


@pytest.mark.skipif(config.DISABLE_JIT or not hasattr(os, "fork"), reason="nothing to compile, or no forks")
def test_a_child_does_its_own_work():
    programs = FORK + AFTER_A_SOLVE + FROM_ANOTHER_THREAD + WHILE_ANOTHER_THREAD_COMPILES
    environment = os.environ | {"NUMBA_NUM_THREADS": "2"}
    command = [sys.executable, "-c", programs]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout.splitlines(), done.returncode) == (["11 11 2", "-15 10 True", "6 4"], 0), done.stderr

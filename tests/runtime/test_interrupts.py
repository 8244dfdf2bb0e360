"""Interrupts wait for the end of a block; a second one does not."""

import os
import signal
import subprocess
import sys

import pytest

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

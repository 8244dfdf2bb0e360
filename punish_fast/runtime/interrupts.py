"""Putting off interrupts where one would do harm.

Python raises an interrupt between any two of its instructions in the main thread: also in the middle of a library's
work that cannot be taken up again, and between taking a lock and being ready to release it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[list[int]]:
    """Put off an interrupt until the block ends; the block gets a list that is empty as long as none has come.

    Then it is left to the handler of before, which need not raise anything.

    HDF5 does not recover from an interrupt in the middle of its work. That holds for reading, too, and for giving its
    objects up. A function that has some in local variables is best decorated as a whole, so that they are gone before
    the block ends.
    """
    pending: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield pending
        return
    previous = signal.signal(signal.SIGINT, lambda number, _frame: pending.append(number))
    try:
        yield pending
    finally:
        # None stands for a handler that was not set from Python.
        signal.signal(signal.SIGINT, signal.SIG_DFL if previous is None else previous)
        if pending:
            signal.raise_signal(signal.SIGINT)

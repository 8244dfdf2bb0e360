"""Deferred interrupts.

Python raises an interrupt between any two instructions of the main thread, even where a library cannot recover, or
between taking a lock and being ready to release it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[list[int]]:
    """Defer interrupts until the block ends; the block gets a list that stays empty until one arrives.

    Then the previous handler is called, which need not raise anything.

    HDF5 cannot recover from an interrupt, not even one while it reads or frees its objects. Decorate a function that
    keeps some in local variables as a whole, so that they are freed before the block ends.
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

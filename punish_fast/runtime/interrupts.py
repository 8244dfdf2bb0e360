"""Deferred interrupts.

Python can raise KeyboardInterrupt between any two instructions of the main thread: even inside a library that cannot
recover from it, or between the acquisition of a lock and the block that releases the lock.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from punish_fast.runtime.files import discard_temporaries

# Keyboard interrupts and termination requests.
SIGNALS: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM)

# Received signals in each nested block, original signal handlers, and the thread of the blocks.
_blocks: list[list[int]] = []
_handlers: dict[int, Any] = {}
_thread = 0


def _defer(number: int, _frame: FrameType | None) -> None:
    if any(_blocks):
        abort(number)
    if not _blocks:  # the signal arrived while the original handlers were restored
        raise KeyboardInterrupt
    _blocks[-1].append(number)


def _restore_handlers() -> None:
    for number, handler in _handlers.items():
        # The handler is None if it was not installed from Python.
        signal.signal(number, signal.SIG_DFL if handler is None else handler)
    _handlers.clear()


def _leave_blocks() -> None:
    """Clear the blocks in a child process, unless the thread of the blocks forked it."""
    if _blocks and _thread != threading.get_ident():
        _blocks.clear()
        _restore_handlers()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_leave_blocks)


def abort(number: int) -> None:
    """Remove the temporary files of this process, and terminate it immediately with a signal."""
    discard_temporaries()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


@contextmanager
def uninterrupted() -> Iterator[list[int]]:
    """Defer interrupts until the end of the block, and yield a list of the signals received in the block.

    After a signal, the original handler is called at the end of the outermost block. The handler might return without
    an exception. A second signal terminates the process immediately. Only the main thread handles signals, so the list
    stays empty in other threads.

    HDF5 cannot recover from an interrupt, not even while it reads or frees objects. Decorate functions that keep HDF5
    objects in local variables with this function. The objects are then freed before the block ends.
    """
    pending: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield pending
        return
    global _thread  # noqa: PLW0603 - handlers belong to the whole process
    depth = len(_blocks)
    try:
        _blocks.append(pending)
        for number in SIGNALS if depth == 0 else ():
            _thread = threading.get_ident()
            _handlers[number] = signal.getsignal(number)
            signal.signal(number, _defer)
        yield pending
    finally:
        try:
            if depth == 0:
                _restore_handlers()
        finally:
            del _blocks[depth:]
        if pending and _blocks:
            _blocks[-1].extend(pending)
        elif pending:
            signal.raise_signal(pending[0])

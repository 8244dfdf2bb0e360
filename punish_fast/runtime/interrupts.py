"""Deferred interrupts.

Python can raise an interrupt between any two instructions of the main thread: even inside a library that cannot recover
from it, or after a lock was acquired but before the block that releases the lock is entered.
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

# Signals received in each nested block, signal handlers from before the outermost block, and the thread of the blocks.
_blocks: list[list[int]] = []
_handlers: dict[int, Any] = {}
_thread = 0


def _defer(number: int, _frame: FrameType | None) -> None:
    if any(_blocks):
        abort(number)
    if not _blocks:  # the signal arrived while handlers were being restored
        raise KeyboardInterrupt
    _blocks[-1].append(number)


def _restore_handlers() -> None:
    for number, handler in _handlers.items():
        # None means that the handler was not set from Python.
        signal.signal(number, signal.SIG_DFL if handler is None else handler)
    _handlers.clear()


def _leave_blocks() -> None:
    """Clear the blocks inherited by a child process that was forked from another thread."""
    if _blocks and _thread != threading.get_ident():
        _blocks.clear()
        _restore_handlers()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_leave_blocks)


def abort(number: int) -> None:
    """Terminate this process immediately with a signal, after removing its temporary files."""
    discard_temporaries()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


@contextmanager
def uninterrupted() -> Iterator[list[int]]:
    """Defer interrupts until the end of the block, and yield a list of the signals received in the block.

    If a signal was received, its previous handler is called at the end of the outermost block. The handler might not
    raise. A second signal terminates the process immediately. Only the main thread handles signals, so in other threads
    the list stays empty.

    HDF5 cannot recover from an interrupt, not even while it reads or frees objects. Use this function to decorate
    functions that keep HDF5 objects in local variables, so that the objects are freed before the block ends.
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

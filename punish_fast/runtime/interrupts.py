"""Deferred interrupts.

Python raises an interrupt between any two instructions of the main thread, even where a library cannot recover, or
between taking a lock and being ready to release it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from punish_fast.runtime.files import discard_temporaries

# Interrupts, and what asks a process to end.
SIGNALS: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM)

# The signals that arrived in each of the nested blocks, the handlers before the outermost one, and the thread of all.
_blocks: list[list[int]] = []
_handlers: dict[int, Any] = {}
_thread = 0


def _defer(number: int, _frame: FrameType | None) -> None:
    if any(_blocks):
        abort(number)
    if not _blocks:  # one that came while the handlers were put back
        raise KeyboardInterrupt
    _blocks[-1].append(number)


def _restore_handlers() -> None:
    for number, handler in _handlers.items():
        # None stands for a handler that was not set from Python.
        signal.signal(number, signal.SIG_DFL if handler is None else handler)
    _handlers.clear()


def _leave_blocks() -> None:
    """In a forked child, leave the blocks of the parent's main thread if another thread has forked."""
    if _blocks and _thread != threading.get_ident():
        _blocks.clear()
        _restore_handlers()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_leave_blocks)


def abort(number: int) -> None:
    """End this process by a signal, at once; only its temporary files are removed."""
    discard_temporaries()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


@contextmanager
def uninterrupted() -> Iterator[list[int]]:
    """Defer interrupts until the block ends; the block gets a list that stays empty until one arrives.

    Then the previous handler is called, which need not raise anything. A second interrupt aborts the process.

    HDF5 cannot recover from an interrupt, not even one while it reads or frees its objects. Decorate a function that
    keeps some in local variables as a whole, so that they are freed before the block ends.
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

"""Locks between processes: files that are locked while a block runs, and removed after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def file_lock(path: Path, seconds: float = -1) -> Iterator[bool]:
    """Lock ``path`` for one process at a time; the block receives whether it may go on as the only one.

    Folders that support no locks, such as some network folders, never make it wait.

    Args:
        path: The file to lock, which is created.
        seconds: Time to wait for another process before the block receives False; unlimited if negative.
    """
    # Loading it takes a while, and few commands lock anything.
    from filelock import FileLock, Timeout

    # A soft lock would outlive a process that is killed.
    lock = FileLock(path, seconds, thread_local=False, fallback_to_soft=False)
    is_ours = True
    try:
        lock.acquire()
    except Timeout:
        is_ours = False
    except OSError:
        pass
    try:
        yield is_ours
    finally:
        if is_ours:
            # Windows refuses to remove a file that is open; the library removes it then.
            with suppress(OSError):
                path.unlink()
        lock.release()


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Run the block while no other process runs one with the same folder."""
    with file_lock(folder / ".punish-fast.lock"):
        yield

"""How every kernel is compiled and cached.

A kernel is a small pure function that Numba compiles; a routine is one that only kernels call. They live in files
whose names begin with an underscore, take arrays and tuples, write into arrays that the caller allocated, and never
raise.

Numba checks only the file of a kernel itself to decide whether its cached machine code is still valid, so an edited
callee would leave a stale caller behind. The cache therefore goes into a folder named by a digest of all kernel
sources, of the named tuples that kernels take, and of everything else the machine code depends on, inside
``NUMBA_CACHE_DIR`` if that is set.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
import threading
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numba
import numpy as np
import platformdirs
from numba import extending, njit
from numba.core.compiler_lock import global_compiler_lock
from numba.core.event import Event, Listener, register

from punish_fast.runtime import __version__
from punish_fast.runtime.compile_progress import announce
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.runtime.kernel_files import KernelFiles
from punish_fast.runtime.limits import usable_cores

_PACKAGE = Path(__file__).parent.parent
# Bytes for all kernels, with some to spare.
_ROOM = 64 << 20

# Numba fills its settings from the environment when it is imported; a type checker cannot see them.
config: Any = numba.config


def source_digest() -> str:
    """A fingerprint of all kernels and of what compiles them: equal ones have the same machine code."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        # The order of a named tuple's fields is part of the machine code.
        if path.name.startswith("_") or b"(NamedTuple)" in source:
            digest.update(path.relative_to(_PACKAGE).as_posix().encode())
            digest.update(source)
    settings = (numba.__version__, np.__version__, __version__, config.BOUNDSCHECK, config.OPT)
    digest.update(repr(settings).encode())
    return digest.hexdigest()[:16]


def _find_cache_folder() -> str | None:
    """The folder of the kernel cache, or None if no folder can be written."""
    if config.DISABLE_JIT:
        return None
    base = config.CACHE_DIR or platformdirs.user_cache_dir("punish-fast", appauthor=False)
    folder = Path(base) / f"kernels-{source_digest()}"
    try:
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        # Kernels cannot be saved on a full disk; saved ones can still be read.
        if is_new and shutil.disk_usage(folder).free < _ROOM:
            folder.rmdir()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        warnings.warn(f"kernels are compiled anew every time: cannot write {folder} ({error})", stacklevel=2)
        return None
    return str(folder)


cache_folder: str | None = _find_cache_folder()


_kernels: set[Any] = set()
_compiled: set[Any] = set()


class _Announcer(Listener):
    """Announces kernels that are compiled, not the routines that become a part of them."""

    def on_start(self, event: Event) -> None:
        dispatcher = event.data["dispatcher"]
        if dispatcher in _kernels:
            _compiled.add(dispatcher)
            announce(dispatcher.__name__, len(_compiled), len(_kernels))

    def on_end(self, event: Event) -> None:
        pass


class _Nesting(threading.local):
    """How deep a thread is in the compiler, and what defers its interrupts there."""

    def __init__(self) -> None:
        self.depth = 0
        self.block = ExitStack()


class _Guard(Listener):
    """Guards the compiler: interrupts of the main thread wait.

    LLVM may crash if it has to give up a library that an interrupt left half made.
    """

    def __init__(self) -> None:
        self._here = _Nesting()

    def on_start(self, _event: Event) -> None:
        here = self._here
        if here.depth == 0:
            here.block.enter_context(uninterrupted())
        here.depth += 1

    def on_end(self, _event: Event) -> None:
        here = self._here
        here.depth -= 1
        if here.depth == 0:
            here.block.close()


register("numba:compile", _Announcer())
register("numba:compiler_lock", _Guard())
if hasattr(os, "register_at_fork"):  # not on Windows
    # A thread that compiles keeps Numba's lock, and does not exist in a child, so a fork waits for it.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )

# "numpy": a division by zero yields inf instead of raising, which keeps kernels total and fast. Nobody calls kernels
# from C, and a wrapper for that takes time to compile and to load.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` for calls from Python: cached, and without the interpreter's lock while it runs."""
    compiled: Any = njit(**_OPTIONS)(function)
    if cache_folder is not None:
        compiled._cache = KernelFiles.of(function, Path(cache_folder))
    _kernels.add(compiled)
    return compiled


def routine(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` for calls from kernels: cached as a part of them."""
    compiled: Callable[..., Any] = njit(**_OPTIONS)(function)
    return compiled


def inlined_routine(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` into its callers.

    For innermost loops over many arrays: passing these costs more than the work itself.
    """
    compiled: Callable[..., Any] = njit(inline="always", **_OPTIONS)(function)
    return compiled


def intrinsic(generator: Callable[..., Any]) -> Callable[..., Any]:
    """An instruction for kernels, emitted by ``generator`` as Numba takes it; without a compiler it does nothing."""
    return _do_nothing if config.DISABLE_JIT else extending.intrinsic(generator)


def _do_nothing(*_args: Any) -> None:
    return None


def max_threads() -> int:
    """The largest thread count this process can use; ``NUMBA_NUM_THREADS`` sets it."""
    return int(config.NUMBA_NUM_THREADS)


class ThreadsError(PunishFastError, ValueError):
    """An impossible thread count; the message says which are possible."""


# Numba knows the affinity of the process, but not the quota of a container. The variable overrides both.
_threads = max_threads() if "NUMBA_NUM_THREADS" in os.environ else min(max_threads(), usable_cores())


def threads() -> int:
    """The number of threads that kernels are spread over."""
    return _threads


def set_threads(count: int) -> None:
    """Set the number of threads that kernels are spread over.

    Raises:
        ThreadsError: ``count`` is below 1 or above `max_threads`.
    """
    global _threads  # noqa: PLW0603 - one setting for the whole process, like Numba's own
    if not 1 <= count <= max_threads():
        raise ThreadsError(f"threads: {count} is not possible here, allowed are 1 to {max_threads()}")
    _threads = count

"""Compilation and caching of kernels.

A kernel is a small function compiled by Numba and called from Python. A routine is a compiled function that only
kernels and other routines call. Kernels and routines are defined in files whose names begin with an underscore. The
arguments of kernels are numbers, arrays, tuples or None. Kernels write their results into arrays allocated by the
caller or return numbers, and never raise exceptions.

Kernels are cached in ``NUMBA_CACHE_DIR`` if this variable is set, otherwise in the user's cache folder
(``folders.py``). The folder ``compilation`` contains the code for the cache and the compiler for routines.
"""

import os
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from typing import Any

import numba
from numba import extending, njit
from numba.core.compiler_lock import global_compiler_lock
from numba.core.event import Event, Listener, register

from punish_fast.runtime.compilation import compile_progress
from punish_fast.runtime.compilation.kernel_digest import OPTIONS, PACKAGE, digest_of_file
from punish_fast.runtime.compilation.kernel_files import FOLDER, KernelFiles
from punish_fast.runtime.compilation.routine_compiler import Routine, is_supported
from punish_fast.runtime.deadline import check_time
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.folders import Place, find_folder
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.runtime.limits import usable_cores

# Numba sets the attributes of its configuration on import, so type checkers cannot see them.
config: Any = numba.config


def _find_cache_folder() -> Place:
    """Find or create the folder of the kernel cache. Its path is None if the JIT is disabled or no folder is usable."""
    if config.DISABLE_JIT:
        return Place(None, "NUMBA_DISABLE_JIT")
    return find_folder("cache", FOLDER, given=config.CACHE_DIR)


cache_folder, cache_reason = _find_cache_folder()


_kernels: set[Any] = set()


class _Announcer(Listener):
    """Announces the compilation of kernels, and stops between compiler passes after the time limit."""

    def on_start(self, event: Event) -> None:
        # Events of compiler passes have no dispatcher.
        if (dispatcher := event.data.get("dispatcher")) in _kernels:
            compile_progress.begin(_name_of(dispatcher))
        # Numba also calls `on_end` if this raises an exception.
        check_time()

    def on_end(self, event: Event) -> None:
        if (dispatcher := event.data.get("dispatcher")) in _kernels:
            compile_progress.end(_name_of(dispatcher))
            if sys.exc_info()[0] is not None and isinstance(dispatcher._cache, KernelFiles):
                dispatcher._cache.release()


def _name_of(dispatcher: Any) -> str:
    """Return the name of a kernel's cache files, or the name of its function if the kernel has no cache."""
    return str(getattr(dispatcher._cache, "name", dispatcher.__name__))


class _Nesting(threading.local):
    """Number of nested compilations in a thread, and the block that defers interrupts."""

    def __init__(self) -> None:
        self.depth = 0
        self.block = ExitStack()


class _Guard(Listener):
    """Defers interrupts of the main thread during compilation, because an interrupt could crash LLVM."""

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
register("numba:run_pass", _Announcer())
register("numba:compiler_lock", _Guard())
if hasattr(os, "register_at_fork"):  # not on Windows
    # Fork only while no thread compiles, because a child process lacks the thread that would release Numba's lock.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` for calls from Python. The machine code is cached and runs without the interpreter lock."""
    compiled: Any = njit(**OPTIONS)(function)
    if cache_folder is not None:
        compiled._cache = KernelFiles(cache_folder, function)
    _kernels.add(compiled)
    return compiled


def routine(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` for calls from kernels. The cached machine code of these kernels includes the routine."""
    return _routine(function)


def optimized_routine(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a routine and optimize it before kernels link it. Some kernels are slower without this step."""
    return _routine(function, optimize=True)


def inlined_routine(function: Callable[..., Any]) -> Callable[..., Any]:
    """Inline ``function`` into its callers, for inner loops in which calls would take most of the time."""
    return _routine(function, inline="always")


def cached_kernels() -> list[KernelFiles]:
    """Import all kernels of the package and return their caches. The list is empty without a cache or compiler."""
    for path in PACKAGE.rglob("_[a-z]*.py"):
        import_module(".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts)))
    caches = [getattr(kernel, "_cache", None) for kernel in _kernels]
    return [each for each in caches if isinstance(each, KernelFiles)]


def _routine(function: Callable[..., Any], optimize: bool = False, **options: Any) -> Callable[..., Any]:
    if config.DISABLE_JIT:
        return function
    digest_of_file(function.__code__.co_filename)
    if not is_supported:
        compiled: Callable[..., Any] = njit(**OPTIONS, **options)(function)
        return compiled
    return Routine(function, {"nopython": True, **OPTIONS, **options}, optimize)


def intrinsic(generator: Callable[..., Any]) -> Callable[..., Any]:
    """Define a Numba intrinsic for kernels. If the JIT is disabled, the intrinsic does nothing."""
    digest_of_file(generator.__code__.co_filename)
    return _do_nothing if config.DISABLE_JIT else extending.intrinsic(generator)


def _do_nothing(*_args: Any) -> None:
    return None


def max_threads() -> int:
    """Return the maximum number of threads in this process. The variable ``NUMBA_NUM_THREADS`` overrides it."""
    return int(config.NUMBA_NUM_THREADS)


class ThreadsError(PunishFastError, ValueError):
    """Raised for an invalid number of threads. The message contains the allowed range."""


# Numba respects the CPU affinity of the process, but not the CPU quota of a container. `usable_cores` respects both.
# The variable NUMBA_NUM_THREADS overrides both.
_threads = max_threads() if "NUMBA_NUM_THREADS" in os.environ else min(max_threads(), usable_cores())


def threads() -> int:
    """Return the number of threads that run kernels."""
    return _threads


def set_threads(count: int) -> None:
    """Set the number of threads that run kernels. Raise `ThreadsError` unless it is between 1 and `max_threads()`."""
    global _threads  # noqa: PLW0603 - one setting for the whole process, like Numba's
    if not 1 <= count <= max_threads():
        raise ThreadsError(f"threads: {count} is not possible here; use 1 to {max_threads()}")
    _threads = count

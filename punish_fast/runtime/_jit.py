"""How every kernel is compiled: the decorators, the cache folder and the thread count.

A kernel is a small pure function that Numba compiles; a routine is one that only kernels call. They live in files
whose names begin with an underscore, take arrays and tuples, write into arrays that the caller allocated, and never
raise.

Numba decides whether a cached kernel is still valid by looking at the file of that kernel alone, so an edited
callee would leave a stale caller behind. The cache therefore goes into a folder named by a digest of all kernel
sources and of everything else the machine code depends on. ``NUMBA_CACHE_DIR`` overrides the folder.

Before Numba looks into its cache it gets everything ready that compiling needs, which takes longer than enumerating
all states. Kernels of ours are looked up first: those that are found need none of it, and compiling the others gets it
ready all the same. Loading one takes about as long as a sweep, mostly outside the interpreter; so a process that knows
what it will call has it loaded ahead, by another thread.
"""

from __future__ import annotations

import hashlib
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import numba
import numpy as np
import platformdirs
from numba import extending, njit, typeof
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys
from numba.core.sigutils import normalize_signature

from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.runtime.version import __version__

__all__ = [
    "ThreadsError",
    "cache_folder",
    "compile_for",
    "inlined_routine",
    "intrinsic",
    "kernel",
    "load_ahead",
    "max_threads",
    "routine",
    "set_threads",
    "threads",
]

_PACKAGE = Path(__file__).parent.parent

# Numba fills its settings from the environment when it is imported; a type checker cannot see them.
config: Any = numba.config


def _source_digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("_*.py")):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    settings = (numba.__version__, np.__version__, __version__, config.BOUNDSCHECK, config.OPT)
    digest.update(repr(settings).encode())
    return digest.hexdigest()[:16]


def _find_cache_folder() -> str | None:
    """The folder for compiled kernels, or None if there is nowhere to write."""
    if config.DISABLE_JIT:
        return None
    if config.CACHE_DIR:
        return str(config.CACHE_DIR)
    folder = Path(platformdirs.user_cache_dir("punish-fast", appauthor=False)) / f"kernels-{_source_digest()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        warnings.warn(f"kernels are compiled anew every time: cannot write {folder} ({error})", stacklevel=2)
        return None
    return str(folder)


cache_folder: str | None = _find_cache_folder()


@contextmanager
def _numba_cache_at(folder: str | None) -> Iterator[None]:
    """Numba picks a cache folder when a function is decorated; other packages keep theirs."""
    before = config.CACHE_DIR
    config.CACHE_DIR = folder or before
    try:
        yield
    finally:
        config.CACHE_DIR = before


class _Payload(CompileResultCacheImpl):
    """What of a compiled function is kept."""

    def reduce(self, result: Any) -> Any:
        """All but the constants of Numba's own functions.

        No kernel of ours needs them, since none raises or calls Python, and they would have most of Numba imported.
        """
        *parts, environments = super().reduce(result)
        return (*parts, tuple(env for env in environments if env.globals["__name__"].startswith(_PACKAGE.name)))


class _Cache(FunctionCache):
    """Numba's cache of one function, looked up without getting ready to compile."""

    _impl_class = _Payload

    @property
    def signatures(self) -> list[Any]:
        """Those of all compiled functions that are kept."""
        codegen = cpu_target.target_context.codegen()
        return [key[0] for key in self._cache_file._load_index() if key == self._index_key(key[0], codegen)]

    # LLVM may crash when it has to give up a library that an interrupt left half loaded.
    @uninterrupted()
    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for a signature, or None if there is none."""
        # All that machine code needs to run, and does not bring along itself.
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)
        # Processes that compile a function for different types at once may take the same name for both.
        return found if found is not None and found.signature.args == normalize_signature(sig)[0] else None


# "numpy": a division by zero yields inf instead of raising, which keeps kernels total and fast. Nobody calls kernels
# from C, and code for that takes its time to compile and to load.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function``, to be called from Python: cached, and releasing the interpreter's lock while it runs."""
    compiled: Any = njit(**_OPTIONS)(function)
    if cache_folder is not None:
        with _numba_cache_at(cache_folder):
            compiled._cache = _Cache(function)
    return compiled


def routine(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function``, to be called by kernels: cached as a part of them."""
    compiled: Callable[..., Any] = njit(**_OPTIONS)(function)
    return compiled


def inlined_routine(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` into its callers.

    For what the innermost loops call with many arrays: passing them costs more than the work itself.
    """
    compiled: Callable[..., Any] = njit(inline="always", **_OPTIONS)(function)
    return compiled


def intrinsic(generator: Callable[..., Any]) -> Callable[..., Any]:
    """An instruction for kernels, emitted by ``generator`` as Numba takes it; without a compiler it does nothing."""
    return _do_nothing if config.DISABLE_JIT else extending.intrinsic(generator)


def _do_nothing(*_args: Any) -> None:
    return None


def compile_for(kernel: Callable[..., Any], *arguments: Any) -> None:
    """Compile ``kernel`` for arguments of these types, or load it if it is cached."""
    function: Any = kernel
    function.compile(tuple(typeof(argument) for argument in arguments))


def load_ahead(kernels: Iterable[Callable[..., Any]] = (), if_missing: Callable[[], None] | None = None) -> None:
    """Begin to load what kernels need to run, and all of ``kernels`` that is cached, in the order they will be called.

    It goes on in the background. Whoever calls a kernel meanwhile waits for it, or loads it if its turn has not come.
    The first kernel that is not cached ends it, with a call of ``if_missing``.
    """
    if cache_folder is not None:
        Thread(target=_load, args=(kernels, if_missing), name="loader", daemon=True).start()


def _load(kernels: Iterable[Any], if_missing: Callable[[], None] | None) -> None:
    # Whatever is wrong with the cache will show when the kernel is called.
    with suppress(Exception):
        rtsys.initialize(cpu_target.target_context)
        for function in kernels:
            signatures = function._cache.signatures
            if not signatures:
                if if_missing is not None:
                    if_missing()
                return
            for signature in signatures:
                function.compile(signature)


def max_threads() -> int:
    """The largest thread count this process can use; ``NUMBA_NUM_THREADS`` sets it."""
    return int(config.NUMBA_NUM_THREADS)


class ThreadsError(ValueError):
    """A thread count that is not possible; the message says which are."""


_threads = max_threads()


def threads() -> int:
    """The number of threads that kernels are shared among now."""
    return _threads


def set_threads(count: int) -> None:
    """Let ``count`` threads share the work of kernels.

    Raises:
        ThreadsError: ``count`` is below 1 or above `max_threads`.
    """
    global _threads  # noqa: PLW0603 - one setting for the whole process, like Numba's own
    if not 1 <= count <= max_threads():
        raise ThreadsError(f"threads: {count} is not possible here, allowed are 1 to {max_threads()}")
    _threads = count

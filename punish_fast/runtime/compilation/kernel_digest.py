"""Digests of kernel sources.

Machine code depends on the source files of a kernel and of the routines that it calls, on the constants and named
tuples in these functions, and on the compiler. Edits of other files do not change the digest of a kernel.
"""

import hashlib
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import llvmlite
import numba
import numpy as np

PACKAGE = Path(__file__).parents[2]
# Options of all kernels and routines.
# The error model "numpy" makes kernels faster: division of floats by zero returns inf or NaN and raises no exception.
# Wrappers for calls from C are unnecessary and would take time to compile and load.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_DIGEST_BYTES = 16
_PLAIN = (bool, int, float, str, bytes, type(None), np.generic)

# Numba sets the attributes of its configuration on import, so type checkers cannot see them.
_config: Any = numba.config


def digest(content: bytes) -> bytes:
    """Return the 16-byte digest of ``content``."""
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()


def digest_of_kernel(function: Callable[..., Any]) -> bytes:
    """Return a digest of everything that determines a kernel's machine code, except argument types and processor.

    ``function`` is the Python function of the kernel. The digest includes complete source files, because it takes
    longer to find the source of a function than to read a file.
    """
    files, constants = set(), []
    for found in _reached(function):
        files.add(inspect.getfile(found))
        constants += [(found.__qualname__, name, _described(value)) for name, value in _globals_of(found)]
    contents = [digest_of_file(file) for file in sorted(files)]
    settings = (numba.__version__, llvmlite.__version__, _config.BOUNDSCHECK, _config.OPT, OPTIONS)
    return digest(repr((contents, sorted(constants), settings)).encode())


@cache
def digest_of_file(path: str) -> bytes:
    """Return the digest of a source file. The result is cached, so later edits of the file have no effect."""
    return digest(Path(path).read_bytes())


def _reached(function: Callable[..., Any]) -> Iterator[FunctionType]:
    """Yield a function and all functions that it calls, directly or indirectly, in the same package."""
    found: dict[FunctionType, None] = {}
    waiting = [function]
    while waiting:
        each = inspect.unwrap(waiting.pop())
        if isinstance(each, FunctionType) and each not in found and _root(each) == _root(function):
            found[each] = None
            yield each
            waiting += [value for _, value in _globals_of(each) if callable(value)]


def _root(function: Callable[..., Any]) -> str:
    return function.__module__.partition(".")[0]


@cache
def _globals_of(function: FunctionType) -> tuple[tuple[str, Any], ...]:
    """Return the names and values of the global variables that a function uses."""
    values = function.__globals__
    return tuple((name, values[name]) for name in sorted(set(_names(function.__code__))) if name in values)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _described(value: Any) -> str:
    """Describe a constant by its value, and a named tuple by its fields. Return an empty text for other objects."""
    if isinstance(value, np.ndarray):
        return repr((value.dtype.str, value.shape, digest(value.tobytes())))
    if isinstance(value, tuple):
        return repr([_described(item) for item in value])
    if isinstance(value, type):
        return repr(getattr(value, "_fields", ""))
    return repr(value) if isinstance(value, _PLAIN) else ""

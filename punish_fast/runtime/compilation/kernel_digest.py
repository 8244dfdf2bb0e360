"""Digests of the sources from which kernels are compiled.

Machine code depends on the source files of a kernel and of the routines that it reaches, on the constants and named
tuples that these functions use, and on the compiler. An edit of another file leaves the digest of a kernel unchanged.
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
# Options of all kernels and routines. With the error model "numpy", division by zero returns inf or NaN instead of
# raising, so kernels never raise and are faster. Wrappers for calls from C would not be used, but would take time to
# compile and load.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_DIGEST_BYTES = 16
_PLAIN = (bool, int, float, str, bytes, type(None), np.generic)

# Numba sets the attributes of its configuration from the environment on import, so type checkers do not know them.
_config: Any = numba.config


def digest(content: bytes) -> bytes:
    """Return a digest of bytes, 16 bytes."""
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()


def digest_of_kernel(function: Callable[..., Any]) -> bytes:
    """Return a digest of all that the machine code of a kernel depends on, except the types of its arguments.

    ``function`` is the Python function of the kernel. The digest covers whole files of functions, because a file is
    cheaper to read than the source of a function is to find.
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
    """Return the digest of a source file when this process first asked for it, so that later edits do not count."""
    return digest(Path(path).read_bytes())


def _reached(function: Callable[..., Any]) -> Iterator[FunctionType]:
    """Yield a function and all routines, kernels and intrinsics of the same package that it reaches."""
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
    """Describe a constant by its value, a named tuple by its fields, and all else, such as functions, by nothing."""
    if isinstance(value, np.ndarray):
        return repr((value.dtype.str, value.shape, digest(value.tobytes())))
    if isinstance(value, tuple):
        return repr([_described(item) for item in value])
    if isinstance(value, type):
        return repr(getattr(value, "_fields", ""))
    return repr(value) if isinstance(value, _PLAIN) else ""

"""Kernels from routines, since Python cannot call routines."""

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit


@cache
def calling(routine: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a routine as a kernel, with the arguments and the result of the routine."""
    compiled: Callable[..., Any] = njit(error_model="numpy")(getattr(routine, "py_func", routine))
    return compiled

"""What pays in a process that is ours alone, and a library must not do to its host."""

from __future__ import annotations

import ctypes
import gc
import sys
from contextlib import suppress

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3


def prepare_kernels() -> None:
    """Import what defines kernels, and end the break of the garbage collector that ``__main__`` began."""
    from punish_fast.runtime import _jit

    _jit.load_ahead()
    _keep_memory()
    gc.freeze()
    gc.enable()


def _keep_memory() -> None:
    """Let freed memory be used again: to get fresh pages from the system can take longer than to fill them."""
    if sys.platform == "linux":
        with suppress(AttributeError):  # only the GNU library has it
            mallopt = ctypes.CDLL(None).mallopt
            # The most it allows; what is larger is kept to the end anyway.
            mallopt(_M_MMAP_THRESHOLD, 1 << 25)
            mallopt(_M_TRIM_THRESHOLD, 1 << 30)

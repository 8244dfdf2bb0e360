"""Getting Numba ready in less time, in a process that is ours alone."""

from __future__ import annotations

import gc
import sys


def prepare_kernels() -> None:
    """Load the first kernel without SciPy, and end the break of the garbage collector that ``__main__`` began.

    When its first kernel is called, Numba imports ``scipy.linalg`` to find out whether ``np.dot`` would compile. No
    kernel of ours calls it, and the import takes longer than enumerating all states. So for that one moment the
    module is hidden; a library must not do this to its host, a command may.
    """
    hidden = "scipy.linalg" not in sys.modules
    if hidden:
        sys.modules["scipy.linalg"] = None  # type: ignore[assignment]
    try:
        import numpy as np

        from punish_fast.punish import _codes

        _codes.pair_digit(np.int64(0), np.int64(0))
    finally:
        if hidden:
            del sys.modules["scipy.linalg"]
        gc.freeze()
        gc.enable()

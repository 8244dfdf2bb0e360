"""Getting kernels ready in a process that is ours alone."""

from __future__ import annotations

import gc


def prepare_kernels() -> None:
    """Import what defines kernels, and end the break of the garbage collector that ``__main__`` began."""
    from punish_fast import _jit  # noqa: F401 - most of what is imported comes with it

    gc.freeze()
    gc.enable()

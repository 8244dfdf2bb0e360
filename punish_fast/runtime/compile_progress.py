"""Announcements of kernel compilation, for progress reports. This module does not import the compiler."""

from collections.abc import Callable

# Called with a kernel's name, the number of kernels whose compilation has begun, and the number of all kernels; first,
# if known, with an empty name, 0 and the number of missing kernels.
Announce = Callable[[str, int, int], None]

_announce: Announce | None = None


def announce_to(announce: Announce | None) -> None:
    """Set the function to call, from any thread, when the compilation of a kernel begins; None disables these calls."""
    global _announce  # noqa: PLW0603 - a process has one compiler
    _announce = announce


def announce(name: str, number: int, total: int) -> None:
    """Call the function set by `announce_to`, unless it is None."""
    if _announce is not None:
        _announce(name, number, total)

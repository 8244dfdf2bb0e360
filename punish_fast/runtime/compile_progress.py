"""Announcements of kernel compilation, for progress reports. Does not import the compiler."""

from collections.abc import Callable

# Called with the name of a kernel, its index (from 1) among the kernels compiled so far, and the number of kernels.
Announce = Callable[[str, int, int], None]

_announce: Announce | None = None


def announce_to(announce: Announce | None) -> None:
    """Set the function that is called, in any thread, when the compilation of a kernel begins."""
    global _announce  # noqa: PLW0603 - a process has one compiler
    _announce = announce


def announce(name: str, number: int, total: int) -> None:
    """Call the function set by `announce_to`, if any."""
    if _announce is not None:
        _announce(name, number, total)

"""Announcements of kernels that are compiled, for whoever reports progress. Imports no compiler."""

from __future__ import annotations

from collections.abc import Callable

# The name of a kernel, its number among those compiled by this process, and the most there may be.
Announce = Callable[[str, int, int], None]

_announce: Announce | None = None


def announce_to(announce: Announce | None) -> None:
    """Set the function that is called when the compilation of a kernel begins, in whatever thread."""
    global _announce  # noqa: PLW0603 - there is one compiler in a process
    _announce = announce


def announce(name: str, number: int, total: int) -> None:
    """Announce a compilation."""
    if _announce is not None:
        _announce(name, number, total)

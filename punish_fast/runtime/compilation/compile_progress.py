"""State of kernel compilation, for progress reports. This module does not import the compiler."""

from collections.abc import Callable

# Called with a kernel's name when this process begins to compile it or to wait for it, and with the minimum number of
# kernels that are left. First, if known, with an empty name and the number of missing kernels.
Announce = Callable[[str, int], None]

_announce: Announce | None = None
# Kernels that this process compiles or waits for. Several threads can do this.
current: list[str] = []
# Kernels that are needed later: for each name, a function that returns True if the kernel is not compiled yet.
expected: dict[str, Callable[[], bool]] = {}


def announce_to(announce: Announce | None) -> None:
    """Set the function to call, from any thread, when the compilation of a kernel begins; None disables these calls."""
    global _announce  # noqa: PLW0603 - a process has one compiler
    _announce = announce


def announce(name: str = "") -> None:
    """Call the function set by `announce_to`, unless it is None."""
    if _announce is not None:
        _announce(name, len({name for name, is_missing in list(expected.items()) if is_missing()}.union(current)))


def begin(name: str) -> None:
    """Announce that this process compiles a kernel or waits for it, until `end` is called."""
    current.append(name)
    announce(name)


def end(name: str) -> None:
    """Stop counting a kernel as left."""
    current.remove(name)
    expected.pop(name, None)

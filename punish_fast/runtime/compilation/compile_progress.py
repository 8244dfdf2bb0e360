"""Progress of kernel compilation. This module does not import the compiler."""

from collections.abc import Callable

# Function that is called when this process begins to compile a kernel or to wait for a kernel.
# Its arguments are the name of the kernel and the minimum number of remaining kernels.
# If the number of missing kernels is known, the first call has an empty name.
Announce = Callable[[str, int], None]

_announce: Announce | None = None
# Kernels that this process compiles or waits for, in all threads.
current: list[str] = []
# Kernels needed later: for each name, a function that returns True until the kernel is compiled.
expected: dict[str, Callable[[], bool]] = {}


def announce_to(announce: Announce | None) -> None:
    """Set the function to call, from any thread, when a compilation or a wait begins. None disables these calls."""
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
    """Remove a kernel from the remaining kernels."""
    current.remove(name)
    expected.pop(name, None)

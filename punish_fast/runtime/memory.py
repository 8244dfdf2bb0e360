"""How much memory there is, so that too large a game is refused in one line instead of ending the machine."""

from __future__ import annotations

import os


def total_memory() -> int | None:
    """Bytes of memory of this machine, or None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def require_memory(n_bytes: int, what: str) -> None:
    """Insist that the machine has ``n_bytes`` of memory in all.

    Raises:
        MemoryError: it has less; the message says for ``what`` it was wanted.
    """
    total = total_memory()
    if total is not None and n_bytes > total:
        raise MemoryError(f"{what} would take {n_bytes / 1e9:,.0f} GB, this machine has {total / 1e9:,.0f} GB")

"""Memory of the machine or the container, so that too large a game is refused instead of exhausting it."""

from __future__ import annotations

import ctypes
import os
import re

from punish_fast.runtime.limits import memory_limit

_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def parse_size(text: str) -> int:
    """Bytes, from text such as ``4GB``, ``1.5 GB`` or ``800MB``.

    Raises:
        ValueError: the text is no size.
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([kMGT]?)B?", text.strip(), re.ASCII)
    if found is None or float(found[1]) == 0:
        raise ValueError(f"{text!r} is not a size, such as 4GB or 800MB")
    return round(float(found[1]) * _UNITS[found[2]])


class _MemoryStatus(ctypes.Structure):
    """The structure MEMORYSTATUSEX of Windows."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("total_physical", ctypes.c_uint64),
        ("others", ctypes.c_uint64 * 6),
    )


def total_memory() -> int | None:
    """Return the memory of the machine, or of the container if less, in bytes; None if it is unknown."""
    found = _physical_memory()
    return None if found is None else int(min(found, memory_limit()))


def _physical_memory() -> int | None:
    if os.name == "nt":
        status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
        kernel32 = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
        return int(status.total_physical) if kernel32.GlobalMemoryStatusEx(ctypes.byref(status)) else None
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def require_memory(n_bytes: int, what: str) -> None:
    """Check that the machine has ``n_bytes`` of memory in all.

    Raises:
        MemoryError: it has less; the message says that ``what`` needs it.
    """
    total = total_memory()
    if total is not None and n_bytes > total:
        raise MemoryError(f"{what} would take {n_bytes / 1e9:,.0f} GB, this machine has {total / 1e9:,.0f} GB")

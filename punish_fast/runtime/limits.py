"""Number of cores and amount of memory available to this process, given its affinity, control groups and machine.

Containers use control groups to limit their processes. A process belongs to nested groups, and each group can set a
limit. Version 2 of control groups has a single tree of groups. Version 1 has one tree per controller. Inside a
container, the root of a tree might be the container's group.
"""

import math
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from punish_fast.runtime.errors import ArgumentError

_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")
_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def usable_cores() -> int:
    """Return the number of cores that this process can use, rounded up to an integer of at least 1."""
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return max(1, math.ceil(min([cores, *map(_quota_of, _groups("cpu"))])))


def memory_limit() -> float:
    """Return the memory limit of this process's control groups in bytes, or infinity without a limit."""
    limits = [_numbers(group / name) for group in _groups("memory") for name in ("memory.max", "memory.limit_in_bytes")]
    return min([math.inf, *(limit[0] for limit in limits if limit)])


def _groups(controller: str) -> Iterator[Path]:
    """Yield the folders of this process's control groups, beginning with the root."""
    try:
        lines = _OWN_GROUPS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "" or controller in controllers.split(","):
            root = _GROUPS / controller if controllers else _GROUPS
            inside = PurePosixPath(path.lstrip("/"))
            yield from (root / parent for parent in (*reversed(inside.parents), inside))


def _quota_of(group: Path) -> float:
    """Return the average number of cores available to a group, or infinity without a quota."""
    numbers = _numbers(group / "cpu.max")
    numbers = numbers or _numbers(group / "cpu.cfs_quota_us") + _numbers(group / "cpu.cfs_period_us")
    quota, period = numbers if len(numbers) == 2 else (-1.0, 0.0)
    return quota / period if quota > 0 and period > 0 else math.inf


def _numbers(path: Path) -> list[float]:
    """Return the numbers in a file. "max" is infinity. Return an empty list if the file is unreadable."""
    try:
        return [math.inf if word == "max" else float(word) for word in path.read_text(encoding="utf-8").split()]
    except (OSError, ValueError):
        return []


def parse_size(text: str) -> int:
    """Convert a size such as ``4GB``, ``1.5 GB`` or ``800MB`` to bytes. Raise `ArgumentError` for other texts."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([kMGT]?B|[kMGT])", text.strip(), re.ASCII)
    if found is None or float(found[1]) == 0:
        hint = f"; write {text.strip()}GB" if re.fullmatch("[1-9][0-9]{0,2}", text.strip(), re.ASCII) else ""
        raise ArgumentError(f"memory_limit: {text!r} is not a size, such as 4GB or 800MB{hint}")
    return round(float(found[1]) * _UNITS[found[2].rstrip("B")])


def total_memory() -> int:
    """Return the memory of the machine or the limit of the container, whichever is less, in bytes."""
    import psutil

    return int(min(psutil.virtual_memory().total, memory_limit()))


def peak_memory() -> int:
    """Return the peak memory usage of this process in bytes."""
    if sys.platform == "win32":
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def require_memory(n_bytes: int, what: str) -> None:
    """Raise MemoryError if ``n_bytes`` exceeds the total memory. ``what`` is the subject of the error message."""
    total = total_memory()
    if n_bytes > total:
        raise MemoryError(f"{what} would take {n_bytes / 1e9:,.0f} GB; this machine has {total / 1e9:,.0f} GB")

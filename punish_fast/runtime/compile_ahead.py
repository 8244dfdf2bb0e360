"""Compilation of kernels by other processes, before this process calls them.

Numba compiles one kernel at a time in a process. The first run of a command therefore starts processes that compile
kernels needed later, while this process compiles those needed first. All processes share the kernel cache.
"""

import atexit
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from punish_fast.runtime.limits import usable_cores

_SECONDS_BETWEEN_CHECKS = 0.02
# Process that compiles a kernel, by the name of the kernel's cache files.
_processes: dict[str, "subprocess.Popen[bytes]"] = {}


class KernelGroup(NamedTuple):
    """Kernels that one function compiles."""

    compile: Callable[[], None]  # function in a module, which another process imports
    kernels: tuple[Any, ...]


def compile_ahead(groups: Sequence[KernelGroup]) -> None:
    """Start to compile the groups that are not in the kernel cache, in processes on the other cores.

    Do nothing if there is no cache or no other core. The processes end with this one.
    """
    n_processes = usable_cores() - 1
    caches = [(group.compile, [getattr(kernel, "_cache", None) for kernel in group.kernels]) for group in groups]
    missing = [(function, files) for function, files in caches if any(each and each.is_empty for each in files)]
    for first in range(min(n_processes, len(missing)) if sys.executable else 0):
        mine = missing[first::n_processes]
        functions = [function for function, _ in mine]
        code = "; ".join(f"from {each.__module__} import {each.__name__}; {each.__name__}()" for each in functions)
        no = subprocess.DEVNULL
        process = subprocess.Popen([sys.executable, "-c", code], stdin=no, stdout=no, stderr=no)
        atexit.register(process.kill)
        _processes.update((each.name, process) for _, files in mine for each in files if each)


def wait_for(name: str, load: Callable[[], Any]) -> Any:
    """Return the first result of ``load`` that is not None, or None if no other process may compile kernel ``name``."""
    process = _processes.get(name)
    found = load()
    while found is None and process is not None:
        has_ended = process.poll() is not None
        found = load()
        if has_ended:
            break
        time.sleep(_SECONDS_BETWEEN_CHECKS)
    return found

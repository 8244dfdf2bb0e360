"""Cache files of compiled kernels.

Numba's cache files have no checksums: a file truncated by a crash or a full disk makes every later process fail, and
corrupted machine code can crash a process. In addition, concurrent writers can damage Numba's index of a kernel's
argument types, a failed write raises an error, and if the folder cannot be created, Numba might choose another folder,
whose name does not contain the digest.

This cache stores one file per kernel and combination of argument types; each file begins with a checksum.

Numba compiles one kernel at a time in a process. The first run of a command therefore starts processes that compile
kernels needed later, while this process compiles those needed first. All processes share the cache.
"""

from __future__ import annotations

import atexit
import hashlib
import inspect
import os
import pickle
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from punish_fast.runtime.compile_progress import announce, begin, end, expected
from punish_fast.runtime.deadline import check_time
from punish_fast.runtime.folders import read_own
from punish_fast.runtime.limits import usable_cores

_DIGEST_BYTES = 16
_SECONDS_BETWEEN_CHECKS = 0.02
# Process that compiles a kernel, by the name of the kernel's cache files.
_processes: dict[str, subprocess.Popen[bytes]] = {}


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()


@cache
def _stamp_of(path: str) -> bytes:
    return _digest(Path(path).read_bytes())


class KernelFiles:
    """Cache files of one kernel, with the interface of Numba's ``FunctionCache``; invalid files are overwritten."""

    def __init__(self, folder: Path, name: str, stamp: Any) -> None:
        """Use the files ``name.*.nbc`` in ``folder``; files that were saved with another ``stamp`` are ignored."""
        self._folder, self.name, self._stamp = folder, name, stamp
        self.cache_path = str(folder)

    @classmethod
    def of(cls, function: Callable[..., Any], folder: Path) -> KernelFiles:
        """Return the cache of a function; files from before a change to the function's source file are ignored."""
        name = f"{function.__module__}.{function.__qualname__}.{sys.implementation.cache_tag}"
        return cls(folder, name.replace("<", "").replace(">", ""), _stamp_of(inspect.getfile(function)))

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the kernel compiled for a signature, or None if it is not cached."""
        # Machine code needs only Numba's runtime. Importing the compiler's registries takes half a second.
        rtsys.initialize(target)
        key = signature, target.codegen().magic_tuple()
        data = wait_for(self.name, lambda: self.load(key))
        return None if data is None else CompileResult._rebuild(target, *data)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Save a kernel compiled for a signature, unless its machine code contains addresses of this process."""
        if not compiled.library.has_dynamic_globals:
            self.save((signature, compiled.codegen.magic_tuple()), compiled._reduce())

    @property
    def is_empty(self) -> bool:
        """True if there is no file of the kernel."""
        return next(self._folder.glob(f"{self.name}.*.nbc"), None) is None

    def _path(self, key: Any) -> Path:
        # The digest is short because Windows limits the length of paths.
        return self._folder / f"{self.name}.{_digest(repr(key).encode())[:8].hex()}.nbc"

    def load(self, key: Any) -> Any:
        """Return the data saved under a key, or None if there is no valid file for the key."""
        try:
            content = read_own(self._path(key))
        except OSError:
            return None
        pickled = content[_DIGEST_BYTES:]
        if _digest(pickled) != content[:_DIGEST_BYTES]:
            return None
        stamp, saved_key, data = pickle.loads(pickled)
        return data if (stamp, saved_key) == (self._stamp, key) else None

    def save(self, key: Any, data: Any) -> None:
        """Save data under a key; file system errors are ignored."""
        pickled = dumps((self._stamp, key, data))
        path = self._path(key)
        temporary = self._folder / f"{uuid.uuid4().hex[:16]}.tmp"
        with suppress(OSError):
            try:
                # `read_own` rejects files that the group can write.
                temporary.touch(mode=0o600)
                temporary.write_bytes(_digest(pickled) + pickled)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)

    def flush(self) -> None:
        """Remove all cache files of the kernel."""
        for path in self._folder.glob(f"{self.name}.*.nbc"):
            path.unlink(missing_ok=True)


@dataclass(frozen=True)
class KernelGroup:
    """Kernels that one function compiles."""

    compile: Callable[[], None]  # function in a module, which another process imports
    kernels: tuple[Any, ...]


def compile_ahead(groups: Sequence[KernelGroup], n_threads: int) -> None:
    """Announce the missing kernels, and start to compile groups that lack some, in processes on the other cores.

    Start nothing without a cache, or with a single core or thread. The processes end with this one.
    """
    n_processes = min(n_threads, usable_cores()) - 1
    caches = [(group.compile, [each for kernel in group.kernels if (each := _files_of(kernel))]) for group in groups]
    missing = [(function, files) for function, files in caches if any(each.is_empty for each in files)]
    _expect(each for _, files in missing for each in files)
    announce()
    for first in range(min(n_processes, len(missing)) if sys.executable else 0):
        mine = missing[first::n_processes]
        functions = [function for function, _ in mine]
        code = "; ".join(f"from {each.__module__} import {each.__name__}; {each.__name__}()" for each in functions)
        # With -P, modules in the current folder are not imported.
        command, nothing = [sys.executable, "-P", "-c", code], subprocess.DEVNULL
        environment = os.environ | {"NUMBA_CACHE_DIR": str(Path(missing[0][1][0].cache_path).parent)}
        # If no process can be started, this one compiles the kernels.
        with suppress(OSError):
            process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, env=environment)
            atexit.register(process.kill)
            _processes.update((each.name, process) for _, files in mine for each in files)


def compile_missing(*groups: KernelGroup) -> None:
    """Compile, in this process, the groups that lack kernels, while other processes compile other groups."""
    _expect(files for group in groups for kernel in group.kernels if (files := _files_of(kernel)))
    for group in groups:
        if any(files.is_empty for kernel in group.kernels if (files := _files_of(kernel))):
            group.compile()


def _expect(files: Iterable[KernelFiles]) -> None:
    expected.update((each.name, partial(getattr, each, "is_empty")) for each in files)


def _files_of(kernel: Any) -> KernelFiles | None:
    """Return a kernel's cache, or None if there is none or another process compiles the kernel."""
    files = getattr(kernel, "_cache", None)
    return files if isinstance(files, KernelFiles) and files.name not in _processes else None


def wait_for(name: str, load: Callable[[], Any]) -> Any:
    """Return the first result of ``load`` that is not None, or None if no other process may compile kernel ``name``."""
    process, found = _processes.get(name), load()
    if process is None or found is not None:
        return found
    begin(name)
    try:
        while True:
            # Before loading, because the process may save the kernel and end in between.
            has_ended = process.poll() is not None
            found = load()
            if found is not None or has_ended:
                return found
            check_time()
            time.sleep(_SECONDS_BETWEEN_CHECKS)
    finally:
        end(name)

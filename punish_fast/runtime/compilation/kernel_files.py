"""Cache files of compiled kernels, and their compilation in several processes.

This module replaces Numba's cache. Numba's cache files have no checksums. If a crash or a full disk truncates a file,
every later process fails, and corrupted machine code can crash a process. Concurrent writers can damage Numba's index
of argument types, and a failed write raises an error. If Numba cannot create a folder, it might choose another folder.
In this module, each kernel and combination of argument types has its own file, which begins with a checksum. The file
name contains a digest of the kernel's sources (``kernel_digest.py``), so versions of the package can share a folder.

Within a process, Numba compiles one kernel at a time. The first run of a command therefore starts processes on the
other cores. The processes share a queue of kernel groups. Each process claims the next group with a lock and compiles
it. A process also claims each kernel that it compiles, so that other processes wait for the kernel instead of compiling
it again. When a process ends, the operating system releases its locks.
"""

from __future__ import annotations

import atexit
import importlib
import os
import pickle
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from numba.core import types
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from punish_fast.runtime.compilation.compile_progress import announce, begin, end, expected
from punish_fast.runtime.compilation.kernel_digest import digest, digest_of_file, digest_of_kernel
from punish_fast.runtime.compilation.shipped_kernels import portable, shipped_kernels, shipped_processor
from punish_fast.runtime.deadline import seconds_until_stop
from punish_fast.runtime.folders import read_own
from punish_fast.runtime.limits import usable_cores

if TYPE_CHECKING:
    from filelock import FileLock

# Name of the folder in the cache. The number is the version of the file format.
FOLDER = "kernels-1"
_DIGEST_BYTES = 16
# A stopped process keeps its claims. After this time in seconds, other processes also compile its kernels.
_LONGEST_WAIT = 60.0
_SECONDS_BETWEEN_CHECKS = 0.02


class _ClaimedError(Exception):
    """Raised if another process has claimed a kernel or a group of kernels."""


class KernelFiles:
    """Cache files of one kernel, with the interface of Numba's ``FunctionCache``. Invalid files are overwritten."""

    def __init__(self, folder: Path, function: Callable[..., Any]) -> None:
        """Use the files in ``folder`` for the kernel with the Python function ``function``."""
        self.folder, self._function = folder, function
        name = f"{function.__module__}.{function.__qualname__}.{sys.implementation.cache_tag}"
        self.name = name.replace("<", "").replace(">", "")
        self.cache_path = str(folder)
        self._claim = ExitStack()
        # Compute the digest of the source file before the file can change.
        digest_of_file(function.__code__.co_filename)

    @cached_property
    def _digest(self) -> bytes:
        # Computed on first use, because the module of the kernel is incomplete when the kernel is defined.
        return digest_of_kernel(self._function)

    @property
    def prefix(self) -> str:
        """First part of the file names for this version of the kernel."""
        return f"{self.name}.{self._digest[:6].hex()}."

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the kernel compiled for a signature, or None if it is not cached.

        If another process compiles the kernel, wait for the result.
        """
        # Machine code needs only Numba's runtime. The import of the compiler's registries would take half a second.
        rtsys.initialize(target)
        processor = target.codegen().magic_tuple()
        key = _key_of(signature, processor)
        data = self.load(key) or self._load_shipped(_key_of(signature, shipped_processor(processor[0])))
        if data is None:
            self._claim_or_wait(self._path(key))
            data = self.load(key)
        if data is None:
            return None
        self.release()
        return CompileResult._rebuild(target, *data)

    def release(self) -> None:
        """End the claim of this process, for example after a failed compilation."""
        self._claim.close()

    def _claim_or_wait(self, path: Path) -> None:
        """Claim a file of the kernel, or wait until another process has written it."""
        try:
            self._claim.enter_context(_claimed(path))
        except _ClaimedError:
            begin(self.name)
            with suppress(_ClaimedError):
                self._claim.enter_context(_claimed(path, max(0.0, min(_LONGEST_WAIT, seconds_until_stop()))))
            end(self.name)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Save a kernel compiled for a signature, unless its machine code contains addresses of this process."""
        with self._claim:
            if not compiled.library.has_dynamic_globals:
                self.save(_key_of(signature, compiled.codegen.magic_tuple()), compiled._reduce())

    def _load_shipped(self, key: Any) -> Any:
        folder = shipped_kernels().folder
        return None if folder is None else self.load(key, folder)

    def _path(self, key: Any, folder: Path | None = None) -> Path:
        # Digests in file names are short, because Windows limits the length of paths.
        return (folder or self.folder) / f"{self.prefix}{digest(repr(key).encode())[:6].hex()}.nbc"

    def load(self, key: Any, folder: Path | None = None) -> Any:
        """Return the data saved under a key, or None if no valid file exists.

        If ``folder`` is not None, it replaces the folder of this object.
        """
        try:
            # Files of shipped kernels can belong to another user, who installed the package.
            content = read_own(self._path(key)) if folder is None else self._path(key, folder).read_bytes()
        except OSError:
            return None
        pickled = content[_DIGEST_BYTES:]
        if digest(pickled) != content[:_DIGEST_BYTES]:
            return None
        try:
            stamp, saved_key, data = pickle.loads(pickled)
        except Exception:  # for example, an old file refers to a missing module
            return None
        return data if (stamp, saved_key) == (self._digest, key) else None

    def save(self, key: Any, data: Any) -> None:
        """Save data under a key. Ignore file system errors."""
        pickled = dumps((self._digest, key, data))
        path = self._path(key)
        temporary = self.folder / f"{uuid.uuid4().hex[:16]}.tmp"
        with suppress(OSError):
            try:
                # `read_own` rejects files with write permission for the group.
                temporary.touch(mode=0o600)
                temporary.write_bytes(digest(pickled) + pickled)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)

    def origin(self) -> str:
        """Return the origin of the files for this version of the kernel: ``compiled``, ``shipped`` or ``missing``."""
        for origin, folder in {"compiled": self.folder, "shipped": shipped_kernels().folder}.items():
            if folder is not None and any(folder.glob(f"{self.prefix}*.nbc")):
                return origin
        return "missing"

    def is_missing(self, n_files: int = 1) -> bool:
        """Return True if every folder contains fewer than ``n_files`` files for this version of the kernel."""
        folders = [folder for folder in (self.folder, shipped_kernels().folder) if folder is not None]
        return all(len(list(folder.glob(f"{self.prefix}*.nbc"))) < n_files for folder in folders)

    def flush(self) -> None:
        """Remove all cache files of the kernel for this version of Python."""
        for path in self.folder.glob(f"{self.name}.*.nbc"):
            path.unlink(missing_ok=True)


def _key_of(signature: Any, processor: tuple[str, str, str]) -> Any:
    """Return the key of a compilation: argument types, fields of all named tuples among them, and processor."""
    triple, *others = processor
    return signature, tuple(_layouts(signature)), (portable(triple), *others)


def _layouts(found: Any) -> Iterator[Any]:
    """Yield the fields of all named tuples in a signature or type."""
    if isinstance(found, types.NamedTuple | types.NamedUniTuple):
        yield found.instance_class.__module__, found.instance_class.__qualname__, found.instance_class._fields
    if isinstance(found, tuple | types.Tuple | types.UniTuple | types.NamedTuple | types.NamedUniTuple):
        for item in tuple(found):
            yield from _layouts(item)


def remove_old_kernels(folder: Path, current: Sequence[KernelFiles]) -> None:
    """Remove files of this Python version that belong to none of the ``current`` kernels."""
    kept = tuple(files.prefix for files in current)
    for path in folder.glob(f"*.{sys.implementation.cache_tag}.*"):
        # Windows does not remove files that another process has open.
        with suppress(OSError):
            if not path.name.startswith(kept):
                path.unlink()


@contextmanager
def _claimed(path: Path, seconds: float = 0) -> Iterator[None]:
    """Claim a kernel or a group for the block. If locks are unavailable or the folder is read-only, claim nothing.

    Raises:
        _ClaimedError: If another process still holds the claim after ``seconds`` seconds.
    """
    # Imported here, because only compilation needs it.
    from filelock import FileLock, Timeout

    lock = FileLock(f"{path}.lock", timeout=seconds)
    with ExitStack() as stack:
        try:
            lock.acquire(poll_interval=_SECONDS_BETWEEN_CHECKS)
            stack.callback(_release, lock)
        except Timeout:
            raise _ClaimedError(path) from None
        except (OSError, NotImplementedError):
            # Locks are unavailable, or the folder is read-only.
            pass
        yield


def _release(lock: FileLock) -> None:
    """Release a lock and, except on Windows, remove its file.

    A process that waits for the removed file only loads the compiled kernel afterwards, so it needs no lock.
    """
    with suppress(OSError):
        Path(lock.lock_file).unlink()
    lock.release()


@dataclass(frozen=True, eq=False)
class KernelGroup:
    """Kernels that are compiled together. Compilation is fastest if the kernels of a group share routines."""

    # Function at the top level of a module that calls all kernels, possibly without items.
    call: Callable[[], object]
    kernels: tuple[Any, ...]
    n_signatures: int = 1  # number of signatures for which this group and earlier groups compile each kernel

    def __post_init__(self) -> None:
        _groups[self.name] = self

    @property
    def name(self) -> str:
        """Name of the module and of the function, separated by a colon."""
        return f"{self.call.__module__}:{self.call.__name__}"

    def missing(self) -> list[KernelFiles]:
        """Return the caches of all kernels that are not compiled. The list is empty if caching is disabled."""
        caches = [getattr(kernel, "_cache", None) for kernel in self.kernels]
        return [each for each in caches if isinstance(each, KernelFiles) and each.is_missing(self.n_signatures)]

    def compile(self) -> None:
        """Compile or load the kernels."""
        global _group  # noqa: PLW0603 - a setting of the process
        _group = self
        try:
            self.call()
        finally:
            _group = None

    def compile_missing(self) -> None:
        """Compile the group, unless all kernels are cached or another process compiles the group."""
        with suppress(_ClaimedError):
            for files in self.missing()[:1]:
                with _claimed(files.folder / self.name.replace(":", ".")):
                    if self.missing():
                        self.compile()

    def load_in_background(self) -> None:
        """If the kernels are cached, load them in another thread. A thread that calls a kernel waits for it."""

        def load() -> None:
            # Ignore errors here, because the thread that calls the kernel reports them.
            with suppress(Exception):
                self.compile()

        if isinstance(getattr(self.kernels[0], "_cache", None), KernelFiles) and not self.missing():
            Thread(target=load, daemon=True).start()


# Group that this process compiles now.
_group: KernelGroup | None = None


def is_called_for_nothing(kernel: Callable[..., None]) -> bool:
    """Return True if a function must be called even without items, because its group is being compiled."""
    return _group is not None and (kernel in _group.kernels or not hasattr(kernel, "py_func"))


# All groups by name.
_groups: dict[str, KernelGroup] = {}
# Processes that compile kernels for this process.
_processes: list[subprocess.Popen[bytes]] = []


def compile_kernels(groups: Sequence[KernelGroup], n_threads: int, later: Sequence[KernelGroup] = ()) -> None:
    """Compile the missing kernels of groups in this process and, if ``n_threads`` exceeds 1, in other processes.

    The other processes then compile the groups ``later``, and end with this process at the latest. Later calls start
    fewer processes while others are running. If no process can be started, this process compiles all ``groups``.
    """
    missing = [group for group in dict.fromkeys((*groups, *later)) if group.missing()]
    files = [each for group in missing for each in group.missing()]
    needed = [each for group in groups for each in group.missing()]
    expected.update((each.name, each.is_missing) for each in needed)
    announce()
    n_running = sum(process.poll() is None for process in _processes)
    n_wanted = min(n_threads, usable_cores(), len(missing) + (not needed)) - 1 if sys.executable else 0
    for _ in range(n_running, n_wanted):
        code = f"from {__name__} import compile_by_name as c; c({[group.name for group in missing]})"
        # The option -P prevents imports of modules from the current folder.
        command, nothing = [sys.executable, "-P", "-c", code], subprocess.DEVNULL
        environment = os.environ | {"NUMBA_CACHE_DIR": str(files[0].folder.parent)}
        with suppress(OSError):
            _processes.append(subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, env=environment))
            atexit.register(_processes[-1].kill)
    for group in groups:
        group.compile_missing()


def compile_by_name(names: Sequence[str]) -> None:
    """Compile the missing kernels of groups in this process, given the names of the groups."""
    for name in names:
        importlib.import_module(name.partition(":")[0])
        _groups[name].compile_missing()

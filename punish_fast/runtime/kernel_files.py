"""Files of compiled kernels.

Numba's own files have no checksum. One that was cut short by a crash or a full disk makes every later process fail, and
changed machine code may crash it. Numba's index of the types of a kernel also does not survive two writers, its cache
raises an error if machine code cannot be saved, and without room for a folder it may choose one that no digest names.
Here each kernel has one file for each combination of argument types, which begins with a checksum of its contents.
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
import sys
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

_DIGEST_BYTES = 16


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()


@cache
def _stamp_of(path: str) -> bytes:
    return _digest(Path(path).read_bytes())


class KernelFiles:
    """The files of one kernel, with the interface of Numba's ``FunctionCache``.

    If a file is missing, damaged or outdated, the kernel is compiled and the file is replaced.
    """

    def __init__(self, folder: Path, name: str, stamp: Any) -> None:
        """Store compilations in ``folder`` as ``name.*.nbc``; those saved with another ``stamp`` are outdated."""
        self._folder, self._name, self._stamp = folder, name, stamp
        self.cache_path = str(folder)

    @classmethod
    def of(cls, function: Callable[..., Any], folder: Path) -> KernelFiles:
        """The files of a function; they are outdated if its source file has changed."""
        name = f"{function.__module__}.{function.__qualname__}.{sys.implementation.cache_tag}"
        return cls(folder, name.replace("<", "").replace(">", ""), _stamp_of(inspect.getfile(function)))

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the kernel compiled for a signature, or None."""
        target.refresh()
        data = self.load((signature, target.codegen().magic_tuple()))
        return None if data is None else CompileResult._rebuild(target, *data)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Save a kernel compiled for a signature, unless its machine code has addresses of this process."""
        if not compiled.library.has_dynamic_globals:
            self.save((signature, compiled.codegen.magic_tuple()), compiled._reduce())

    def _path(self, key: Any) -> Path:
        # Short names, since Windows limits the length of paths.
        return self._folder / f"{self._name}.{_digest(repr(key).encode())[:8].hex()}.nbc"

    def load(self, key: Any) -> Any:
        """Return the compilation saved under a key, or None."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        pickled = content[_DIGEST_BYTES:]
        if _digest(pickled) != content[:_DIGEST_BYTES]:
            return None
        stamp, saved_key, data = pickle.loads(pickled)
        return data if (stamp, saved_key) == (self._stamp, key) else None

    def save(self, key: Any, data: Any) -> None:
        """Save a compilation under a key; without room or permission, it is not saved."""
        pickled = dumps((self._stamp, key, data))
        path = self._path(key)
        temporary = self._folder / f"{uuid.uuid4().hex[:16]}.tmp"
        with suppress(OSError):
            try:
                temporary.write_bytes(_digest(pickled) + pickled)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)

    def flush(self) -> None:
        """Remove all files of the kernel."""
        for path in self._folder.glob(f"{self._name}.*.nbc"):
            path.unlink(missing_ok=True)

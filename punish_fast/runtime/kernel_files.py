"""Files of compiled kernels.

Numba's own files have no checksum. One that was cut short by a crash or a full disk makes every later process fail, and
changed machine code may crash it. Numba's index of the types of a kernel also does not survive two writers. Here each
kernel has one file for each combination of argument types, which begins with a checksum of its contents.
"""

from __future__ import annotations

import hashlib
import pickle
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.serialize import dumps

_DIGEST_BYTES = 16


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()


class KernelFiles:
    """The files of one kernel, with the interface of Numba's ``IndexDataCacheFile``.

    If a file is missing, damaged or outdated, the kernel is compiled and the file is replaced.
    """

    def __init__(self, folder: Path, name: str, stamp: Any) -> None:
        """Store compilations in ``folder`` as ``name.*.nbc``; those saved with another ``stamp`` are outdated."""
        self._folder, self._name, self._stamp = folder, name, stamp

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

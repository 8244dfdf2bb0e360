"""Versions that the results of a process depend on, to compare workers of a cluster with their client."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numba
import numpy as np
import scipy

from punish_fast.runtime import _jit
from punish_fast.runtime.version import __version__

_PACKAGE = Path(__file__).parent.parent


@cache
def versions() -> dict[str, str]:
    """Return the versions of this process by name: the package, a digest of all its files, and libraries.

    The first call decides, since files may be replaced while a process runs the code that it has imported.
    """
    return {
        "punish-fast": __version__,
        "files of punish-fast with digest": digest_of(_PACKAGE),
        "NumPy": np.__version__,
        "Numba": numba.__version__,
        "SciPy": scipy.__version__,
        "NUMBA_OPT": str(_jit.config.OPT),
        "NUMBA_BOUNDSCHECK": str(_jit.config.BOUNDSCHECK),
    }


def digest_of(folder: Path) -> str:
    """Return a digest of the names and contents of all files below a folder, except bytecode: 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return digest.hexdigest()[:16]


def differences(worker: Mapping[str, str], client: Mapping[str, str]) -> str:
    """Return the versions in which a worker differs from its client, as text; empty if there are none."""
    return ", ".join(
        f"{name} {worker.get(name)} instead of {own}" for name, own in client.items() if worker.get(name) != own
    )

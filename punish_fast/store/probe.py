"""Opening a file that may have been made to harm HDF5, in a process of its own first.

A crash, an endless loop or a flood of memory then ends that process. It does what the reader does before it trusts the
structure (``structure.py``), and visits every chunk.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from punish_fast.runtime.files import ReadError
from punish_fast.store.structure import look, visit_chunks

# The exit code of a refusal that is told on stdout.
REFUSED = 3
_SECONDS = 20
_BYTES = 2 << 30
_PACKAGE = Path(__file__).parents[2]


def probe(path: Path) -> None:
    """Check that HDF5 survives a file.

    Raises:
        ReadError: it does not.
    """
    paths = os.pathsep.join([str(_PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-P", "-m", __name__, str(path.absolute())]
    environment = os.environ | {"PYTHONPATH": paths}
    nowhere, pipe = subprocess.DEVNULL, subprocess.PIPE
    try:
        child = subprocess.run(
            command, env=environment, stdin=nowhere, stdout=pipe, stderr=nowhere, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise ReadError(f"{path}: not a readable HDF5 file (reading it does not end)") from None
    except (OSError, ValueError) as error:
        raise ReadError(f"{path}: cannot be checked before it is opened ({type(error).__name__})") from None
    if child.returncode != 0:
        told = child.stdout.decode(errors="replace") if child.returncode == REFUSED else ""
        raise ReadError(f"{path}: {told or 'not a readable HDF5 file (HDF5 fails on it)'}")


def _limit() -> None:
    try:
        import resource
    except ImportError:  # not a POSIX system
        return
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _main(path: Path) -> int:
    _limit()
    try:
        look(path)
        visit_chunks(path)
    except ReadError as error:
        os.write(1, str(error).removeprefix(f"{path}: ").encode(errors="replace"))
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(_main(Path(sys.argv[1])))

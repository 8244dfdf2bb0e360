"""Atomic writing of files, including CSV tables, and checks of paths.

A file is written under a temporary name in the same folder, flushed to disk and renamed, so the old file remains until
the new file is complete. If a process is killed, the next process on this machine that writes to the folder removes the
temporary file.
"""

import csv
import itertools
import os
import platform
import re
import shutil
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from punish_fast.runtime.errors import OutputError, WriteError

_numbers = itertools.count()
# Unfinished temporary files of this process.
_temporaries: set[Path] = set()
# Checksum of this machine's name. A process id is meaningful only on one machine.
_MACHINE = f"{zlib.crc32(platform.node().encode()):08x}"
# Name of a temporary file: final name, machine, process id, and a number.
_TEMPORARY = re.compile(rf"\..+\.{_MACHINE}-([0-9]{{1,9}})-[0-9]+\.tmp", re.DOTALL)

# First bytes of SQLite databases, and of this package's files, which consist of a seal and HDF5 data.
SQLITE, SEALED = b"SQLite format 3\0", b"punish-fast\n"
_KINDS = {SQLITE: "an SQLite database", SEALED: "an HDF5 file", b"\x89HDF\r\n\x1a\n": "an HDF5 file"}
_KINDS |= {b"\x1f\x8b": "a gzip file", b"BZh": "a bzip2 file", b"\xfd7zXZ\0": "an xz file", b"PK\3\4": "a zip file"}
_KINDS |= dict.fromkeys((b"<!doctype html", b"<html"), "a web page")


def _temporary_of(path: Path) -> Path:
    return path.parent / f".{path.name}.{_MACHINE}-{os.getpid()}-{next(_numbers)}.tmp"


def discard_temporaries() -> None:
    """Remove all temporary files of this process before it terminates."""
    for temporary in list(_temporaries):
        with suppress(OSError):
            temporary.unlink()
    _temporaries.clear()


def _remove_leftovers(path: Path) -> None:
    """Remove temporary files of dead processes on this machine from the folder of ``path``."""
    import psutil

    with suppress(OSError):
        for leftover in path.parent.iterdir():
            found = _TEMPORARY.fullmatch(leftover.name)
            if found is not None and not psutil.pid_exists(int(found[1])):
                leftover.unlink()


def check_output(path: Path) -> None:
    """Raise `OutputError` if no file can be written to ``path``. The message states the reason."""
    try:
        # Keep symbolic links, and replace their targets.
        target = Path(os.path.realpath(path))
        if path.is_dir():
            raise OutputError(f"{path}: is a folder, not a file to write")
        for folder in (path.parent, target.parent):
            if not folder.is_dir():
                raise OutputError(f"{path}: there is no folder {folder}")
        if (path.exists() and not path.is_file()) or _is_standard_stream(path):
            raise OutputError(f"{path}: is not a regular file and will not be replaced")
        probe = _temporary_of(target)
        _temporaries.add(probe)
        probe.touch()
        probe.unlink()
        _temporaries.discard(probe)
    except OSError as error:
        raise OutputError(f"{path}: cannot write here ({error.strerror})") from None


def fault_of_input(path: str | os.PathLike[str]) -> str | None:
    """Return the reason why a path is not a regular file, or None if it is a regular file."""
    # Reject pipes, because a read from a pipe can block and is possible only once.
    # Unlike the methods of Path, these functions accept invalid file names.
    if os.path.isfile(path):  # noqa: PTH113
        return None
    if os.path.isdir(path):  # noqa: PTH112
        return "is a folder"
    return "is not a regular file; save it as one" if os.path.exists(path) else "no such file"  # noqa: PTH110


def kind_of(content: bytes) -> str | None:
    """Return the kind of a file, given its content, or None if the kind is unknown."""
    # A web page can begin with a byte order mark and blanks, and its tags can be upper case.
    tag = content[:1000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return next((kind for first, kind in _KINDS.items() if content.startswith(first) or tag.startswith(first)), None)


def _is_standard_stream(path: Path) -> bool:
    """Return True if a path refers to the same file as a standard stream, for example ``/dev/stdout``."""
    for descriptor in range(3):
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return True
    return False


def explain(path: Path, error: OSError) -> WriteError:
    """Convert an OSError from writing ``path`` to a `WriteError` with a one-line message."""
    text = error.strerror or str(error) or type(error).__name__
    return WriteError(f"{path}: cannot be written ({text.splitlines()[0]}); nothing was changed")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file. Rename the file to ``path`` after the block, or remove it if the block fails.

    Raises `OutputError` if ``path`` is not writable, and `WriteError` if the block, the flush or the renaming raises
    OSError.
    """
    check_output(path)
    named, path = path, Path(os.path.realpath(path))
    _remove_leftovers(path)
    temporary = _temporary_of(path)
    _temporaries.add(temporary)
    try:
        yield temporary
        # Windows can flush only descriptors that are open for writing.
        descriptor = os.open(temporary, os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if path.exists():
            shutil.copymode(path, temporary)
        temporary.replace(path)
    except OSError as error:
        raise explain(named, error) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
            _temporaries.discard(temporary)


def write_text(path: Path, text: str) -> None:
    """Write text to a UTF-8 file atomically. Raise the same errors as `replacing`."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_csv(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write a UTF-8 CSV file with a header row. Cells with None are empty, and floats keep all digits."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))

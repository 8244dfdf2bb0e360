"""The members of a UMB file: a tar archive, plain or compressed by gzip, bzip2 or xz.

The archive comes from anywhere, so it is read once from begin to end, in pieces, and only its plain files: sizes that
an archive claims are believed only as far as its content goes, and no more is unpacked than the machine has memory for.
"""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from punish_fast.runtime.files import ReadError
from punish_fast.runtime.memory import total_memory
from punish_fast.runtime.printable import printable

_PIECE = 1 << 20
_MOST_MEMBERS = 100_000
# Where the system does not tell how much memory there is.
_USUAL_MEMORY = 8 << 30


def read_members(path: Path, is_wanted: Callable[[str], bool]) -> dict[str, bytearray]:
    """The contents of the wanted files of an archive, by name.

    Raises:
        ReadError: it is no archive, is damaged, has links or a name twice, or would not fit into memory.
    """
    members: dict[str, bytearray] = {}
    with _opened(path) as archive:
        for number, member in enumerate(archive):
            name = printable(member.name)
            if number >= _MOST_MEMBERS:
                raise ReadError(f"{path}: has more than {_MOST_MEMBERS:,} members")
            if member.isdir():
                continue
            if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
                raise ReadError(f"{path}: {name} is a link or a special file, allowed are plain files")
            if not is_wanted(member.name):
                continue
            if member.name in members:
                raise ReadError(f"{path}: {name} comes twice")
            members[member.name] = _content(path, archive, member)
    return members


def _content(path: Path, archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytearray:
    stream = archive.extractfile(member)
    assert stream is not None
    content = bytearray()
    while piece := stream.read(min(_PIECE, member.size - len(content))):
        content += piece
    if len(content) != member.size:
        raise ReadError(f"{path}: {printable(member.name)} is cut off after {len(content):,} bytes")
    return content


class _Limited(io.RawIOBase):
    """A stream that may not be longer than the machine has memory for."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        super().__init__()
        self._path, self._stream = path, stream
        self._left = total_memory() or _USUAL_MEMORY

    def read(self, size: int = -1) -> bytes:
        """Read on.

        Raises:
            ReadError: that would be too much.
        """
        piece = self._stream.read(size)
        self._left -= len(piece)
        if self._left < 0:
            raise ReadError(f"{self._path}: its content does not fit into the memory of this machine")
        return piece


@contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    """The archive, whose faults become errors of one line."""
    import lzma

    try:
        with (
            path.open("rb") as file,
            _unpacked(file) as stream,
            tarfile.open(fileobj=_Limited(path, stream), mode="r|", bufsize=_PIECE) as archive,
        ):
            yield archive
    except OSError as error:
        # Modules of compression have no number of an error of the system.
        told = f"cannot be read ({error.strerror})" if error.errno is not None else "is damaged"
        raise ReadError(f"{path}: {told}") from None
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, ValueError, OverflowError) as error:
        why = printable(str(error)) or type(error).__name__
        raise ReadError(f"{path}: not a readable UMB file, which is a tar archive ({why})") from None


def _unpacked(file: IO[bytes]) -> Any:
    """The content of a file, unpacked while it is read."""
    import bz2
    import gzip
    import lzma

    head = file.read(8)
    file.seek(0)
    if head.startswith(b"\x1f\x8b"):
        return gzip.open(file, "rb")
    if head.startswith(b"BZh"):
        return bz2.open(file, "rb")
    if head.startswith(b"\xfd7zXZ\x00"):
        return lzma.open(file, "rb")
    return file

"""Read the members of a UMB file: a tar archive, either plain or compressed by gzip, bzip2 or xz.

The archive is untrusted, and its headers can contain any values, so `tarfile` reads them through a stream that limits
their length. Members that are not needed are skipped, by seeking in plain files and up to a limit in compressed ones.
The number of members and the size of their contents are limited, too.
"""

from __future__ import annotations

import os
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from punish_fast.runtime.files import ReadError, fault_of_input
from punish_fast.runtime.limits import total_memory
from punish_fast.runtime.printable import printable

INDEX = "index.json"

_PIECE = 1 << 20
_MOST_MEMBERS = 20_000
_LARGEST_INDEX = 1 << 23
# Maximum size of all GNU and pax headers, which contain long names.
_LARGEST_HEADERS = 1 << 21
# Maximum number of unpacked bytes of a compressed file: a constant, plus a multiple of the file size, which is smaller
# for skipped members. Models are compressed about 10:1, zeros 1000:1 to 1,000,000:1.
_MOST_UNPACKED, _READ_BY_BYTE, _SKIPPED_BY_BYTE = 1 << 27, 1024, 32
# Assumed memory if the system does not report it.
_USUAL_MEMORY = 8 << 30


def read_index(path: Path) -> bytearray:
    """Read ``index.json``."""
    for _, content in _members(path, lambda name: name == INDEX, _LARGEST_INDEX):
        return content
    raise ReadError(f"{path}: {INDEX} is missing")


def read_members(path: Path, is_needed: Callable[[str], bool], largest: int) -> dict[str, bytearray]:
    """Read the index and all members with a needed name, each of at most ``largest`` bytes."""
    members: dict[str, bytearray] = {}
    for name, content in _members(path, lambda name: name == INDEX or is_needed(name), largest):
        if name in members:
            raise ReadError(f"{path}: {printable(name)} comes twice")
        members[name] = content
    return members


def _members(path: Path, is_needed: Callable[[str], bool], largest: int) -> Iterator[tuple[str, bytearray]]:
    """Iterate over names and contents of needed members."""
    left = total_memory() or _USUAL_MEMORY
    with _opened(path) as stream, tarfile.open(fileobj=stream, mode="r:", encoding="utf-8") as archive:
        for number, member in enumerate(archive):
            name = printable(member.name)
            if number >= _MOST_MEMBERS:
                raise ReadError(f"{path}: has more than {_MOST_MEMBERS:,} members")
            if not member.isdir() and (not member.isreg() or member.issparse()):
                raise ReadError(f"{path}: {name} is a link or a special file, allowed are plain files")
            if member.size < 0:
                raise ReadError(f"{path}: {name} has {member.size:,} bytes")
            if not member.isreg() or not is_needed(member.name):
                continue
            if member.size > largest:
                raise ReadError(f"{path}: {name} has {member.size:,} bytes, allowed are {largest:,}")
            left -= member.size
            if left < 0:
                raise ReadError(f"{path}: its content does not fit into the memory of this machine")
            yield member.name, stream.content(name, member.size)
        if stream.last_header.strip(b"\0"):
            # `tarfile` takes a damaged header for the end.
            raise ReadError(f"{path}: a header is damaged or cut off")
        stream.finish()


class _Stream:
    """The unpacked content of a file, with limits; `tarfile` reads headers and skips members."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.last_header = b""
        self._path, self._stream = path, _unpacked(file)
        self._is_plain = self._stream is file
        self._size = os.fstat(file.fileno()).st_size
        self._may_read = _MOST_UNPACKED + _READ_BY_BYTE * self._size
        self._may_skip = _MOST_UNPACKED + _SKIPPED_BY_BYTE * self._size
        self._may_extend = _LARGEST_HEADERS

    def tell(self) -> int:
        return int(self._stream.tell())

    def read(self, size: int) -> bytes:
        """Read a header block, or an extended header."""
        self._may_extend -= size if size > tarfile.BLOCKSIZE else 0
        if size < 0 or self._may_extend < 0:
            raise self._fault(f"its headers have more than {_LARGEST_HEADERS:,} bytes")
        self._count(size, is_read=False)
        self.last_header = self._stream.read(size)
        return self.last_header

    def seek(self, position: int) -> None:
        if self._is_plain and position > self._size:
            raise self._fault("is cut off in the middle of a member")
        self._count(position - self.tell(), is_read=False)
        self._stream.seek(position)

    def content(self, name: str, size: int) -> bytearray:
        """Read the content of a member, which follows its header."""
        self._count(size, is_read=True)
        content = bytearray()
        while len(content) < size:
            piece = self._stream.read(min(_PIECE, size - len(content)))
            if not piece:
                raise self._fault(f"{name} is cut off after {len(content):,} bytes")
            content += piece
        return content

    def finish(self) -> None:
        """Read a compressed file to its end, which verifies its checksum."""
        while not self._is_plain and (piece := self._stream.read(_PIECE)):
            self._count(len(piece), is_read=False)

    def _count(self, size: int, is_read: bool) -> None:
        """Count unpacked bytes and check the limits of compressed files."""
        self._may_read -= size
        self._may_skip -= 0 if is_read else size
        if not self._is_plain and min(self._may_read, self._may_skip) < 0:
            raise self._fault("unpacks to too many bytes for its size; store it without compression")

    def _fault(self, what: str) -> ReadError:
        return ReadError(f"{self._path}: {what}")


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open an archive, and convert its errors to `ReadError` with a message of one line."""
    import lzma

    if fault := fault_of_input(path):
        raise ReadError(f"{path}: {fault}")
    try:
        with path.open("rb") as file:
            yield _Stream(path, file)
    except OSError as error:
        # Compression modules raise OSError without a number.
        told = f"cannot be read ({error.strerror})" if error.errno is not None else "is damaged"
        raise ReadError(f"{path}: {told}") from None
    except RecursionError:
        raise ReadError(f"{path}: a member has too many headers") from None
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, ValueError) as error:
        why = printable(str(error)) or type(error).__name__
        raise ReadError(f"{path}: not a readable UMB file, which is a tar archive ({why})") from None


def _unpacked(file: IO[bytes]) -> Any:
    """Return a stream of the content of a file, decompressed on the fly."""
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

"""Reader of the members of a UMB file: a tar archive, either plain or compressed with gzip, bzip2 or xz.

The archive is untrusted, and its headers can contain any values. `tarfile` is used only to parse header blocks of 512
bytes, because it would need quadratic time and memory for some pax records and sparse members. Members that are not
needed are skipped, in plain files by seeking and in compressed files by reading up to a limit. The number of members,
the lengths of their names and the sizes of their contents are limited as well.
"""

import os
import tarfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from punish_fast.runtime.errors import ReadError, printable
from punish_fast.runtime.files import fault_of_input
from punish_fast.runtime.limits import total_memory

INDEX = "index.json"

_BLOCK = 512
_PIECE = 1 << 20
_MOST_MEMBERS = 20_000
_LARGEST_INDEX = 1 << 23
# Maximum total size in bytes of all GNU and pax headers, which contain long names.
_LARGEST_HEADERS = 1 << 21
# Maximum number of unpacked bytes of a compressed file: a constant plus a multiple of the file size. The factor is
# smaller for skipped members. Models are compressed by a factor of about 10, zeros by 1000 to 1,000,000.
_MOST_UNPACKED, _READ_BY_BYTE, _SKIPPED_BY_BYTE = 1 << 27, 1024, 32
# Assumed memory if the system does not report it.
_USUAL_MEMORY = 8 << 30
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE)
_PAX = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_IGNORED = (tarfile.XGLTYPE, tarfile.GNUTYPE_LONGLINK)


def read_index(path: Path) -> bytearray:
    """Return the content of ``index.json``."""
    for _, content in _members(path, {INDEX}, _LARGEST_INDEX):
        return content
    raise ReadError(f"{path}: {INDEX} is missing")


def read_members(path: Path, needed: Collection[str], largest: int) -> dict[str, bytearray]:
    """Return the contents of the index and of all needed members, by name; ``largest`` limits their sizes in bytes."""
    members: dict[str, bytearray] = {}
    for name, content in _members(path, {INDEX, *needed}, largest):
        if name in members:
            raise ReadError(f"{path}: {printable(name)} appears twice")
        members[name] = content
    return members


def _members(path: Path, needed: Collection[str], largest: int) -> Iterator[tuple[str, bytearray]]:
    """Yield the names and contents of needed members."""
    left = total_memory() or _USUAL_MEMORY
    with _opened(path) as archive:
        for name, size in archive.members():
            if name not in needed:
                archive.skip(name, size)
                continue
            if size > largest:
                raise ReadError(f"{path}: {printable(name)} has {size:,} bytes; the maximum is {largest:,}")
            left -= size
            if left < 0:
                raise ReadError(f"{path}: its content does not fit into the memory of this machine")
            yield name, archive.content(name, size)


class _Archive:
    """Members of a tar archive, in order."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._stream = path, _unpacked(file)
        self._is_plain = self._stream is file
        self._size = os.fstat(file.fileno()).st_size
        self._may_read = _MOST_UNPACKED + _READ_BY_BYTE * self._size
        self._may_skip = _MOST_UNPACKED + _SKIPPED_BY_BYTE * self._size
        self._may_extend = _LARGEST_HEADERS

    def members(self) -> Iterator[tuple[str, int]]:
        """Yield the names and sizes of plain files; the caller must call `content` or `skip` for each."""
        extension: dict[str, str] = {}
        for number in range(_MOST_MEMBERS + 1):
            block = self._stream.read(_BLOCK)
            if not block.strip(b"\0") and (block or number):
                break
            header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
            name, size = extension.get("path", header.name), int(extension.get("size", header.size))
            if header.type in (tarfile.GNUTYPE_LONGNAME, *_PAX, *_IGNORED):
                extension |= self._extension(header)
                continue
            if header.type != tarfile.DIRTYPE:
                if header.type not in _FILES or any(key.startswith("GNU.sparse") for key in extension):
                    raise self._fault(f"{printable(name)} is a link or a special file; it must be a plain file")
                if size < 0:
                    raise self._fault(f"{printable(name)} has {size:,} bytes")
                yield name, size
                self.skip(name, -size % _BLOCK)
            extension = {}
        else:
            raise self._fault(f"has more than {_MOST_MEMBERS:,} members")
        # Reading a compressed file to its end verifies its checksum.
        while not self._is_plain and (piece := self._stream.read(_PIECE)):
            self._count(len(piece), is_read=False)

    def content(self, name: str, size: int) -> bytearray:
        """Read and return the content of a member, of ``size`` bytes."""
        self._check_end(name, size)
        self._count(size, is_read=True)
        content = bytearray()
        while len(content) < size:
            piece = self._stream.read(min(_PIECE, size - len(content)))
            if not piece:
                raise self._fault(f"{printable(name)} is cut off after {len(content):,} bytes")
            content += piece
        return content

    def skip(self, name: str, size: int) -> None:
        """Skip ``size`` bytes of a member."""
        self._check_end(name, size)
        if self._is_plain:
            self._stream.seek(size, os.SEEK_CUR)
            return
        self._count(size, is_read=False)
        while size:
            piece = self._stream.read(min(_PIECE, size))
            if not piece:
                raise self._fault(f"{printable(name)} is cut off; {size:,} bytes are missing")
            size -= len(piece)

    def _extension(self, header: tarfile.TarInfo) -> dict[str, str]:
        """Read attributes of the next member, a long name or pax records, from an extended header."""
        self._may_extend -= header.size
        if header.size < 0 or self._may_extend < 0:
            raise self._fault(f"its headers have more than {_LARGEST_HEADERS:,} bytes")
        content = bytes(self.content("a header", header.size))
        self.skip("a header", -header.size % _BLOCK)
        if header.type == tarfile.GNUTYPE_LONGNAME:
            return {"path": content.rstrip(b"\0").decode(errors="surrogateescape")}
        records, begin = {}, 0
        end = len(content.rstrip(b"\0")) if header.type in _PAX else 0
        while begin < end:
            blank = content.find(b" ", begin)
            stop = begin + int(content[begin:blank]) if content[begin:blank].isdigit() else end + 1
            if stop > end or stop <= blank:
                raise self._fault("a pax header is damaged")
            key, _, value = content[blank + 1 : stop - 1].partition(b"=")
            records[key.decode(errors="replace")] = value.decode(errors="surrogateescape")
            begin = stop
        return records

    def _check_end(self, name: str, size: int) -> None:
        if self._is_plain and size > self._size - self._stream.tell():
            raise self._fault(f"{printable(name)} is cut off; the file ends before its {size:,} bytes do")

    def _count(self, size: int, is_read: bool) -> None:
        """Count unpacked bytes; raise `ReadError` if a compressed file exceeds its limits."""
        self._may_read -= size
        self._may_skip -= 0 if is_read else size
        if not self._is_plain and min(self._may_read, self._may_skip) < 0:
            raise self._fault("unpacks to too many bytes for its size; store it without compression")

    def _fault(self, what: str) -> ReadError:
        return ReadError(f"{self._path}: {what}")


@contextmanager
def _opened(path: Path) -> Iterator[_Archive]:
    """Open an archive, and convert its errors to `ReadError` with a one-line message."""
    import lzma

    if fault := fault_of_input(path):
        raise ReadError(f"{path}: {fault}")
    try:
        with path.open("rb") as file:
            yield _Archive(path, file)
    except OSError as error:
        # For damaged files, compression modules raise OSError without errno.
        told = f"cannot be read ({error.strerror})" if error.errno is not None else "is damaged"
        raise ReadError(f"{path}: {told}") from None
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, ValueError, OverflowError) as error:
        why = printable(str(error)) or type(error).__name__
        raise ReadError(f"{path}: not a readable UMB file, which is a tar archive ({why})") from None


def _unpacked(file: IO[bytes]) -> Any:
    """Return a stream of a file's content, which is decompressed, if necessary, while it is read."""
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

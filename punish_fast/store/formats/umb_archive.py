"""Reader of UMB files: a tar archive, either plain or compressed with gzip, bzip2 or xz.

The archive is untrusted: a header can specify any size, and compressed zeros take almost no space. Therefore, the
number of members, the sizes of headers and members, and the unpacked size of the file are limited.
"""

import os
import tarfile
from collections.abc import Collection, Iterator
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from punish_fast.runtime.errors import ReadError, printable
from punish_fast.runtime.files import fault_of_input
from punish_fast.runtime.limits import total_memory

INDEX = "index.json"

_MOST_MEMBERS = 20_000
_LARGEST_INDEX = 1 << 23
# Sizes in bytes: maximum size of a header, usual total size of a member's headers, and maximum excess over all members.
# Pax headers contain long names, and old versions of `tarfile` parse pax headers in quadratic time.
_LARGEST_HEADER, _USUAL_HEADERS, _MOST_HEADERS = 1 << 12, 1 << 11, 1 << 19
# Maximum unpacked size in bytes of a compressed file: a constant plus a multiple of the file size.
# Compression shrinks models about tenfold, and zeros by a factor of 1,000 to 1,000,000.
_MOST_UNPACKED, _UNPACKED_BY_BYTE = 1 << 27, 256
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\0": "lzma"}


def read_index(path: Path) -> bytearray:
    """Return the content of ``index.json``."""
    for _, content in _members(path, {INDEX}, _LARGEST_INDEX):
        return content
    raise ReadError(f"{path}: {INDEX} is missing")


def read_members(path: Path, needed: Collection[str], largest: int) -> dict[str, bytearray]:
    """Return the index and all ``needed`` members by name. ``largest`` is the maximum size of a member in bytes."""
    members: dict[str, bytearray] = {}
    for name, content in _members(path, {INDEX, *needed}, largest):
        if name in members:
            raise ReadError(f"{path}: {printable(name)} appears twice")
        members[name] = content
    return members


def _members(path: Path, needed: Collection[str], largest: int) -> Iterator[tuple[str, bytearray]]:
    """Yield the names and contents of ``needed`` members. Convert all errors to a one-line `ReadError`."""
    if fault := fault_of_input(path):
        raise ReadError(f"{path}: {fault}")
    try:
        with path.open("rb") as file:
            yield from _read(path, _Stream(path, file), needed, largest)
    except ReadError:
        raise
    except OSError as error:
        # Compression modules raise OSError without errno if a file is damaged.
        told = f"cannot be read ({error.strerror})" if error.errno is not None else "is damaged"
        raise ReadError(f"{path}: {told}") from None
    # `tarfile` and the compression modules raise exceptions of many types if a file is damaged.
    except Exception as error:
        why = printable(str(error)) or type(error).__name__
        raise ReadError(f"{path}: not a readable UMB file, which is a tar archive ({why})") from None


class _Stream:
    """Unpacked content of a file, with limits on the sizes of headers, which `tarfile` lacks."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        head, size = file.read(8), os.fstat(file.fileno()).st_size
        file.seek(0)
        module = next((module for magic, module in _COMPRESSIONS.items() if head.startswith(magic)), None)
        self._path, self._file = path, import_module(module).open(file, "rb") if module else file
        self.seek, self.tell = self._file.seek, self._file.tell
        self.is_packed = module is not None
        self.end = _MOST_UNPACKED + _UNPACKED_BY_BYTE * size if module else size  # largest allowed position
        self.is_content = False  # True while the content of a member is read
        self.last = b""  # result of the last read
        self.left = _MOST_HEADERS  # maximum number of remaining header bytes

    def read(self, size: int) -> bytes:
        if not self.is_content:
            self.left -= size
            if not 0 <= size <= _LARGEST_HEADER or self.left < 0:
                raise ReadError(f"{self._path}: its headers have too many bytes")
        self.last = self._file.read(size)
        return self.last


def _read(path: Path, stream: Any, needed: Collection[str], largest: int) -> Iterator[tuple[str, bytearray]]:
    left = total_memory()
    too_many = f"{path}: unpacks to too many bytes for its size; store it without compression"
    archive: Any = tarfile.open(fileobj=stream, mode="r:")  # noqa: SIM115
    for number, member in enumerate(archive):
        stream.left = min(stream.left + _USUAL_HEADERS, _MOST_HEADERS)
        place, size = f"{path}: {printable(member.name)}", member.size
        is_needed = member.isfile() and member.name in needed
        if number == _MOST_MEMBERS:
            raise ReadError(f"{path}: has more than {_MOST_MEMBERS:,} members")
        if not (member.isfile() or member.isdir()) or member.issparse():
            raise ReadError(f"{place} is a link or a special file; it must be a plain file")
        if not 0 <= size <= (largest if is_needed else size):
            raise ReadError(f"{place} has {size:,} bytes; the maximum is {largest:,}")
        if member.offset_data + size > stream.end:
            raise ReadError(too_many if stream.is_packed else f"{place} is cut off")
        left -= size if is_needed else 0
        if left < 0:
            raise ReadError(f"{path}: its content does not fit into the memory of this machine")
        if is_needed:
            content, stream.is_content = bytearray(size), True
            archive.extractfile(member).readinto(content)
            stream.is_content = False
            yield member.name, content
    # `tarfile` stops at an invalid header as if the archive ended there.
    if stream.last.strip(b"\0"):
        raise ReadError(f"{path}: a header is damaged")
    # The checksum of a compressed file is verified only at its end.
    stream.is_content = True
    while stream.is_packed and stream.read(1 << 20):
        if stream.tell() > stream.end:
            raise ReadError(too_many)

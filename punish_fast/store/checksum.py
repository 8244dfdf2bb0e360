"""The seal of a file: its length, checksum and signature, in its first bytes.

HDF5 leaves the first 512 bytes of a file to its user. A file that was cut short, or in which a single bit has changed,
is refused by this seal before HDF5, which may crash on damaged files, opens it::

    punish-fast
    bytes 268502016
    crc32 0a1b2c3d
    data 2560-5350912 5351424-5891840
    signed 5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9

The checksum is the CRC-32 of the CRC-32s of pieces of 4 MiB, so that threads can share the work, and of the lines below
it. It finds damage, not intent. The signature covers all that HDF5 interprets, which is everything but the numbers in
``data`` (``signature.py``); both lines are missing if there was no key.
"""

from __future__ import annotations

import os
import re
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

from punish_fast.runtime._jit import threads
from punish_fast.runtime.files import ReadError
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.store.signature import is_signed, sign
from punish_fast.store.structure import data_ranges

SIZE = 512
_MAGIC = b"punish-fast\n"
_PIECE = 1 << 22
# For the lines before the signature.
_ROOM = 64
_FORM = re.compile(rb"(?:.*\n){3}((data(?: \d{1,18}-\d{1,18})*)\nsigned ([0-9a-f]{64})\n)?\n*")


def seal_of(path: Path, signature: bytes = b"") -> bytes:
    """The right seal of a file with these lines of a signature."""
    n_bytes = path.stat().st_size

    def checksum(begin: int) -> bytes:
        with path.open("rb") as file:
            file.seek(begin)
            return zlib.crc32(file.read(_PIECE)).to_bytes(4, "big")

    with ThreadPoolExecutor(threads()) as pool:
        checksums = b"".join(pool.map(checksum, range(SIZE, n_bytes, _PIECE)))
    text = f"bytes {n_bytes}\ncrc32 {zlib.crc32(checksums + signature):08x}\n"
    return (_MAGIC + text.encode() + signature).ljust(SIZE, b"\n")


def _signed_content(file: BinaryIO, data: bytes) -> bytes:
    """What a signature covers: the ranges of ``data``, and all bytes of the file outside."""
    parts, begin, n_bytes = [data], SIZE, os.fstat(file.fileno()).st_size
    for pair in data.split()[1:]:
        # A seal may say anything.
        first, last = (min(int(place), n_bytes) for place in pair.split(b"-"))
        file.seek(begin)
        parts.append(file.read(max(0, first - begin)))
        begin = max(begin, last)
    file.seek(begin)
    return b"\0".join([*parts, file.read()])


def _signature_lines(file: BinaryIO, path: Path) -> bytes:
    data = b"data" + b"".join(b" %d-%d" % each for each in data_ranges(path))
    signature = sign(_signed_content(file, data))
    lines = b"" if signature is None else b"%s\nsigned %s\n" % (data, signature.encode())
    return lines if len(lines) <= SIZE - _ROOM else b""


# An interrupt between the locks of a pool could make it wait for ever.
@uninterrupted()
def seal(path: Path) -> None:
    """Seal and sign an HDF5 file whose first 512 bytes are free."""
    with path.open("r+b") as file, ThreadPoolExecutor(1) as pool:
        # Flush to disk while the file is read again.
        on_disk = pool.submit(os.fsync, file.fileno())
        content = seal_of(path, _signature_lines(file, path))
        on_disk.result()
        file.seek(0)
        file.write(content)


def check_seal(path: Path) -> bool:
    """Check that a file is as it was when it was sealed, and say whether it has our signature.

    Raises:
        ReadError: it cannot be read, has no seal of ours, or has changed since.
    """
    try:
        with path.open("rb") as file:
            found = file.read(SIZE)
            if not found.startswith(_MAGIC):
                raise ReadError(f"{path}: not a file of punish-fast")
            lines = _FORM.fullmatch(found)
            if lines is None or found != seal_of(path, lines[1] or b""):
                raise ReadError(f"{path}: damaged, the file is not as it was written")
            return lines[1] is not None and is_signed(_signed_content(file, lines[2]), lines[3].decode())
    except OSError as error:
        raise ReadError(f"{path}: cannot be read ({error.strerror})") from None

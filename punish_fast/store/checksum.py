"""The seal of a file: its length and checksum, stored in its first bytes.

HDF5 leaves the first 512 bytes of a file to the user. The seal is checked before HDF5 opens the file, because HDF5 can
crash on a truncated or damaged file::

    punish-fast
    bytes 268502016
    crc32 0a1b2c3d

The checksum is a CRC-32 of the concatenated CRC-32s of all 4 MiB pieces, which can be computed in parallel, followed by
any further lines of the seal, as written by older versions. It detects only accidental damage: HDF5 can crash or hang
on a manipulated file with a matching checksum.
"""

import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from punish_fast.runtime._jit import threads
from punish_fast.runtime.files import ReadError
from punish_fast.runtime.interrupts import uninterrupted

SIZE = 512
_MAGIC = b"punish-fast\n"
_PIECE = 1 << 22


def seal_of(path: Path, further: bytes = b"") -> bytes:
    """Compute the seal of a file, with ``further`` lines below the checksum."""
    n_bytes = path.stat().st_size

    def checksum(begin: int) -> bytes:
        with path.open("rb") as file:
            file.seek(begin)
            return zlib.crc32(file.read(_PIECE)).to_bytes(4, "big")

    with ThreadPoolExecutor(threads()) as pool:
        checksums = b"".join(pool.map(checksum, range(SIZE, n_bytes, _PIECE)))
    text = f"bytes {n_bytes}\ncrc32 {zlib.crc32(checksums + further):08x}\n"
    return (_MAGIC + text.encode() + further).ljust(SIZE, b"\n")


# An interrupt while a pool acquires its locks could cause a deadlock.
@uninterrupted()
def seal(path: Path) -> None:
    """Write the seal of an HDF5 file into its first 512 bytes."""
    content = seal_of(path)
    with path.open("r+b") as file:
        file.write(content)


def check_seal(path: Path) -> None:
    """Raise `ReadError` if a file has no seal or has changed since it was sealed."""
    try:
        with path.open("rb") as file:
            found = file.read(SIZE)
        if not found.startswith(_MAGIC):
            raise ReadError(f"{path}: not a file of punish-fast")
        further = b"".join(line for line in found.splitlines(keepends=True)[3:] if line != b"\n")
        if found != seal_of(path, further):
            raise ReadError(f"{path}: damaged; the checksum does not match")
    except OSError as error:
        raise ReadError(f"{path}: cannot be read ({error.strerror})") from None

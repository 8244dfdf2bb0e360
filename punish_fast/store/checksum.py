"""Seals of files: length and checksum, stored in the first 512 bytes.

HDF5 ignores these bytes, the user block of the file. A seal is checked before HDF5 opens the file, because HDF5 can
crash on a truncated or damaged file. Example of a seal::

    punish-fast
    bytes 268502016
    crc32 0a1b2c3d

The rest of the file is divided into pieces of 4 MiB, so that their CRC-32s can be computed in parallel. The checksum is
the CRC-32 of a byte string that consists of these CRC-32s and any additional lines of the seal (from old versions). It
detects only accidental damage: HDF5 can crash or hang on a manipulated file with a matching checksum.
"""

import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from punish_fast.runtime._jit import threads
from punish_fast.runtime.errors import ReadError
from punish_fast.runtime.files import SEALED, SQLITE
from punish_fast.runtime.interrupts import uninterrupted

SIZE = 512
_PIECE = 1 << 22
# File suffixes of models for Storm and PRISM.
_MODELS = (".prism", ".nm", ".pm", ".sm", ".drn", ".jani")


def seal_of(path: Path, further: bytes = b"") -> bytes:
    """Compute the seal of a file. ``further`` contains additional lines after the checksum."""
    n_bytes = path.stat().st_size

    def checksum(begin: int) -> bytes:
        with path.open("rb") as file:
            file.seek(begin)
            return zlib.crc32(file.read(_PIECE)).to_bytes(4, "big")

    with ThreadPoolExecutor(threads()) as pool:
        checksums = b"".join(pool.map(checksum, range(SIZE, n_bytes, _PIECE)))
    text = f"bytes {n_bytes}\ncrc32 {zlib.crc32(checksums + further):08x}\n"
    return (SEALED + text.encode() + further).ljust(SIZE, b"\n")


# Defer interrupts, because an interrupt while a thread pool acquires its locks could cause a deadlock.
@uninterrupted()
def seal(path: Path) -> None:
    """Write the seal of an HDF5 file into its first 512 bytes."""
    content = seal_of(path)
    with path.open("r+b") as file:
        file.write(content)


def check_seal(path: Path) -> None:
    """Raise `ReadError` if a file cannot be read, has no seal, or does not match its seal."""
    try:
        with path.open("rb") as file:
            found = file.read(SIZE)
        if not found.startswith(SEALED):
            fault = "a database of games, not an .h5 file" if found.startswith(SQLITE) else "not a file"
            cure = "commands read .h5 files, and solve also reads .umb files"
            cure = "export the model as .umb, see docs/mdp.md" if path.suffix.lower() in _MODELS else cure
            raise ReadError(f"{path}: {fault} of punish-fast; {cure}")
        further = b"".join(line for line in found.splitlines(keepends=True)[3:] if line != b"\n")
        if found != seal_of(path, further):
            raise ReadError(f"{path}: damaged; the checksum does not match")
    except OSError as error:
        raise ReadError(f"{path}: cannot be read ({error.strerror})") from None

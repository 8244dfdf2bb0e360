"""The checksums within HDF5 files, made right again after bytes were changed: what only they keep out gets in."""

from __future__ import annotations

import struct
from functools import cache

_MASK = 0xFFFFFFFF
# The blocks of metadata that end with a checksum, by their first bytes.
_SIGNATURES = (b"\x89HDF\r\n\x1a\n", b"OHDR", b"OCHK", b"FRHP", b"FHIB", b"FHDB", b"BTHD", b"BTIN", b"BTLF", b"FSHD")
_SIGNATURES += (b"FSSE", b"FAHD", b"FADB", b"EAHD", b"EAIB", b"EASB", b"EADB")
_LONGEST = 1200
# Of three words: which is changed by which, what that one then adds, and by how many bits it is turned.
_MIX = (("a", "c", "b", 4), ("b", "a", "c", 6), ("c", "b", "a", 8))
_MIX += (("a", "c", "b", 16), ("b", "a", "c", 19), ("c", "b", "a", 4))
_LAST = (("c", "b", 14), ("a", "c", 11), ("b", "a", 25), ("c", "b", 16), ("a", "c", 4), ("b", "a", 14), ("c", "b", 24))


def _turned(x: int, k: int) -> int:
    return ((x << k) | (x >> (32 - k))) & _MASK


def _add(words: dict[str, int], data: bytes) -> None:
    for name, word in zip("abc", struct.unpack("<III", data), strict=True):
        words[name] = (words[name] + word) & _MASK


def lookup3(data: bytes) -> int:
    """Bob Jenkins' hash of 2006, HDF5's checksum of metadata."""
    words = dict.fromkeys("abc", (0xDEADBEEF + len(data)) & _MASK)
    last = max(len(data) - 1, 0) // 12 * 12
    for begin in range(0, last, 12):
        _add(words, data[begin : begin + 12])
        for to, by, then, k in _MIX:
            words[to] = ((words[to] - words[by]) & _MASK) ^ _turned(words[by], k)
            words[by] = (words[by] + words[then]) & _MASK
    if data:
        _add(words, data[last:].ljust(12, b"\0"))
        for to, by, k in _LAST:
            words[to] = ((words[to] ^ words[by]) - _turned(words[by], k)) & _MASK
    return words["c"]


@cache
def checked_blocks(content: bytes) -> tuple[tuple[int, int], ...]:
    """Where blocks of metadata begin and where their checksums stand, in a sound file."""
    blocks = []
    for signature in _SIGNATURES:
        begin = content.find(signature)
        while begin >= 0:
            ends = range(begin + 8, min(begin + _LONGEST, len(content) - 4))
            found = (e for e in ends if content[e : e + 4] == lookup3(content[begin:e]).to_bytes(4, "little"))
            end = next(found, None)
            if end is not None:
                blocks.append((begin, end))
            begin = content.find(signature, begin + 1)
    return tuple(sorted(blocks))


def repair(content: bytearray, blocks: tuple[tuple[int, int], ...]) -> None:
    """Write the right checksums of all blocks."""
    for begin, end in blocks:
        if end + 4 <= len(content):
            content[end : end + 4] = lookup3(bytes(content[begin:end])).to_bytes(4, "little")

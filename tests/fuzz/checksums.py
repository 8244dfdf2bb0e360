"""The checksums within HDF5 files, made right again after bytes were changed: what only they keep out gets in."""

from __future__ import annotations

import struct

_MASK = 0xFFFFFFFF
# The blocks of metadata that end with a checksum, by their first bytes.
_SIGNATURES = (b"\x89HDF\r\n\x1a\n", b"OHDR", b"OCHK", b"FRHP", b"FHIB", b"FHDB", b"BTHD", b"BTIN", b"BTLF", b"FSHD")
_SIGNATURES += (b"FSSE", b"FAHD", b"FADB", b"EAHD", b"EAIB", b"EASB", b"EADB")
_LONGEST = 1200
_LAST = (("c", "b", 14), ("a", "c", 11), ("b", "a", 25), ("c", "b", 16), ("a", "c", 4), ("b", "a", 14), ("c", "b", 24))


def _turned(x: int, k: int) -> int:
    return ((x << k) | (x >> (32 - k))) & _MASK


def lookup3(data: bytes) -> int:
    """Bob Jenkins' hash of 2006, HDF5's checksum of metadata."""
    a = b = c = (0xDEADBEEF + len(data)) & _MASK
    for begin in range(0, max(len(data) - 12, 0), 12):
        if len(data) - begin <= 12:
            break
        x, y, z = struct.unpack_from("<III", data, begin)
        a, b, c = (a + x) & _MASK, (b + y) & _MASK, (c + z) & _MASK
        a = ((a - c) & _MASK) ^ _turned(c, 4)
        c = (c + b) & _MASK
        b = ((b - a) & _MASK) ^ _turned(a, 6)
        a = (a + c) & _MASK
        c = ((c - b) & _MASK) ^ _turned(b, 8)
        b = (b + a) & _MASK
        a = ((a - c) & _MASK) ^ _turned(c, 16)
        c = (c + b) & _MASK
        b = ((b - a) & _MASK) ^ _turned(a, 19)
        a = (a + c) & _MASK
        c = ((c - b) & _MASK) ^ _turned(b, 4)
        b = (b + a) & _MASK
    rest = data[(len(data) - 1) // 12 * 12 :] if data else b""
    if not rest:
        return c
    x, y, z = struct.unpack("<III", rest.ljust(12, b"\0"))
    words = {"a": (a + x) & _MASK, "b": (b + y) & _MASK, "c": (c + z) & _MASK}
    for to, by, k in _LAST:
        words[to] = ((words[to] ^ words[by]) - _turned(words[by], k)) & _MASK
    return words["c"]


def checked_blocks(content: bytes) -> list[tuple[int, int]]:
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
    return sorted(blocks)


def repair(content: bytearray, blocks: list[tuple[int, int]]) -> None:
    """Write the right checksums of all blocks."""
    for begin, end in blocks:
        if end + 4 <= len(content):
            content[end : end + 4] = lookup3(bytes(content[begin:end])).to_bytes(4, "little")

"""Reading files with one flipped bit, in a child process: a damaged file might crash a library or hang it.

Run as a script, this is the child: it reads pairs of a position and a bit from stdin and answers each with a line.
"""

from __future__ import annotations

import os
import random
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

SECONDS_TO_ANSWER = 10.0
MOST_HANGS = 1


def data_ranges(path: Path) -> list[range]:
    """Where the datasets stand in a file; what lies between is HDF5's own."""
    import h5py

    ranges: list[range] = []

    def visit(_name: str, item: h5py.HLObject) -> None:
        if isinstance(item, h5py.Dataset):
            stored = item.id
            if item.chunks is None:
                places = [(stored.get_offset(), stored.get_storage_size())]
            else:
                chunks = (stored.get_chunk_info(k) for k in range(stored.get_num_chunks()))
                places = [(chunk.byte_offset, chunk.size) for chunk in chunks]
            ranges.extend(range(begin, begin + size) for begin, size in places)

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return ranges


def metadata_flips(path: Path, seed: int, count: int) -> list[tuple[int, int]]:
    """Positions and bits outside of all datasets where the file holds something."""
    inside = {position for one in data_ranges(path) for position in one}
    content = path.read_bytes()
    # Around what is not zero, so that long runs of padding are left out.
    used = [i for i in range(len(content)) if i not in inside and any(content[max(0, i - 8) : i + 9])]
    return _flips(used, seed, count)


def any_flips(path: Path, seed: int, count: int) -> list[tuple[int, int]]:
    """Positions and bits anywhere in the file."""
    return _flips(range(path.stat().st_size), seed, count)


def _flips(positions: Sequence[int], seed: int, count: int) -> list[tuple[int, int]]:
    generator = random.Random(seed)
    return [(generator.choice(positions), generator.randrange(8)) for _ in range(count)]


def failures(path: Path, flips: list[tuple[int, int]]) -> list[str]:
    """What went wrong with which flip of a sound file: neither named nor harmless."""
    wrong: list[str] = []
    hangs = 0
    left = iter(flips)
    while hangs < MOST_HANGS and (hung := _ask(path, left, wrong)) is not None:
        wrong.append(f"{hung}: no answer, the reader crashed or hangs")
        hangs += 1
    return wrong


def _ask(path: Path, flips: Iterator[tuple[int, int]], wrong: list[str]) -> tuple[int, int] | None:
    """Ask a fresh child about flips until they are all answered (None) or one is not (that one)."""
    with subprocess.Popen(
        [sys.executable, __file__, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()
        for position, bit in flips:
            child.stdin.write(f"{position} {bit}\n")
            ready, _, _ = select.select([child.stdout], [], [], SECONDS_TO_ANSWER)
            answer = child.stdout.readline().strip() if ready else ""
            if not answer:
                child.kill()
                return position, bit
            if answer not in ("detected", "harmless"):
                wrong.append(f"{(position, bit)}: {answer}")
        child.stdin.close()
    return None


def _verdict(path: Path, original: dict[str, object]) -> str:
    from punish_fast.runtime.files import ReadError
    from store.damage import read_everything

    try:
        read = read_everything(path)
    except ReadError as error:
        sound = str(error).startswith(f"{path}: ") and "\n" not in str(error)
        return "detected" if sound else f"unclear message {str(error)!r}"
    except Exception as error:
        return f"unexpected {error!r}"
    different = [name for name in original if read.get(name) != original[name]]
    return f"not noticed, and {', '.join(different)} differ" if different else "harmless"


def _child(path: Path) -> None:
    from store.damage import read_everything

    original = read_everything(path)
    content = path.read_bytes()
    damaged = path.with_name(f"{path.stem}-{os.getpid()}-damaged.h5")
    print("ready", flush=True)
    for line in sys.stdin:
        position, bit = map(int, line.split())
        flipped = bytearray(content)
        flipped[position] ^= 1 << bit
        damaged.write_bytes(flipped)
        print(_verdict(damaged, original).replace("\n", " "), flush=True)
    damaged.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    _child(Path(sys.argv[1]))

"""HDF5 files that were damaged or made to harm: read soundly, or refused in one line."""

from __future__ import annotations

import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest

from fuzz import samples
from fuzz.mutations import mutate_structure
from fuzz.reading import read_everything
from fuzz.trial import is_refusal
from fuzz.worker import DONE, REFUSED, Worker
from punish_fast.runtime.files import ReadError
from punish_fast.store.checksum import SIZE, seal
from punish_fast.store.reader import load

NAMES = (
    *("tensor", "agent", "jacobi", "wins", "imported", "strategy", "memory", "self-play", "response"),
    *("bundle", "checkpoint"),
)


@pytest.fixture(scope="module")
def n_files(pytestconfig: pytest.Config) -> int:
    """How many damaged files each test tries."""
    return int(pytestconfig.getoption("fuzz_files"))


@pytest.fixture(scope="module")
def seed(pytestconfig: pytest.Config) -> int:
    """The random seed of the damage."""
    return int(pytestconfig.getoption("fuzz_seed"))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A sound file of every variety; tests must not change them."""
    return samples.make(tmp_path_factory.mktemp("sound"))


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    """A process that reads files."""
    with Worker() as reading:
        yield reading


def data_ranges(path):
    """Return the offsets of the begin and end of each dataset that is stored in one piece, ascending."""
    ranges = []

    def add(_name, item):
        if isinstance(item, h5py.Dataset) and item.chunks is None and item.id.get_offset() is not None:
            ranges.append((item.id.get_offset(), item.id.get_offset() + item.id.get_storage_size()))

    with h5py.File(path) as file:
        file.visititems(add)
    return sorted(ranges)


@pytest.mark.slow
def test_damaged_structure_is_refused_in_one_line(sound, worker, tmp_path, n_files, seed):
    assert [worker.verdict(path) for path in sound.values()] == [DONE] * len(NAMES)
    verdicts, failures = Counter(), []
    for number in range(n_files):
        rng = random.Random(f"{seed} {number}")
        name = rng.choice(NAMES)
        # One in ten goes through a command, too.
        path = tmp_path / f"{'show' if rng.random() < 0.1 else 'file'}-{name}.h5"
        shutil.copy(sound[name], path)
        what = mutate_structure(path, rng)
        verdict = worker.verdict(path)
        verdicts[verdict if verdict in (DONE, REFUSED) else "failed"] += 1
        if verdict not in (DONE, REFUSED):
            failures.append(f"{number}, {name}: {what}: {verdict}")
        path.unlink()
    print(dict(verdicts))
    assert failures == []


def test_a_few_damaged_structures_are_refused_in_one_line(sound, tmp_path):
    n_refused = 0
    for number in range(40):
        rng = random.Random(number)
        path = Path(shutil.copy(sound[NAMES[number % len(NAMES)]], tmp_path / "a.h5"))
        mutate_structure(path, rng)
        try:
            read_everything(path)
        except ReadError as error:
            n_refused += 1
            assert is_refusal(error, path), error
    assert n_refused > 20


def is_refused(path):
    """Return True if a file is refused because it is damaged, both before and after its attributes are read."""
    with pytest.raises(ReadError, match=rf"\A{re.escape(str(path))}: (damaged|not a file of punish-fast)[^\n]*\Z"):
        load(path)
    return True


@pytest.mark.parametrize("name", ["agent", "strategy", "bundle"])
def test_damaged_truncated_and_longer_files_are_refused(sound, tmp_path, name):
    content, path, generator = sound[name].read_bytes(), tmp_path / "a.h5", random.Random(name)
    places = {generator.choice(range(*inside)) for inside in data_ranges(sound[name]) if inside[0] < inside[1]}
    for place in places | set(range(0, len(content), len(content) // 40)):
        flipped = bytearray(content)
        flipped[place] ^= 1 << generator.randrange(8)
        path.write_bytes(flipped)
        assert is_refused(path)
    lengths = {0, 1, 7, 8, 48, SIZE, 2048, len(content) // 2, len(content) - SIZE, len(content) - 1}
    for length in lengths - {len(content)}:
        path.write_bytes(content[:length])
        assert is_refused(path)
    path.write_bytes(content + generator.randbytes(1000))
    assert is_refused(path)


def test_sound_files_are_read_and_holes_of_zeros_are_noticed_or_harmless(sound, tmp_path):
    for name in NAMES:
        path, original, content = tmp_path / "a.h5", read_everything(sound[name]), sound[name].read_bytes()
        for begin, end in data_ranges(sound[name]):
            path.write_bytes(content[:begin] + bytes(end - begin) + content[end:])
            try:
                assert read_everything(path) == original
            except ReadError as error:
                assert "damaged" in str(error)


def test_files_that_are_no_hdf5_are_refused(tmp_path):
    path = tmp_path / "other.h5"
    for content in (b"", b"\n", b"hp = 4\n", b"SQLite format 3\0" + bytes(4096), b"\x89HDF\r\n\x1a\n", bytes(9999)):
        path.write_bytes(content)
        with pytest.raises(ReadError, match=rf"\A{re.escape(str(path))}: not a file of punish-fast\Z"):
            load(path)


def test_hdf5_files_of_others_are_refused(tmp_path):
    path = tmp_path / "other.h5"
    with h5py.File(path, "w") as file:
        file["/states/code"] = np.arange(5)
        file.attrs["kind"] = "agent"
    with pytest.raises(ReadError, match=rf"\A{re.escape(str(path))}: not a file of punish-fast\Z"):
        load(path)
    with h5py.File(path, "w", userblock_size=SIZE) as file:
        file["/states/code"] = np.arange(5)
    seal(path)
    with pytest.raises(ReadError, match=rf"\A{re.escape(str(path))}: format: missing\Z"):
        load(path)


def test_missing_files_and_folders_are_named(tmp_path):
    for path in (tmp_path / "none.h5", tmp_path, tmp_path / "none" / "none.h5"):
        what = "is a folder" if path == tmp_path else "there is no such file"
        with pytest.raises(ReadError, match=rf"\A{re.escape(str(path))}: {what}\Z"):
            load(path)
    with pytest.raises(ReadError, match=r"there is no such file|too long"):
        load("a" * 5000)

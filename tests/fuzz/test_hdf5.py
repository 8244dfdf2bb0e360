"""HDF5 files that were damaged or made to harm: read soundly, or refused in one line."""

import random
import re
import resource
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path

import h5py
import numpy as np
import pytest

from fuzz import samples
from fuzz.mutations import mutate_structure
from fuzz.reading import read_everything
from fuzz.trial import faults_of_ending, is_refusal
from punish_fast.runtime.errors import ReadError
from punish_fast.store.checksum import SIZE, seal
from punish_fast.store.reader import load

NAMES = (
    *("tensor", "agent", "jacobi", "wins", "imported", "strategy", "memory", "self-play", "response"),
    *("bundle", "checkpoint"),
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A sound file of every variety; tests must not change them."""
    return samples.make(tmp_path_factory.mktemp("sound"))


def data_ranges(path):
    """Return the offsets of the begin and end of each dataset that is stored in one piece, ascending."""
    ranges = []

    def add(_name, item):
        if isinstance(item, h5py.Dataset) and item.chunks is None and item.id.get_offset() is not None:
            ranges.append((item.id.get_offset(), item.id.get_offset() + item.id.get_storage_size()))

    with h5py.File(path) as file:
        file.visititems(add)
    return sorted(ranges)


@contextmanager
def limited_memory():
    """Allow this process 3 GiB more than it has; a damaged file must not fill the memory."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    with suppress(OSError, ValueError):  # macOS has no limit of memory
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + (3 << 30), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("n_files", [40, pytest.param(None, marks=pytest.mark.slow)])
def test_damaged_structures_are_refused_in_one_line(sound, run, tmp_path, pytestconfig, n_files):
    n_files, seed = n_files or pytestconfig.getoption("fuzz_files"), pytestconfig.getoption("fuzz_seed")
    n_refused = 0
    for number in range(n_files):
        rng = random.Random(f"{seed} {number}")
        path = Path(shutil.copy(sound[rng.choice(NAMES)], tmp_path / "a.h5"))
        what, content = mutate_structure(path, rng), path.read_bytes()
        with limited_memory():
            try:
                read_everything(path)
            except ReadError as error:
                n_refused += 1
                assert is_refusal(error, path), (number, what, error)
        # One in ten goes through a command, too.
        if number % 10 == 0:
            done = run("show", path)
            assert (faults_of_ending(done.code, done.err, (0, 2)), number, what) == ([], number, what)
        assert path.read_bytes() == content, (number, what)
    assert n_refused > n_files / 3


def assert_refused(path, problem):
    with pytest.raises(ReadError, match=rf"\A{re.escape(str(path))}: {problem}[^\n]*\Z"):
        load(path)


@pytest.mark.parametrize("name", ["agent", "strategy", "bundle"])
def test_damaged_truncated_and_longer_files_are_refused(sound, tmp_path, name):
    content, path, generator = sound[name].read_bytes(), tmp_path / "a.h5", random.Random(name)
    places = {generator.choice(range(*inside)) for inside in data_ranges(sound[name]) if inside[0] < inside[1]}
    for place in places | set(range(0, len(content), len(content) // 40)):
        flipped = bytearray(content)
        flipped[place] ^= 1 << generator.randrange(8)
        path.write_bytes(flipped)
        assert_refused(path, "(damaged|not a file of punish-fast)")
    lengths = {0, 1, 7, 8, 48, SIZE, 2048, len(content) // 2, len(content) - SIZE, len(content) - 1}
    for length in lengths - {len(content)}:
        path.write_bytes(content[:length])
        assert_refused(path, "(damaged|not a file of punish-fast)")
    path.write_bytes(content + generator.randbytes(1000))
    assert_refused(path, "(damaged|not a file of punish-fast)")


def test_sound_files_are_read_and_holes_of_zeros_are_noticed_or_harmless(sound, tmp_path):
    for name in NAMES:
        path, original, content = tmp_path / "a.h5", read_everything(sound[name]), sound[name].read_bytes()
        for begin, end in data_ranges(sound[name]):
            path.write_bytes(content[:begin] + bytes(end - begin) + content[end:])
            try:
                assert read_everything(path) == original
            except ReadError as error:
                assert "damaged" in str(error)


def test_other_files_and_places_are_refused(tmp_path):
    path = tmp_path / "other.h5"
    for content in (b"", b"\n", b"hp = 4\n", b"SQLite format 3\0" + bytes(4096), b"\x89HDF\r\n\x1a\n", bytes(9999)):
        path.write_bytes(content)
        assert_refused(path, "(not a file|a database of games, not an .h5 file) of punish-fast")
    for problem, options in (("not a file of punish-fast", {}), ("format: missing", {"userblock_size": SIZE})):
        with h5py.File(path, "w", **options) as file:
            file["/states/code"] = np.arange(5)
        if options:
            seal(path)
        assert_refused(path, problem)
    for missing in (tmp_path / "none.h5", tmp_path / "none" / "none.h5"):
        assert_refused(missing, "no such file")
    assert_refused(tmp_path, "is a folder")
    with pytest.raises(ReadError, match=r"no such file|too long"):
        load("a" * 5000)

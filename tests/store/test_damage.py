"""Files cut short, files with a flipped bit, and files of others."""

from __future__ import annotations

import os
import random
import re

import h5py
import numpy as np
import pytest
from numba import config

from punish_fast.runtime.files import ReadError
from punish_fast.store.reader import load
from store.damage import editing, read_everything
from store.flipping import any_flips, data_ranges, failures, metadata_flips

FLIPS = 60 if config.DISABLE_JIT else 400


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tensor", "agent", "strategy"])
@pytest.mark.parametrize(("choose", "seed"), [(any_flips, 1), (metadata_flips, 2)])
def test_flipped_bits_are_noticed_or_harmless(copies, kind, choose, seed):
    path = copies[kind]
    assert failures(path, choose(path, seed, FLIPS)) == []


@pytest.mark.parametrize("kind", ["tensor", "agent", "strategy"])
def test_flipped_bits_of_data_are_noticed(copies, kind):
    path = copies[kind]
    content = path.read_bytes()
    generator = random.Random(kind)
    for inside in data_ranges(path):
        position = generator.choice(inside)
        flipped = bytearray(content)
        flipped[position] ^= 1 << generator.randrange(8)
        path.write_bytes(flipped)
        with pytest.raises(ReadError, match="damaged"):
            read_everything(path)


@pytest.mark.parametrize("name", ["indptr", "indices", "data"])
def test_flipped_bits_in_a_row_read_alone_are_noticed(copies, name):
    path = copies["tensor"]
    row = 700
    columns, p = load(path).row(row)
    with h5py.File(path) as file:
        begin = int(file["transitions/indptr"][row])
        dataset = file[f"transitions/{name}"]
        first = dataset.id.get_offset() + dataset.dtype.itemsize * (row if name == "indptr" else begin)
    content = path.read_bytes()
    missed = []
    for bit in range(16):
        flipped = bytearray(content)
        flipped[first + bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        try:
            read = load(path).row(row)
        except ReadError:
            continue
        if not (np.array_equal(read[0], columns) and np.array_equal(read[1], p)):
            missed.append(bit)
    assert missed == []


@pytest.mark.parametrize("kind", ["tensor", "agent", "strategy"])
def test_truncated_files_are_refused(copies, kind):
    path = copies[kind]
    content = path.read_bytes()
    generator = random.Random(kind)
    lengths = {0, 1, 7, 8, 48, 512, 2048, len(content) // 2, len(content) - 512, len(content) - 1}
    lengths |= {generator.randrange(len(content)) for _ in range(60)}
    for length in sorted(lengths):
        path.write_bytes(content[:length])
        with pytest.raises(ReadError, match=rf"\A{re.escape(str(path))}: (damaged|not a file of punish-fast)[^\n]*\Z"):
            load(path)


@pytest.mark.parametrize("kind", ["tensor", "agent", "strategy"])
def test_holes_of_zeros_are_noticed_or_harmless(copies, kind):
    path = copies[kind]
    original = read_everything(path)
    content = path.read_bytes()
    for begin, end in [(r.start, r.stop) for r in data_ranges(path)]:
        path.write_bytes(content[:begin] + bytes(end - begin) + content[end:])
        try:
            assert read_everything(path) == original
        except ReadError as error:
            assert "damaged" in str(error)


def test_appended_bytes_are_noticed_or_harmless(copies):
    original = read_everything(copies["agent"])
    with copies["agent"].open("ab") as file:
        file.write(os.urandom(1000))
    try:
        assert read_everything(copies["agent"]) == original
    except ReadError as error:
        assert str(error).startswith(str(copies["agent"]))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"hp = 4\n",
        b'{"kind": "agent"}',
        b"SQLite format 3\0" + bytes(4096),
        b"\x89HDF\r\n\x1a\n",
        bytes(9999),
    ],
)
def test_files_that_are_no_hdf5_are_refused(tmp_path, content):
    path = tmp_path / "other.h5"
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


def test_links_that_lead_nowhere_are_missing_datasets(copies):
    path = copies["agent"]
    with editing(path) as file:
        del file["/solution/v"]
        file["/solution/v"] = h5py.SoftLink("/nowhere")
    with pytest.raises(ReadError, match=r"/solution/v: missing|not a readable HDF5 file"):
        load(path).solution()


def test_links_to_other_files_are_not_a_way_out(copies):
    path = copies["agent"]
    with editing(path) as file:
        del file["/solution/v"]
        file["/solution/v"] = h5py.ExternalLink("gone.h5", "/v")
    with pytest.raises(ReadError, match=r"/solution/v: missing|not a readable HDF5 file"):
        load(path).solution()


def test_missing_files_and_folders_are_named(tmp_path):
    for path in (tmp_path / "none.h5", tmp_path, tmp_path / "none" / "none.h5"):
        what = "is a folder" if path == tmp_path else "there is no such file"
        with pytest.raises(ReadError, match=rf"\A{re.escape(str(path))}: {what}\Z"):
            load(path)


def test_names_too_long_for_any_file_are_no_files():
    with pytest.raises(ReadError, match=r"there is no such file|too long"):
        load("a" * 5000)

"""Files from elsewhere are opened by a process of its own first."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import h5py
import pytest
from fuzz.mutations import reseal
from fuzz.reading import read_everything

from punish_fast.runtime.files import ReadError
from punish_fast.store import probe
from punish_fast.store.checksum import check_seal
from punish_fast.store.reader import load


@pytest.fixture
def unsigned(originals, tmp_path) -> Path:
    """An agent from somewhere else."""
    path = Path(shutil.copy(originals["agent"], tmp_path / "foreign.h5"))
    reseal(path)
    return path


def test_only_files_without_our_signature_are_opened_by_another_process_first(originals, unsigned, monkeypatch):
    probed = []
    monkeypatch.setattr("punish_fast.store.sealed_file.probe", probed.append)
    assert check_seal(originals["agent"])
    assert not check_seal(unsigned)
    load(originals["agent"])
    assert probed == []
    load(unsigned)
    assert probed == [unsigned]


def test_a_file_from_elsewhere_is_read_like_one_of_ours(originals, unsigned):
    read, expected = read_everything(unsigned), read_everything(originals["agent"])
    assert read == expected


def test_what_the_other_process_finds_is_told(unsigned):
    with h5py.File(unsigned, "r+") as file:
        del file["/solution/v"]
    reseal(unsigned)
    with pytest.raises(ReadError, match=rf"\A{re.escape(str(unsigned))}: /solution/v: missing\Z"):
        load(unsigned)


@pytest.mark.parametrize(
    ("program", "what"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "HDF5 fails on it"),
        ("import time; time.sleep(60)", "reading it does not end"),
    ],
)
def test_a_file_that_kills_or_hangs_hdf5_is_refused(unsigned, tmp_path, monkeypatch, program, what):
    (tmp_path / "harm.py").write_text(program)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(probe, "_SECONDS", 0.5 if "sleep" in program else 20)
    monkeypatch.setattr(probe, "__name__", "harm")
    with pytest.raises(ReadError, match=rf"foreign\.h5: not a readable HDF5 file \({what}\)\Z"):
        load(unsigned)

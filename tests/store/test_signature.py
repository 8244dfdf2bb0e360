"""The key of signatures, and what a signature holds for."""

from __future__ import annotations

import stat

import pytest

from punish_fast.store import signature
from punish_fast.store.checksum import SIZE, check_seal, seal, seal_of
from punish_fast.store.reader import load
from punish_fast.store.structure import data_ranges


@pytest.fixture
def key(tmp_path, monkeypatch):
    """Where the key of this test stands."""
    monkeypatch.setattr(signature.platformdirs, "user_data_dir", lambda *_, **__: str(tmp_path / "data"))
    return tmp_path / "data" / "key"


def test_the_key_is_made_once_and_is_private(key):
    first = signature.sign(b"content")
    assert signature.sign(b"content") == first
    assert signature.is_signed(b"content", first)
    assert not signature.is_signed(b"other content", first)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    key.unlink()
    assert not signature.is_signed(b"content", first)


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_key_of_another_size_is_none(key, content):
    key.parent.mkdir()
    key.write_bytes(content)
    assert signature.sign(b"content") is None
    assert not signature.is_signed(b"content", "")


def test_without_a_folder_for_the_key_files_are_written_unsigned(key, copies):
    key.parent.write_text("no folder")
    seal(copies["agent"])
    assert b"signed" not in copies["agent"].read_bytes()[:SIZE]
    assert not check_seal(copies["agent"])
    assert load(copies["agent"]).solution()


def test_a_signature_holds_for_one_structure(originals, tmp_path):
    """Signatures cannot be moved to another file, nor to other places of data."""
    path, content = tmp_path / "a.h5", bytearray(originals["agent"].read_bytes())
    data, signed = bytes(content).split(b"\n")[3:5]
    places = (data, b"data", b"data %d-%d" % (SIZE, len(content)), b"data 999999999999999999-5 9-999999999999999999")
    # The first byte of the groups, then none.
    for change in (1, 0):
        content[data_ranges(originals["agent"])[0][0] - 8] ^= 1
        for place in places:
            path.write_bytes(content)
            content[:SIZE] = seal_of(path, b"%s\n%s\n" % (place, signed))
            path.write_bytes(content)
            assert check_seal(path) == (change == 0 and place == data)

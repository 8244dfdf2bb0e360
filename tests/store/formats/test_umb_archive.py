"""Archives from anywhere: whatever is wrong with one is told in one line."""

from __future__ import annotations

import gzip
import io
import random
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.runtime.files import ReadError
from punish_fast.store.formats import umb_archive
from punish_fast.store.formats.umb_import import import_umb
from store.formats.test_umb_import import archive, small_model


def test_links_and_second_files_are_refused(tmp_path):
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
        path = archive(tmp_path / "x.umb", *small_model())
        with tarfile.open(path, "a") as tar:
            member = tarfile.TarInfo("state-is-markovian.bin")
            member.type, member.linkname = kind, "/etc/passwd"
            tar.addfile(member)
        with pytest.raises(ReadError, match=r"state-is-markovian\.bin is a link or a special file"):
            import_umb(path)
    path = archive(tmp_path / "x.umb", *small_model())
    with tarfile.open(path, "a") as tar:
        tar.addfile(tarfile.TarInfo("index.json"), io.BytesIO(b""))
    with pytest.raises(ReadError, match=r"index\.json comes twice"):
        import_umb(path)


def test_a_size_that_the_archive_does_not_have_is_refused(tmp_path):
    path = archive(tmp_path / "x.umb", *small_model())
    for size in (b"00000007777\0", b"77777777777\0", b"\x80" + (1 << 62).to_bytes(11, "big"), b"\xff" * 12):
        content = bytearray(path.read_bytes())
        content[124:136] = size
        content[148:156] = b" " * 8
        content[148:156] = b"%06o\0 " % sum(content[:512])
        (tmp_path / "y.umb").write_bytes(content)
        with pytest.raises(ReadError, match=r"y\.umb: "):
            import_umb(tmp_path / "y.umb")


def test_what_does_not_fit_into_memory_is_refused(tmp_path, monkeypatch):
    path = archive(tmp_path / "x.umb", *small_model(), "w:gz")
    monkeypatch.setattr(umb_archive, "total_memory", lambda: 5000)
    with pytest.raises(ReadError, match="its content does not fit into the memory of this machine"):
        import_umb(path)


def test_too_many_members_are_refused(tmp_path, monkeypatch):
    path = archive(tmp_path / "x.umb", *small_model())
    monkeypatch.setattr(umb_archive, "_MOST_MEMBERS", 3)
    with pytest.raises(ReadError, match="has more than 3 members"):
        import_umb(path)


@pytest.mark.parametrize(
    "content", [b"", b"text", b"\x1f\x8b", b"\x1f\x8b\x08\0\0\0\0\0\0\0abc", b"BZhabc", b"\xfd7zXZ\0abc"]
)
def test_what_is_no_archive_is_refused(tmp_path, content):
    (tmp_path / "x.umb").write_bytes(content)
    with pytest.raises(ReadError, match=r"x\.umb: "):
        import_umb(tmp_path / "x.umb")


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(ReadError, match=r"x\.umb: cannot be read \(No such file or directory\)$"):
        import_umb(tmp_path / "x.umb")
    with pytest.raises(ReadError, match=r"cannot be read \(Is a directory\)$"):
        import_umb(tmp_path)


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_damage_of_any_kind_is_told_or_harmless(tmp_path, mode):
    """Bytes changed, cut out, doubled or cut off."""
    whole = archive(tmp_path / "x.umb", *small_model(), mode).read_bytes()
    draws, read = random.Random(1), 0
    for _ in range(300):
        content = bytearray(whole)
        for _ in range(draws.randint(1, 4)):
            # Mostly where there is something.
            places = [k for k in range(0, len(content), 7) if content[k]] or [0]
            place = draws.choice(places)
            damage = draws.randrange(4)
            if damage == 0:
                content[place] = draws.randrange(256)
            elif damage == 1:
                del content[place : place + draws.randint(1, 600)]
            elif damage == 2:
                content[place:place] = content[place : place + draws.randint(1, 600)]
            else:
                del content[place:]
            if not content:
                break
        (tmp_path / "y.umb").write_bytes(content)
        try:
            import_umb(tmp_path / "y.umb")
            read += 1
        except ReadError as error:
            assert "\n" not in str(error)
    assert read < 150


def test_damage_below_the_compression_is_told_or_harmless(tmp_path):
    whole = archive(tmp_path / "x.umb", *small_model()).read_bytes()
    draws = random.Random(2)
    for _ in range(100):
        content = bytearray(whole)
        for _ in range(3):
            header = draws.randrange(len(content) // 512) * 512
            content[header + draws.choice([100, 124, 130, 135, 148, 156, 157, 257, 345])] = draws.randrange(256)
            checked = content[header : header + 512]
            checked[148:156] = b" " * 8
            content[header + 148 : header + 156] = b"%06o\0 " % sum(checked)
        (tmp_path / "y.umb").write_bytes(gzip.compress(bytes(content), 1))
        try:
            import_umb(tmp_path / "y.umb")
        except ReadError as error:
            assert "\n" not in str(error)


@given(st.binary(max_size=2000))
def test_any_bytes_are_refused(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.umb"
    path.write_bytes(content)
    with pytest.raises(ReadError):
        import_umb(path)

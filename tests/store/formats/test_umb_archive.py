"""Archives from anywhere: whatever is wrong with one is told in one line."""

import gzip
import io
import json
import random
import tarfile
import time

import pytest

from punish_fast.runtime.errors import ReadError
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
    with pytest.raises(ReadError, match=r"index\.json appears twice"):
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
    monkeypatch.setattr(umb_archive, "total_memory", lambda: 100)
    with pytest.raises(ReadError, match="its content does not fit into the memory of this machine"):
        import_umb(path)


def header(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE) -> bytes:
    """A header of a tar archive; sizes above 8 GiB are written in the way of GNU."""
    member = tarfile.TarInfo(name)
    member.size, member.type = size, kind
    return member.tobuf(tarfile.GNU_FORMAT)


def with_members(path, *parts: bytes, mode: str = "w"):
    """The small model, and then blocks, without an end."""
    content = archive(path, *small_model()).read_bytes().rstrip(b"\0")
    content += b"\0" * (-len(content) % 512) + b"".join(parts)
    path.write_bytes(gzip.compress(content, 1) if mode == "w:gz" else content)
    return path


def extended(records: bytes, kind: bytes = tarfile.XHDTYPE) -> bytes:
    """A PAX header with records, which are padded to whole blocks."""
    return header("x", len(records), kind) + records.ljust(len(records) + -len(records) % 512, b"\0")


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_headers_that_lie_are_refused(tmp_path, mode):
    for kind in (tarfile.REGTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE):
        for size in (10**18, 10**7, -1, -5000):
            path = with_members(tmp_path / "x.umb", header("ignored", size, kind), b"text", mode=mode)
            with pytest.raises(ReadError, match=r"x\.umb: .*(cut off|too many|bytes|end of data|truncated|damaged)"):
                import_umb(path)
    for records in (b"34 size=1000000000000000000000000\n", b"0 size=1\n"):
        path = with_members(tmp_path / "x.umb", extended(records), header("y"), mode=mode)
        with pytest.raises(ReadError, match=r"x\.umb: "):
            import_umb(path)


def test_too_many_members_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(umb_archive, "_MOST_MEMBERS", 50)
    for block in (header("ignored"), header("folder", 0, tarfile.DIRTYPE)):
        path = with_members(tmp_path / "x.umb", block * 51, mode="w:gz")
        with pytest.raises(ReadError, match="has more than 50 members"):
            import_umb(path)


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_sparse_members_are_refused_in_linear_time(tmp_path, mode):
    records = b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n25 GNU.sparse.realsize=5\n"
    sparse = b"100000000\n" + b"0\n" * 5_000_000
    with_map = extended(records), header("y", len(sparse)), sparse.ljust(len(sparse) + -len(sparse) % 512, b"\0")
    old = header("y", 0, tarfile.GNUTYPE_SPARSE), b"\1" * 10_000_384
    for parts in (with_map, old):
        path = with_members(tmp_path / "x.umb", *parts, mode=mode)
        begin = time.process_time()
        with pytest.raises(ReadError, match=r"x\.umb: [^\n]*$"):
            import_umb(path)
        assert time.process_time() - begin < 1


@pytest.mark.parametrize("text", [b"1" * 500_000, b"1 hdrcharset=" * 40_000, b"2 " * 250_000 + b"="])
def test_pax_records_are_refused_in_linear_time(tmp_path, text):
    begin = time.process_time()
    with pytest.raises(ReadError, match=r"x\.umb: [^\n]*$"):
        import_umb(with_members(tmp_path / "x.umb", extended(text), header("y")))
    assert time.process_time() - begin < 1


def test_headers_together_are_limited(tmp_path):
    for kind in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME):
        parts = extended(b"3900 comment=" + b"x" * 3886 + b"\n", kind) * 200, header("y")
        begin = time.process_time()
        with pytest.raises(ReadError, match=r"x\.umb: its headers have too many bytes$"):
            import_umb(with_members(tmp_path / "x.umb", *parts))
        assert time.process_time() - begin < 2


def test_damage_between_members_is_not_taken_for_the_end(tmp_path):
    path = archive(tmp_path / "x.umb", *small_model())
    content = path.read_bytes()
    place = content.index(b"actions/choices/values.bin")
    for damaged in (content[:place] + b"x" + content[place + 1 :], content[: place + 100]):
        path.write_bytes(damaged)
        with pytest.raises(ReadError, match=r"x\.umb: a header is damaged$"):
            import_umb(path)


def test_other_members_are_ignored(tmp_path):
    """Members that the index does not mention may be large and occur twice."""
    size = (1 << 26) + 512
    path = with_members(tmp_path / "x.umb", header("state-valuations.bin") * 2, header("annotations/x.bin", size))
    with path.open("ab") as file:
        file.truncate(path.stat().st_size + size)
    assert import_umb(path).mdp.n_states == 3


def test_an_index_or_a_member_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "x.umb"
    path.write_bytes(gzip.compress(header("index.json", 1 << 30)))
    with pytest.raises(ReadError, match=r"index\.json has 1,073,741,824 bytes; the maximum is 8,388,608$"):
        import_umb(path)
    whole = archive(path, *small_model()).read_bytes()
    place = whole.index(b"branch-to-target.bin\0")
    path.write_bytes(gzip.compress(whole[:place] + header("branch-to-target.bin", 1 << 30)))
    with pytest.raises(ReadError, match=r"branch-to-target\.bin has 1,073,741,824 bytes; the maximum is 67,108,864$"):
        import_umb(path)
    # The index may lie, too.
    index, _ = small_model()
    index["transition-system"]["#branches"] = 1 << 27
    text = json.dumps(index).encode()
    parts = header("index.json", len(text)), text.ljust(len(text) + -len(text) % 512, b"\0")
    path.write_bytes(gzip.compress(b"".join((*parts, header("branch-to-target.bin", 1 << 30)))))
    with pytest.raises(ReadError, match=r"unpacks to too many bytes for its size; store it without compression$"):
        import_umb(path)


@pytest.mark.parametrize("where", ["before", "after", "beyond the end"])
def test_zeros_that_the_index_does_not_ask_for_are_skipped_up_to_a_limit(tmp_path, monkeypatch, where):
    monkeypatch.setattr(umb_archive, "_MOST_UNPACKED", 1 << 14)
    for size, compress in ((1 << 10, True), (1 << 20, True), (1 << 20, False)):
        content = archive(tmp_path / "x.umb", *small_model()).read_bytes()
        zeros = b"\0" * size if where == "beyond the end" else header("ignored", size) + b"\0" * size
        content = (
            zeros + content if where == "before" else content.rstrip(b"\0").ljust(len(content) - 1024, b"\0") + zeros
        )
        (tmp_path / "x.umb").write_bytes(gzip.compress(content, 9) if compress else content)
        if compress and size == 1 << 20:
            with pytest.raises(
                ReadError, match=r"unpacks to too many bytes for its size; store it without compression$"
            ):
                import_umb(tmp_path / "x.umb")
        else:
            assert import_umb(tmp_path / "x.umb").mdp.n_states == 3


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT])
@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_long_names_and_any_order_are_read(tmp_path, form, mode):
    """Names of 150 letters need headers of their own, except where a folder ends at the right place."""
    key = "/".join(["k" * 49] * 3) if form == tarfile.USTAR_FORMAT else "k" * 150
    index, files = small_model()
    index["annotations"]["aps"][key] = index["annotations"]["aps"].pop("id1")
    files[f"annotations/aps/{key}/states/values.bin"] = files.pop("annotations/aps/id1/states/values.bin")
    members = {**files, "index.json": json.dumps(index).encode(), "valuations/states/valuations.bin": b"12345"}
    with tarfile.open(tmp_path / "x.umb", mode, format=form, pax_headers={"comment": "all of them"}) as tar:
        folder = tarfile.TarInfo("annotations")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    model = import_umb(tmp_path / "x.umb")
    assert model.labels["the goal"].tolist() == [False, False, True]


def test_what_is_no_archive_is_refused(tmp_path):
    path = tmp_path / "x.umb"
    with pytest.raises(ReadError, match=r"x\.umb: no such file$"):
        import_umb(path)
    with pytest.raises(ReadError, match=r"is a folder$"):
        import_umb(tmp_path)
    empty = b"\x1f\x8b\x08\0\0\0\0\0\0\0abc"
    for content in (b"", b"text", b"\x1f\x8b", empty, b"BZhabc", b"\xfd7zXZ\0abc"):
        path.write_bytes(content)
        with pytest.raises(ReadError, match=r"x\.umb: "):
            import_umb(path)


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_damage_of_any_kind_is_told_or_harmless(tmp_path, mode):
    """Bytes changed, cut out, doubled or cut off, mostly other than zeros."""
    whole = archive(tmp_path / "x.umb", *small_model(), mode).read_bytes()
    draws, read = random.Random(1), 0
    for _ in range(100):
        content = bytearray(whole)
        for _ in range(draws.randint(1, 4)):
            place = draws.choice([k for k in range(0, len(content), 7) if content[k]] or [0])
            length, damage = draws.randint(1, 600), draws.randrange(4)
            if damage == 0:
                content[place] = draws.randrange(256)
            elif damage == 1:
                del content[place : place + length]
            elif damage == 2:
                content[place:place] = content[place : place + length]
            else:
                del content[max(place, 1) :]
        (tmp_path / "y.umb").write_bytes(content)
        read += is_read(tmp_path / "y.umb")
    assert read < 50


def is_read(path):
    """Return True if a file is read, False if it is refused in one line."""
    try:
        import_umb(path)
    except ReadError as error:
        assert "\n" not in str(error)
        return False
    return True


def test_damage_below_the_compression_is_told_or_harmless(tmp_path):
    whole = archive(tmp_path / "x.umb", *small_model()).read_bytes()
    draws = random.Random(2)
    for _ in range(50):
        content = bytearray(whole)
        for _ in range(3):
            header = draws.randrange(len(content) // 512) * 512
            content[header + draws.choice([100, 124, 130, 135, 148, 156, 157, 257, 345])] = draws.randrange(256)
            checked = content[header : header + 512]
            checked[148:156] = b" " * 8
            content[header + 148 : header + 156] = b"%06o\0 " % sum(checked)
        (tmp_path / "y.umb").write_bytes(gzip.compress(bytes(content), 1))
        is_read(tmp_path / "y.umb")

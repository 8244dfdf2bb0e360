from pathlib import Path

import pytest

from punish_fast.runtime.kernel_files import KernelFiles

KEY, DATA = ("int64", "x86"), ([1.5, "text"], b"code")


@pytest.fixture
def files(tmp_path: Path) -> KernelFiles:
    """Files of a kernel with one compilation."""
    found = KernelFiles(tmp_path, "sweep", 1)
    found.save(KEY, DATA)
    return found


def test_what_is_saved_is_loaded_with_the_same_key_and_stamp(files, tmp_path):
    other = KernelFiles(tmp_path, "sweep", 1)
    other.save(("float64", "x86"), "another")
    for each in (files, other):
        assert each.load(KEY) == DATA
        assert each.load(("float64", "x86")) == "another"
        assert each.load(("int32", "x86")) is None
    assert KernelFiles(tmp_path, "sweep", 2).load(KEY) is None
    assert KernelFiles(tmp_path, "back_up", 1).load(KEY) is None
    files.flush()
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_kernel_or_types_is_not_loaded(files, tmp_path):
    (path,) = tmp_path.iterdir()
    KernelFiles(tmp_path, "sweep", 1).save(("float64", "x86"), "another")
    (other,) = set(tmp_path.iterdir()) - {path}
    other.replace(path)
    assert files.load(KEY) is None


def test_a_damaged_file_is_not_loaded_and_is_replaced(files, tmp_path):
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    cut = [content[:length] for length in range(len(content))]
    flipped = [
        bytes(each ^ (1 << bit if k == place else 0) for k, each in enumerate(content))
        for place in range(0, len(content), 3)
        for bit in (0, 7)
    ]
    for damaged in [*cut, *flipped, bytes(len(content)), content + b"\0"]:
        path.write_bytes(damaged)
        assert files.load(KEY) is None
    files.save(KEY, DATA)
    assert path.read_bytes() == content


@pytest.mark.parametrize("method", ["write_bytes", "replace"])
def test_a_compilation_that_cannot_be_saved_leaves_nothing_behind(files, tmp_path, monkeypatch, method):
    write = Path.write_bytes

    def fail(self, *arguments):
        if method == "write_bytes":
            write(self, arguments[0][:10])
        raise OSError("no space left")

    monkeypatch.setattr(Path, method, fail)
    files.save(("float64", "x86"), DATA)
    assert len(list(tmp_path.iterdir())) == 1
    assert files.load(KEY) == DATA

"""Files are whole or absent: the temporary file, the rename, and what others left behind."""

import errno
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from punish_fast.runtime import files
from punish_fast.runtime.errors import OutputError, WriteError
from punish_fast.runtime.files import check_output, explain, replacing


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def dead_process():
    """The number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    return child.pid


def test_a_file_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "x.h5"
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert temporary.parent == tmp_path
        assert not path.exists()
    assert path.read_text() == "new"
    assert names(tmp_path) == ["x.h5"]


@pytest.mark.parametrize(
    ("error", "told"), [(OSError, WriteError), (ValueError, ValueError), (KeyboardInterrupt, KeyboardInterrupt)]
)
def test_the_old_file_stays_when_writing_fails(tmp_path, error, told):
    path = tmp_path / "x.h5"
    path.write_text("old")

    def fail():
        with replacing(path) as temporary:
            temporary.write_text("new")
            raise error

    with pytest.raises(told):
        fail()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["x.h5"]


@pytest.mark.parametrize("call", ["fsync", "open"])
def test_the_old_file_stays_when_the_disk_fails(tmp_path, monkeypatch, call):
    path = tmp_path / "x.h5"
    path.write_text("old")

    def fail(*_args):
        raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(WriteError, match=r"x\.h5: cannot be written \(.*Input/output error\)"), replacing(path) as out:
        out.write_text("new")
        monkeypatch.setattr(os, call, fail)
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["x.h5"]


def test_a_writer_that_writes_nothing_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.h5"
    path.write_text("old")
    with pytest.raises(WriteError, match=r"x\.h5: cannot be written"), replacing(path):
        pass
    assert path.read_text() == "old"


def test_leftovers_of_dead_processes_of_this_machine_are_removed_and_nothing_else(tmp_path, dead_process):
    here, dead, alive = files._MACHINE, dead_process, os.getppid()
    leftovers = [f".{name}.{here}-{dead}-0.tmp" for name in ("x.h5", "y.h5", "two words.h5", "a[1]*?.h5", ".hidden")]
    others = {
        f".x.h5.{here}-{alive}-0.tmp",
        f".x.h5.00000000-{dead}-0.tmp",
        f"x.h5.{here}-{dead}-0.tmp",
        f".x.h5.{here}-{dead}-0",
        ".x.h5.word.tmp",
        "x.h5.tmp",
    }
    for name in (*leftovers, *others):
        (tmp_path / name).write_text("half")
    with replacing(tmp_path / "x.h5") as temporary:
        temporary.write_text("new")
    assert set(names(tmp_path)) == others | {"x.h5"}


def test_places_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("mine")
    for path, problem in (
        (tmp_path, "is a folder"),
        (tmp_path / "none" / "x.h5", "there is no folder"),
        (tmp_path / "file" / "x.h5", "there is no folder"),
        (Path("/proc/x.h5"), "cannot write here"),
        (tmp_path / ("x" * 250), "cannot write here"),
        (tmp_path / ("x" * 5000) / "x.h5", "x.h5: "),
    ):
        with pytest.raises(OutputError, match=problem):
            check_output(path)
    assert names(tmp_path) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OutputError, match="cannot write here"):
            check_output(tmp_path / "x.h5")
    finally:
        tmp_path.chmod(0o700)


def test_what_is_no_regular_file_is_not_replaced(tmp_path):
    """A pipe or a device must not vanish for a file of ours: as root, ``-o /dev/null`` would be fatal."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError):
        check_output(tmp_path / "pipe")


def test_links_lead_to_where_something_can_be_written(tmp_path):
    (tmp_path / "folder").mkdir()
    for target in ("none/x.h5", "folder"):
        (tmp_path / "link").symlink_to(target)
        with pytest.raises(OutputError, match="link: "):
            check_output(tmp_path / "link")
        (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("folder/x.h5")
    for text in ("new", "newer"):
        files.write_text(tmp_path / "link", text)
        assert (tmp_path / "folder" / "x.h5").read_text() == text
    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path / "folder") == ["x.h5"]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_what_a_standard_stream_leads_to_is_not_replaced(tmp_path, monkeypatch, number):
    fstat, path = os.fstat, tmp_path / "x.h5"
    path.write_text("")
    monkeypatch.setattr(os, "fstat", lambda fd: path.stat() if fd == number else fstat(fd))
    with pytest.raises(OutputError, match="not a regular file"):
        check_output(path)


def test_explanations_are_one_line_and_name_the_file():
    for error, text in (
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (OSError("first line\nsecond line"), "first line"),
        (OSError(), "OSError"),
    ):
        assert str(explain(Path("x.h5"), error)) == f"x.h5: cannot be written ({text}); nothing was changed"


def test_the_mode_of_the_old_file_is_kept(tmp_path):
    path = tmp_path / "x.h5"
    path.write_text("old")
    path.chmod(0o600)
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert path.stat().st_mode & 0o777 == 0o600


def test_threads_that_ask_for_one_file_do_not_meet(tmp_path):
    path = tmp_path / "x.h5"
    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(check_output, path) for _ in range(200)]:
            done.result()
    assert names(tmp_path) == []
    assert not any(temporary.parent == tmp_path for temporary in files._temporaries)

"""Files are whole or absent: the temporary file, the rename, and what others left behind."""

from __future__ import annotations

import ctypes
import errno
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from punish_fast.runtime import files
from punish_fast.runtime.files import OutputError, WriteError, check_output, explain, replacing


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


@pytest.mark.parametrize("name", ["two words.h5", "käse.h5", "a[1]*?.h5", ".hidden"])
def test_leftovers_of_dead_processes_are_removed(tmp_path, dead_process, name):
    path = tmp_path / name
    (tmp_path / f".{name}.{dead_process}.tmp").write_text("half")
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert names(tmp_path) == [name]


def test_nothing_else_is_removed(tmp_path, dead_process):
    others = {
        f".y.h5.{dead_process}.tmp",
        f".x.h5.{os.getppid()}.tmp",
        ".x.h5.word.tmp",
        f"x.h5.{dead_process}.tmp",
        f".x.h5.{dead_process}",
        "x.h5.tmp",
        "1",
    }
    for other in others:
        (tmp_path / other).write_text("mine")
    with replacing(tmp_path / "x.h5") as temporary:
        temporary.write_text("new")
    assert set(names(tmp_path)) == others | {"x.h5"}


@pytest.mark.parametrize(
    ("name", "is_removed"),
    [
        (".y.h5.{machine}-{dead}-0.tmp", True),
        (".y.h5.{machine}-{alive}-0.tmp", False),
        (".y.h5.00000000-{dead}-0.tmp", False),
        (".x.h5.00000000-{dead}-0.tmp", False),
        (".y.h5.{dead}-0.tmp", False),
        (".x.h5.{dead}-0.tmp", True),
    ],
)
def test_leftovers_of_other_files_are_removed_where_their_process_ran(tmp_path, dead_process, name, is_removed):
    leftover = tmp_path / name.format(machine=files._MACHINE, dead=dead_process, alive=os.getppid())
    leftover.write_text("half")
    with replacing(tmp_path / "x.h5") as temporary:
        temporary.write_text("new")
    assert leftover.exists() != is_removed


def test_a_process_of_another_user_is_alive(monkeypatch):
    def refuse(_process, _signal):
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert files._is_alive(1)


@pytest.mark.parametrize(
    ("handle", "last_error", "waited", "is_alive"),
    [(7, 0, 258, True), (7, 0, 0, False), (None, 5, None, True), (None, 87, None, False)],
    ids=["running", "ended", "access denied", "unknown"],
)
def test_windows_is_asked_for_processes(monkeypatch, handle, last_error, waited, is_alive):
    """Emulated: ``os.kill`` would end the process there."""
    closed = []
    kernel32 = SimpleNamespace(
        OpenProcess=lambda *_args: handle,
        WaitForSingleObject=lambda *_args: waited,
        CloseHandle=lambda handle: closed.append(handle.value),
    )
    monkeypatch.setattr(ctypes, "WinDLL", lambda *_args, **_options: kernel32, raising=False)
    monkeypatch.setattr(ctypes, "get_last_error", lambda: last_error, raising=False)
    monkeypatch.setattr(files.os, "name", "nt")
    # pathlib asks for the name of the system, too.
    found = files._is_alive(1)
    monkeypatch.undo()
    assert found == is_alive
    assert closed == ([handle] if handle else [])


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


@pytest.mark.parametrize("target", ["none/x.h5", "folder"])
def test_a_link_to_where_nothing_can_be_written(tmp_path, target):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(OutputError, match="link: "):
        check_output(tmp_path / "link")


def test_a_link_to_a_file_that_does_not_exist_yet(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/x.h5")
    check_output(tmp_path / "link")
    files.write_text(tmp_path / "link", "new")
    assert (tmp_path / "folder" / "x.h5").read_text() == "new"
    assert names(tmp_path / "folder") == ["x.h5"]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_what_a_standard_stream_leads_to_is_not_replaced(tmp_path, monkeypatch, number):
    fstat, path = os.fstat, tmp_path / "x.h5"
    path.write_text("")
    monkeypatch.setattr(os, "fstat", lambda fd: path.stat() if fd == number else fstat(fd))
    with pytest.raises(OutputError, match="no regular file"):
        check_output(path)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "no space left on the disk"),
        (RuntimeError("Can't write: errno = 28, error message = 'No space left on device'"), "no space left"),
        (OSError(errno.EFBIG, "File too large"), "too large"),
        (OSError("write failed, errno = 27, error message = 'File too large'"), "too large"),
        (RuntimeError("first line\nsecond line"), "first line"),
        (RuntimeError(), "RuntimeError"),
    ],
)
def test_explanations_are_one_line_and_name_the_file(error, text):
    message = str(explain(Path("x.h5"), error))
    assert message.startswith("x.h5: ")
    assert text in message
    assert "\n" not in message


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path):
    real = tmp_path / "real.h5"
    real.write_text("old")
    link = tmp_path / "link.h5"
    link.symlink_to(real)
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_the_mode_of_the_old_file_is_kept(tmp_path):
    path = tmp_path / "x.h5"
    path.write_text("old")
    path.chmod(0o600)
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert path.stat().st_mode & 0o777 == 0o600


def test_two_writers_of_one_file_do_not_meet(tmp_path):
    path = tmp_path / "x.h5"
    with replacing(path) as first, replacing(path) as second:
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"
    assert names(tmp_path) == ["x.h5"]


def test_threads_that_ask_for_one_file_do_not_meet(tmp_path):
    path = tmp_path / "x.h5"
    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(check_output, path) for _ in range(200)]:
            done.result()
    assert names(tmp_path) == []
    assert not any(temporary.parent == tmp_path for temporary in files._temporaries)

"""The folders of kernels, solutions and games: the user's, or else a private one that no other user can write."""

import os
import stat
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import platformdirs
import pytest

from punish_fast.runtime import folders
from punish_fast.runtime.compilation import kernel_files
from punish_fast.runtime.compilation.kernel_files import KernelFiles
from punish_fast.runtime.folders import find_folder, read_own

POSIX = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners and permissions")
KINDS = {"cache": "user_cache_dir", "data": "user_data_dir"}


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A home and a temporary folder, of a user who has not been warned yet."""
    monkeypatch.delenv(folders._WARNED, raising=False)
    for name in ("home", "tmp"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    for kind, function in KINDS.items():
        found = str(tmp_path / "home" / kind)
        monkeypatch.setattr(platformdirs, function, lambda *_names, found=found, **_options: found)
    return tmp_path


def private_of(home: Path) -> Path:
    """The private folder of this user, which Windows has no number for."""
    return home / "tmp" / f"punish-fast-{os.geteuid() if hasattr(os, 'geteuid') else ''}"


def homeless(monkeypatch, error: Exception | None, found: str = "") -> None:
    """Make the home unknown, as different versions of platformdirs report it."""

    def fail(*_names, **_options):
        if error is not None:
            raise error
        return found

    for function in KINDS.values():
        monkeypatch.setattr(platformdirs, function, fail)


def test_the_folders_of_the_user_come_first(home):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_folder("cache", "kernels") == (home / "home" / "cache" / "kernels", "the user's cache folder")
        assert find_folder("data") == (home / "home" / "data", "the user's data folder")
        given = str(home / "given")
        assert find_folder("cache", "kernels", given=given) == (home / "given" / "kernels", "NUMBA_CACHE_DIR")
    assert not private_of(home).exists()


def test_a_folder_in_the_environment_may_be_relative(home, monkeypatch):
    monkeypatch.chdir(home)
    assert find_folder("cache", "kernels", given="near").folder == home / "near" / "kernels"


@pytest.mark.parametrize(
    ("error", "found"), [(RuntimeError("no home"), ""), (None, "~/.cache/punish-fast"), (None, "home/.cache")]
)
def test_without_a_home_there_is_a_private_folder_and_one_warning(home, monkeypatch, error, found):
    homeless(monkeypatch, error, found)
    with pytest.warns(UserWarning) as caught:
        kernels, games = find_folder("cache", "kernels"), find_folder("data", holding="games.db")
    private = private_of(home)
    assert [str(each.message) for each in caught] == [
        f"{private} is used for kernels, solutions and games: the user has no home folder"
    ]
    assert (kernels.folder, games.folder) == (private / "cache" / "kernels", private / "data")
    assert kernels.reason == games.reason == "private folder: the user has no home folder"
    if hasattr(os, "geteuid"):
        assert {mode_of(each) for each in (private, kernels.folder, games.folder)} == {0o700}
    # Another process, whose parent has been warned, finds the same folder.
    code = "from punish_fast.runtime.folders import find_folder; print(find_folder('cache', 'kernels').folder)"
    code = f"import platformdirs as p; p.user_cache_dir = lambda *_, **__: ''; {code}"
    environment = os.environ | {"TMPDIR": str(home / "tmp"), "TEMP": str(home / "tmp")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == (str(kernels.folder), "")


def test_a_home_that_cannot_be_written_is_replaced_but_its_games_are_read(home, monkeypatch):
    # A file in the way stops even the administrator.
    (home / "home" / "cache").write_text("a file")
    with pytest.warns(UserWarning, match=r"is used for kernels, solutions and games: cannot use .*cache.kernels \("):
        assert find_folder("cache", "kernels").folder == private_of(home) / "cache" / "kernels"

    def refuse(dir):
        raise PermissionError(13, "Permission denied", str(dir))

    (home / "home" / "data").mkdir()
    (home / "home" / "data" / "games.db").touch()
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    assert find_folder("data", holding="games.db").folder == home / "home" / "data"
    assert find_folder("data").folder is None


def test_without_any_folder_there_is_no_cache(home, monkeypatch):
    homeless(monkeypatch, RuntimeError("no home"))
    private_of(home).write_text("a file")
    with pytest.warns(
        UserWarning,
        match="nothing is stored, and kernels will be compiled again in every process: the user has no home",
    ):
        found = find_folder("cache", "kernels")
    assert found.folder is None
    assert f"cannot use {private_of(home)}" in found.reason


@POSIX
@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("umask", [0o002, 0o022, 0o000])
def test_folders_are_closed_to_other_users_at_any_umask(umask):
    before = os.umask(umask)
    try:
        found = find_folder("cache", "kernels").folder
        files = KernelFiles(found, mode_of)
        files.save("key", "data")
    finally:
        os.umask(before)
    assert mode_of(found) == 0o700
    assert mode_of(files._path("key")) == 0o600
    assert files.load("key") == "data"
    # A folder made by an older version under umask 002 is closed; its files that a group can write are not loaded.
    found.chmod(0o775)
    files._path("key").chmod(0o664)
    assert find_folder("cache", "kernels").folder == found
    assert mode_of(found) == 0o700
    assert files.load("key") is None
    files.save("key", "data")
    assert files.load("key") == "data"


def belong_to_another(monkeypatch, folder: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)


def make_open(_monkeypatch, folder: Path) -> None:
    folder.chmod(0o777)


def make_link(_monkeypatch, folder: Path) -> None:
    folder.rename(folder.with_name("target"))
    folder.symlink_to(folder.with_name("target"))


@POSIX
@pytest.mark.parametrize("spoil", [belong_to_another, make_open, make_link])
def test_a_folder_that_another_user_could_write_is_not_used(home, monkeypatch, spoil):
    found = find_folder("cache", "kernels", given=str(home)).folder
    spoil(monkeypatch, found)
    with pytest.warns(UserWarning, match=rf"cannot use {found} \(a link, or another user owns it or can write it\)"):
        used = find_folder("cache", "kernels", given=str(home))
    # The private folder is named after the user, so another user has another one. Only its owner is emulated.
    assert used.folder in (None, private_of(home) / "cache" / "kernels")
    assert (used.folder is None) == (spoil is belong_to_another)


@POSIX
@pytest.mark.parametrize("spoil", [belong_to_another, make_open, make_link])
def test_a_private_folder_that_another_user_could_write_is_not_used(home, monkeypatch, spoil):
    homeless(monkeypatch, RuntimeError("no home"))
    private_of(home).mkdir()
    path = private_of(home)
    spoil(monkeypatch, path)
    if spoil is belong_to_another:
        path.rename(private_of(home))
    with pytest.warns(UserWarning, match="nothing is stored, and kernels will be compiled again in every process"):
        assert find_folder("cache", "kernels").folder is None


@POSIX
def test_a_kernel_file_of_another_user_is_not_unpickled(home, monkeypatch):
    files = KernelFiles(home, mode_of)
    files.save("key", "data")
    assert files.load("key") == "data"
    belong_to_another(monkeypatch, home)
    monkeypatch.setattr(kernel_files.pickle, "loads", lambda _: pytest.fail("unpickled"))
    assert files.load("key") is None


def test_on_windows_the_folders_of_the_profile_are_trusted(home, monkeypatch):
    monkeypatch.delattr(os, "geteuid", raising=False)
    found = find_folder("cache", "kernels").folder
    found.chmod(0o777)
    assert find_folder("cache", "kernels").folder == found
    (found / "file").write_bytes(b"1")
    (found / "file").chmod(0o666)
    assert read_own(found / "file") == b"1"
    homeless(monkeypatch, RuntimeError("no home"))
    with pytest.warns(UserWarning, match="is used for kernels"):
        assert find_folder("data").folder == home / "tmp" / "punish-fast-" / "data"

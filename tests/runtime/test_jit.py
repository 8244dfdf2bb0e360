import os
import signal
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest
from numba import config

from punish_fast.runtime import _jit
from punish_fast.runtime.compilation.compile_progress import announce_to
from punish_fast.runtime.compilation.kernel_files import FOLDER

WITH_JIT = pytest.mark.skipif(config.DISABLE_JIT, reason="there is nothing to compile")

# Kernels that a process compiles, and kernels that it finds in the cache.
CALLS = """
from punish_fast.runtime.compilation.compile_progress import announce_to
from punish_fast.runtime.compilation.kernel_files import FOLDER
told = []
announce_to(lambda *announced: told.append(announced))
from punish_fast.punish import _codes
assert _codes.pair_digit(1, 2) == 7
print([name.split(".")[-2] for name, left in told], sum(_codes.pair_digit.stats.cache_hits.values()))
assert all(left == 1 for _, left in told)
"""


def run_in(base: Path, *command: str) -> str:
    """The output of a process with its kernels in a folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(base)}
    done = subprocess.run([sys.executable, *command], env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@WITH_JIT
def test_a_kernel_is_cached_for_other_processes_and_compiled_again_if_its_file_is_damaged(tmp_path):
    for expected in ("['pair_digit'] 0", "[] 1"):
        assert run_in(tmp_path, "-c", CALLS).strip() == expected
    (path,) = tmp_path.rglob("*.nbc")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert run_in(tmp_path, "-c", CALLS).strip() == "['pair_digit'] 0"


NOBODY = """
import pwd
def nobody(_user):
    raise KeyError
pwd.getpwuid = nobody
"""


@WITH_JIT
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no password file")
@pytest.mark.parametrize("home", [None, "relative"])
def test_without_a_home_the_second_process_finds_the_kernels_of_the_first(tmp_path, home):
    unset = ("HOME", "NUMBA_CACHE_DIR", "PUNISH_FAST_FOLDER_WARNED")
    kept = {name: value for name, value in os.environ.items() if name not in unset and not name.startswith("XDG_")}
    environment = kept | {"TMPDIR": str(tmp_path)} | ({} if home is None else {"HOME": home})
    for expected in ("['pair_digit'] 0", "[] 1"):
        command = [sys.executable, "-c", NOBODY + CALLS]
        done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, cwd=tmp_path)
        assert done.stdout.strip() == expected, done.stderr
        assert done.stderr.count("UserWarning") == done.stderr.count("is used for kernels, solutions and games") == 1
    assert [path.name for path in tmp_path.iterdir()] == [f"punish-fast-{os.geteuid()}"]


# A kernel whose folder cannot be written any more.
IN_THE_WAY = """
import shutil
from pathlib import Path
from punish_fast.runtime import _jit
shutil.rmtree(_jit.cache_folder)
Path(_jit.cache_folder).write_text("a file")
from punish_fast.punish import _codes
assert _codes.pair_digit(1, 2) == 7
print(_codes.pair_digit.stats.cache_path)
"""


@WITH_JIT
def test_a_kernel_runs_if_its_folder_cannot_be_written_any_more(tmp_path):
    assert run_in(tmp_path, "-c", IN_THE_WAY).startswith(str(tmp_path))


@WITH_JIT
def test_an_interrupt_waits_until_a_kernel_is_compiled(monkeypatch):
    monkeypatch.setattr(_jit, "cache_folder", None)

    @_jit.kernel
    def double(n):
        return 2 * n

    def interrupt(*announced):
        assert announced == ("double", 1)
        signal.raise_signal(signal.SIGINT)

    announce_to(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            double(3)
    finally:
        announce_to(None)
    assert len(double.signatures) == 1
    assert double(3) == 6
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A cache folder of the user's own, with nothing set that overrides it."""
    monkeypatch.setattr(config, "DISABLE_JIT", 0)
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_args, **_options: str(tmp_path / "cache"))
    return tmp_path


def test_kernels_are_cached_in_the_folder_of_the_user(home):
    for _ in range(2):
        assert _jit._find_cache_folder() == (home / "cache" / FOLDER, "the user's cache folder")
    assert list((home / "cache").iterdir()) == [home / "cache" / FOLDER]


def test_a_folder_from_the_environment_holds_it(monkeypatch, home):
    monkeypatch.setattr(config, "CACHE_DIR", str(home / "elsewhere"))
    assert _jit._find_cache_folder().folder == home / "elsewhere" / FOLDER
    assert not (home / "cache").exists()


def test_nothing_is_cached_with_the_jit_off(monkeypatch, home):
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    assert _jit._find_cache_folder() == (None, "NUMBA_DISABLE_JIT")
    assert not (home / "cache").exists()


def test_threads_can_be_set_from_one_to_the_most():
    before = _jit.threads()
    try:
        for count in (1, _jit.max_threads()):
            _jit.set_threads(count)
            assert _jit.threads() == count
        for count in (0, -1, _jit.max_threads() + 1):
            with pytest.raises(_jit.ThreadsError, match=rf"^threads: {count} is not possible here; use 1 to"):
                _jit.set_threads(count)
            assert _jit.threads() == _jit.max_threads()
    finally:
        _jit.set_threads(before)

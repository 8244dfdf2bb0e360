from __future__ import annotations

import os
import subprocess
import sys

import pytest
from numba import config

from punish_fast.runtime import _jit

# One kernel that calls another; what is looked up in `sys.modules` is of no use but to compile.
CALLS = """
import sys
import numpy as np
from punish_fast.punish import _codes
digit = _codes.pair_digit(np.int64(1), np.int64(2))
hits = sum(_codes.pair_digit.stats.cache_hits.values())
is_ready = "numba.np.linalg" in sys.modules
if len(sys.argv) > 1:
    from punish_fast.punish.codes import layout_of
    from punish_fast.punish.rules import PRESETS
    layout, hand, discard = layout_of(PRESETS["tiny"]), np.array([1, 0, 0, 0, 0]), np.array([2, 0, 0, 0, 0])
    assert _codes.cards_code(layout, hand, discard) == layout.place[0] * digit
print(hits, is_ready)
"""


def calls(cache, *arguments):
    """What a process prints that calls kernels and has its cache in the folder ``cache``."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", CALLS, *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.skipif(config.DISABLE_JIT, reason="there is nothing to compile")
def test_cached_kernels_are_called_without_getting_ready_to_compile(tmp_path):
    assert calls(tmp_path) == ["0", "True"]
    assert calls(tmp_path) == ["1", "False"]


@pytest.mark.skipif(config.DISABLE_JIT, reason="there is nothing to compile")
def test_kernels_that_are_not_cached_can_be_compiled_with_those_that_are(tmp_path):
    calls(tmp_path)
    assert calls(tmp_path, "callers too") == ["1", "False"]
    assert len(list(tmp_path.rglob("_codes.cards_code-*.nbc"))) == 1


AHEAD = """
import threading
import numpy as np
from punish_fast.runtime import _jit
from punish_fast.punish import _codes
missing = []
_jit.load_ahead([_codes.pair_digit, _codes.cards_code], lambda: missing.append("missing"))
for thread in threading.enumerate():
    if thread.name == "loader":
        thread.join()
loaded = sum(_codes.pair_digit.stats.cache_hits.values()), len(_codes.pair_digit.signatures)
assert _codes.pair_digit(np.int64(1), np.int64(2)) == 7
assert sum(_codes.pair_digit.stats.cache_misses.values()) == (0 if loaded[0] else 1)
print(*loaded, *missing)
"""


@pytest.mark.skipif(config.DISABLE_JIT, reason="there is nothing to compile")
def test_kernels_that_are_cached_are_loaded_ahead_and_others_wait_until_they_are_called(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", AHEAD]
    for loaded in ("0 0 missing", "1 1 missing"):
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        assert (done.stdout.strip(), done.stderr) == (loaded, "")


@pytest.mark.skipif(config.DISABLE_JIT, reason="there is nothing to compile")
def test_a_cache_that_cannot_be_read_is_left_to_who_calls(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", AHEAD]
    subprocess.run(command, env=environment, check=True)
    for index in tmp_path.rglob("*.nbi"):
        index.write_bytes(b"damaged")
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert "loader" not in done.stderr


TYPES = """
from punish_fast.runtime import _jit
from punish_fast.punish import _codes
_jit.compile_for(_codes.pair_digit, 1, 2)
_jit.compile_for(_codes.pair_digit, 1.0, 2.0)
print(sum(_codes.pair_digit.stats.cache_hits.values()), _codes.pair_digit(1, 2), _codes.pair_digit(1.0, 2.0))
"""


@pytest.mark.skipif(config.DISABLE_JIT, reason="there is nothing to compile")
def test_what_is_cached_under_the_name_of_other_types_is_compiled_again(tmp_path):
    def run():
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", TYPES]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.split()

    assert run() == ["0", "7", "7.0"]
    assert run() == ["2", "7", "7.0"]
    [integers] = tmp_path.rglob("*.1.nbc")
    [floats] = tmp_path.rglob("*.2.nbc")
    integers.write_bytes(floats.read_bytes())
    assert run() == ["1", "7", "7.0"]
    assert run() == ["2", "7", "7.0"]


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A cache folder of the user's own, with nothing set that overrides it."""
    monkeypatch.setattr(config, "DISABLE_JIT", 0)
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setattr(_jit.platformdirs, "user_cache_dir", lambda *_args, **_options: str(tmp_path / "cache"))
    return tmp_path


def test_kernels_are_cached_in_a_folder_named_by_their_sources(home):
    folder = _jit._find_cache_folder()
    assert folder == str(home / "cache" / f"kernels-{_jit._source_digest()}")
    assert list((home / "cache").iterdir()) == [home / "cache" / f"kernels-{_jit._source_digest()}"]
    assert _jit._find_cache_folder() == folder


def test_folder_from_the_environment_comes_first(monkeypatch, home):
    monkeypatch.setattr(config, "CACHE_DIR", str(home / "elsewhere"))
    assert _jit._find_cache_folder() == str(home / "elsewhere")
    assert not (home / "cache").exists()


def test_nothing_is_cached_with_the_jit_off(monkeypatch, home):
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    assert _jit._find_cache_folder() is None
    assert not (home / "cache").exists()


def test_folder_that_cannot_be_made_means_no_cache_and_one_warning(home):
    (home / "cache").write_text("a file in the way", encoding="utf-8")
    with pytest.warns(UserWarning, match="kernels are compiled anew every time: cannot write") as caught:
        assert _jit._find_cache_folder() is None
    assert len(caught) == 1


def test_folder_that_cannot_be_written_means_no_cache_and_one_warning(monkeypatch, home):
    def refuse(**_options):
        raise PermissionError("read-only")

    monkeypatch.setattr(_jit.tempfile, "TemporaryFile", refuse)
    with pytest.warns(UserWarning, match=r"cannot write .*kernels-.*read-only") as caught:
        assert _jit._find_cache_folder() is None
    assert len(caught) == 1
    assert (home / "cache").exists()


def test_digest_changes_with_the_kernels_and_with_nothing_else(monkeypatch, tmp_path):
    monkeypatch.setattr(_jit, "_PACKAGE", tmp_path)
    (tmp_path / "mdp").mkdir()
    kernels, api = tmp_path / "mdp" / "_sweep.py", tmp_path / "mdp" / "sweep.py"
    kernels.write_text("one", encoding="utf-8")
    first = _jit._source_digest()
    api.write_text("no kernel", encoding="utf-8")
    assert _jit._source_digest() == first
    kernels.write_text("two", encoding="utf-8")
    second = _jit._source_digest()
    kernels.rename(tmp_path / "mdp" / "_other.py")
    assert len({first, second, _jit._source_digest()}) == 3


@pytest.mark.parametrize("setting", ["BOUNDSCHECK", "OPT"])
def test_digest_changes_with_what_the_machine_code_depends_on(monkeypatch, setting):
    before = _jit._source_digest()
    monkeypatch.setattr(config, setting, "something else")
    assert _jit._source_digest() != before


def test_cache_folder_of_other_packages_is_put_back(monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", "theirs")
    with pytest.raises(ArithmeticError), _jit._numba_cache_at("ours"):
        assert config.CACHE_DIR == "ours"
        raise ArithmeticError
    assert config.CACHE_DIR == "theirs"
    with _jit._numba_cache_at(None):
        assert config.CACHE_DIR == "theirs"


@pytest.mark.parametrize("decorate", [_jit.kernel, _jit.routine, _jit.inlined_routine])
def test_kernels_compute_what_their_python_does(monkeypatch, decorate):
    monkeypatch.setattr(_jit, "cache_folder", None)

    def triangle(n):
        total = 0
        for k in range(n + 1):
            total += k
        return total

    assert decorate(triangle)(10) == 55


def test_threads_can_be_set_from_one_to_the_most():
    before = _jit.threads()
    try:
        for count in (1, _jit.max_threads()):
            _jit.set_threads(count)
            assert _jit.threads() == count
    finally:
        _jit.set_threads(before)


@pytest.mark.parametrize("count", [0, -1, 10**6])
def test_impossible_thread_count_is_refused_with_what_is_allowed(count):
    before = _jit.threads()
    with pytest.raises(_jit.ThreadsError, match=rf"^threads: {count} is not possible here, allowed are 1 to"):
        _jit.set_threads(count)
    assert _jit.threads() == before


def test_compiled_kernels_go_where_the_package_says():
    expected = None if config.DISABLE_JIT else str
    assert _jit.cache_folder is None if expected is None else isinstance(_jit.cache_folder, expected)

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import platformdirs
import pytest
from numba import config

from punish_fast.duel.graph import GRAPH, Graph
from punish_fast.mdp.solver import SWEEPS, evaluate, solve
from punish_fast.punish.transitions.tensor import REDEALS, TENSOR, build
from punish_fast.runtime import _jit, compile_progress, kernel_files
from punish_fast.runtime.compile_progress import announce_to
from punish_fast.runtime.kernel_files import KernelFiles, KernelGroup, compile_ahead, compile_missing, wait_for

WITH_JIT = pytest.mark.skipif(config.DISABLE_JIT, reason="there is nothing to compile")

# Kernels that a process compiles, and kernels that it finds in the cache.
CALLS = """
from punish_fast.runtime.compile_progress import announce_to
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
    (path,) = [path for path in tmp_path.rglob("*") if path.is_file()]
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


def test_kernels_are_cached_in_a_folder_named_by_their_sources(home):
    name = f"kernels-{_jit.source_digest()}"
    for _ in range(2):
        assert _jit._find_cache_folder() == (home / "cache" / name, "the user's cache folder")
    assert list((home / "cache").iterdir()) == [home / "cache" / name]


def test_a_folder_from_the_environment_holds_it(monkeypatch, home):
    monkeypatch.setattr(config, "CACHE_DIR", str(home / "elsewhere"))
    assert _jit._find_cache_folder().folder == home / "elsewhere" / f"kernels-{_jit.source_digest()}"
    assert not (home / "cache").exists()


def test_nothing_is_cached_with_the_jit_off(monkeypatch, home):
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    assert _jit._find_cache_folder() == (None, "NUMBA_DISABLE_JIT")
    assert not (home / "cache").exists()


def test_digest_changes_with_kernels_and_named_tuples_and_with_nothing_else(monkeypatch, tmp_path):
    monkeypatch.setattr(_jit, "_PACKAGE", tmp_path)
    sources = {"room/_kernels.py": "", "room/tuples.py": "class Pair(NamedTuple):\n", "room/api.py": ""}
    (tmp_path / "room").mkdir()
    for name, text in sources.items():
        (tmp_path / name).write_text(text)
    digests = [_jit.source_digest()]
    for name in sources:
        with (tmp_path / name).open("a") as file:
            file.write("# edited\n")
        assert (_jit.source_digest() in digests) == (name == "room/api.py")
        digests.append(_jit.source_digest())
    (tmp_path / "room" / "_kernels.py").rename(tmp_path / "room" / "_renamed.py")
    assert _jit.source_digest() not in digests


@pytest.mark.parametrize("setting", ["BOUNDSCHECK", "OPT"])
def test_digest_changes_with_settings_of_the_compiler(monkeypatch, setting):
    before = _jit.source_digest()
    monkeypatch.setattr(config, setting, "something else")
    assert _jit.source_digest() != before


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


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_groups_compile_the_signatures_that_a_game_needs(graph):
    groups = (TENSOR, REDEALS, SWEEPS, GRAPH)
    kernels = [kernel for group in groups for kernel in group.kernels]
    mdp = build(graph.space)
    evaluate(mdp, solve(mdp).greedy(), discount=1.0)
    again = Graph(graph.space)
    weights = np.zeros(len(again.action))
    again.back_up(weights, weights, np.zeros((again.n_values, 2)))
    again.spread(weights, weights, np.zeros(again.n_full))
    needed = [set(kernel.signatures) for kernel in kernels]
    assert all(needed)
    for group in groups:
        group.compile()
    assert [set(kernel.signatures) for kernel in kernels] == needed


class _Kernel:
    def __init__(self, folder):
        self._cache = KernelFiles(folder, "kernel", b"")


def compile_nothing():
    """Compile a kernel, if this were a real group."""


def test_only_missing_kernels_are_compiled_and_only_on_other_cores(tmp_path, monkeypatch):
    started = []

    class Process:
        kill = poll = staticmethod(lambda: 0)

        def __init__(self, command, env, **_streams):
            assert env["NUMBA_CACHE_DIR"] == str(tmp_path.parent)
            started.append(command)

    monkeypatch.setattr(subprocess, "Popen", Process)
    group = KernelGroup(compile_nothing, (_Kernel(tmp_path),))
    for n_cores, n_threads, n_processes in ((1, 9, 0), (9, 1, 0), (2, 9, 1), (9, 9, 2)):
        monkeypatch.setattr(kernel_files, "_processes", {})
        monkeypatch.setattr(kernel_files, "usable_cores", lambda n=n_cores: n)
        compile_ahead([group, group], n_threads)
        compile_ahead([group], n_threads)
        assert len(started) == n_processes
        started.clear()
    monkeypatch.setattr(kernel_files, "_processes", {})
    compiled, told = [], []
    announce_to(lambda *announced: told.append(announced))
    compile_ahead([group], 1)
    announce_to(None)
    assert told == [("", 1)]
    own = KernelGroup(lambda: compiled.append(1), group.kernels)
    compile_missing(own)
    group.kernels[0]._cache.save("key", "data")
    compile_missing(own)
    compile_ahead([group], 9)
    assert (started, compiled) == ([], [1])


def test_a_kernel_that_no_process_compiles_is_not_waited_for(monkeypatch):
    polls = iter([None, None, None, 0])
    monkeypatch.setattr(kernel_files, "_processes", {"kernel": SimpleNamespace(poll=lambda: next(polls))})
    told, answers = [], iter([None, None, "compiled"])
    announce_to(lambda *announced: told.append((*announced, list(compile_progress.current))))
    assert wait_for("kernel", lambda: next(answers)) == "compiled"
    assert wait_for("kernel", lambda: "compiled") == "compiled"
    assert wait_for("kernel", lambda: None) is None
    announce_to(None)
    assert list(polls) == []
    assert wait_for("other", lambda: None) is None
    # Waiting counts as compiling.
    assert told == [("kernel", 1, ["kernel"])] * 2
    assert compile_progress.current == []


def test_kernels_are_left_until_any_process_has_compiled_them(tmp_path, monkeypatch):
    monkeypatch.setattr(compile_progress, "expected", {})
    monkeypatch.setattr(kernel_files, "expected", compile_progress.expected)
    files = [KernelFiles(tmp_path, name, b"") for name in ("one", "two", "three")]
    told = []
    announce_to(lambda _name, left: told.append(left))
    compile_ahead([KernelGroup(compile_nothing, tuple(SimpleNamespace(_cache=each) for each in files))], 1)
    compile_progress.begin("one")
    # A kernel that cannot be saved is not left, either.
    compile_progress.end("one")
    files[1].save("key", "data")
    for name in ("three", "unexpected"):
        compile_progress.begin(name)
        compile_progress.end(name)
    announce_to(None)
    assert told == [3, 3, 1, 1]

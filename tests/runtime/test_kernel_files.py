import errno
import os
import platform
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import filelock
import llvmlite.binding
import pytest
from numba import config, types
from numba.core.errors import TypingError

from punish_fast.duel.evaluation import EVALUATION, outcome_distribution, simulate
from punish_fast.duel.graph import GRAPH, GameGraph
from punish_fast.duel.simulator import SIMULATION
from punish_fast.equilibrium.exploitation.bracket import BRACKET, bracket
from punish_fast.equilibrium.exploitation.exploiters import exploit
from punish_fast.equilibrium.public_equilibrium import likely_public_states
from punish_fast.equilibrium.restricted_game import restrict
from punish_fast.equilibrium.solver import LEARNING, Equilibrium, _Part
from punish_fast.mdp.objectives.solver import SWEEPS, evaluate, solve
from punish_fast.play.game_data import GameData
from punish_fast.play.punish.match import MATCH, play_ahead
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import uniform_policy
from punish_fast.punish.transitions.tensor import POLICY_ROWS, TENSOR, build
from punish_fast.runtime import _jit
from punish_fast.runtime.compilation import compile_progress, kernel_files
from punish_fast.runtime.compilation.compile_progress import announce_to
from punish_fast.runtime.compilation.kernel_files import (
    FOLDER,
    KernelFiles,
    KernelGroup,
    compile_by_name,
    compile_kernels,
)
from punish_fast.runtime.compilation.shipped_kernels import ShippedKernels, level, portable, shipped_kernels

WITH_JIT = pytest.mark.skipif(config.DISABLE_JIT, reason="there is nothing to compile")
KEY, DATA = ("int64", "x86"), ([1.5, "text"], b"code")


def sweep():
    """A function whose kernel has files."""


def back_up():
    """Another function."""


@pytest.fixture
def files(tmp_path: Path) -> KernelFiles:
    """Files of a kernel with one compilation."""
    found = KernelFiles(tmp_path, sweep)
    found.save(KEY, DATA)
    return found


@pytest.fixture
def told(monkeypatch) -> list:
    """What is announced about kernels."""
    monkeypatch.setattr(compile_progress, "expected", {})
    monkeypatch.setattr(kernel_files, "expected", compile_progress.expected)
    found = []
    announce_to(lambda *announced: found.append(announced))
    yield found
    announce_to(None)


def test_what_is_saved_is_loaded_with_the_same_key_and_sources(files, tmp_path, monkeypatch):
    other = KernelFiles(tmp_path, sweep)
    other.save(("float64", "x86"), "another")
    for each in (files, other):
        assert each.load(KEY) == DATA
        assert each.load(("float64", "x86")) == "another"
        assert each.load(("int32", "x86")) is None
    assert KernelFiles(tmp_path, back_up).load(KEY) is None
    monkeypatch.setattr(kernel_files, "digest_of_kernel", lambda _function: bytes(16))
    edited = KernelFiles(tmp_path, sweep)
    assert edited.load(KEY) is None
    edited.save(KEY, "edited")
    assert (edited.load(KEY), files.load(KEY)) == ("edited", DATA)
    kernel_files.remove_old_kernels(tmp_path, [edited])
    assert (edited.load(KEY), files.load(KEY)) == ("edited", None)
    edited.flush()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_refers_to_a_moved_module_is_not_loaded(files, monkeypatch):
    def fail(_content):
        raise ModuleNotFoundError("No module named 'moved'")

    monkeypatch.setattr(kernel_files.pickle, "loads", fail)
    assert files.load(KEY) is None


class Pair(NamedTuple):
    first: float
    second: float


def test_keys_contain_the_fields_of_named_tuples_at_any_depth():
    fields = (__name__, "Pair", ("first", "second"))
    pair = types.NamedUniTuple(types.float64, 2, Pair)
    mixed = types.NamedTuple([types.float64, types.int64], Pair)
    for signature in ((pair,), (types.UniTuple(pair, 1),), (types.Tuple([types.int64, mixed]),)):
        assert list(kernel_files._layouts(signature)) == [fields]


def test_a_file_of_another_kernel_or_types_is_not_loaded(files, tmp_path):
    (path,) = tmp_path.iterdir()
    KernelFiles(tmp_path, sweep).save(("float64", "x86"), "another")
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


def test_a_shipped_kernel_is_used_if_none_was_compiled(files, tmp_path, monkeypatch):
    def own(name):
        (tmp_path / name).mkdir()
        return KernelFiles(tmp_path / name, sweep)

    assert own("without").origin() == "missing"
    monkeypatch.setattr(kernel_files, "shipped_kernels", lambda: ShippedKernels(tmp_path, ""))
    shipped = own("with")
    assert shipped.origin() == "shipped"
    assert shipped.load(KEY) is None
    assert shipped._load_shipped(KEY) == DATA
    assert files.origin() == "compiled"


V3 = [
    "avx",
    "avx2",
    "bmi",
    "bmi2",
    "cx16",
    "f16c",
    "fma",
    "lzcnt",
    "movbe",
    "popcnt",
    "sahf",
    "sse3",
    "sse4.1",
    "sse4.2",
    "ssse3",
    "xsave",
]


@pytest.mark.parametrize(
    ("machine", "features", "settings", "reason"),
    [
        ("x86_64", V3, {}, ""),
        ("AMD64", V3[1:], {}, "this processor lacks avx"),
        ("arm64", [], {}, ""),
        ("x86_64", V3, {"CPU_NAME": "generic"}, "NUMBA_CPU_NAME is generic"),
        ("x86_64", V3, {"CPU_FEATURES": "-avx2"}, "NUMBA_CPU_FEATURES is -avx2"),
    ],
)
def test_shipped_kernels_need_their_package_and_processor(tmp_path, monkeypatch, machine, features, settings, reason):
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda: dict.fromkeys(features, True))
    for name in ("CPU_NAME", "CPU_FEATURES"):
        monkeypatch.setattr(config, name, settings.get(name))
    find = shipped_kernels.__wrapped__
    assert find() == (None, "punish-fast-kernels is not installed")
    (tmp_path / "punish_fast_kernels").mkdir()
    (tmp_path / "punish_fast_kernels" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert find() == (None if reason else tmp_path / "punish_fast_kernels", reason)
    assert level() == ("generic" if machine == "arm64" else "x86-64-v3")
    assert portable("arm64-apple-darwin23.5.0") == "arm64-apple-darwin"


# Calls a kernel with the kernels of a package in a folder, and prints how often it was compiled.
SHIPPED = """
import sys
sys.path.append(sys.argv[1])
from punish_fast.punish import _codes
assert _codes.pair_digit(1, 2) == 7
print(sum(_codes.pair_digit.stats.cache_misses.values()), _codes.pair_digit._cache.origin())
"""


@WITH_JIT
@pytest.mark.skipif(shipped_kernels().reason.startswith("this processor"), reason="needs a processor of the level")
def test_shipped_kernels_are_loaded_and_nothing_is_compiled(tmp_path):
    def run(folder, **settings):
        environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)} | settings
        command = [sys.executable, "-c", SHIPPED, str(tmp_path)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    built = {"NUMBA_CPU_NAME": level(), "NUMBA_CPU_FEATURES": ""}
    assert run(tmp_path / "made", **built) == ["1", "compiled"]
    package = (tmp_path / "made" / FOLDER).rename(tmp_path / "punish_fast_kernels")
    (package / "__init__.py").touch()
    assert run(tmp_path / "user") == ["0", "shipped"]


@WITH_JIT
def test_a_failed_compilation_ends_the_claim(tmp_path, monkeypatch):
    monkeypatch.setattr(_jit, "cache_folder", tmp_path)
    monkeypatch.setattr(kernel_files, "_LONGEST_WAIT", 60.0)

    @_jit.kernel
    def fail(number):
        return unknown(number)  # noqa: F821

    begin = time.perf_counter()
    for number in (1, 1.0, 1):
        with pytest.raises(TypingError):
            fail(number)
    assert time.perf_counter() - begin < 30
    assert list(tmp_path.glob("*.lock")) == []


@WITH_JIT
def test_kernels_are_loaded_in_the_background_only_if_they_are_cached(tmp_path):
    compiled_groups.clear()
    group = group_of(tmp_path, compile_sweep, sweep)
    group.load_in_background()
    KernelGroup(compile_sweep, (SimpleNamespace(),)).load_in_background()
    assert compiled_groups == []
    group.kernels[0]._cache.save(KEY, DATA)
    group.load_in_background()
    for thread in threading.enumerate():
        if thread.daemon and thread.name.endswith("(load)"):
            thread.join(60)
    assert compiled_groups == ["sweep"]


@pytest.mark.parametrize("fault", [OSError(errno.EROFS, "read-only"), NotImplementedError("no locks here")])
def test_a_kernel_is_compiled_without_a_claim_if_there_are_no_locks(files, monkeypatch, fault):
    def fail(*_args, **_options):
        raise fault

    monkeypatch.setattr(filelock.FileLock, "acquire", fail)
    files._claim_or_wait(files.folder / "kernel")


# Claims a file, says so and waits.
HOLDER = """
import sys, time
from pathlib import Path
from punish_fast.runtime.compilation.kernel_files import _claimed
with _claimed(Path(sys.argv[1])):
    print("claimed", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_a_claim_ends_with_its_process_and_is_not_waited_for_without_limit(files, monkeypatch, told, end):
    if end == "stop" and not hasattr(signal, "SIGSTOP"):
        pytest.skip("Windows cannot stop processes")
    monkeypatch.setattr(kernel_files, "_LONGEST_WAIT", 1.0)
    path = files.folder / "kernel"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout.readline().strip() == b"claimed"
            with pytest.raises(kernel_files._ClaimedError), kernel_files._claimed(path):
                raise AssertionError("the claim was given twice")
            holder.kill() if end == "kill" else holder.send_signal(signal.SIGSTOP)
            begin = time.perf_counter()
            files._claim_or_wait(path)
            assert time.perf_counter() - begin < 20
        finally:
            holder.kill()
    files._claim.close()
    # Waiting is announced like compiling.
    assert set(told) <= {(files.name, 1)}
    assert bool(told) or end == "kill"
    assert compile_progress.current == []


# Compiles a group of two kernels, and says which ones this process has compiled.
COMPILES = """
from numba.core.event import RecordingListener, install_listener
from punish_fast.punish import _codes
from punish_fast.play.game_data import GameData
from punish_fast.play.punish.match import MATCH, play_ahead
from punish_fast.runtime import _jit
from punish_fast.mdp.arrays import _policy
import numpy as np
with install_listener("numba:compile", RecordingListener()) as found:
    assert _codes.pair_digit(1, 2) == 7
    choice = np.zeros(1, np.int64)
    _policy.choose_first(0, 1, np.array([0, 2]), np.array([1.0, 2.0]), 0.0, choice)
    assert choice[0] == 1
kernels = [event.data["dispatcher"] for _, event in found.buffer if event.is_start]
print(*(kernel.__name__ for kernel in kernels if kernel in _jit._kernels))
"""


def start(folder: Path) -> subprocess.Popen:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    return subprocess.Popen([sys.executable, "-c", COMPILES], env=environment, stdout=subprocess.PIPE, text=True)


@WITH_JIT
def test_processes_compile_each_kernel_once_even_if_one_is_killed(tmp_path):
    compiled = []
    for process in [start(tmp_path) for _ in range(3)]:
        compiled += process.communicate(timeout=300)[0].split()
        assert process.returncode == 0
    assert sorted(compiled) == ["choose_first", "pair_digit"]
    for path in tmp_path.rglob("*.nbc"):
        path.unlink()
    killed, other = start(tmp_path), start(tmp_path)
    time.sleep(random.uniform(0.5, 3.0))
    killed.kill()
    killed.communicate()
    other.communicate(timeout=300)
    assert other.returncode == 0
    assert start(tmp_path).communicate(timeout=300)[0].split() == []


GROUPS = (*MATCH, *TENSOR, POLICY_ROWS, SWEEPS, *GRAPH, EVALUATION, SIMULATION, LEARNING, *BRACKET)


@WITH_JIT
def test_groups_compile_the_signatures_that_a_game_needs(graph):
    kernels = {kernel for group in GROUPS for kernel in group.kernels}
    policy = uniform_policy(graph.space)
    mdp = build(graph.space)
    evaluate(mdp, solve(mdp).policy, discount=1.0)
    play_ahead(GameData(graph.space))
    simulate(graph, policy, policy, 4)
    outcome_distribution(graph, policy, policy)
    exploit(GameGraph(graph.space), policy, ("uniform-belief", "belief"))
    for public in (None, likely_public_states(graph, policy, 2)):
        bracket(GameGraph(graph.space, public=public), policy, max_iterations=3)
    learner = Equilibrium(GameGraph(StateSpace(graph.space.rules, "memory")), share=0.5)
    learner.iterate()
    learner._mark()
    _Part(learner._whole, restrict(learner.graph, learner._marks, must_pay=False)).run(2)
    needed = {kernel: set(kernel.signatures) for kernel in kernels}
    assert [kernel.__name__ for kernel in kernels if not needed[kernel]] == []
    for group in GROUPS:
        group.compile()
    assert [kernel.__name__ for kernel in kernels if set(kernel.signatures) != needed[kernel]] == []


SEARCH = """
from punish_fast import GameGraph, StateSpace, bracket, likely_public_states, load_rules, uniform_policy
from punish_fast.duel.evaluation import EVALUATION
from punish_fast.duel.graph import GRAPH
from punish_fast.equilibrium.exploitation.bracket import BRACKET
from punish_fast.punish.states.space import STATES
from punish_fast.runtime import _jit
plain = GameGraph(StateSpace(load_rules("tiny")))
policy = uniform_policy(plain.space)
public = GameGraph(plain.space, public=likely_public_states(plain, policy, 2))
assert bracket(public, policy, width=0, max_iterations=3).iterations == 3
listed = {kernel for group in (STATES, *GRAPH, EVALUATION, *BRACKET) for kernel in group.kernels}
print(*(kernel.__name__ for kernel in _jit._kernels if kernel.signatures and kernel not in listed))
"""


@WITH_JIT
def test_searches_after_public_states_need_only_the_listed_kernels():
    done = subprocess.run([sys.executable, "-c", SEARCH], capture_output=True, text=True, check=True)
    # This kernel is too small for a group.
    assert done.stdout.split() == ["choose_first"]


def compile_nothing():
    """Compile a kernel, if this were a real group."""


compiled_groups = []


def compile_sweep():
    """Compile a kernel, if this were a real group."""
    compiled_groups.append("sweep")


def group_of(folder: Path, compile_group, *functions) -> KernelGroup:
    return KernelGroup(compile_group, tuple(SimpleNamespace(_cache=KernelFiles(folder, each)) for each in functions))


def test_only_missing_kernels_are_compiled_by_this_process_and_on_other_cores(tmp_path, monkeypatch, told):
    started, status = [], [0]
    monkeypatch.setattr(kernel_files, "_processes", [])

    class Process:
        kill = staticmethod(lambda: None)
        poll = staticmethod(lambda: status[0])

        def __init__(self, command, env, **_streams):
            assert env["NUMBA_CACHE_DIR"] == str(tmp_path.parent)
            started.append(command[-1])

    monkeypatch.setattr(subprocess, "Popen", Process)
    groups = [group_of(tmp_path, compile_nothing, back_up), group_of(tmp_path, compile_sweep, sweep)]
    compiled_groups.clear()
    for n_cores, n_threads, n_processes in ((1, 9, 0), (9, 1, 0), (2, 9, 1), (9, 9, 1)):
        monkeypatch.setattr(kernel_files, "usable_cores", lambda n=n_cores: n)
        compile_kernels(groups, n_threads)
        assert len(started) == n_processes
        assert all(f"['{groups[0].name}', '{groups[1].name}']" in code for code in started)
        started.clear()
    assert told == [("", 2)] * 4
    assert compiled_groups == ["sweep"] * 4
    # While a process runs, no other is started; groups for later are compiled by other processes alone.
    for status[0], groups_now, later, n_processes in (
        (None, groups, [], 0),
        (0, [], groups[:1], 1),
        (0, groups[:1], groups[1:], 1),
    ):
        compile_kernels(groups_now, 2, later)
        assert len(started) == n_processes
        started.clear()
    compiled_groups[:] = ["sweep"] * 4
    # Another process has claimed the group.
    with kernel_files._claimed(tmp_path / groups[1].name.replace(":", ".")):
        compile_kernels(groups, 1)
    assert compiled_groups == ["sweep"] * 4
    compile_by_name([groups[1].name])
    assert compiled_groups == ["sweep"] * 5
    groups[1].kernels[0]._cache.save(KEY, DATA)
    compile_kernels(groups, 1)
    compile_kernels(groups[1:], 9)
    assert (started, compiled_groups) == ([], ["sweep"] * 5)


def test_kernels_are_left_until_any_process_has_compiled_them(tmp_path, told):
    group = group_of(tmp_path, compile_nothing, sweep, back_up, start)
    first, second, _ = (kernel._cache for kernel in group.kernels)
    compile_kernels([group], 1)
    compile_progress.begin(first.name)
    # A kernel that cannot be saved is not left, either.
    compile_progress.end(first.name)
    second.save(KEY, DATA)
    compile_progress.announce()
    assert [left for _, left in told] == [3, 3, 1]

"""Solutions on real processes: workers that are killed, frozen, altered or full, and schedulers that die or freeze."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Self

import pytest

import punish_fast
from cluster.test_worker_watch import results_of
from punish_fast.mdp.objectives.solver import solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.cluster_blocks import ClusterBlocks
from punish_fast.punish.transitions.matrix_free import MatrixFree
from punish_fast.punish.transitions.row_batches import RowBatches
from punish_fast.runtime.cluster import ClusterError
from punish_fast.runtime.cluster.connection import connected

pytestmark = [pytest.mark.slow, pytest.mark.compiled]
NOTEBOOK = "2b96d4f7f8d2fe25"
LOST = "the connection to the scheduler, or to all of its workers, is lost"
# Fills the memory of a worker.
_FILL = "import builtins; builtins.filler = b'x' * (600 << 20)"
_START_SECONDS = 60
# Loaded by a worker before it starts.
_WITHOUT_PACKAGE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "punish_fast":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""


class RealCluster:
    """A scheduler at ``address``, and processes of ``workers`` with a thread each."""

    def __init__(self, n_workers: int) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self._port}"
        self._start(n_workers)

    def __enter__(self) -> Self:
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill_scheduler()

    def replace_worker(self) -> None:
        """Kill the oldest worker, and start another one."""
        worker = self.workers.pop(0)
        worker.kill()
        worker.wait()
        self.workers.append(self._start_worker())

    def add_worker(self, *options: str, folder: Path | None = None) -> None:
        """Start one more worker, which imports from ``folder`` first, and wait for it."""
        self.workers.append(self._start_worker(*options, folder=folder))
        self._wait()

    def kill_scheduler(self) -> None:
        """Kill the scheduler, and with it its workers."""
        for process in (self.scheduler, *self.workers):
            process.kill()
            process.wait()

    def restart(self) -> None:
        """Start scheduler and workers again."""
        self._start(len(self.workers))
        self._wait()

    def _wait(self) -> None:
        """Wait until all workers are there."""
        from distributed import Client

        with Client(self.address, timeout=_START_SECONDS, set_as_default=False) as client:
            client.wait_for_workers(len(self.workers), timeout=_START_SECONDS)

    def _start(self, n_workers: int) -> None:
        self.scheduler = _start("scheduler", "--host", "127.0.0.1", "--port", str(self._port), "--no-dashboard")
        self.workers = [self._start_worker() for _ in range(n_workers)]

    def _start_worker(self, *options: str, folder: Path | None = None) -> subprocess.Popen[bytes]:
        return _start(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", *options, folder=folder
        )


def altered_package(folder: Path) -> Path:
    """Copy the package to a folder, with other values after each sweep; return the folder."""
    copy = shutil.copytree(
        Path(punish_fast.__file__).parent, folder / "punish_fast", ignore=shutil.ignore_patterns("__pycache__")
    )
    source = copy / "punish" / "transitions" / "row_batches.py"
    before, end = source.read_text(encoding="utf-8"), "    return statistics\n"
    assert end in before
    source.write_text(before.replace(end, "    arrays.values[:] += 1e-6\n" + end), encoding="utf-8")
    return folder


def without_package(folder: Path) -> tuple[str, str]:
    """Return the options of a worker that cannot import the package."""
    script = folder / "without_package.py"
    script.write_text(_WITHOUT_PACKAGE, encoding="utf-8")
    return "--preload", str(script)


def _start(*arguments: str, folder: Path | None = None) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": str(folder or Path(punish_fast.__file__).parent.parent)}
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def batches():
    return RowBatches(StateSpace(PRESETS["notebook"]))


@pytest.fixture
def cluster():
    pytest.importorskip("distributed")
    with RealCluster(n_workers=2) as cluster:
        yield cluster


def solve_on(client, batches, after_two_sweeps, initial_values=None, save=None):
    """Solve, with a fault on the way; return the solution within a minute of the fault."""
    begin = []

    def progress(_stage, sweeps, _bound):
        if sweeps == 2:
            begin.append(time.monotonic())
            after_two_sweeps()

    process = MatrixFree(batches, executor=ClusterBlocks(client, batches))
    try:
        return solve(process, initial_values=initial_values, progress=progress, save=save)
    finally:
        assert time.monotonic() - begin[0] < 60


@pytest.mark.parametrize("seconds", [0.05, 0.3])
@pytest.mark.parametrize("is_frozen", [False, True])
def test_a_worker_that_is_killed_costs_nothing_but_time(cluster, batches, seconds, is_frozen):
    def kill_soon():
        if is_frozen:
            cluster.workers[0].send_signal(signal.SIGSTOP)
        threading.Timer(seconds, cluster.replace_worker).start()

    with connected(cluster.address) as client:
        assert solve_on(client, batches, kill_soon).digest == NOTEBOOK


def test_a_lost_scheduler_is_told_and_a_new_one_resumes(cluster, batches, notebook_mdp, monkeypatch):
    saved = []
    with monkeypatch.context() as patch:
        patch.setattr("punish_fast.runtime.cluster.connection._CONNECT_SECONDS", 2)
        with pytest.raises(ClusterError, match=LOST), connected(cluster.address) as client:
            solve_on(client, batches, cluster.kill_scheduler, save=lambda v: saved.append(v.copy()))
    cluster.restart()
    assert len(saved) == 2
    with connected(cluster.address) as client:
        resumed, whole = solve_on(client, batches, lambda: None, initial_values=saved[-1]), solve(notebook_mdp)
    assert resumed.sweeps < whole.sweeps
    assert abs(resumed.v - whole.v).max() <= resumed.error_bound + whole.error_bound


@pytest.mark.parametrize(
    ("has_package", "told"),
    [
        (True, r"worker tcp://\S+ has files of punish-fast with digest \w+ instead of \w+"),
        (False, r"worker tcp://\S+ cannot run punish-fast; install .* there .*No module named 'punish_fast"),
    ],
)
def test_a_worker_of_other_files_that_joins_late_adds_no_values(cluster, batches, tmp_path, has_package, told):
    options = () if has_package else without_package(tmp_path)
    folder = altered_package(tmp_path) if has_package else None
    with pytest.raises(ClusterError, match=told), connected(cluster.address) as client:
        solve_on(client, batches, lambda: cluster.add_worker(*options, folder=folder))
    with pytest.raises(ClusterError, match=told[:20]), connected(cluster.address):
        pass


def test_tasks_of_a_worker_that_pauses_are_done_by_others(cluster, batches):
    cluster.add_worker("--memory-limit", "700MB")
    with connected(cluster.address) as client:
        small = min(client.scheduler_info()["workers"].items(), key=lambda item: item[1]["memory_limit"])[0]
        assert solve_on(client, batches, lambda: client.run(exec, _FILL, workers=[small])).digest == NOTEBOOK
        assert client.scheduler_info()["workers"][small]["status"] == "paused"


def test_workers_that_are_all_paused_are_told(cluster, batches):
    for worker in cluster.workers:
        worker.kill()
        worker.wait()
    cluster.workers.clear()
    cluster.add_worker("--memory-limit", "700MB")
    with connected(cluster.address) as client:
        with pytest.raises(ClusterError, match=r"all workers are paused for lack of memory; tcp://\S+ uses .* of "):
            solve_on(client, batches, lambda: client.run(exec, _FILL))
        with pytest.raises(ClusterError, match="all workers are paused for lack of memory"):
            results_of(client, abs, [(-1,)])


@pytest.fixture
def _short_limits(monkeypatch):
    monkeypatch.setattr("punish_fast.runtime.cluster.limited_client.CALL_SECONDS", 6)
    monkeypatch.setattr("punish_fast.runtime.cluster.tasks._LOOKS_WITHOUT_HEARTBEAT", 3)


@pytest.mark.usefixtures("_short_limits")
def test_tasks_of_a_frozen_worker_are_done_by_others(cluster, batches):
    with connected(cluster.address) as client:
        assert solve_on(client, batches, lambda: cluster.workers[0].send_signal(signal.SIGSTOP)).digest == NOTEBOOK
        assert len(client.nthreads()) == 1


@pytest.mark.usefixtures("_short_limits")
def test_a_scheduler_that_freezes_is_told(cluster, batches):
    told = "the scheduler or a worker does not answer within 6 seconds"
    with pytest.raises(ClusterError, match=told), connected(cluster.address) as client:
        solve_on(client, batches, lambda: cluster.scheduler.send_signal(signal.SIGSTOP))

"""Workers of another version, without the package, out of memory or frozen, and a scheduler that dies or freezes."""

from __future__ import annotations

import signal
import time

import pytest

from cluster.real_cluster import RealCluster, altered_package, without_package
from cluster.test_tasks import results_of
from punish_fast.mdp.solver import solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.cluster_blocks import ClusterBlocks
from punish_fast.punish.transitions.matrix_free import MatrixFree
from punish_fast.punish.transitions.row_batches import RowBatches
from punish_fast.runtime.cluster.connection import ClusterError, connected, dashboard_of, n_threads

pytestmark = [pytest.mark.slow, pytest.mark.compiled]
NOTEBOOK = "2b96d4f7f8d2fe25"
# Fills the memory of a worker.
_FILL = "import builtins; builtins.filler = b'x' * (600 << 20)"


@pytest.fixture(scope="module")
def batches():
    return RowBatches(StateSpace(PRESETS["notebook"]))


@pytest.fixture
def cluster():
    pytest.importorskip("distributed")
    with RealCluster(n_workers=2) as cluster:
        yield cluster


def solve_on(client, batches, after_two_sweeps):
    """Solve, with a fault on the way; return the fingerprint within a minute of the fault."""
    begin = []

    def progress(_stage, sweeps, _bound):
        if sweeps == 2:
            begin.append(time.monotonic())
            after_two_sweeps()

    try:
        return solve(MatrixFree(batches, executor=ClusterBlocks(client, batches)), progress=progress).fingerprint
    finally:
        assert time.monotonic() - begin[0] < 60


def test_a_worker_with_an_altered_file_that_joins_late_adds_no_values(cluster, batches, tmp_path):
    folder = altered_package(tmp_path)
    told = r"worker tcp://\S+ has files of punish-fast with digest \w+ instead of \w+"
    with pytest.raises(ClusterError, match=told), connected(cluster.address) as client:
        solve_on(client, batches, lambda: cluster.add_worker(folder=folder))
    with pytest.raises(ClusterError, match="files of punish-fast with digest"), connected(cluster.address):
        pass


def test_a_worker_without_the_package_is_named(cluster, batches, tmp_path):
    options = without_package(tmp_path)
    told = r"worker tcp://\S+ cannot run punish-fast, install .* there .*No module named 'punish_fast"
    with pytest.raises(ClusterError, match=told), connected(cluster.address) as client:
        solve_on(client, batches, lambda: cluster.add_worker(*options))
    with pytest.raises(ClusterError, match="cannot run punish-fast"), connected(cluster.address):
        pass


def test_tasks_of_a_worker_that_pauses_are_done_by_others(cluster, batches):
    cluster.add_worker("--memory-limit", "700MB")
    with connected(cluster.address) as client:
        small = min(client.scheduler_info()["workers"].items(), key=lambda item: item[1]["memory_limit"])[0]
        assert solve_on(client, batches, lambda: client.run(exec, _FILL, workers=[small])) == NOTEBOOK
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


@pytest.mark.parametrize("use", [n_threads, dashboard_of])
def test_a_scheduler_that_dies_early_is_told(cluster, monkeypatch, use):
    monkeypatch.setattr("punish_fast.runtime.cluster.connection._CONNECT_SECONDS", 2)
    told = "the connection to the scheduler, or to all of its workers, is lost"
    with pytest.raises(ClusterError, match=told), connected(cluster.address) as client:
        cluster.kill_scheduler()
        use(client)


@pytest.fixture
def _short_limits(monkeypatch):
    monkeypatch.setattr("punish_fast.runtime.cluster.limited_client.CALL_SECONDS", 6)
    monkeypatch.setattr("punish_fast.runtime.cluster.worker_watch._LOOKS_WITHOUT_HEARTBEAT", 3)


@pytest.mark.usefixtures("_short_limits")
def test_tasks_of_a_frozen_worker_are_done_by_others(cluster, batches):
    with connected(cluster.address) as client:
        assert solve_on(client, batches, lambda: cluster.workers[0].send_signal(signal.SIGSTOP)) == NOTEBOOK
        assert len(client.nthreads()) == 1


@pytest.mark.usefixtures("_short_limits")
def test_workers_that_are_frozen_at_first_are_left_out(cluster):
    cluster.workers[0].send_signal(signal.SIGSTOP)
    with connected(cluster.address) as client:
        assert results_of(client, abs, [(-1,)]) == [1]
    cluster.workers[1].send_signal(signal.SIGSTOP)
    with pytest.raises(ClusterError, match="the scheduler has no workers that answer"), connected(cluster.address):
        pass


@pytest.mark.usefixtures("_short_limits")
def test_a_scheduler_that_freezes_is_told(cluster, batches):
    told = "the scheduler or a worker does not answer within 6 seconds"
    with pytest.raises(ClusterError, match=told), connected(cluster.address) as client:
        solve_on(client, batches, lambda: cluster.scheduler.send_signal(signal.SIGSTOP))

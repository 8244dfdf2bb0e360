"""Solutions on real processes, some of which are killed."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from cluster.real_cluster import RealCluster
from punish_fast.mdp.solve_options import DEFAULT_TOLERANCE, Effort
from punish_fast.mdp.solver import solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.cluster_blocks import ClusterBlocks
from punish_fast.punish.transitions.matrix_free import MatrixFree
from punish_fast.punish.transitions.row_batches import RowBatches
from punish_fast.runtime.cluster.connection import ClusterError, connected

pytestmark = [pytest.mark.slow, pytest.mark.compiled]
NOTEBOOK = "2b96d4f7f8d2fe25"


@pytest.fixture(scope="module")
def cluster():
    pytest.importorskip("distributed")
    with RealCluster(n_workers=3) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def batches():
    return RowBatches(StateSpace(PRESETS["notebook"]))


def solve_on(cluster, batches, after_sweep=lambda: None, start=None, save=None):
    with connected(cluster.address) as client:
        process = MatrixFree(batches, executor=ClusterBlocks(client, batches))
        return solve(
            process,
            tolerance=Effort(DEFAULT_TOLERANCE, save=save),
            start=start,
            progress=lambda _stage, sweeps, _bound: after_sweep() if sweeps == 5 else None,
        )


def test_three_workers_give_the_fingerprint_of_the_tensor(cluster, batches):
    assert solve_on(cluster, batches).fingerprint == NOTEBOOK


@pytest.mark.parametrize("seconds", [0.05, 0.3])
def test_a_worker_that_is_killed_costs_nothing_but_time(cluster, batches, seconds):
    def kill_soon():
        threading.Thread(target=lambda: (time.sleep(seconds), cluster.replace_worker())).start()

    assert solve_on(cluster, batches, kill_soon).fingerprint == NOTEBOOK


def test_a_worker_that_dies_while_values_are_handed_out_holds_up_nothing(cluster, batches):
    def stop_now_and_kill_soon():
        cluster.workers[0].send_signal(signal.SIGSTOP)
        threading.Timer(0.3, cluster.replace_worker).start()

    assert solve_on(cluster, batches, stop_now_and_kill_soon).fingerprint == NOTEBOOK


def test_a_lost_scheduler_is_told_and_a_new_one_resumes(cluster, batches, notebook_mdp, monkeypatch):
    monkeypatch.setattr("punish_fast.runtime.cluster.connection._CONNECT_SECONDS", 2)
    saved = []
    try:
        with pytest.raises(ClusterError, match="the connection to the scheduler, or to all of its workers, is lost"):
            solve_on(cluster, batches, cluster.kill_scheduler, save=lambda v: saved.append(v.copy()))
    finally:
        cluster.restart()
    assert len(saved) == 5
    monkeypatch.setattr("punish_fast.runtime.cluster.connection._CONNECT_SECONDS", 30)
    resumed, whole = solve_on(cluster, batches, start=saved[-1]), solve(notebook_mdp)
    assert resumed.sweeps < whole.sweeps
    assert abs(resumed.v - whole.v).max() <= resumed.error_bound + whole.error_bound

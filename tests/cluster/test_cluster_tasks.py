from __future__ import annotations

import threading

import numpy as np
import pytest

from punish_fast.cluster import cluster_tasks
from punish_fast.cluster.cluster_tasks import ClusterTasks
from punish_fast.cluster.connection import ClusterError
from punish_fast.cluster.versions import versions
from punish_fast.learn.process_pool import run_all
from punish_fast.runtime import _jit


def multiply(array, factor):
    return array * factor


def fail(number):
    raise ZeroDivisionError(f"no {number}")


@pytest.fixture
def tasks(client):
    return ClusterTasks(client)


def test_results_come_with_the_numbers_of_their_tasks(tasks):
    array, seen, threads = np.arange(3.0), [], _jit.threads()
    found = run_all(multiply, [(array, k) for k in range(5)], tasks, lambda *step: seen.append(step))
    assert [each.tolist() for each in found] == [[0.0, k, 2.0 * k] for k in range(5)]
    assert seen == [(k, 5) for k in range(1, 6)]
    assert run_all(multiply, [], tasks) == []
    assert tasks.n_at_once == 4
    # The workers of the tests are threads of this process.
    assert _jit.threads() == threads


def test_errors_pass_through(tasks):
    with pytest.raises(ZeroDivisionError, match="no 3"):
        run_all(fail, [(3,)], tasks)


def test_a_worker_of_another_version_does_no_task(tasks, monkeypatch):
    def of_thread():
        is_client = threading.current_thread() is threading.main_thread()
        return versions() | ({"SciPy": "other"} if is_client else {})

    monkeypatch.setattr(cluster_tasks, "_HERE", ("elsewhere", 1))
    monkeypatch.setattr(cluster_tasks, "versions", of_thread)
    with pytest.raises(ClusterError, match=r"worker \S+ has SciPy [\d.]+ instead of other"):
        run_all(fail, [(3,)], tasks)


def test_tasks_that_are_lost_are_done_again(client, tasks, monkeypatch):
    submit, calls = client.submit, []

    def lose_one(*args, **options):
        calls.append(args)
        if len(calls) == 3:
            raise TimeoutError
        return submit(*args, **options)

    monkeypatch.setattr(client, "submit", lose_one)
    assert [each.tolist() for each in run_all(multiply, [(np.ones(1), k) for k in range(4)], tasks)] == [
        [k] for k in range(4)
    ]
    assert len(calls) == 7

    def lose(*_args, **_options):
        raise TimeoutError

    monkeypatch.setattr(client, "submit", lose)
    with pytest.raises(ClusterError, match="workers were lost 5 times in a row"):
        run_all(multiply, [(np.ones(1), 2)], tasks)

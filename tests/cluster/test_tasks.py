from __future__ import annotations

import threading

import numpy as np
import pytest

from punish_fast.runtime import _jit
from punish_fast.runtime.cluster import tasks as cluster_tasks
from punish_fast.runtime.cluster.connection import ClusterError, versions
from punish_fast.runtime.cluster.tasks import finished, submit


def multiply(array, factor):
    return array * factor


def fail(number):
    raise ZeroDivisionError(f"no {number}")


def results_of(client, function, tasks):
    """The results of a function for the arguments of each task."""

    def submit_all(left):
        return [submit(client, function, *arguments, retries=2) for _, arguments in left]

    numbered = dict(enumerate(enumerate(tasks)))
    found = {number: result for (number, _), result in finished(client, lambda: numbered, submit_all, lambda: None)}
    return [found[number] for number in numbered]


def test_results_come_with_the_numbers_of_their_tasks(client):
    array, threads = np.arange(3.0), _jit.threads()
    found = results_of(client, multiply, [(array, k) for k in range(5)])
    assert [each.tolist() for each in found] == [[0.0, k, 2.0 * k] for k in range(5)]
    assert results_of(client, multiply, []) == []
    # The workers of the tests are threads of this process.
    assert _jit.threads() == threads


def test_errors_pass_through(client):
    with pytest.raises(ZeroDivisionError, match="no 3"):
        results_of(client, fail, [(3,)])


def test_a_worker_of_another_version_does_no_task(client, monkeypatch):
    def of_thread():
        is_client = threading.current_thread() is threading.main_thread()
        return versions() | ({"SciPy": "other"} if is_client else {})

    monkeypatch.setattr(cluster_tasks, "_HERE", ("elsewhere", 1))
    monkeypatch.setattr(cluster_tasks, "versions", of_thread)
    with pytest.raises(ClusterError, match=r"worker \S+ has SciPy [\d.]+ instead of other"):
        results_of(client, fail, [(3,)])


def test_tasks_that_are_lost_are_done_again(client, monkeypatch):
    submit, calls = client.submit, []

    def lose_one(*args, **options):
        calls.append(args)
        if len(calls) == 3:
            raise TimeoutError
        return submit(*args, **options)

    monkeypatch.setattr(client, "submit", lose_one)
    found = results_of(client, multiply, [(np.ones(1), k) for k in range(4)])
    assert [each.tolist() for each in found] == [[k] for k in range(4)]
    assert len(calls) == 7

    def lose(*_args, **_options):
        raise TimeoutError

    monkeypatch.setattr(client, "submit", lose)
    with pytest.raises(ClusterError, match="workers were lost 5 times in a row"):
        results_of(client, multiply, [(np.ones(1), 2)])

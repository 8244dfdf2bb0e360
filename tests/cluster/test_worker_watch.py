import threading
import time

import numpy as np
import pytest

from punish_fast.runtime import _jit
from punish_fast.runtime.cluster import ClusterError, tasks
from punish_fast.runtime.cluster import tasks as cluster_tasks
from punish_fast.runtime.cluster.connection import versions
from punish_fast.runtime.cluster.tasks import WorkerWatch, finished, submit
from punish_fast.runtime.deadline import TimeLimitError, time_limit


class Scheduler:
    """A client whose workers a test describes."""

    def __init__(self):
        self.workers, self.tasks, self.frozen = {}, {}, []

    def set(self, name, status="running", executing=0, tasks=()):
        self.workers[name] = {"status": status, "metrics": {"task_counts": {"executing": executing}}, "last_seen": 0}
        self.tasks[name] = tasks

    def scheduler_info(self, **_options):
        for name, worker in self.workers.items():
            worker["last_seen"] += name not in self.frozen
        return {"workers": self.workers}

    def processing(self):
        return self.tasks


@pytest.fixture
def scheduler():
    return Scheduler()


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(tasks.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def checked(monkeypatch):
    checked = []

    def check(_client, workers):
        checked.append(sorted(workers))

    monkeypatch.setattr(tasks, "check_workers", check)
    return checked


def look_for(watch, clock, seconds):
    for _ in range(seconds):
        clock[0] += 1
        watch.look()


def test_workers_that_join_are_checked_once(scheduler, clock, checked):
    scheduler.set("a")
    watch = WorkerWatch(scheduler, ["one"])
    watch.look()
    assert checked == []
    look_for(watch, clock, 5)
    scheduler.set("b")
    look_for(watch, clock, 5)
    assert checked == [["a"], ["b"]]


@pytest.mark.parametrize(
    ("workers", "is_held_up"),
    [
        ([("running", 1, ["one"])], False),
        ([("running", 1, ["one"]), ("paused", 0, ["two"])], True),
        # Tasks that the worker executes will end, and tasks of another client do not count.
        ([("running", 1, ["one"]), ("paused", 1, ["two"])], False),
        ([("running", 1, ["one"]), ("paused", 0, ["other"])], False),
        ([("running", 1, ["one"]), ("paused", 0, [])], False),
        # Tasks wait at the scheduler.
        ([("paused", 0, []), ("paused", 0, [])], True),
        ([("paused", 1, ["one"]), ("paused", 0, [])], False),
        ([], False),
    ],
)
@pytest.mark.usefixtures("checked")
def test_paused_workers_must_not_hold_tasks_up(scheduler, clock, workers, is_held_up):
    for number, (status, executing, held) in enumerate(workers):
        scheduler.set(f"{number}", status, executing, held)
    watch = WorkerWatch(scheduler, ["one", "two"])
    look_for(watch, clock, 10)
    if is_held_up:
        with pytest.raises(TimeoutError):
            look_for(watch, clock, 5)
    else:
        look_for(watch, clock, 60)


@pytest.mark.usefixtures("checked")
def test_a_worker_may_pause_for_a_moment(scheduler, clock):
    scheduler.set("a", "paused", 0, ["one"])
    watch = WorkerWatch(scheduler, ["one"])
    for status in ("running", "paused") * 5:
        look_for(watch, clock, 8)
        scheduler.set("a", status, 0, ["one"])


@pytest.mark.usefixtures("checked")
def test_a_worker_without_heartbeats_is_removed(scheduler, clock, monkeypatch):
    removed = []
    monkeypatch.setattr(tasks, "remove_workers", lambda _client, workers: removed.extend(workers))
    for name in ("a", "b"):
        scheduler.set(name, tasks=["one"])
    watch = WorkerWatch(scheduler, ["one"])
    look_for(watch, clock, 60)
    scheduler.frozen.append("a")
    look_for(watch, clock, 24)
    # After a sleep of this machine, workers have a moment for their heartbeats.
    clock[0] += 3600
    scheduler.frozen.clear()
    look_for(watch, clock, 60)
    scheduler.frozen.append("b")
    with pytest.raises(TimeoutError):
        look_for(watch, clock, 30)
    assert removed == ["b"]


def test_a_worker_that_is_refused_or_frozen_when_it_is_checked_ends_the_wait(scheduler, clock, monkeypatch):
    def refuse(_client, workers):
        raise ClusterError(f"{workers}")

    scheduler.set("a")
    for check, error in ((refuse, ClusterError), (lambda *_: True, TimeoutError)):
        monkeypatch.setattr(tasks, "check_workers", check)
        with pytest.raises(error):
            look_for(WorkerWatch(scheduler, ["one"]), clock, 3)


def multiply(array, factor):
    return array * factor


def fail(number):
    raise ZeroDivisionError(f"no {number}")


def results_of(client, function, tasks):
    """The results of a function for the arguments of each task."""

    def submit_all(left):
        return [submit(client, function, *arguments, retries=2) for _, arguments in left]

    found = {number: result for (number, _), result in finished(client, [*enumerate(tasks)], submit_all, lambda: None)}
    return [found[number] for number in range(len(tasks))]


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


def test_a_time_limit_ends_the_wait_for_tasks(client):
    begin = time.monotonic()
    with time_limit(-1.0), pytest.raises(TimeLimitError):
        results_of(client, time.sleep, [(2.0,)])
    assert time.monotonic() - begin < 2


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
    with pytest.raises(ClusterError, match="workers were lost 5 times"):
        results_of(client, multiply, [(np.ones(1), 2)])

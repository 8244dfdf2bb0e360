import asyncio
import errno
import re
import socket
import sys
from concurrent.futures import CancelledError
from importlib.util import find_spec
from types import SimpleNamespace

import numba
import pytest

from punish_fast.runtime import __version__
from punish_fast.runtime.cluster import ClusterError, connection
from punish_fast.runtime.cluster.connection import (
    check_cluster,
    check_workers,
    connected,
    dashboard_of,
    digest_of,
    n_threads,
    versions,
    wait_for_workers,
)
from punish_fast.runtime.errors import ExtraError


def test_clusters_have_names(monkeypatch):
    pytest.importorskip("distributed")
    for where in ("local:4", "tcp://127.0.0.1:8786", "tls://host:1"):
        check_cluster(where)
    for where in ("", "local", "local:0", "local:x", "host:8786", "tcp://host", "http://host:1"):
        with pytest.raises(ValueError, match=re.escape(f"{where!r} is not allowed; it must be a scheduler such as")):
            check_cluster(where)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ExtraError, match="pip install distributed"):
        check_cluster("local:1")


def test_a_scheduler_that_does_not_answer_or_is_frozen_is_told(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(connection, "_CONNECT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for port in (9, silent.getsockname()[1]):
            told = re.escape(f"tcp://127.0.0.1:{port}: no scheduler answers within 0.2 seconds")
            with pytest.raises(ClusterError, match=told), connected(f"tcp://127.0.0.1:{port}"):
                pass


def test_calls_have_a_time_limit(client, monkeypatch):
    monkeypatch.setattr(connection, "check_cluster", lambda _where: None)
    with connected(client.scheduler.address) as own:
        monkeypatch.setattr("punish_fast.runtime.cluster.limited_client.CALL_SECONDS", 0.5)
        with pytest.raises(ClusterError, match="the scheduler or a worker does not answer within"):
            own.sync(asyncio.sleep, 60)
        with pytest.raises(TimeoutError):
            own.wait_for_workers(9, timeout=0.05)
        assert n_threads(own) == 4


def test_a_frozen_worker_is_removed(client, monkeypatch):
    monkeypatch.setattr(connection, "check_cluster", lambda _where: None)
    first, second = client.nthreads()
    # Only the first worker is frozen.
    heartbeats = iter([{first: {"last_seen": 1}, second: {"last_seen": k}} for k in range(9)])
    monkeypatch.setattr(connection, "workers_of", lambda _client: next(heartbeats))
    asked, removed = [], []

    def run(_function, workers, **_options):
        asked.append(workers)
        if first in workers:
            raise ClusterError("no answer")
        return {second: versions()}

    monkeypatch.setattr(client, "run", run)
    monkeypatch.setattr(connection, "remove_workers", lambda _client, workers: removed.extend(workers))
    assert check_workers(client, [first, second])
    assert (asked, removed) == ([[first, second], [second]], [first])
    assert not check_workers(client, [second])
    # All workers send heartbeats.
    beats = iter((1, 2))
    monkeypatch.setattr(connection, "workers_of", lambda _client: {first: {"last_seen": next(beats)}})
    with pytest.raises(ClusterError, match="no answer"):
        check_workers(client, [first])


def test_a_scheduler_without_workers_is_told(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(connection, "check_cluster", lambda _where: None)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0", silence_logs=50) as cluster,
        pytest.raises(ClusterError, match="has no workers"),
        connected(cluster.scheduler_address),
    ):
        pass


def test_workers_of_other_versions_are_told(client, monkeypatch):
    other = versions() | {"SciPy": "1.0", "Numba": "0.5"}
    for found, text in (
        (other, f"has Numba 0.5 instead of {numba.__version__}, SciPy 1.0 instead of"),
        ({}, "has punish-fast None instead of"),
        (ModuleNotFoundError("No module"), f"cannot run punish-fast; install {__version__} there (No module)"),
    ):
        workers = {"tcp://here:1": versions(), "tcp://lost:1": OSError("lost"), "tcp://there:1": found}
        monkeypatch.setattr(client, "run", lambda _function, answers=workers, **_options: answers)
        with pytest.raises(ClusterError, match=re.escape(f"cluster: worker tcp://there:1 {text}")):
            check_workers(client)


def test_a_dashboard_is_named_only_where_there_is_one(client, monkeypatch):
    assert (dashboard_of(client) is None) == (find_spec("bokeh") is None)

    def with_pages(*pages):
        scheduler = SimpleNamespace(http_application=SimpleNamespace(applications=pages))
        monkeypatch.setattr(client, "run_on_scheduler", lambda function: function(scheduler))

    with_pages()
    assert dashboard_of(client) is None
    with_pages("bokeh")
    assert str(dashboard_of(client)).startswith("http")


def test_lost_workers_are_waited_for(client, monkeypatch):
    wait_for_workers(client, TimeoutError())
    with pytest.raises(ZeroDivisionError):
        wait_for_workers(client, ZeroDivisionError())

    def never(*_args, **_options):
        raise TimeoutError

    monkeypatch.setattr(client, "wait_for_workers", never)
    with pytest.raises(ClusterError, match="the connection to the scheduler, or to all of its workers, is lost"):
        wait_for_workers(client, TimeoutError())
    paused = {"status": "paused", "memory_limit": 4 << 30, "metrics": {"memory": 3 << 30}}
    monkeypatch.setattr(connection, "workers_of", lambda _client: {"tcp://there:1": paused})
    with pytest.raises(ClusterError, match=r"all workers are paused .* tcp://there:1 uses 3.00 GiB of 4.00 GiB$"):
        wait_for_workers(client, TimeoutError())


def test_errors_of_a_lost_connection_are_told(client, monkeypatch):
    monkeypatch.setattr(connection, "check_cluster", lambda _where: None)
    address = client.scheduler.address
    for error in (CancelledError(), OSError("Timed out trying to connect")):
        with pytest.raises(ClusterError, match="is lost"), connected(address):
            raise error
    with pytest.raises(OSError, match="full"), connected(address):
        raise OSError(errno.ENOSPC, "full")


def test_every_file_of_the_package_counts(tmp_path):
    (tmp_path / "below" / "__pycache__").mkdir(parents=True)
    for name in ("a.py", "below/b.npz"):
        (tmp_path / name).write_text(name)
    digests = [digest_of(tmp_path)]
    (tmp_path / "below" / "__pycache__" / "a.pyc").write_text("compiled")
    assert digest_of(tmp_path) == digests[0]
    for name in ("a.py", "below/b.npz", "c.css"):
        (tmp_path / name).write_text("altered")
        digests.append(digest_of(tmp_path))
    (tmp_path / "c.css").rename(tmp_path / "d.py")
    assert len({*digests, digest_of(tmp_path)}) == 5
    assert versions()["files of punish-fast with digest"] == digest_of(connection._PACKAGE)

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from punish_fast.cluster import connection
from punish_fast.cluster.connection import (
    ClusterError,
    check_cluster,
    connected,
    dashboard_of,
    n_threads,
    wait_for_workers,
)
from punish_fast.runtime.extras import ExtraError


@pytest.mark.parametrize("where", ["", "local", "local:0", "local:x", "host:8786", "tcp://host", "http://host:1"])
def test_what_names_no_cluster_is_told(where):
    with pytest.raises(ValueError, match=re.escape(f"{where!r} is not allowed, it must be a scheduler such as")):
        check_cluster(where)


@pytest.mark.parametrize("where", ["local:4", "tcp://127.0.0.1:8786", "tls://host:1"])
def test_clusters_have_names(where):
    pytest.importorskip("distributed")
    check_cluster(where)


def test_a_missing_extra_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ExtraError, match=r'pip install "punish-fast\[cluster\]"'):
        check_cluster("local:1")


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(connection, "_CONNECT_SECONDS", 0.2)
    told = re.escape("tcp://127.0.0.1:9: no scheduler answers within 0.2 seconds")
    with pytest.raises(ClusterError, match=told), connected("tcp://127.0.0.1:9"):
        pass


def test_workers_of_another_version_are_told(client, monkeypatch):
    address = client.scheduler.address
    monkeypatch.setattr(connection, "check_cluster", lambda _where: None)
    with connected(address) as own:
        assert n_threads(own) == 4
    monkeypatch.setattr(client, "run", lambda _function: {"tcp://there:1": "other"})
    with pytest.raises(ClusterError, match="worker tcp://there:1 has another version"):
        connection._check_workers(client, address)


def test_a_scheduler_without_workers_is_told(client, monkeypatch):
    monkeypatch.setattr(client, "nthreads", dict)
    with pytest.raises(ClusterError, match="has no workers"):
        connection._check_workers(client, "tcp://there:1")


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

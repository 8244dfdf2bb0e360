"""A connection to a Dask cluster: one that runs already, or worker processes on this machine.

Workers run this package's functions, so they must have the same version of it, down to the kernels.
"""

from __future__ import annotations

import logging
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from punish_fast.runtime._jit import source_digest
from punish_fast.runtime.extras import require

if TYPE_CHECKING:
    from distributed import Client

_LOCAL = re.compile(r"local:([1-9]\d{0,3})")
_ADDRESS = re.compile(r"(tcp|tls|ws|wss)://\S+:\d+")
_CONNECT_SECONDS = 10


class ClusterError(Exception):
    """A cluster cannot be used, or was lost; the message says which."""


def check_cluster(where: str) -> None:
    """Check how a cluster is named, and that Dask is installed.

    Raises:
        ValueError: it is neither the address of a scheduler nor ``local:N``.
        ExtraError: the extra ``cluster`` is not installed.
    """
    if not _LOCAL.fullmatch(where) and not _ADDRESS.fullmatch(where):
        raise ValueError(f"{where!r} is not allowed, it must be a scheduler such as tcp://host:8786, or local:4")
    require("cluster", "distributed")


@contextmanager
def connected(where: str) -> Iterator[Client]:
    """A client of a cluster, until the block ends.

    Args:
        where: The address of a scheduler, such as ``tcp://host:8786``, or ``local:N`` for N worker processes with one
            thread each, which end with the block.

    Raises:
        ValueError: ``where`` is neither.
        ExtraError: the extra ``cluster`` is not installed.
        ClusterError: the scheduler does not answer, has no workers, or these have another version of this package.
    """
    check_cluster(where)
    from distributed import Client, LocalCluster

    local = _LOCAL.fullmatch(where)
    with ExitStack() as stack:
        if local is not None:
            n_workers = int(local.group(1))
            address = stack.enter_context(
                LocalCluster(
                    n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
                )
            ).scheduler_address
        else:
            address = where
        try:
            client = stack.enter_context(
                Client(
                    address,
                    timeout=_CONNECT_SECONDS,
                    set_as_default=False,
                    # Other workers may be where only their scheduler can reach them.
                    direct_to_workers=local is not None,
                )
            )
        except OSError:
            raise ClusterError(f"{where}: no scheduler answers within {_CONNECT_SECONDS} seconds") from None
        _check_workers(client, where)
        if local is not None:
            client.run(_ignore_interrupts)
        yield client


def _ignore_interrupts() -> None:
    """Leave the keyboard's interrupts, which all processes of a terminal get, to the one with the client."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def n_threads(client: Client) -> int:
    """The threads of all workers."""
    return sum(client.nthreads().values())


def dashboard_of(client: Client) -> str | None:
    """The address of the dashboard; None if the scheduler has none, as without the package bokeh."""
    has_dashboard = client.run_on_scheduler(_has_dashboard)
    return str(client.dashboard_link) if has_dashboard else None


def _has_dashboard(dask_scheduler: Any) -> bool:
    # The server of pages always runs; those of the dashboard are applications of their own.
    return bool(getattr(dask_scheduler.http_application, "applications", ()))


def wait_for_workers(client: Client, error: Exception) -> None:
    """Wait until there is a worker again, after an error that means that workers, or what they held, were lost.

    Raises:
        ClusterError: the scheduler is lost, or no worker comes back.
        Exception: the error means something else.
    """
    from distributed import CancelledError, KilledWorker

    lost = (CancelledError, KilledWorker, OSError, TimeoutError)
    if not isinstance(error, lost):
        raise error
    try:
        client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
    except (*lost, RuntimeError, ValueError):
        raise ClusterError("cluster: the connection to the scheduler, or to all of its workers, is lost") from None


def _check_workers(client: Client, where: str) -> None:
    if not client.nthreads():
        raise ClusterError(f"{where}: the scheduler has no workers")
    own = source_digest()
    try:
        digests = client.run(source_digest)
    except ImportError:
        raise ClusterError(f"{where}: a worker has no punish-fast, or another version of it") from None
    for worker, digest in digests.items():
        if digest != own:
            raise ClusterError(f"{where}: worker {worker} has another version of punish-fast, Numba or NumPy")

"""Connection to a running Dask cluster, or to worker processes started on this machine.

Workers run functions of this package, so all workers must have the same files of the package and the same libraries.
"""

from __future__ import annotations

import hashlib
import logging
import re
import signal
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import scipy

from punish_fast.runtime import __version__, _jit
from punish_fast.runtime.cluster import ClusterError
from punish_fast.runtime.errors import ArgumentError, require

if TYPE_CHECKING:
    from distributed import Client

_PACKAGE = Path(__file__).parents[2]
_LOCAL = re.compile(r"local:([1-9]\d{0,3})")
_ADDRESS = re.compile(r"(tcp|tls|ws|wss)://\S+:\d+")
_CONNECT_SECONDS = 10
_LOST = "cluster: the connection to the scheduler, or to all of its workers, is lost"


def check_cluster(where: str) -> None:
    """Raise `ArgumentError` if the address of a cluster is invalid, and `ExtraError` if Dask is not installed."""
    if not _LOCAL.fullmatch(where) and not _ADDRESS.fullmatch(where):
        raise ArgumentError(
            f"cluster: {where!r} is not allowed; it must be a scheduler such as tcp://host:8786, or local:4"
        )
    require("distributed")


@contextmanager
def connected(where: str) -> Iterator[Client]:
    """Yield a client of the scheduler at an address, such as ``tcp://host:8786``.

    ``local:N`` starts N worker processes with one thread each, and stops them when the block ends.
    """
    check_cluster(where)
    from distributed import CancelledError, LocalCluster

    from punish_fast.runtime.cluster.limited_client import LimitedClient

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
            # Remote workers might accept connections only from their scheduler.
            client = stack.enter_context(LimitedClient(address, _CONNECT_SECONDS, direct_to_workers=local is not None))
        except OSError:
            raise ClusterError(f"{where}: no scheduler answers within {_CONNECT_SECONDS} seconds") from None
        try:
            _check_scheduler(client, where)
            check_workers(client)
            if not client.nthreads():
                raise ClusterError(f"{where}: the scheduler has no workers that answer")
            if local is not None:
                client.run(_ignore_interrupts)
            yield client
        except (CancelledError, OSError) as error:
            if getattr(error, "errno", None) is not None:  # a file error, because Dask's errors have no errno
                raise
            raise ClusterError(_LOST) from None


def _ignore_interrupts() -> None:
    """Ignore keyboard interrupts. Terminals send them to all processes, but only the client must handle them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def n_threads(client: Client) -> int:
    """Return the total number of threads over all workers."""
    return sum(client.nthreads().values())


def dashboard_of(client: Client) -> str | None:
    """Return the address of the dashboard. Return None if it is unavailable, for example if bokeh is missing."""
    has_dashboard = client.run_on_scheduler(_has_dashboard)
    return str(client.dashboard_link) if has_dashboard else None


def _has_dashboard(dask_scheduler: Any) -> bool:
    # The HTTP server always runs, even without the applications of the dashboard.
    return bool(getattr(dask_scheduler.http_application, "applications", ()))


def _check_scheduler(client: Client, where: str) -> None:
    """Raise `ClusterError` if the scheduler, which deserializes tasks, cannot import this package."""
    try:
        client.run_on_scheduler(versions)
    except (OSError, ClusterError):
        raise
    except Exception as error:
        told = f"{where}: the scheduler cannot import punish-fast; install {__version__} there ({error})"
        raise ClusterError(told) from None


def workers_of(client: Client) -> dict[str, dict[str, Any]]:
    """Return each worker's status, memory, task counts and last heartbeat time, keyed by address."""
    # If the connection to the scheduler is lost, Dask returns a dictionary without workers.
    return dict(client.scheduler_info(n_workers=-1).get("workers", {}))


def check_workers(client: Client, workers: list[str] | None = None) -> bool:
    """Raise `ClusterError` if a worker cannot run the package or has other versions than this process.

    By default, check all workers. Remove frozen workers from the scheduler, and return True if any worker was removed.
    """
    before = workers_of(client)
    try:
        answers = client.run(versions, workers=workers, on_error="return")
    except AttributeError:
        # Dask raises AttributeError if the connection of the client is closed.
        raise ClusterError(_LOST) from None
    except ClusterError:
        now = workers_of(client)
        frozen = {each for each in before.keys() & now.keys() if before[each]["last_seen"] == now[each]["last_seen"]}
        if not frozen:
            raise
        remove_workers(client, frozen)
        check_workers(client, None if workers is None else [each for each in workers if each not in frozen])
        return True
    for worker, found in answers.items():
        if isinstance(found, OSError):
            continue
        if isinstance(found, Exception):
            raise ClusterError(
                f"cluster: worker {worker} cannot run punish-fast; install {__version__} there ({found})"
            )
        check_versions(worker, found, versions())
    return False


def remove_workers(client: Any, workers: Collection[str]) -> None:
    """Remove frozen workers. The scheduler reassigns their tasks, and stops the workers if they resume."""
    for worker in workers:
        client.sync(client.scheduler.unregister, address=worker, stimulus_id=f"frozen-{time.time()}")


def check_versions(worker: str, found: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """Raise `ClusterError` if a worker and its client have different versions."""
    if found != wanted:
        differing = [name for name in wanted if found.get(name) != wanted[name]]
        told = ", ".join(f"{name} {found.get(name)} instead of {wanted[name]}" for name in differing)
        raise ClusterError(f"cluster: worker {worker} has {told}; all workers need the same versions as the command")


def wait_for_workers(client: Client, error: Exception) -> None:
    """Wait until a worker accepts tasks, after an error caused by the loss of workers or data. Raise other errors.

    Raise `ClusterError` if no worker accepts tasks in time.
    """
    from distributed import CancelledError, KilledWorker

    lost = (CancelledError, KilledWorker, OSError)
    if isinstance(error, ClusterError):
        raise error
    try:
        check_workers(client)
        if isinstance(error, lost):
            client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
            return
    except TimeoutError:
        raise ClusterError(_why_no_worker(client)) from None
    except (*lost, RuntimeError, ValueError):
        raise ClusterError(_LOST) from None
    raise error


def _why_no_worker(client: Client) -> str:
    from dask.utils import format_bytes

    paused = [(address, each) for address, each in workers_of(client).items() if each["status"] == "paused"]
    if not paused:
        return _LOST
    address, worker = paused[0]
    used, limit = (format_bytes(size) for size in (worker["metrics"]["memory"], worker["memory_limit"]))
    return f"cluster: all workers are paused for lack of memory; {address} uses {used} of {limit}"


@cache
def versions() -> dict[str, str]:
    """Return the version of the package, a digest of its files, library versions, and compiler settings."""
    # The cached result describes the imported files, even if other files replace them later.
    return {
        "punish-fast": __version__,
        "files of punish-fast with digest": digest_of(_PACKAGE),
        "NumPy": np.__version__,
        "Numba": numba.__version__,
        "SciPy": scipy.__version__,
        "NUMBA_OPT": str(_jit.config.OPT),
        "NUMBA_BOUNDSCHECK": str(_jit.config.BOUNDSCHECK),
    }


def digest_of(folder: Path) -> str:
    """Return a digest of all names and contents of files in a folder, except bytecode, in 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return digest.hexdigest()[:16]

"""A Dask scheduler and workers as real processes on this machine, which a test can kill."""

from __future__ import annotations

import socket
import subprocess
import sys
from types import TracebackType
from typing import Self

_START_SECONDS = 60


class RealCluster:
    """A scheduler and workers with a thread each.

    Attributes:
        address: That of the scheduler.
        workers: The processes of the workers.
    """

    def __init__(self, n_workers: int) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self._port}"
        self.scheduler = self._start_scheduler()
        self.workers = [self._start_worker() for _ in range(n_workers)]

    def __enter__(self) -> Self:
        self._wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def replace_worker(self) -> None:
        """Kill the oldest worker, and start another one."""
        worker = self.workers.pop(0)
        worker.kill()
        worker.wait()
        self.workers.append(self._start_worker())

    def kill_scheduler(self) -> None:
        """Kill the scheduler, and with it its workers."""
        for process in (self.scheduler, *self.workers):
            process.kill()
            process.wait()

    def restart(self) -> None:
        """Start scheduler and workers again."""
        n_workers = len(self.workers)
        self.scheduler = self._start_scheduler()
        self.workers = [self._start_worker() for _ in range(n_workers)]
        self._wait()

    def _wait(self) -> None:
        """Wait until all workers are there."""
        from distributed import Client

        with Client(self.address, timeout=_START_SECONDS, set_as_default=False) as client:
            client.wait_for_workers(len(self.workers), timeout=_START_SECONDS)

    def _start_scheduler(self) -> subprocess.Popen[bytes]:
        return _start("scheduler", "--host", "127.0.0.1", "--port", str(self._port), "--no-dashboard")

    def _start_worker(self) -> subprocess.Popen[bytes]:
        return _start("worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard")


def _start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )

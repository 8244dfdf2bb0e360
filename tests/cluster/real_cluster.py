"""A Dask scheduler and workers as real processes on this machine, which a test can kill."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

import punish_fast

_START_SECONDS = 60
# Loaded by a worker before it starts.
_WITHOUT_PACKAGE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "punish_fast":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""


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

    def add_worker(self, *options: str, folder: Path | None = None) -> None:
        """Start one more worker, which imports from ``folder`` first, and wait for it."""
        self.workers.append(self._start_worker(*options, folder=folder))
        self._wait()

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

    def _start_worker(self, *options: str, folder: Path | None = None) -> subprocess.Popen[bytes]:
        return _start(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", *options, folder=folder
        )


def altered_package(folder: Path) -> Path:
    """Copy the package to a folder, with other values after each sweep; return the folder."""
    copy = shutil.copytree(
        Path(punish_fast.__file__).parent, folder / "punish_fast", ignore=shutil.ignore_patterns("__pycache__")
    )
    source = copy / "punish" / "transitions" / "row_backups.py"
    before, end = source.read_text(encoding="utf-8"), "    return statistics\n"
    assert end in before
    source.write_text(before.replace(end, "    arrays.values[:] += 1e-6\n" + end), encoding="utf-8")
    return folder


def without_package(folder: Path) -> tuple[str, str]:
    """Return the options of a worker that cannot import the package."""
    script = folder / "without_package.py"
    script.write_text(_WITHOUT_PACKAGE, encoding="utf-8")
    return "--preload", str(script)


def _start(*arguments: str, folder: Path | None = None) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": str(folder or Path(punish_fast.__file__).parent.parent)}
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

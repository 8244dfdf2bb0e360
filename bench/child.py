"""Work in a child process.

`run_child` starts ``python -m bench.child MODULE``, sends it a request as JSON on stdin, and reads the result of
the module's ``work(request)`` from a file, since libraries may print on stdout. Lines that the child marks with `tell`
are progress and passed on. ``peak_bytes`` is the child's peak memory since its start (``ru_maxrss`` alone would not do:
on Linux a child inherits that of the process which forked it).

A child that fails raises a `ChildError` of one line. An interrupted parent ends its child first.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from punish_fast.cli.report import peak_memory as peak_of_process
from punish_fast.runtime.interrupts import uninterrupted

ROOT = Path(__file__).resolve().parents[1]
MARK = "bench: "
MOST_SECONDS = 3600.0
_INTERRUPTED = 130


class ChildError(Exception):
    """A failed child; the message names its task and the reason in one line."""


class ChildTimeoutError(ChildError):
    """A child that took longer than it allowed itself by `allow`."""


def peak_memory() -> int:
    """Peak memory of this process in bytes; 0 where it is unknown."""
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return peak_of_process() or 0


def tell(line: str) -> None:
    """Send a line of progress to the parent."""
    print(f"{MARK}{line}", file=sys.stderr, flush=True)


def allow(seconds: float) -> None:
    """End this process if it still works after so many seconds; 0 takes that back.

    The signal's default action ends it even where a library in C holds the interpreter.
    """
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def environment(**changes: str) -> dict[str, str]:
    """The environment of a child, with this clone first on its path."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, **changes}


def run_child(module: str, request: dict[str, Any], say: Callable[[str], None], what: str) -> dict[str, Any]:
    """Run ``module.work(request)`` in a child process and return its result.

    Args:
        module: Name of a module with ``work(request) -> dict``, both ready for JSON.
        request: The argument.
        say: Takes lines of progress.
        what: Name of the task in messages.

    Raises:
        ChildTimeoutError: the child took longer than it allowed itself.
        ChildError: the child failed.
    """
    with tempfile.TemporaryDirectory(prefix="punish-fast-bench-") as folder:
        output = Path(folder) / "result.json"
        arguments = [sys.executable, "-m", "bench.child", module, str(output)]
        code, errors = _run(arguments, json.dumps(request), say)
        if code == -signal.SIGALRM:
            raise ChildTimeoutError(f"{what}: took too long")
        if code != 0 or not output.is_file():
            raise ChildError(f"{what}: {_reason(code, errors)}")
        result: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
        return result


def _run(arguments: list[str], text: str, say: Callable[[str], None]) -> tuple[int, list[str]]:
    """Run a command; return its exit code and the last lines of its stderr."""
    errors: deque[str] = deque(maxlen=20)
    process: subprocess.Popen[str] | None = None
    alarm: threading.Timer | None = None
    try:
        # An interrupt between the start of the process and the assignment would lose it.
        with uninterrupted():
            process = _start(arguments)
            alarm = threading.Timer(MOST_SECONDS, end, [process])
        alarm.start()
        assert process.stdin is not None and process.stderr is not None
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(text)
        for line in process.stderr:
            if line.startswith(MARK):
                say(line.removeprefix(MARK).rstrip())
            elif line.strip():
                errors.append(line.strip())
        return process.wait(), list(errors)
    finally:
        if process is not None and alarm is not None:
            alarm.cancel()
            end(process)
            if process.stderr is not None:
                process.stderr.close()


def _start(arguments: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment(),
        start_new_session=True,
    )


def end(process: subprocess.Popen[Any]) -> None:
    """Kill a process that leads a session, and its descendants."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _reason(code: int, errors: list[str]) -> str:
    if code == -signal.SIGKILL:
        return "was killed, perhaps out of memory or time"
    if code < 0:
        return f"was ended by signal {-code}"
    return errors[-1] if errors else f"ended with exit code {code} and no result"


def missing_package(error: ModuleNotFoundError, extra: str = "bench") -> str:
    """How to install the missing package of an extra."""
    return f'{error.name} is not installed; install with: pip install "punish-fast[{extra}]"'


def main() -> int:
    """The child: module and result file are arguments, the request comes on stdin."""
    module, output = sys.argv[1:]
    try:
        result = importlib.import_module(module).work(json.load(sys.stdin))
        result["peak_bytes"] = peak_memory()
        Path(output).write_text(json.dumps(result), encoding="utf-8")
    except ModuleNotFoundError as error:
        print(missing_package(error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:
        if os.environ.get("PUNISH_FAST_DEBUG") == "1":
            raise
        text = " ".join(str(error).split()) or type(error).__name__
        print(f"{type(error).__name__}: {text}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

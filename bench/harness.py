"""Common parts of all benchmarks: options, reports, and timed work in child processes.

A benchmark is a module with a function ``run(options) -> Report``. A report contains *measurements* (durations,
reported by their median), *targets* (values to attain, although the run does not fail if one is missed), *checks*
(results that must agree, or the run fails) and *problems* (failed measurements, with the reason).

`run_child` starts ``python -m bench.harness MODULE FILE`` and sends a request as JSON to its stdin. The child calls the
module's ``work(request)`` and writes the result to the file, because libraries may print to stdout. Each child has its
own memory, threads and compiled code. ``peak_bytes`` in its result is its peak memory in bytes.

``results.jsonl`` contains one line of JSON for each benchmark in each full run whose results agree.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from punish_fast.runtime.limits import usable_cores

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results.jsonl"
DISCOUNT, TOLERANCE = 0.95, 1e-9
MOST_SECONDS = 3600.0
_INTERRUPTED = 130
_PACKAGES = (
    *("punish-fast", "numpy", "numba", "scipy", "h5py", "quantecon", "mdpsolver", "pymdptoolbox", "stormpy"),
    *("gymnasium", "pettingzoo", "open-spiel", "pgx", "jax"),
)

Fact = str | int | float


class BenchmarkError(Exception):
    """Raised when a benchmark or child process fails, with the reason in one line."""


class TookTooLongError(BenchmarkError):
    """Raised when a child process exceeds the time limit set by `allow`."""


def say(line: str) -> None:
    """Print a progress message to stderr."""
    print(line, file=sys.stderr, flush=True)


# --- Reports ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """Options of a benchmark run."""

    runs: int = 5  # number of repetitions per measurement
    threads: int = 1  # number of threads for our kernels
    quick: bool = False  # True for a smoke test with small games


@dataclass(frozen=True)
class Measurement:
    """Durations in seconds under one name. ``facts`` are further columns of the table, with units in their names."""

    name: str
    seconds: Sequence[float]
    facts: Mapping[str, Fact] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """The median duration, in seconds."""
        return statistics.median(self.seconds)


@dataclass(frozen=True)
class Target:
    """A measured value and a lower or upper bound for it."""

    name: str
    value: float
    bound: float
    at_least: bool

    @property
    def ok(self) -> bool:
        """True if the value is within the bound. False for NaN."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    @property
    def text(self) -> str:
        """The bound after ``>=`` or ``<=``."""
        return f"{'>=' if self.at_least else '<='} {self.bound:,g}"


@dataclass(frozen=True)
class Check:
    """The difference of two results, which must not exceed ``limit``."""

    name: str
    difference: float
    limit: float

    @property
    def ok(self) -> bool:
        """True if the results agree. False if the difference is NaN."""
        return self.difference <= self.limit


@dataclass
class Report:
    """The result of a benchmark."""

    benchmark: str
    rules: str  # name of a preset or stem of a TOML file
    threads: int
    runs: int
    quick: bool
    measurements: list[Measurement] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    facts: dict[str, Fact] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True if all results agree."""
        return all(check.ok for check in self.checks)

    def find(self, name: str) -> Measurement | None:
        """Return the measurement with a certain name, or None."""
        return next((measurement for measurement in self.measurements if measurement.name == name), None)

    def aim(self, name: str, value: float, *, at_least: float | None = None, at_most: float | None = None) -> None:
        """Add a target, except in a quick run, where games are too small."""
        bound = at_least if at_least is not None else at_most
        if not self.quick and bound is not None:
            self.targets.append(Target(name, value, bound, at_least is not None))

    def to_mapping(self) -> dict[str, Any]:
        """Return the report as a dictionary of JSON values. NaN and infinity are replaced by None."""
        mapping: dict[str, Any] = _finite(asdict(self))
        return mapping


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def new_report(benchmark: str, options: Options, rules: str) -> Report:
    """Return a report without measurements."""
    return Report(benchmark, rules, options.threads, options.runs, options.quick)


def append(reports: Iterable[Report], path: Path) -> None:
    """Append reports of full runs to a results file, unless their results differ or they have no measurements."""
    kept = [report for report in reports if report.ok and not report.quick and report.measurements]
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(report.to_mapping(), allow_nan=False) + "\n" for report in kept)


def newest(path: Path = RESULTS) -> dict[str, Report]:
    """Return the last report of each benchmark in a results file."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        measurements = [Measurement(**each) for each in record["measurements"]]
        targets = [Target(**each) for each in record["targets"]]
        found[record["benchmark"]] = Report(**{**record, "measurements": measurements, "targets": targets})
    return found


def provenance() -> dict[str, Any]:
    """Return the date, commit, machine and package versions as JSON values."""
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.is_file() else []
    cpus = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "machine": {
            "cpu": cpus[0] if cpus else platform.processor() or platform.machine(),
            "cores": usable_cores(),
        },
        "versions": versions,
    }


def _commit() -> str:
    """Return the commit, with suffix ``-dirty`` if sources have changed since, or ``unknown`` if git fails."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


# --- Child processes --------------------------------------------------------------------------------------------------


def peak_memory() -> int:
    """Return the peak memory of this process in bytes, or 0 if it is unknown.

    Memory is read from ``/proc``, because ``ru_maxrss`` of a child process starts with the value of its parent on
    Linux.
    """
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii", errors="replace").splitlines() if status.is_file() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def allow(seconds: float) -> None:
    """Kill this process after a number of seconds. 0 removes the limit.

    The default action of SIGALRM ends the process even while a C library blocks the interpreter.
    """
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def environment(**changes: str) -> dict[str, str]:
    """Return the environment variables of a child process, with this repository first in ``PYTHONPATH``."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, **changes}


def end(process: subprocess.Popen[Any]) -> None:
    """Kill a process that leads a process group, and the other processes of the group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run_child(module: str, request: dict[str, Any], what: str) -> dict[str, Any]:
    """Run ``module.work(request)`` in a child process and return its result. Request and result are JSON values.

    Raises:
        BenchmarkError: If the child fails or takes over `MOST_SECONDS`. The message begins with ``what``.
        TookTooLongError: If the child exceeds the time limit set by `allow`.
    """
    with tempfile.TemporaryDirectory(prefix="punish-fast-bench-") as folder:
        output = Path(folder) / "result.json"
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.harness", module, str(output)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=environment(),
            start_new_session=True,
        )
        try:
            _, errors = process.communicate(json.dumps(request), timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            raise BenchmarkError(f"{what}: took over {MOST_SECONDS:g} s") from None
        finally:
            if process.poll() is None:
                end(process)
        if process.returncode == -signal.SIGALRM:
            raise TookTooLongError(f"{what}: took too long")
        if process.returncode or not output.is_file():
            lines = errors.strip().splitlines() or [f"ended with exit code {process.returncode}"]
            raise BenchmarkError(f"{what}: {lines[-1].strip()}")
        result: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
        return result


def main() -> int:
    """Run ``work`` of a module in a child process.

    The arguments are the module and the file for the result. The request is read from stdin.
    """
    module, output = sys.argv[1:]
    try:
        result = importlib.import_module(module).work(json.load(sys.stdin))
        result["peak_bytes"] = peak_memory()
        Path(output).write_text(json.dumps(result), encoding="utf-8")
    except ModuleNotFoundError as error:
        say(f"{error.name} is not installed. Install all programs to compare with: pip install --group bench")
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())

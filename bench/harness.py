"""Common parts of all benchmarks: options, reports, and timed work in child processes.

A benchmark is a module with ``run(options) -> Report``. A report has *measurements* (durations, reported by their
median), *targets* (a missed one is only reported), *checks* (results that must agree, or the run fails) and *problems*
(failed measurements, with the reason).

`run_child` starts ``python -m bench.harness MODULE FILE``, sends it a request as JSON, and reads the result of the
module's ``work(request)`` from the file, since libraries may print. Each child has its own memory, threads and compiled
code; ``peak_bytes`` in its result is its peak memory.

``results.jsonl`` has one line of JSON for each benchmark of each full run whose results agree.
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
_PACKAGES = ("punish-fast", "numpy", "numba", "scipy", "h5py", "quantecon", "mdpsolver", "pymdptoolbox", "stormpy")

Fact = str | int | float


class BenchmarkError(Exception):
    """A benchmark or child that failed, with the reason in one line."""


class TookTooLongError(BenchmarkError):
    """A child that exceeded the time limit of `allow`."""


def say(line: str) -> None:
    """Print a line of progress."""
    print(line, file=sys.stderr, flush=True)


# --- Reports ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """Options of a run."""

    runs: int = 5  # repetitions of every measurement
    threads: int = 1  # threads of our kernels
    quick: bool = False  # a smoke test: small games and one run


@dataclass(frozen=True)
class Measurement:
    """Durations under one name; ``facts`` are further columns of the table, whose names include units."""

    name: str
    seconds: Sequence[float]
    facts: Mapping[str, Fact] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """The median duration, in seconds."""
        return statistics.median(self.seconds)


@dataclass(frozen=True)
class Target:
    """A lower or upper bound for a value."""

    name: str
    value: float
    bound: float
    at_least: bool

    @property
    def ok(self) -> bool:
        """Whether the value is within the bound; NaN never is."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    @property
    def text(self) -> str:
        """The bound with its comparison."""
        return f"{'>=' if self.at_least else '<='} {self.bound:,g}"


@dataclass(frozen=True)
class Check:
    """Results that may differ by at most ``limit``."""

    name: str
    difference: float
    limit: float

    @property
    def ok(self) -> bool:
        """Whether they agree; NaN never does."""
        return self.difference <= self.limit


@dataclass
class Report:
    """The result of a benchmark."""

    benchmark: str
    rules: str  # a preset's name or the stem of a TOML file
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
        """Whether all results agree."""
        return all(check.ok for check in self.checks)

    def find(self, name: str) -> Measurement | None:
        """Return the measurement of a name, or None."""
        return next((measurement for measurement in self.measurements if measurement.name == name), None)

    def aim(self, name: str, value: float, *, at_least: float | None = None, at_most: float | None = None) -> None:
        """Add a target, except in a quick run, where games are too small."""
        bound = at_least if at_least is not None else at_most
        if not self.quick and bound is not None:
            self.targets.append(Target(name, value, bound, at_least is not None))

    def to_mapping(self) -> dict[str, Any]:
        """Return the report as JSON values; NaN and infinity become None."""
        mapping: dict[str, Any] = _finite(asdict(self))
        return mapping


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def new_report(benchmark: str, options: Options, rules: str) -> Report:
    """Return an empty report."""
    return Report(benchmark, rules, options.threads, options.runs, options.quick)


def append(reports: Iterable[Report], path: Path) -> None:
    """Add full reports whose results agree to a results file."""
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
    """Return date, commit, machine and versions as JSON values."""
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
    """Return the commit, with ``-dirty`` if sources have changed since; ``unknown`` without git."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


# --- Children ---------------------------------------------------------------------------------------------------------


def peak_memory() -> int:
    """Return the peak memory of this process in bytes, 0 if unknown.

    On Linux, ``ru_maxrss`` of a child starts with the value of its parent, so it is not used.
    """
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii", errors="replace").splitlines() if status.is_file() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def allow(seconds: float) -> None:
    """End this process if it has not finished after some seconds; 0 removes the limit.

    The default action of the signal works even while a C library holds the interpreter.
    """
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def environment(**changes: str) -> dict[str, str]:
    """Return the environment of a child, with this clone first in ``PYTHONPATH``."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, **changes}


def end(process: subprocess.Popen[Any]) -> None:
    """Kill the process that leads a session, and its descendants."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run_child(module: str, request: dict[str, Any], what: str) -> dict[str, Any]:
    """Run ``module.work(request)`` in a child process and return its result; both are JSON values.

    Raises:
        BenchmarkError: If the child fails; the text begins with ``what``.
        TookTooLongError: If the child exceeds the time limit of `allow`.
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
    """Do the work of a child; its arguments are a module and the file for the result, and stdin has the request."""
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

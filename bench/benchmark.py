"""A benchmark: options go in, a report comes out.

A benchmark is a module with ``run(options) -> Report``. Timed work runs in child processes (``child.py``), so that none
inherits another's memory, threads or compiled code.

A report has *measurements* (durations, reported by their median), *targets* (numbers the project aims for), *checks*
(results that must agree) and *problems* (failed measurements, with the reason). A missed target is only reported;
results that differ fail the run.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any

REGISTER = {
    "reference": "bench.reference_time",
    "peers": "bench.peers",
    "mdp": "bench.mdp",
    "limit": "bench.limit",
    "iteration": "bench.iteration",
    "refill": "bench.refill",
    "scaling": "bench.scaling",
    "startup": "bench.startup",
}
DISCOUNT = 0.95
TOLERANCE = 1e-9
# The name of a fact that says what a reader must know about a run.
NOTE = "note"

Fact = str | int | float


class BenchmarkError(Exception):
    """A benchmark that could not be run; the message is one line."""


class ReportError(ValueError):
    """A record that is not a report; the message names the field."""


def say(line: str) -> None:
    """Print a line of progress."""
    print(line, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Options:
    """Options of a run.

    Attributes:
        runs: Repetitions of every measurement.
        threads: Threads of our kernels.
        quick: Small games and one run, as a smoke test.
        rules: A preset's name or a TOML file; None leaves the choice to the benchmark.
        say: Called with lines of progress.
    """

    runs: int = 5
    threads: int = 1
    quick: bool = False
    rules: str | None = None
    say: Callable[[str], None] = say


@dataclass(frozen=True)
class Measurement:
    """Durations of one thing.

    Attributes:
        name: The thing measured.
        seconds: Durations, at least one.
        facts: Further columns of the table; names include units.
    """

    name: str
    seconds: tuple[float, ...]
    facts: Mapping[str, Fact] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """The median duration, in seconds."""
        return statistics.median(self.seconds)


@dataclass(frozen=True)
class Target:
    """A target: ``value`` should be at least (or at most) ``bound``."""

    name: str
    value: float
    bound: float
    at_least: bool

    @property
    def ok(self) -> bool:
        """Whether the target is met; NaN never is."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    @property
    def sign(self) -> str:
        """The comparison that a met target satisfies."""
        return ">=" if self.at_least else "<="


@dataclass(frozen=True)
class Check:
    """Results that must agree: they differ by ``difference``, at most ``limit`` is allowed."""

    name: str
    difference: float
    limit: float

    @property
    def ok(self) -> bool:
        """Whether they agree; NaN never does."""
        return self.difference <= self.limit


@dataclass
class Report:
    """The result of a benchmark.

    Attributes:
        benchmark: Its name.
        rules: The rules: a preset's name or a TOML file.
        threads: Threads of our kernels.
        runs: Repetitions of every measurement.
        quick: Whether it ran on small games only.
        measurements: Durations.
        targets: Numbers with their targets.
        checks: Results that must agree.
        problems: Failed measurements, one line each.
        facts: Further numbers, by name.
        provenance: Date, commit, machine and versions.
    """

    benchmark: str
    rules: str
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
        """The measurement of a name, or None."""
        return next((measurement for measurement in self.measurements if measurement.name == name), None)

    def aim(self, name: str, value: float, *, at_least: float | None = None, at_most: float | None = None) -> None:
        """Add a target, except in a quick run, whose games are too small."""
        if self.quick:
            return
        bound = at_least if at_least is not None else at_most
        assert bound is not None
        self.targets.append(Target(name, value, bound, at_least is not None))

    def to_mapping(self) -> dict[str, Any]:
        """The report as JSON values; NaN and infinity become None."""
        return {key: _plain(value) for key, value in asdict(self).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


_FIELDS: dict[str, type] = {
    "benchmark": str,
    "rules": str,
    "threads": int,
    "runs": int,
    "quick": bool,
    "measurements": list,
    "targets": list,
    "checks": list,
    "problems": list,
    "facts": dict,
    "provenance": dict,
}


def from_mapping(record: Any) -> Report:
    """The report that `Report.to_mapping` wrote.

    Raises:
        ReportError: the record is not a report.
    """
    if not isinstance(record, dict) or set(record) != set(_FIELDS):
        raise ReportError(f"a report has the fields {', '.join(_FIELDS)}")
    for name, kind in _FIELDS.items():
        if not isinstance(record[name], kind):
            raise ReportError(f"{name}: {record[name]!r} is not of type {kind.__name__}")
    try:
        measurements = [Measurement(m["name"], tuple(m["seconds"]), m["facts"]) for m in record["measurements"]]
        targets = [Target(**{**target, "value": _number(target["value"])}) for target in record["targets"]]
        checks = [Check(**{**check, "difference": _number(check["difference"])}) for check in record["checks"]]
    except (TypeError, KeyError) as error:
        raise ReportError(f"a measurement, target or check is wrong ({error})") from None
    if any(not measurement.seconds for measurement in measurements):
        raise ReportError("a measurement has no durations")
    return Report(**{**record, "measurements": measurements, "targets": targets, "checks": checks})


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def new_report(benchmark: str, options: Options, rules: str) -> Report:
    """An empty report."""
    return Report(benchmark, rules, options.threads, options.runs, options.quick)


def run_benchmark(name: str, options: Options) -> Report:
    """Run a benchmark by name.

    Raises:
        KeyError: there is no such benchmark.
        BenchmarkError: it could not be run.
    """
    run: Callable[[Options], Report] = import_module(REGISTER[name]).run
    return run(options)

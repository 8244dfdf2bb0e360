"""Warm and cold starts of the command.

``punish-fast solve --no-tensor`` with compiled kernels in the cache is compared with importing Numba alone, and
``--help`` with importing Typer; no program built on them starts faster. They are measured in turns. A cold start has an
empty cache folder and compiles every kernel. All processes get the same fresh cache folder, so the user's own does not
matter. Peak memory is what the system reports of each process.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.benchmark import BenchmarkError, Fact, Measurement, Options, Report, new_report
from bench.child import end, environment

SOLVE = "solve --no-tensor, warm"
HELP = "--help"
COLD = "solve --no-tensor, cold"
NUMBA = "import numba"
TYPER = "import typer"

MOST_TIMES = 5
MOST_COLD_SECONDS = 40
MOST_PEAK_MB = 800
_MOST_COLD_RUNS = 3
_DEFAULT_RULES = "notebook"


class Ended(NamedTuple):
    """A process that has ended: its seconds and its peak memory in bytes."""

    seconds: float
    peak_bytes: int


def commands(rules: str, threads: int) -> dict[str, list[str]]:
    """The command lines, by name."""
    ours = [sys.executable, "-m", "punish_fast"]
    options = ["--rules", rules, "--threads", str(threads), "--no-tensor", "--quiet", "-o", "startup.h5"]
    return {
        SOLVE: [*ours, "solve", *options],
        NUMBA: [sys.executable, "-c", "import numba"],
        HELP: [*ours, "--help"],
        TYPER: [sys.executable, "-c", "import typer"],
    }


def start(command: Sequence[str], folder: Path, cache: Path) -> Ended:
    """Run a command to its end, in ``folder`` and with compiled kernels in ``cache``.

    Raises:
        BenchmarkError: it failed.
    """
    log = folder / "stderr.txt"
    surroundings = environment(NUMBA_CACHE_DIR=str(cache))
    # A warm start has bytecode.
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)
    with log.open("w", encoding="utf-8") as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            env=surroundings,
            start_new_session=True,
        )
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            end(process)
            raise
        seconds = time.perf_counter() - begin
    # Otherwise Popen would wait for a process that is gone.
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        lines = log.read_text(encoding="utf-8").splitlines() or ["no message"]
        raise BenchmarkError(f"{' '.join(command[:4])} ended with {process.returncode}: {lines[-1]}")
    return Ended(seconds, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))


def run(options: Options, started: Mapping[str, Sequence[str]] | None = None) -> Report:
    """Run the benchmark; ``started`` are other commands under the same names.

    Raises:
        BenchmarkError: a command failed.
    """
    rules = options.rules or _DEFAULT_RULES
    started = commands(rules, options.threads) if started is None else started
    report = new_report("startup", options, rules)
    samples: dict[str, list[Ended]] = {name: [] for name in (*started, COLD)}
    with tempfile.TemporaryDirectory(prefix="punish-fast-bench-") as name:
        folder = Path(name)
        cold_runs = 1 if options.quick else min(options.runs, _MOST_COLD_RUNS)
        for number in range(cold_runs):
            options.say(f"startup: cold start {number + 1} of {cold_runs}")
            samples[COLD].append(start(started[SOLVE], folder, folder / f"cache-{number}"))
        cache = folder / "cache-0"
        for number in range(options.runs + 1):
            options.say(f"startup: run {number} of {options.runs}" if number else "startup: warming up")
            for command in started:
                ended = start(started[command], folder, cache)
                # The first round fills the caches of the system.
                if number:
                    samples[command].append(ended)
    report.measurements = [measurement_of(name, samples[name]) for name in (SOLVE, NUMBA, HELP, TYPER, COLD)]
    add_targets(report)
    return report


def measurement_of(name: str, ended: Sequence[Ended]) -> Measurement:
    """Durations and the median of peak memory."""
    facts: dict[str, Fact] = {"peak MB": round(statistics.median(one.peak_bytes for one in ended) / 1e6)}
    return Measurement(name, tuple(one.seconds for one in ended), facts)


def add_targets(report: Report) -> None:
    """Compare the pairs."""
    by_name = {measurement.name: measurement for measurement in report.measurements}
    median = {name: measurement.median for name, measurement in by_name.items()}
    report.aim(f"{SOLVE} / {NUMBA}", median[SOLVE] / median[NUMBA], at_most=MOST_TIMES)
    report.aim(f"{HELP} / {TYPER}", median[HELP] / median[TYPER], at_most=MOST_TIMES)
    report.aim(f"{COLD}, seconds", median[COLD], at_most=MOST_COLD_SECONDS)
    peak = max(float(by_name[name].facts["peak MB"]) for name in (SOLVE, COLD))
    report.aim("peak memory of solve --no-tensor, MB", peak, at_most=MOST_PEAK_MB)

"""Warm and cold starts of the command line.

``punish-fast solve --no-tensor`` with compiled kernels in the cache is compared with importing Numba, and ``--help``
with importing Typer. The import times are lower bounds for any program that uses the libraries. The commands take
turns. A cold start has an empty cache folder and compiles every kernel that it calls. Warm starts use the cache folder
of the first cold start, so the user's cache has no effect. The operating system reports the peak memory of each
process.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.harness import BenchmarkError, Measurement, Options, Report, end, environment, new_report, say

SOLVE, COLD, HELP = "solve --no-tensor, warm", "solve --no-tensor, cold", "--help"
NUMBA, TYPER = "import numba", "import typer"
MOST_TIMES, MOST_COLD_SECONDS, MOST_PEAK_MB = 5, 40, 800
_MOST_COLD_RUNS = 3


def commands(rules: str, threads: int) -> dict[str, list[str]]:
    """Return the command lines to measure, by name."""
    ours = [sys.executable, "-m", "punish_fast"]
    options = ["--rules", rules, "--threads", str(threads), "--no-tensor", "--quiet", "-o", "startup.h5"]
    return {
        SOLVE: [*ours, "solve", *options],
        NUMBA: [sys.executable, "-c", "import numba"],
        HELP: [*ours, "--help"],
        TYPER: [sys.executable, "-c", "import typer"],
    }


def start(command: Sequence[str], folder: Path, cache: Path) -> tuple[float, int]:
    """Run a command in ``folder`` with the kernel cache ``cache``. Return its seconds and peak memory in bytes."""
    surroundings = environment(NUMBA_CACHE_DIR=str(cache))
    # Let Python write bytecode, because warm starts use it.
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)
    with (folder / "stderr.txt").open("w+", encoding="utf-8") as errors:
        begin, quiet = time.perf_counter(), subprocess.DEVNULL
        process = subprocess.Popen(
            command, stdout=quiet, stderr=errors, stdin=quiet, cwd=folder, env=surroundings, start_new_session=True
        )
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            end(process)
            raise
        seconds = time.perf_counter() - begin
        # Set the exit code, because Popen would otherwise wait for the finished process.
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            lines = errors.read().splitlines() or ["no message"]
            raise BenchmarkError(f"{' '.join(command[:4])} ended with {process.returncode}: {lines[-1]}")
    return seconds, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def run(options: Options) -> Report:
    """Time cold and warm starts and report their ratios to the imports."""
    rules = "tiny" if options.quick else "notebook"
    report, started = new_report("startup", options, rules), commands(rules, options.threads)
    samples: dict[str, list[tuple[float, int]]] = {name: [] for name in (*started, COLD)}
    with tempfile.TemporaryDirectory(prefix="punish-fast-bench-") as name:
        folder = Path(name)
        for number in range(min(options.runs, _MOST_COLD_RUNS)):
            say(f"startup: cold start {number + 1}")
            samples[COLD].append(start(started[SOLVE], folder, folder / f"cache-{number}"))
        for number in range(options.runs + 1):
            say(f"startup: run {number} of {options.runs}" if number else "startup: warming up")
            for command in started:
                ended = start(started[command], folder, folder / "cache-0")
                # Discard the first round, which fills the caches of the operating system.
                if number:
                    samples[command].append(ended)
    median, peak = {}, {}
    for name in (SOLVE, NUMBA, HELP, TYPER, COLD):
        seconds = [each for each, _ in samples[name]]
        median[name] = statistics.median(seconds)
        peak[name] = round(statistics.median(each for _, each in samples[name]) / 1e6)
        report.measurements.append(Measurement(name, seconds, {"peak MB": peak[name]}))
    report.aim(f"{SOLVE} / {NUMBA}", median[SOLVE] / median[NUMBA], at_most=MOST_TIMES)
    report.aim(f"{HELP} / {TYPER}", median[HELP] / median[TYPER], at_most=MOST_TIMES)
    report.aim(f"{COLD}, seconds", median[COLD], at_most=MOST_COLD_SECONDS)
    report.aim("peak memory of solve --no-tensor, MB", max(peak[SOLVE], peak[COLD]), at_most=MOST_PEAK_MB)
    return report

"""Growth of time and memory with the game, and speed by threads.

A family of house rules (``houses/``) grows from a toy to fifteen times the notebook's nonzeros by more cards, HP and
breaths. Each game is solved in a child process: states, tensor and values. If time is ``c n^k`` for ``n`` nonzeros,
``k`` is the slope of the least-squares line through the logarithms of the medians. For memory, the process's peak
before the game (`stages.py`) is subtracted.

In small games the fixed costs of threads and chunks dominate, which would flatten the line in our favour. So the
targets use only games of at least `LEAST_NONZEROS` nonzeros; the exponent over all sizes is reported as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.benchmark import BenchmarkError, Measurement, Options, Report, new_report
from bench.child import ChildError, run_child

HOUSES = Path(__file__).parent / "houses"
FAMILY = (
    "tiny",
    str(HOUSES / "frail.toml"),
    str(HOUSES / "short.toml"),
    str(HOUSES / "four_cards.toml"),
    "notebook",
    str(HOUSES / "five_hp.toml"),
    str(HOUSES / "twenty_cards.toml"),
    str(HOUSES / "nine_hp.toml"),
)
QUICK_FAMILY = FAMILY[:5]
LEAST_NONZEROS = 1_000_000
MOST_EXPONENT = 1.05
_REPEATS = 3


def exponent(sizes: Sequence[float], amounts: Sequence[float]) -> float:
    """The slope of ``log amounts`` over ``log sizes`` by least squares.

    Raises:
        ValueError: fewer than two different sizes, or a number at or below 0.
    """
    if len(set(sizes)) < 2 or min(*sizes, *amounts) <= 0:
        raise ValueError("exponent: two different sizes are needed, and all numbers above 0")
    slope: float = np.polyfit(np.log(sizes), np.log(amounts), 1)[0]
    return float(slope)


class Scaling:
    """The measurements so far."""

    def __init__(self, options: Options, family: Sequence[str]) -> None:
        self.options = options
        self.family = family
        self.report = new_report("scaling", options, "the family" if options.rules is None else _name(options.rules))
        self._results: dict[tuple[str, int], list[dict[str, Any]]] = {}

    def solve(self, number: int, rules: str, threads: int) -> None:
        """Solve a game in a child process."""
        what = f"rules {_name(rules)}, {threads} threads"
        self.options.say(f"scaling: run {number} of {self.options.runs}, {what}")
        request = {"rules": rules, "threads": threads, "repeats": 1 if self.options.quick else _REPEATS}
        try:
            result = run_child("bench.stages", request, self.options.say, what)
        except ChildError as error:
            if str(error) not in self.report.problems:
                self.report.problems.append(str(error))
            return
        self._results.setdefault((rules, threads), []).append(result)

    def finish(self, threads_rules: str, counts: Sequence[int]) -> Report:
        """The report: measurements, exponents and targets.

        Raises:
            BenchmarkError: nothing could be measured.
        """
        for rules in self.family:
            self._add(f"rules {_name(rules)}", rules, self.options.threads)
        sized = list(self.report.measurements)
        for threads in counts:
            name = f"{_name(threads_rules)}, {threads} thread{'' if threads == 1 else 's'}"
            self._add(name, threads_rules, threads)
        if not self.report.measurements:
            raise BenchmarkError(f"scaling: nothing could be measured ({'; '.join(self.report.problems)})")
        add_exponents(self.report, sized)
        return self.report

    def _add(self, name: str, rules: str, threads: int) -> None:
        results = self._results.get((rules, threads))
        if not results:
            return
        seconds = [duration for result in results for duration in result["seconds"]["all"]]
        peak = max(result["peak_bytes"] for result in results)
        baseline = min(result["baseline_bytes"] for result in results)
        facts: dict[str, int | float] = {
            "states": results[0]["states"],
            "nonzeros": results[0]["nonzeros"],
            "tensor MB": round(results[0]["tensor_bytes"] / 1e6, 2),
            "peak MB": round(peak / 1e6, 1),
            "for the game MB": round((peak - baseline) / 1e6, 2),
        }
        self.report.measurements.append(Measurement(name, tuple(seconds), facts))


def add_exponents(report: Report, sized: Sequence[Measurement]) -> None:
    """Add the exponents of time and memory to the report."""
    large = [m for m in sized if int(m.facts["nonzeros"]) >= LEAST_NONZEROS]
    if len(large) < 2:
        return
    least = f"from {LEAST_NONZEROS:,} nonzeros on"
    for what, amount in (("seconds", _median), ("memory", _game_memory)):
        usable = [m for m in sized if amount(m) > 0]
        over_all = exponent(_nonzeros(usable), [amount(m) for m in usable])
        slope = exponent(_nonzeros(large), [amount(m) for m in large])
        report.facts[f"exponent of {what}, all sizes"] = over_all
        report.facts[f"exponent of {what}, {least}"] = slope
        report.aim(f"exponent of {what} over nonzeros, {least}", slope, at_most=MOST_EXPONENT)


def _median(measurement: Measurement) -> float:
    return measurement.median


def _game_memory(measurement: Measurement) -> float:
    return float(measurement.facts["for the game MB"])


def _nonzeros(measurements: Sequence[Measurement]) -> list[float]:
    return [float(measurement.facts["nonzeros"]) for measurement in measurements]


def _name(rules: str) -> str:
    return Path(rules).stem


def run(options: Options) -> Report:
    """Run the benchmark; rules in the options replace the family.

    Raises:
        BenchmarkError: nothing could be measured.
    """
    family = (QUICK_FAMILY if options.quick else FAMILY) if options.rules is None else (options.rules,)
    threads_rules = options.rules or "notebook"
    scaling = Scaling(options, family)
    counts = range(1, options.threads + 1)
    for number in range(1, options.runs + 1):
        for rules in family:
            scaling.solve(number, rules, options.threads)
        for threads in counts:
            is_done = threads == options.threads and threads_rules in family
            if not is_done:
                scaling.solve(number, threads_rules, threads)
    return scaling.finish(threads_rules, counts)

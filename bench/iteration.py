"""An iteration of equilibrium learning against the memory bandwidth, pass by pass.

An iteration passes the reaches of the player and of the best response forward, breath by breath, then regrets backward
(``punish_fast/equilibrium/_regret_matching.py``), and then improves the response, also backward. It has to move the
arrays of its passes at least once (`bench.pass_traffic` has the formulas). The time of that at the read bandwidth,
measured beside it with the same threads, is *at best*, and *ratio* is the time taken over it. The iteration is one of
the first, which are full. Later, fifteen of sixteen are restricted, and after each full one the restricted game is
built anew; the mean of all sixteen includes that.

The target is a ratio of 1.5. Two things keep it away:

* Cache misses. Successors are listed in the order of play, but their reaches and values in the order of their numbers.
  So each takes 8 or 32 bytes of a cache line of 64 that may lie anywhere, and forward passes write the line back.
  *near* is the time of the same pass, with the same steps and as long a list, if all successors are a few that lie side
  by side and stay in the cache. The gap between *near* and the time taken is cache misses.
* Computation, the gap between *at best* and *near*: for each successor an index, a probability and up to four products
  and sums, in loops of one to four steps, whose ends are hard to predict and which cannot be vectorised, since sums
  keep their order. Forward passes also sum eight buffers, of which only one is counted: under `view`, parts that run at
  the same time share successors.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

import numpy as np

from bench.benchmark import Measurement, Options, Report, new_report
from bench.child import run_child
from bench.pass_traffic import FAR, NEAR, READ, REBUILD, RESTRICTED

MOST_RATIO = 1.5
FULL, PART = "full iteration", "restricted iteration"
BUILDING, MEAN = "building the restricted game", "mean of sixteen iterations"
# Restricted iterations for each full one.
_N_RESTRICTED = 15
_DEFAULT_RULES, _QUICK_RULES = "tabletop", "tiny"


def run(options: Options) -> Report:
    """Run the benchmark.

    Raises:
        ChildError: a child process failed.
    """
    rules = options.rules or (_QUICK_RULES if options.quick else _DEFAULT_RULES)
    report = new_report("iteration", options, rules)
    options.say("iteration: building the graph and compiling the kernels")
    request = {"rules": rules, "information": "view", "threads": options.threads, "runs": options.runs}
    found = run_child("bench.pass_traffic", request, options.say, "iteration")
    report.facts |= {"full states": found["full_states"], "successors": found["successors"]}
    if found["restricted"] is not None:
        report.facts["full states of the restricted game"] = found["restricted"]["full_states"]
        report.facts["successors of the restricted game"] = sum(found["restricted"]["successors_by_breath"])
    report.measurements = measurements_of(found)
    whole = next(measurement for measurement in report.measurements if measurement.name == FULL)
    best, near = float(whole.facts["at best"]), float(whole.facts["near"])
    report.facts[f"{FULL}: traffic at full bandwidth, %"] = 100 * best / whole.median
    report.facts[f"{FULL}: computation, %"] = 100 * (near - best) / whole.median
    report.facts[f"{FULL}: cache misses, %"] = 100 * (whole.median - near) / whole.median
    report.aim(f"{FULL} / its traffic at full bandwidth", float(whole.facts["ratio"]), at_most=MOST_RATIO)
    return report


def measurements_of(found: dict[str, Any]) -> list[Measurement]:
    """Durations of passes and iterations, with the least time that their traffic takes."""
    seconds, moved = found["seconds"], found["bytes"]
    rate = moved[READ] / statistics.median(seconds[READ])
    entries = _entries_by_pass(found["successors_by_breath"])
    names = _names(seconds, FAR)
    measurements = [Measurement(READ, tuple(seconds[READ]), {"MB": moved[READ] / 1e6, "GB/s": rate / 1e9})]
    for name in names:
        near = statistics.median(seconds[NEAR + name])
        measurements.append(_measured(name, seconds[FAR + name], moved[name] / rate, entries.get(name, 0), near))
    whole, near = _total(seconds, FAR, names), statistics.median(_total(seconds, NEAR, names))
    best = sum(moved[name] for name in names) / rate
    measurements.append(_measured(FULL, whole, best, sum(entries.values()), near))
    if found["restricted"] is not None:
        measurements += _restricted(found["restricted"], seconds, rate, whole)
    return measurements


def _restricted(
    game: dict[str, Any], seconds: dict[str, list[float]], rate: float, whole: list[float]
) -> list[Measurement]:
    """A restricted iteration, building the restricted game, and the mean of all iterations."""
    entries = _entries_by_pass(game["successors_by_breath"])
    names = [name for name in _names(seconds, RESTRICTED) if name not in REBUILD]
    part, building = _total(seconds, RESTRICTED, names), _total(seconds, RESTRICTED, REBUILD)
    mean = [(a + b + _N_RESTRICTED * c) / (1 + _N_RESTRICTED) for a, b, c in zip(whole, building, part, strict=True)]
    best = sum(game["bytes"][name] for name in names) / rate
    return [
        _measured(PART, part, best, sum(entries.get(name, 0) for name in names)),
        Measurement(BUILDING, tuple(building)),
        Measurement(MEAN, tuple(mean)),
    ]


def _names(seconds: dict[str, list[float]], kind: str) -> list[str]:
    """Names of the timed passes of a kind."""
    return [name.removeprefix(kind) for name in seconds if name.startswith(kind)]


def _total(seconds: dict[str, list[float]], kind: str, names: Iterable[str]) -> list[float]:
    """Total duration of some passes in each run."""
    totals: list[float] = np.sum([seconds[kind + name] for name in names], axis=0).tolist()
    return totals


def _entries_by_pass(by_breath: list[int]) -> dict[str, int]:
    """Successors that each pass visits, from those of each breath."""
    walks = {f"{kind} {number}": n for number, n in enumerate(by_breath, start=1) for kind in ("spread", "regret")}
    return walks | {"response": sum(by_breath)}


def _measured(name: str, seconds: list[float], best: float, entries: int, near: float | None = None) -> Measurement:
    median = statistics.median(seconds)
    facts: dict[str, Any] = {"at best": best, "ratio": median / best}
    if near is not None:
        facts["near"] = near
    if entries:
        facts["successors/us"] = entries / median / 1e6
    return Measurement(name, tuple(seconds), facts)

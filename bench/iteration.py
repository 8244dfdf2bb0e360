"""How near an iteration of equilibrium play comes to what the memory can do, pass by pass, and what keeps it away.

An iteration passes the reaches of the player and of its answer forward, breath by breath, then regrets backward
(``punish_fast/equilibrium/_regret_matching.py``), and then works out the next answer, also backward. At the least it
has to move the arrays of its passes once each; `bench.pass_traffic` has the formulas. The time that this takes at the
read bandwidth, which is measured beside it with the same threads, stands as *at best*, and *ratio* is how many times
longer the pass took. It is one of the first iterations, which go everywhere. Later on, fifteen of sixteen play an
excerpt of the game, which is made anew after each of the others; *in the long run* is the mean of all sixteen, with
what excerpts take to make.

The promise is a ratio of 1.5, or to know why not. Why not:

* Successors stand in the order in which they are played, but what is known of them in that of their numbers. So for
  each of them 8 or 32 bytes are picked from a line of 64 that may lie anywhere, and forward the line is written back.
  *near* is the time of the same pass, with the same steps and the same list of successors to read, if they were a few
  that stand side by side and never leave the cache. What it takes longer than that, successors cost by being far.
* What is left, from *at best* to *near*, is work on data that is there: for every successor an index, a chance and up
  to four products and sums, in loops of one to four steps whose ends processors foresee badly, and that no vector unit
  takes together, since sums keep their order. Forward, it is also to sum eight buffers, of which but one is counted:
  in the view, parts that work at the same time have successors in common.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

import numpy as np

from bench.benchmark import Measurement, Options, Report, new_report
from bench.child import run_child
from bench.pass_traffic import EXCERPT, FAR, HASTY, NEAR, READ

MOST_RATIO = 1.5
WHOLE, PART, MAKING, MEAN = "an iteration", "one of an excerpt", "making an excerpt", "in the long run"
# Of the sixteen iterations from one that goes everywhere to the next.
_HASTY = 15
_DEFAULT_RULES, _QUICK_RULES = "tabletop", "tiny"


def run(options: Options) -> Report:
    """Run the benchmark.

    Raises:
        ChildError: it could not be measured.
    """
    rules = options.rules or (_QUICK_RULES if options.quick else _DEFAULT_RULES)
    report = new_report("iteration", options, rules)
    options.say("iteration: building the graph and compiling the kernels")
    request = {"rules": rules, "information": "view", "threads": options.threads, "runs": options.runs}
    found = run_child("bench.pass_traffic", request, options.say, "iteration")
    report.facts |= {"full states": found["full_states"], "successors": found["successors"]}
    if found["excerpt"] is not None:
        report.facts["full states of an excerpt"] = found["excerpt"]["full_states"]
        report.facts["successors of an excerpt"] = sum(found["excerpt"]["successors_by_breath"])
    report.measurements = measurements_of(found)
    whole = next(measurement for measurement in report.measurements if measurement.name == WHOLE)
    best, near = float(whole.facts["at best"]), float(whole.facts["near"])
    report.facts["of an iteration, traffic at full bandwidth, %"] = 100 * best / whole.median
    report.facts["of an iteration, work on successors, %"] = 100 * (near - best) / whole.median
    report.facts["of an iteration, successors that are far, %"] = 100 * (whole.median - near) / whole.median
    report.promise("an iteration / its traffic at full bandwidth", float(whole.facts["ratio"]), at_most=MOST_RATIO)
    return report


def measurements_of(found: dict[str, Any]) -> list[Measurement]:
    """Durations of all passes and of iterations, the least bytes, and how far they are from what memory can do."""
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
    measurements.append(_measured(WHOLE, whole, best, sum(entries.values()), near))
    if found["excerpt"] is not None:
        measurements += _with_excerpts(found["excerpt"], seconds, rate, whole)
    return measurements


def _with_excerpts(
    excerpt: dict[str, Any], seconds: dict[str, list[float]], rate: float, whole: list[float]
) -> list[Measurement]:
    """An iteration of an excerpt, what excerpts take to make, and the mean of those and of iterations of the whole."""
    entries = _entries_by_pass(excerpt["successors_by_breath"])
    names = [name for name in _names(seconds, HASTY) if name not in EXCERPT]
    part, making = _total(seconds, HASTY, names), _total(seconds, HASTY, EXCERPT)
    mean = [(a + b + _HASTY * c) / (1 + _HASTY) for a, b, c in zip(whole, making, part, strict=True)]
    best = sum(excerpt["bytes"][name] for name in names) / rate
    return [
        _measured(PART, part, best, sum(entries.get(name, 0) for name in names)),
        Measurement(MAKING, tuple(making)),
        Measurement(MEAN, tuple(mean)),
    ]


def _names(seconds: dict[str, list[float]], kind: str) -> list[str]:
    """The passes of a kind that were timed."""
    return [name.removeprefix(kind) for name in seconds if name.startswith(kind)]


def _total(seconds: dict[str, list[float]], kind: str, names: Iterable[str]) -> list[float]:
    """How long some passes took together, in each run."""
    totals: list[float] = np.sum([seconds[kind + name] for name in names], axis=0).tolist()
    return totals


def _entries_by_pass(by_breath: list[int]) -> dict[str, int]:
    """How many successors each pass goes to, by those of each breath."""
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

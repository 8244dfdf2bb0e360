"""How near an iteration of equilibrium play comes to what the memory can do, pass by pass, and what keeps it away.

An iteration passes the reaches of the player and of its answer forward, breath by breath, then regrets backward
(``punish_fast/punish/_regret.py``), and then works out the next answer, also backward. At the least it has to move the
arrays of its passes once each; `bench.pass_traffic` has the formulas. The time that this takes at the read bandwidth,
which is measured beside it with the same threads, stands as *at best*, and *ratio* is how many times longer the pass
took. It is one of the first iterations, which go everywhere; most later ones play an excerpt of the game.

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
from typing import Any

import numpy as np

from bench.benchmark import Measurement, Options, Report, new_report
from bench.child import run_child
from bench.pass_traffic import FAR, NEAR, READ

MOST_RATIO = 1.5
WHOLE = "an iteration"
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
    report.measurements = measurements_of(found)
    whole = report.measurements[-1]
    best, near = float(whole.facts["at best"]), float(whole.facts["near"])
    report.facts["of an iteration, traffic at full bandwidth, %"] = 100 * best / whole.median
    report.facts["of an iteration, work on successors, %"] = 100 * (near - best) / whole.median
    report.facts["of an iteration, successors that are far, %"] = 100 * (whole.median - near) / whole.median
    report.promise("an iteration / its traffic at full bandwidth", float(whole.facts["ratio"]), at_most=MOST_RATIO)
    return report


def measurements_of(found: dict[str, Any]) -> list[Measurement]:
    """Durations of all passes and of their sum, the least bytes, and how far they are from what memory can do."""
    seconds, moved = found["seconds"], found["bytes"]
    rate = moved[READ] / statistics.median(seconds[READ])
    names = [name.removeprefix(FAR) for name in seconds if name.startswith(FAR)]
    entries = {
        f"{kind} {number}": n
        for number, n in enumerate(found["successors_by_breath"], start=1)
        for kind in ("spread", "regret")
    } | {"answer": sum(found["successors_by_breath"])}
    measurements = [Measurement(READ, tuple(seconds[READ]), {"MB": moved[READ] / 1e6, "GB/s": rate / 1e9})]
    for name in names:
        near = statistics.median(seconds[NEAR + name])
        measurements.append(_measured(name, seconds[FAR + name], moved[name] / rate, near, entries.get(name, 0)))
    whole, crowd = (np.sum([seconds[kind + name] for name in names], axis=0).tolist() for kind in (FAR, NEAR))
    best = sum(moved[name] for name in names) / rate
    measurements.append(_measured(WHOLE, whole, best, statistics.median(crowd), sum(entries.values())))
    return measurements


def _measured(name: str, seconds: list[float], best: float, near: float, entries: int) -> Measurement:
    median = statistics.median(seconds)
    facts: dict[str, Any] = {"at best": best, "ratio": median / best, "near": near}
    if entries:
        facts["successors/us"] = entries / median / 1e6
    return Measurement(name, tuple(seconds), facts)

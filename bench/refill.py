"""The next enemy: a refilled tensor against a new one.

Every run has a new enemy, which plays every action of every state with positive probability. The refilled process is
solved from the values against the previous enemy, the new one from zeros, to the same error bound; the values must
agree. The two are measured in turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from bench.benchmark import DISCOUNT, TOLERANCE, Check, Measurement, Options, Report, new_report
from bench.child import run_child, tell

REFILL = "refill"
RESOLVE = "solve again, warm"
BUILD = "build"
SOLVE = "solve"
MOST_REFILL_SECONDS = 0.15
MOST_SECONDS = 0.5
_DEFAULT_RULES = "notebook"
_TEMPERATURE = 0.5
# Runs that are not counted: the first compiles, the second warms memory up.
_WARM_UPS = 2

T = TypeVar("T")


def run(options: Options) -> Report:
    """Run the benchmark.

    Raises:
        ChildError: a child process failed.
    """
    rules = options.rules or ("tiny" if options.quick else _DEFAULT_RULES)
    report = new_report("refill", options, rules)
    request = {"rules": rules, "threads": options.threads, "runs": options.runs}
    found = run_child("bench.refill", request, options.say, "refill")
    for name, seconds in found["seconds"].items():
        megabytes = found["bytes"][name] / 1e6 if name in found["bytes"] else None
        facts = {} if megabytes is None else {"tensor MB": round(megabytes, 1)}
        report.measurements.append(Measurement(name, tuple(seconds), facts))
    report.checks.append(Check("refilled and built", found["difference"], 2 * TOLERANCE))
    add_targets(report)
    return report


def add_targets(report: Report) -> None:
    """Add speed-ups and targets to the report."""
    refill, again, build, solve = (_median(report, name) for name in (REFILL, RESOLVE, BUILD, SOLVE))
    report.facts[f"{BUILD} / {REFILL}"] = build / refill
    report.facts[f"{BUILD} and {SOLVE} / {REFILL} and {RESOLVE}"] = (build + solve) / (refill + again)
    report.aim(f"{REFILL}, seconds", refill, at_most=MOST_REFILL_SECONDS)
    report.aim(f"{REFILL} and {RESOLVE}, seconds", refill + again, at_most=MOST_SECONDS)


def _median(report: Report, name: str) -> float:
    measurement = report.find(name)
    assert measurement is not None
    return measurement.median


class _Game:
    """One game and its measurements.

    Attributes:
        seconds: Durations by name.
        difference: The largest difference between values that must agree.
    """

    def __init__(self, rules: str) -> None:
        from punish_fast.punish.refillable_tensor import Refillable
        from punish_fast.punish.rules import load_rules
        from punish_fast.punish.space import StateSpace

        self.tensor = Refillable(StateSpace(load_rules(rules)))
        self.start: np.ndarray | None = None
        self.difference = 0.0
        self.tensor_bytes = 0
        self.reset()

    def reset(self) -> None:
        """Drop all durations."""
        self.seconds: dict[str, list[float]] = {name: [] for name in (REFILL, RESOLVE, BUILD, SOLVE)}

    def run(self, number: int) -> None:
        """Refill and rebuild for enemy ``number``."""
        from punish_fast.mdp.policy import softmax
        from punish_fast.mdp.solver import solve
        from punish_fast.punish.tensor import build

        space = self.tensor.space
        values = np.random.default_rng(number).random(len(space.action))
        enemy = softmax(space.state_ptr, values, _TEMPERATURE)
        refilled = self._time(REFILL, lambda: self.tensor.fill(enemy))
        again = self._time(RESOLVE, lambda: solve(refilled, DISCOUNT, tolerance=TOLERANCE, start=self.start))
        built = self._time(BUILD, lambda: build(space, enemy))
        anew = self._time(SOLVE, lambda: solve(built, DISCOUNT, tolerance=TOLERANCE))
        self.start = again.v
        self.tensor_bytes = built.nbytes
        self.difference = max(self.difference, float(np.abs(again.v - anew.v).max(initial=0)))

    def _time(self, name: str, function: Callable[[], T]) -> T:
        begin = time.perf_counter()
        result = function()
        self.seconds[name].append(time.perf_counter() - begin)
        return result


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Measure the game of ``rules`` with ``threads`` threads against ``runs`` enemies after a warm-up."""
    from punish_fast.runtime._jit import set_threads

    set_threads(request["threads"])
    game = _Game(request["rules"])
    for number in range(_WARM_UPS):
        game.run(number)
    game.reset()
    for number in range(1, request["runs"] + 1):
        tell(f"refill: run {number} of {request['runs']}")
        game.run(_WARM_UPS + number)
    return {
        "seconds": game.seconds,
        "bytes": {REFILL: game.tensor.mdp.nbytes, BUILD: game.tensor_bytes},
        "difference": game.difference,
    }

"""How long it takes to meet another enemy: probabilities filled again, against a new tensor.

Every run meets an enemy that plays every action of every state with a probability of its own, another one each time.
The refilled process starts from the values against the enemy of the run before, a new tensor from nothing; both are
solved to the same error bound and must come to the same values. They are measured in turns.
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
# Of runs that are not counted: the first one compiles, the second one meets warm memory.
_REHEARSALS = 2

T = TypeVar("T")


def run(options: Options) -> Report:
    """Run the benchmark.

    Raises:
        ChildError: it could not be measured.
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
    """Compare what it takes to meet a new enemy."""
    refill, again, build, solve = (_median(report, name) for name in (REFILL, RESOLVE, BUILD, SOLVE))
    report.facts[f"{BUILD} / {REFILL}"] = build / refill
    report.facts[f"{BUILD} and {SOLVE} / {REFILL} and {RESOLVE}"] = (build + solve) / (refill + again)
    report.promise(f"{REFILL}, seconds", refill, at_most=MOST_REFILL_SECONDS)
    report.promise(f"{REFILL} and {RESOLVE}, seconds", refill + again, at_most=MOST_SECONDS)


def _median(report: Report, name: str) -> float:
    measurement = report.find(name)
    assert measurement is not None
    return measurement.median


class _Meetings:
    """One game, and what it took to meet each enemy.

    Attributes:
        seconds: Durations by name.
        difference: The largest difference between values that must agree.
    """

    def __init__(self, rules: str) -> None:
        from punish_fast.punish.refillable_tensor import Refillable
        from punish_fast.punish.rules import load_rules
        from punish_fast.punish.space import StateSpace

        self.game = Refillable(StateSpace(load_rules(rules)))
        self.start: np.ndarray | None = None
        self.difference = 0.0
        self.tensor_bytes = 0
        self.forget()

    def forget(self) -> None:
        """Begin to measure."""
        self.seconds: dict[str, list[float]] = {name: [] for name in (REFILL, RESOLVE, BUILD, SOLVE)}

    def meet(self, number: int) -> None:
        """Meet an enemy both ways."""
        from punish_fast.mdp.policy import softmax
        from punish_fast.mdp.solver import solve
        from punish_fast.punish.tensor import build

        space = self.game.space
        values = np.random.default_rng(number).random(len(space.action))
        enemy = softmax(space.state_ptr, values, _TEMPERATURE)
        refilled = self._time(REFILL, lambda: self.game.fill(enemy))
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
    """Meet ``runs`` enemies in the game of ``rules`` with ``threads`` threads, after some that are not counted."""
    from punish_fast.runtime._jit import set_threads

    set_threads(request["threads"])
    meetings = _Meetings(request["rules"])
    for number in range(_REHEARSALS):
        meetings.meet(number)
    meetings.forget()
    for number in range(1, request["runs"] + 1):
        tell(f"refill: run {number} of {request['runs']}")
        meetings.meet(_REHEARSALS + number)
    return {
        "seconds": meetings.seconds,
        "bytes": {REFILL: meetings.game.mdp.nbytes, BUILD: meetings.tensor_bytes},
        "difference": meetings.difference,
    }

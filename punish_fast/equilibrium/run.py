"""Equilibrium learning with checkpoints, until a target is reached: iterations, exploitability or seconds.

Exploitability is the best known response's win probability minus one half, in percentage points. This estimate is a
lower bound, because the search may miss better responses. A measurement takes as long as several iterations, so
exploitability is measured only at the end and, if it is a target, after 25 iterations and whenever the number of
iterations has doubled. Before a time limit, learning ends early enough to leave time for the measurement.
"""

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from punish_fast.equilibrium.exploitation.best_response import search_from
from punish_fast.equilibrium.solver import Equilibrium, exploiter_start
from punish_fast.runtime.deadline import TimeLimitError, seconds_left
from punish_fast.runtime.errors import PunishFastError, check_allowed
from punish_fast.runtime.interrupts import uninterrupted

DEFAULT_ITERATIONS = 80
MAX_ITERATIONS = 10_000
_FIRST_MEASUREMENT = 25
_SECONDS_BETWEEN_CHECKPOINTS = 60.0
# The measurements after learning take about as long as this number of iterations.
_MEASUREMENTS = 10


class TargetError(PunishFastError, ValueError):
    """Raised when a target is out of range."""


@dataclass(frozen=True)
class Target:
    """Stopping rule: the first target reached, or `DEFAULT_ITERATIONS` iterations if no target is set."""

    iterations: int | None = None  # total number of iterations, including iterations before a checkpoint
    exploitability: float | None = None  # maximum exploitability, in percentage points
    seconds: float | None = None  # maximum duration of learning in this run, in seconds

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check_allowed(value is None or value > 0, TargetError, name, value, "above 0")
        if self.iterations is not None and self.iterations > MAX_ITERATIONS:
            raise TargetError(f"iterations: {self.iterations} is not allowed; the maximum is {MAX_ITERATIONS}")

    @property
    def max_iterations(self) -> int:
        """Maximum number of iterations."""
        if self.iterations is not None:
            return self.iterations
        return DEFAULT_ITERATIONS if self.exploitability is None and self.seconds is None else MAX_ITERATIONS


class IterationStatus(NamedTuple):
    """Status of a run after an iteration."""

    iteration: int  # index of the iteration, from 1
    last: int | None  # index of the last iteration, or None if only time or exploitability ends the run
    seconds_each: float  # mean duration of an iteration in this run, in seconds
    seconds_left: float | None  # estimated seconds until learning ends, or None if unknown
    exploitability: float | None  # last measured exploitability in percentage points, or None


class EquilibriumRun(NamedTuple):
    """Result of learning an equilibrium."""

    iterations: int  # total number of iterations, including iterations before a checkpoint
    # Exploitability by the best known response in percentage points, or NaN if it was not measured in time.
    exploitability: float
    response: np.ndarray  # float64 ``[n_rows]``, the best known response
    seconds: dict[str, float]  # seconds, by stage: ``iterations``, ``measure`` and ``checkpoint``


def run_equilibrium(
    equilibrium: Equilibrium,
    target: Target | None = None,
    save: Callable[[Equilibrium], None] | None = None,
    progress: Callable[[IterationStatus], None] | None = None,
    search_progress: Callable[[str, int, float], None] | None = None,
    measures: bool = True,
) -> EquilibriumRun:
    """Iterate until a target or the time limit is near, then measure exploitability.

    After an interrupt, the current iteration is completed and a checkpoint is saved, before the interrupt is raised
    again.

    Args:
        equilibrium: The equilibrium to improve. Its average strategy is measured.
        target: Stopping rule, by default `Target()`.
        save: Function that writes a checkpoint, called about every minute, before measurements and after an interrupt.
        progress: Called after every iteration.
        search_progress: Passed to `search_from` as ``progress`` when exploitability is measured.
        measures: False if exploitability must not be measured at the end.

    Raises:
        TimeLimitError: If the time limit has long passed during an iteration.
    """
    runner = _Runner(equilibrium, target or Target(), save, search_progress, equilibrium.iterations)
    try:
        runner.iterate(progress)
    except KeyboardInterrupt:
        runner.checkpoint()
        raise
    runner.checkpoint()
    exploitability = runner.measure() if measures else math.nan
    return EquilibriumRun(equilibrium.iterations, exploitability, runner.response, runner.seconds)


@dataclass
class _Runner:
    equilibrium: Equilibrium
    target: Target
    save: Callable[[Equilibrium], None] | None
    search_progress: Callable[[str, int, float], None] | None
    first: int  # number of iterations before this run
    begin: float = field(default_factory=time.perf_counter)
    seconds: dict[str, float] = field(default_factory=lambda: {"iterations": 0.0, "measure": 0.0, "checkpoint": 0.0})
    first_seconds: float = 0.0  # of the first iteration, including compilation
    # Results of the last measurement, and the iteration after which exploitability was measured.
    exploitability: float | None = None
    response: np.ndarray = field(default_factory=lambda: np.zeros(0))
    measured: int = -1
    saved: int = -1

    def iterate(self, progress: Callable[[IterationStatus], None] | None) -> None:
        equilibrium, target = self.equilibrium, self.target
        saved, due = self.begin, _FIRST_MEASUREMENT
        while equilibrium.iterations < target.max_iterations:
            begin = time.perf_counter()
            # Delay interrupts, because an interrupted iteration would leave the tables invalid.
            with uninterrupted():
                equilibrium.iterate()
            now = time.perf_counter()
            self.seconds["iterations"] += now - begin
            self.first_seconds = self.first_seconds or now - begin
            if progress is not None:
                progress(self._status())
            if now - saved > _SECONDS_BETWEEN_CHECKPOINTS:
                self.checkpoint()
                saved = time.perf_counter()
            if target.exploitability is not None and equilibrium.iterations >= due:
                due = 2 * equilibrium.iterations
                self.checkpoint()
                if self.measure() <= target.exploitability:
                    return
            if self._seconds_left() <= 0:
                return

    def checkpoint(self) -> None:
        if self.save is not None and self.equilibrium.iterations not in (0, self.saved):
            begin = time.perf_counter()
            self.save(self.equilibrium)
            self.seconds["checkpoint"] += time.perf_counter() - begin
            self.saved = self.equilibrium.iterations

    def measure(self) -> float:
        """Return the exploitability of the average strategy, or NaN if time runs out. Measure it unless it is known."""
        equilibrium = self.equilibrium
        if self.exploitability is None or self.measured != equilibrium.iterations:
            begin = time.perf_counter()
            graph, start = equilibrium.graph, exploiter_start(equilibrium)
            self.exploitability, self.response = math.nan, start.policy
            with suppress(TimeLimitError):
                found = search_from([start], graph, equilibrium.average, self.search_progress)
                self.exploitability, self.response = 100 * (found.win_probability - 0.5), found.policy
            self.seconds["measure"] += time.perf_counter() - begin
            self.measured = equilibrium.iterations
        return self.exploitability

    def _seconds_left(self) -> float:
        """Return the seconds until a time limit ends learning, or infinity without a limit."""
        n_timed = self.equilibrium.iterations - self.first - 1
        each = (self.seconds["iterations"] - self.first_seconds) / max(n_timed, 1)
        target = math.inf if self.target.seconds is None else self.target.seconds
        return min(target - (time.perf_counter() - self.begin), seconds_left() - _MEASUREMENTS * each)

    def _status(self) -> IterationStatus:
        target, iteration = self.target, self.equilibrium.iterations
        each = self.seconds["iterations"] / (iteration - self.first)
        last = None if target.max_iterations == MAX_ITERATIONS else target.max_iterations
        left = min(math.inf if last is None else each * (last - iteration), max(self._seconds_left(), 0.0))
        return IterationStatus(iteration, last, each, None if left == math.inf else left, self.exploitability)


def default_response_share(information: str) -> float:
    """Return the default share of games against a best response: 0.9 under ``memoryless``, otherwise 0.8."""
    return 0.9 if information == "memoryless" else 0.8

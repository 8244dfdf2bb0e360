"""The command ``equilibrium``: strategies that nobody has much to gain against, and how much that is."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from punish_fast.cli.errors import CheckError, UsageError, say
from punish_fast.cli.outputs import check_outputs
from punish_fast.cli.report import Progress, Stopwatch, in_units, peak_memory, print_json, print_table
from punish_fast.duel.graph import Graph, Outline
from punish_fast.equilibrium.best_response import best_response
from punish_fast.equilibrium.solver import Equilibrium, bytes_needed
from punish_fast.punish.information import information_of
from punish_fast.punish.rules import load_rules, name_of, true_rules
from punish_fast.punish.space import StateSpace
from punish_fast.runtime import _jit
from punish_fast.runtime.files import ReadError
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.runtime.memory import require_memory
from punish_fast.store.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from punish_fast.store.policies import save_policy
from punish_fast.store.reader import Artefact, load

_DEFAULT_ITERATIONS = 80
_MOST_ITERATIONS = 10_000
# The share of games against an answer. Who forgets less comes nearer to an equilibrium by playing against an equal.
_VIEW_ANSWERS, _FINER_ANSWERS = 0.9, 0.8
# With a target, exploitability is measured after so many iterations, and whenever that number has doubled.
_FIRST_MEASURE = 25
_SECONDS_BETWEEN_CHECKPOINTS = 60.0


@dataclass(frozen=True)
class Goal:
    """When to stop; None where the user said nothing.

    Attributes:
        iterations: After so many, those of before included.
        target: When the strategy concedes at most so many percentage points.
        seconds: After so many seconds.
    """

    iterations: int | None
    target: float | None
    seconds: float | None

    def check(self) -> None:
        """Insist that it can be reached.

        Raises:
            UsageError: a number is out of range.
        """
        for option, value in (("--iterations", self.iterations), ("--target", self.target), ("--time", self.seconds)):
            if value is not None and not value > 0:
                raise UsageError(f"{option} is {value}, allowed is more than 0")
        if self.iterations is not None and self.iterations > _MOST_ITERATIONS:
            raise UsageError(f"--iterations is {self.iterations}, allowed are up to {_MOST_ITERATIONS}")

    @property
    def last(self) -> int:
        """The last iteration, if nothing else stops before."""
        if self.iterations is not None:
            return self.iterations
        return _DEFAULT_ITERATIONS if self.target is None and self.seconds is None else _MOST_ITERATIONS


@dataclass(frozen=True)
class Setting:
    """What to solve, and what to write."""

    rules: str | None
    information: str
    answers: float | None
    output: Path | None
    resume: Path | None
    is_dry: bool
    threads: int | None
    quiet: bool


class Job:
    """One run.

    Attributes:
        clock: Seconds of its stages.
        rules: Its rules.
        output: The file to write.
        space: The information states, once they are counted.
    """

    def __init__(self, setting: Setting, goal: Goal) -> None:
        if setting.threads is not None:
            _jit.set_threads(setting.threads)
        goal.check()
        self._goal = goal
        self.clock = Stopwatch()
        self._progress = Progress(setting.quiet)
        self._information = setting.information
        if setting.answers is not None and not 0 <= setting.answers <= 1:
            raise UsageError(f"--answers is {setting.answers}, allowed is from 0 to 1")
        self._resume = setting.resume
        self.rules = true_rules(load_rules(setting.rules or "tabletop"))
        information_of(setting.information)
        name = "equilibrium" if setting.information == "view" else f"equilibrium-{setting.information}"
        self.output = setting.output or Path(f"{name}.h5")
        check_outputs([path for path in (self.output, self._resume) if path is not None], [], "read")
        self._checkpoint = self._find_checkpoint()
        self._answers = self._choose_answers(setting.answers)
        self._measured: dict[str, Any] = {}

    def _find_checkpoint(self) -> Artefact | None:
        """The file to go on with, if there is one."""
        if self._resume is None or not self._resume.exists():
            return None
        file = load(self._resume)
        if file.kind != "equilibrium":
            raise UsageError(
                f"{self._resume}: is of kind {file.kind!r}, --resume takes an equilibrium's own checkpoint"
            )
        file.must_have_rules(self.rules)
        if file.information != self._information:
            raise UsageError(f"{self._resume}: is of the model {file.information!r}, not {self._information!r}")
        return file

    def _choose_answers(self, given: float | None) -> float:
        """The share of games against an answer: what was asked for, or what was learnt with, or what is usual."""
        usual = _VIEW_ANSWERS if self._information == "view" else _FINER_ANSWERS
        if self._checkpoint is not None:
            usual = float(self._checkpoint.attributes["answers"])
            if given is not None and given != usual:
                raise UsageError(f"{self._resume}: was learnt with --answers {usual:g}, not {given:g}")
        return usual if given is None else given

    def count(self) -> dict[str, Any]:
        """How large the game is, and how much memory it takes."""
        self._progress.part("game", "information states", 1, 2)
        with self.clock("states"):
            self.space: StateSpace = StateSpace(self.rules, self._information)
            self._outline = outline = Outline(self.space)
        self._progress.clear()
        space = self.space
        n_bytes = bytes_needed(outline, self._answers)
        return {
            "states": int(space.layer_ptr[self.rules.breaths]),
            "rows": int(space.state_ptr[space.layer_ptr[self.rules.breaths]]),
            "full_states": outline.n_full,
            "successors": outline.n_entries,
            "memory_bytes": n_bytes,
        }

    def run(self) -> dict[str, Any]:
        """Learn, measure and write."""
        self._progress.part("game", "graph", 2, 2)
        with self.clock("graph"):
            graph = Graph(self.space, self._outline)
        equilibrium = Equilibrium(graph, share=self._answers)
        self._go_on(equilibrium)
        try:
            self._learn(equilibrium)
        except KeyboardInterrupt:
            self._progress.clear()
            if self._resume is not None:
                _save(self._resume, equilibrium)
                say(f"{self._resume} holds what was learned; the same command goes on with it")
            else:
                say("what was learned is not kept; with --resume FILE it would be")
            raise
        self._keep(equilibrium)
        concession = self._measure(equilibrium)
        with self.clock("store"):
            origin = {
                "kind": "equilibrium",
                "iterations": equilibrium.iterations,
                "answers": self._answers,
                "concedes": concession,
            }
            reached = None if self._information == "view" else equilibrium.reached
            save_policy(self.output, graph.space, equilibrium.average, reached, origin=origin)
        return {
            "iterations": equilibrium.iterations,
            "concedes_points": concession,
            "exploiter_wins": 0.5 + concession / 100,
            "output": str(self.output),
            "output_bytes": self.output.stat().st_size,
            "resume": None if self._resume is None else str(self._resume),
        }

    def _go_on(self, equilibrium: Equilibrium) -> None:
        """Take over what was learned before, whose tables are needed no longer than that."""
        if self._checkpoint is not None:
            begin = load_checkpoint(self._checkpoint, equilibrium.tables)
            try:
                equilibrium.resume(begin.iterations, begin.tables)
            except ValueError as error:
                raise ReadError(f"{self._checkpoint.path}: /equilibrium: {error}") from None

    def _learn(self, equilibrium: Equilibrium) -> None:
        begin = kept = time.perf_counter()
        self._progress.start()
        first = equilibrium.iterations
        due = _FIRST_MEASURE
        if first > self._goal.last:
            say(f"{self._resume}: holds {first:,} iterations, more than the {self._goal.last:,} after which to stop")
        while equilibrium.iterations < self._goal.last:
            # An interrupt in the middle of an iteration would spoil what was learned.
            with self.clock("iterations"), uninterrupted():
                equilibrium.iterate()
            elapsed = time.perf_counter() - begin
            pace = self._progress.seconds / (equilibrium.iterations - first)
            self._progress.show(f"equilibrium: iteration {equilibrium.iterations}, {pace:.2f} s each{self._told()}")
            if time.perf_counter() - kept > _SECONDS_BETWEEN_CHECKPOINTS:
                self._keep(equilibrium)
                kept = time.perf_counter()
            if self._goal.target is not None and equilibrium.iterations >= due:
                self._keep(equilibrium)
                due = 2 * equilibrium.iterations
                if self._measure(equilibrium) <= self._goal.target:
                    return
            if self._goal.seconds is not None and elapsed >= self._goal.seconds:
                return

    def _keep(self, equilibrium: Equilibrium) -> None:
        if self._resume is not None:
            with self.clock("store"):
                _save(self._resume, equilibrium)

    def _told(self) -> str:
        """The last measurement, for the line of progress."""
        last = self._measured
        return f", exploitability {last['points']:.3f} points after {last['iterations']}" if last else ""

    def _measure(self, equilibrium: Equilibrium) -> float:
        """How many percentage points the average concedes to who knows it, and no more than it does."""
        if self._measured.get("iterations") != equilibrium.iterations:
            start = equilibrium.exploiter_start
            with self.clock("measure"):
                found = best_response(equilibrium.graph, equilibrium.average, "true", self._progress.response, start)
            points = 100 * (found.win_probability - 0.5)
            self._measured = {"iterations": equilibrium.iterations, "points": points}
        return float(self._measured["points"])

    def report(self) -> dict[str, Any]:
        """What is to be told in any case."""
        self._progress.clear()
        return {
            "rules": name_of(self.rules),
            "rules_digest": self.rules.digest,
            "information": self._information,
            "answers": self._answers,
            "threads": _jit.threads(),
            "seconds": self.clock.seconds | {"total": self.clock.total()},
            "peak_memory_bytes": peak_memory(),
        }

    def must_have_reached(self, report: dict[str, Any]) -> None:
        """Insist on the target.

        Raises:
            CheckError: it was missed.
        """
        target = self._goal.target
        if target is not None and report["concedes_points"] > target:
            points, n = report["concedes_points"], report["iterations"]
            raise CheckError(f"the target of {target:g} points was not reached: {points:.3f} after {n:,} iterations")


def _save(path: Path, equilibrium: Equilibrium) -> None:
    now = Checkpoint(equilibrium.iterations, equilibrium.share, equilibrium.tables)
    save_checkpoint(path, equilibrium.graph.space, now)


def equilibrium_command(setting: Setting, goal: Goal, as_json: bool) -> None:
    """Run ``punish-fast equilibrium``."""
    job = Job(setting, goal)
    size = job.count()
    if not as_json and (setting.is_dry or not setting.quiet):
        memory = in_units(size["memory_bytes"], "B")
        tell = print if setting.is_dry else say
        tell(f"{size['states']:,} information states, {size['full_states']:,} full states: takes {memory} of memory")
    require_memory(size["memory_bytes"], "this equilibrium")
    if setting.is_dry:
        if as_json:
            print_json(size | job.report())
        return
    found = job.run()
    report = size | found | job.report()
    if as_json:
        print_json(report)
    else:
        _print(report)
    job.must_have_reached(report)


def _print(report: dict[str, Any]) -> None:
    answers = f"{100 * report['answers']:g} % against answers"
    print(f"rules {report['rules']}, information {report['information']}, {answers}, {report['threads']} threads")
    print()
    names = ("states", "rows", "full_states", "successors", "iterations")
    print_table([[name.replace("_", " "), f"{report[name]:,}"] for name in names])
    print()
    print_table([["seconds", ""], *([name, f"{seconds:.1f}"] for name, seconds in report["seconds"].items())])
    print()
    wins, points = report["exploiter_wins"], report["concedes_points"]
    print(f"who knows it, and bears in mind as much, wins {wins:.4%}: it concedes {points:.3f} percentage points")
    print(f"wrote {report['output']} ({in_units(report['output_bytes'], 'B')})")

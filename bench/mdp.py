"""Processes unrelated to Punish, solved by our solver and by others.

Every process of ``processes/registry.py`` is built once per size and saved. A *task* is a process of one size with one
discount. The contenders of a task take turns. Each turn runs in a child process with limited time and memory. The child
process first solves the smallest size to warm up. Then it measures the time to solve the task to values within
`TOLERANCE` of the optimal values. All values are compared with ours. If they differ by more than the sum of both error
bounds and `ROUNDING`, the run fails and the contender's time is not reported.

To limit the total time, a turn may take at most `LIMIT` seconds and at most `PATIENCE` times as long as the fastest
contender. A contender that takes over `SLOW` times as long as the fastest has only one turn. A contender that takes
over `PATIENCE` times as long is omitted from larger sizes. A contender that exceeds `LIMIT` is also omitted from larger
discounts. The last three rules do not apply to our solver with all threads. `PATIENCE` times the fastest time counts
as at least `LEAST_LIMIT` seconds.

The table has a row for each task and a column for each program. An entry is the time of the program's fastest method
divided by our time, where both use as many threads as they can. Below 1, the other program is faster. If a solver ran
out of time, the entry is a bound.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench import harness
from bench.contenders import DISCOUNTED, FAMILIES, FEW, OURS, OURS_ONE, REACHABILITY, Contender
from bench.harness import BenchmarkError, Check, Fact, Measurement, Options, Report, new_report, run_child, say
from bench.processes.registry import DISCOUNTS, PROCESSES, SIZES
from bench.processes.registry import REACHABILITY as NO_DISCOUNT
from bench.report import fact, text_of
from punish_fast.runtime.limits import usable_cores

TOLERANCE = 1e-6
# Allowance for rounding errors, because the other solvers' error bounds ignore them.
ROUNDING = 1e-8
SLOW, PATIENCE = 2.0, 5.0
# Minimum time limit in seconds, because shorter times are too inaccurate to compare.
LEAST_LIMIT = 2.0
LIMIT = {"small": 5.0, "middle": 10.0, "large": 30.0}
MOST_BYTES = 8 << 30
QUICK = (("forest", 0.9), ("consensus", NO_DISCOUNT))
LEFT_OUT = "left out"


@dataclass(frozen=True)
class Task:
    """A process of one size and the discount to solve it with."""

    process: str
    size: str
    discount: float

    @property
    def name(self) -> str:
        """Name of the task in tables."""
        aim = "reachability" if self.is_reachability else f"{self.discount:g}"
        return f"{self.process} {self.size}, {aim}"

    @property
    def is_reachability(self) -> bool:
        """True if the task is to maximize an undiscounted reachability probability."""
        return self.discount == NO_DISCOUNT

    def is_as_hard_as(self, other: Task) -> bool:
        """Return True if this task has the same process as ``other``, and at least its size and discount."""
        is_no_smaller = SIZES.index(self.size) >= SIZES.index(other.size) and self.discount >= other.discount
        return self.process == other.process and is_no_smaller

    def is_larger_than(self, other: Task) -> bool:
        """Return True if this task has the same process and discount as ``other``, and a larger size."""
        is_larger = SIZES.index(self.size) > SIZES.index(other.size)
        return (self.process, self.discount) == (other.process, other.discount) and is_larger

    @property
    def contenders(self) -> tuple[Contender, ...]:
        """Solvers that can solve the task."""
        return REACHABILITY if self.is_reachability else DISCOUNTED

    @property
    def limit(self) -> float:
        """Time limit of a turn in seconds."""
        return LIMIT[self.size]


@dataclass
class Record:
    """Turns of a contender at one task: their seconds, the reason for a failure, and the exceeded time limit."""

    seconds: list[float] = field(default_factory=list)
    failure: str = ""
    limit: float = np.inf

    def run_out(self, limit: float, why: str = "") -> None:
        """Record that the contender took, or would take, longer than ``limit`` seconds."""
        self.limit, self.failure = limit, f"over {limit:.3g} s{why}"

    @property
    def median(self) -> float:
        """Median duration in seconds, or infinity if the contender failed."""
        return statistics.median(self.seconds) if self.seconds and not self.failure else np.inf


class Contest:
    """A comparison of all contenders, task by task."""

    def __init__(self, options: Options, folder: Path) -> None:
        """Store all files in ``folder``."""
        self._options, self._folder = options, folder
        self.report = new_report("mdp", options, "none")
        self._worst: dict[str, Check] = {}
        self._out_of_time: list[tuple[Task, str]] = []
        self._slow: list[tuple[Task, str]] = []
        self.our_bound = TOLERANCE

    def run(self, task: Task, contenders: Sequence[Contender]) -> None:
        """Run the turns of a task and add their measurement to the report."""
        (self._folder / "ours.npy").unlink(missing_ok=True)
        transitions = self._make(task.process, task.size)
        self._make(task.process, "small")
        records = {one.name: self._foreseen(task, one) for one in contenders}
        for number in range(1, self._options.runs + 1):
            for one in contenders:
                record = records[one.name]
                fastest = min(other.median for other in records.values())
                if record.failure or (number > 1 and record.median > SLOW * fastest and one.name != OURS):
                    continue
                say(f"mdp: {task.name}, run {number} of {self._options.runs}, {one.name}")
                self._take_turn(task, one, record, min(task.limit, patience_for(fastest)))
        self._note_slow(task, records)
        self.report.checks = list(self._worst.values())
        self.report.measurements.append(measurement_of(task, records, transitions))

    def _foreseen(self, task: Task, one: Contender) -> Record:
        """Return an empty record, or a failure if an easier task shows that a turn would take too long."""
        record = Record()
        if one.name == OURS:
            return record
        for easier, name in self._out_of_time:
            if name == one.name and task.is_as_hard_as(easier):
                record.run_out(task.limit, f", like {easier.name}")
        if any(name == one.name and task.is_larger_than(smaller) for smaller, name in self._slow):
            record.failure = LEFT_OUT
        return record

    def _note_slow(self, task: Task, records: Mapping[str, Record]) -> None:
        """Note the contenders that took too long, so that larger sizes of the task omit them."""
        limit = patience_for(min(record.median for record in records.values()))
        for name, record in records.items():
            if record.failure == LEFT_OUT or record.limit < task.limit or limit < record.median < np.inf:
                self._slow.append((task, name))

    def _make(self, process: str, size: str) -> int:
        """Build and save a process unless its files exist. Return its number of transitions."""
        folder = self._where(process, size)
        if not folder.exists():
            folder.mkdir()
            say(f"mdp: making {process} {size}")
            request = {"make": process, "size": size, "folder": str(folder)}
            run_child("bench.tensor", request, f"{process} {size}")
        return int(np.load(folder / "indptr.npy", mmap_mode="r")[-1])

    def _where(self, process: str, size: str) -> Path:
        return self._folder / f"{process}-{size}"

    def _take_turn(self, task: Task, one: Contender, record: Record, limit: float) -> None:
        values = self._folder / f"{'ours' if one.name == OURS else 'theirs'}.npy"
        request = {
            "peer": one.module,
            "small": str(self._where(task.process, "small")),
            "folder": str(self._where(task.process, task.size)),
            "values": str(values),
            "limit": limit,
            "bytes": MOST_BYTES,
            "settings": {
                "discount": task.discount,
                "tolerance": TOLERANCE,
                "threads": self._options.threads if one.uses_threads else 1,
                **one.settings,
            },
        }
        try:
            result = run_child("bench.tensor", request, one.name)
        except harness.TookTooLongError:
            record.run_out(limit)
            if limit == task.limit:
                self._out_of_time.append((task, one.name))
            return
        except BenchmarkError as error:
            record.failure = "failed"
            problem = f"{task.name}: {error}"
            if problem not in self.report.problems:
                self.report.problems.append(problem)
            return
        if one.name != OURS and not self.agrees(task, one, values, result["error_bound"]):
            record.failure = "differs"
            return
        if one.name == OURS:
            self.our_bound = result["error_bound"]
        record.seconds += result["seconds"]

    def agrees(self, task: Task, one: Contender, values: Path, bound: float) -> bool:
        """Return True if values agree with our last values, if any. Store the worst check of each contender."""
        ours = self._folder / "ours.npy"
        if not ours.exists():
            return True
        expected, found = np.load(ours), np.load(values)
        difference = float(np.abs(expected - found).max()) if expected.shape == found.shape else np.nan
        check = Check(f"{one.name} at {task.name}", difference, bound + self.our_bound + ROUNDING)
        worst = self._worst.get(one.name)
        if worst is None or (worst.ok and not difference / check.limit <= worst.difference / worst.limit):
            self._worst[one.name] = check
        return check.ok

    def forget(self, process: str, size: str) -> None:
        """Delete the files of a process in one size."""
        for path in self._where(process, size).glob("*"):
            path.unlink()
        self._where(process, size).rmdir()


def patience_for(fastest: float) -> float:
    """Return the time limit in seconds if the fastest contender took ``fastest`` seconds."""
    return max(LEAST_LIMIT, PATIENCE * fastest)


def measurement_of(task: Task, records: dict[str, Record], transitions: int) -> Measurement:
    """Return the measurement of a task: our durations, and the times of other solvers as multiples of our median."""
    ours = records[OURS]
    facts: dict[str, Fact] = {"transitions": transitions}
    if ours.failure:
        facts["ours"] = ours.failure
    if OURS_ONE in records:
        facts["1 thread"] = _or_reason(records[OURS_ONE])
    peers = {name: record for name, record in records.items() if not name.startswith(OURS)}
    for family in FAMILIES:
        members = [record for name, record in peers.items() if name.startswith(family)]
        if members:
            facts[family] = _ratio(min(members, key=_rank), ours, task.limit)
    if peers:
        best = min(peers, key=lambda name: _rank(peers[name]))
        facts["best"] = _ratio(peers[best], ours, task.limit)
        facts["best peer"] = best if peers[best].seconds else ""
    facts |= {f"seconds: {name}": _or_reason(record) for name, record in records.items() if name != OURS}
    return Measurement(task.name, ours.seconds or [task.limit], facts)


def _or_reason(record: Record) -> Fact:
    return record.failure or record.median


def _ratio(record: Record, ours: Record, limit: float) -> Fact:
    """Return the time of a contender as a multiple of ours, or a bound if one of both ran out of time."""
    if ours.failure:
        return f"< {fact(record.median / limit)}" if not record.failure else record.failure
    is_over = np.isfinite(record.limit)
    return f"> {fact(record.limit / ours.median)}" if is_over else record.failure or record.median / ours.median


def _rank(record: Record) -> tuple[float, float]:
    """Return a sort key: median time first, then the exceeded limit."""
    return record.median, record.limit


def add_targets(report: Report) -> None:
    """Add the targets to the report.

    Our solver should never be slower than the best other solver, and 5 times as fast in the median over all tasks. On
    random processes of middle size, our solver with 1 thread should need at most half of QuantEcon's time.
    """
    known = [_number(measurement.facts.get("best", "")) for measurement in report.measurements]
    ratios = [ratio for ratio in known if ratio is not None]
    if ratios:
        report.aim("the best peer's solve / our solve, least of all tasks", min(ratios), at_least=1)
        report.aim("the best peer's solve / our solve, median of all tasks", statistics.median(ratios), at_least=5)
    for discount in DISCOUNTS:
        random = report.find(Task("random", "middle", discount).name)
        theirs = [v for name, v in random.facts.items() if name.startswith("seconds: QuantEcon")] if random else []
        times = [value for value in theirs if isinstance(value, float)]
        one = random.facts.get("1 thread") if random else None
        if times and isinstance(one, float):
            name = f"random middle, {discount:g}: our solve with 1 thread / QuantEcon's best"
            report.aim(name, one / min(times), at_most=0.5)


def _number(ratio: Fact) -> float | None:
    """Return the number in a ratio or a bound, or None if there is no number."""
    text = str(ratio).removeprefix("> ").removeprefix("< ").replace(",", "")
    try:
        return float(text)
    except ValueError:
        return None


def tasks_of(processes: Sequence[str], sizes: Sequence[str], discounts: Sequence[float]) -> Iterator[Task]:
    """Yield the tasks of all combinations. Reachability tasks are included with any discounts."""
    for process in processes:
        for size in sizes:
            for discount in PROCESSES[process].discounts:
                if discount == NO_DISCOUNT or discount in discounts:
                    yield Task(process, size, discount)


def measure(options: Options, tasks: Sequence[Task], contenders: Sequence[Contender] | None = None) -> Report:
    """Run tasks with some or all solvers and return the report. Tasks of one process and size must be adjacent."""
    with tempfile.TemporaryDirectory(prefix="punish-fast-bench-") as folder:
        contest = Contest(options, Path(folder))
        for i, task in enumerate(tasks):
            contest.run(task, [one for one in task.contenders if contenders is None or one in contenders])
            following = tasks[i + 1] if i + 1 < len(tasks) else None
            same = following is not None and (following.process, following.size) == (task.process, task.size)
            if task.size != "small" and not same:
                contest.forget(task.process, task.size)
    add_targets(contest.report)
    return contest.report


def run(options: Options) -> Report:
    """Run the benchmark on the middle and large sizes. A quick run compares a few solvers on two small processes."""
    if options.quick:
        return measure(options, [Task(process, "small", discount) for process, discount in QUICK], FEW)
    return measure(options, list(tasks_of(list(PROCESSES), SIZES[1:], DISCOUNTS)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Time solvers on chosen processes. ``python -m bench mdp`` runs all tasks and stores the results."""
    parser = argparse.ArgumentParser(prog="python -m bench.mdp", description=main.__doc__)
    parser.add_argument("--process", action="append", choices=list(PROCESSES), help="only this one; repeatable")
    parser.add_argument("--size", action="append", choices=SIZES, help="only this one; repeatable (default: middle)")
    parser.add_argument("--discount", action="append", type=float, choices=DISCOUNTS, help="only this one; repeatable")
    parser.add_argument("--solver", action="append", metavar="TEXT", help="only ours and solvers with TEXT in the name")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="turns of every solver (default: 1)")
    parser.add_argument("--threads", type=int, default=usable_cores(), metavar="N", help="threads (default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the report to FILE")
    given = parser.parse_args(arguments)
    # Treat SIGTERM like an interrupt, so that the child process also ends.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    tasks = tasks_of(given.process or list(PROCESSES), given.size or ["middle"], given.discount or DISCOUNTS)
    wanted, everyone = given.solver or [""], (*DISCOUNTED, *REACHABILITY)
    solvers = [one for one in everyone if one.name == OURS or any(text in one.name for text in wanted)]
    report = measure(Options(given.runs, given.threads), list(tasks), solvers)
    print(text_of(report))
    if given.json is not None:
        given.json.write_text(json.dumps(report.to_mapping(), indent=2, allow_nan=False) + "\n", encoding="utf-8")
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())

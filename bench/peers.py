"""Other solvers on the same tensor: SciPy, QuantEcon, MDPSolver and Storm.

The game against uniform play is built once and saved. Every solver loads it in a child process, so its peak memory
(loading included) and its threads are its own. The time is that of solving, without loading, to values within 1e-9 of
the optimal ones by the solver's own stopping rule (see each file of ``peer/``). Every solver has one turn in each
round, so a drift of the machine's speed hits all of them.

There are two tasks: values at discount 0.95, and the undiscounted win probability, which Storm computes. Results must
agree with ours to within the sum of both error bounds and `ROUNDING`, since the peers' bounds ignore rounding: a sweep
of values up to 20 is off by at most 1e-12, and errors of sweeps add up to at most 20 times that.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench.benchmark import DISCOUNT, TOLERANCE, Check, Measurement, Options, Report, new_report
from bench.child import ChildError, run_child

ROUNDING = 1e-10
# A single solve of ours is too short to measure.
OUR_REPEATS = 5

OURS = "punish-fast"
OURS_ONE = "punish-fast, 1 thread"
WHOLE = "punish-fast, states, tensor and solve"
WIN = ", win probability"
GIVEN = ", terminals given"
QUICK_RULES = str(Path(__file__).parent / "houses" / "short.toml")
SMALL_RULES = "tiny"


@dataclass(frozen=True)
class Peer:
    """A solver to compare.

    Attributes:
        name: Its name in tables.
        module: Its file in ``peer/``.
        against: The measurement of ours it is compared with; empty for ours.
        settings: Options besides discount, tolerance and threads.
        one_thread: Whether it runs on one thread.
    """

    name: str
    module: str
    against: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    one_thread: bool = False


def _quantecon(name: str, **settings: Any) -> Peer:
    return Peer(f"QuantEcon, {name}", "quantecon_ddp", OURS, settings)


def _storm(name: str, method: str) -> Peer:
    return Peer(f"Storm, {name}", "storm", OURS + WIN, {"method": method})


PEERS = (
    Peer(OURS, "ours"),
    Peer(OURS_ONE, "ours", OURS, one_thread=True),
    Peer(WHOLE, "ours_whole", OURS),
    _quantecon("modified policy iteration, k=20", method="modified_policy_iteration", k=20),
    _quantecon("modified policy iteration, k=80", method="modified_policy_iteration", k=80),
    _quantecon("value iteration", method="value_iteration"),
    _quantecon(f"modified policy iteration, k=5{GIVEN}", method="modified_policy_iteration", k=5, knows_terminals=True),
    _quantecon(f"value iteration{GIVEN}", method="value_iteration", knows_terminals=True),
    Peer("SciPy, value iteration", "scipy_csr", OURS),
    Peer(f"MDPSolver, modified policy iteration{GIVEN}", "mdpsolver_lists", OURS),
    Peer(OURS + WIN, "ours_win"),
    Peer(OURS_ONE + WIN, "ours_win", OURS + WIN, one_thread=True),
    _storm("default sound method", "TOPOLOGICAL"),
    _storm("interval iteration", "INTERVAL_ITERATION"),
    _storm("optimistic value iteration", "OPTIMISTIC_VALUE_ITERATION"),
)


@dataclass
class Turns:
    """All turns of a peer so far.

    Attributes:
        seconds: Durations.
        peak_bytes: Peak memory of its process.
        error_bound: Its own error bound.
        values: File of its last values.
    """

    values: Path
    seconds: list[float] = field(default_factory=list)
    peak_bytes: int = 0
    error_bound: float = 0.0


class Race:
    """All turns of all peers on one tensor."""

    def __init__(self, folder: Path, options: Options) -> None:
        """Build the tensors in ``folder``."""
        self._folder = folder
        self._options = options
        self._rules = options.rules or (QUICK_RULES if options.quick else "notebook")
        self.report = new_report("peers", options, Path(self._rules).stem)
        self._turns: dict[str, Turns] = {}
        self._failed: set[str] = set()

    def build(self) -> None:
        """Build the tensor, and a small one for compiling kernels."""
        for name, rules in (("small", SMALL_RULES), ("tensor", self._rules)):
            self._options.say(f"peers: building the tensor of {Path(rules).stem}")
            (self._folder / name).mkdir()
            request = {"rules": rules, "folder": str(self._folder / name)}
            built = run_child("bench.tensor", request, self._options.say, "the tensor")
        self.report.facts |= {key: built[key] for key in ("states", "rows", "nonzeros")}

    def run_round(self, number: int, peers: tuple[Peer, ...]) -> None:
        """Give every peer that has not failed a turn."""
        for peer in peers:
            if peer.name not in self._failed:
                self._options.say(f"peers: run {number} of {self._options.runs}, {peer.name}")
                self._take_turn(peer)

    def _take_turn(self, peer: Peer) -> None:
        threads = 1 if peer.one_thread else self._options.threads
        turns = self._turns.setdefault(peer.name, Turns(self._folder / f"{len(self._turns)}.npy"))
        request = {
            "peer": peer.module,
            "small": str(self._folder / "small"),
            "folder": str(self._folder / "tensor"),
            "values": str(turns.values),
            "repeats": OUR_REPEATS if peer.module.startswith("ours") else 1,
            "settings": {"discount": DISCOUNT, "tolerance": TOLERANCE, "threads": threads, **peer.settings},
        }
        try:
            result = run_child("bench.race", request, self._options.say, peer.name)
        except ChildError as error:
            self._failed.add(peer.name)
            self._turns.pop(peer.name)
            self.report.problems.append(str(error))
            return
        turns.seconds += result["seconds"]
        turns.peak_bytes = max(turns.peak_bytes, result["peak_bytes"])
        turns.error_bound = result["error_bound"]
        self._compare(peer)

    def _compare(self, peer: Peer) -> None:
        """Compare a peer's last result with ours."""
        if peer.against not in self._turns:
            return
        ours, theirs = self._turns[peer.against], self._turns[peer.name]
        values, others = np.load(ours.values), np.load(theirs.values)
        difference = float(np.abs(values - others).max()) if values.shape == others.shape else np.nan
        limit = ours.error_bound + theirs.error_bound + ROUNDING
        check = Check(f"{peer.name} and {peer.against}", difference, limit)
        # The worst of all runs is reported.
        before = next((old for old in self.report.checks if old.name == check.name), None)
        if before is None:
            self.report.checks.append(check)
        elif before.ok and not check.difference <= before.difference:
            self.report.checks[self.report.checks.index(before)] = check

    def finish(self, peers: tuple[Peer, ...]) -> Report:
        """The report: measurements and targets."""
        for peer in peers:
            if peer.name not in self._turns:
                continue
            turns = self._turns[peer.name]
            facts = {"peak MB": round(turns.peak_bytes / 1e6), "within": turns.error_bound}
            reference = self.report.find(peer.against)
            measurement = Measurement(peer.name, tuple(turns.seconds), facts)
            if reference is not None:
                facts["times ours"] = measurement.median / reference.median
            self.report.measurements.append(measurement)
        add_targets(self.report)
        return self.report


def best(report: Report, prefix: str, given: bool = False) -> Measurement | None:
    """The fastest measurement of a program, with or without the values of win and loss given."""
    named = [measurement for measurement in report.measurements if measurement.name.startswith(prefix)]
    found = [measurement for measurement in named if measurement.name.endswith(GIVEN) == given]
    return min(found, key=lambda measurement: measurement.median, default=None)


def add_targets(report: Report) -> None:
    """Compare ours with the best of QuantEcon and of Storm.

    Targets compare with programs that get nothing but the process. QuantEcon with the values of win and loss given,
    which a user can compute, is reported without a target.
    """
    quantecon, given, storm = best(report, "QuantEcon"), best(report, "QuantEcon", given=True), best(report, "Storm")
    ours, whole, win = report.find(OURS), report.find(WHOLE), report.find(OURS + WIN)
    if quantecon is not None and ours is not None:
        report.aim("QuantEcon's best solve / our solve", quantecon.median / ours.median, at_least=40)
    if quantecon is not None and whole is not None:
        name = "QuantEcon's best solve / our states, tensor and solve"
        report.aim(name, quantecon.median / whole.median, at_least=10)
    if storm is not None and win is not None:
        report.aim("Storm's best solve / our solve", storm.median / win.median, at_least=8)
    if given is not None and ours is not None:
        report.facts["QuantEcon's best solve with terminals given / our solve"] = given.median / ours.median


def run(options: Options, peers: tuple[Peer, ...] = PEERS) -> Report:
    """Run the benchmark.

    Raises:
        ChildError: the tensor could not be built.
    """
    with tempfile.TemporaryDirectory(prefix="punish-fast-bench-") as folder:
        race = Race(Path(folder), options)
        race.build()
        for number in range(1, options.runs + 1):
            race.run_round(number, peers)
        return race.finish(peers)

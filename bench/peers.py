"""Other solvers on the same tensor: SciPy, QuantEcon, MDPSolver and Storm.

The tensor of the game against uniform play is built once and saved. Every solver except `WHOLE` loads the tensor in its
own child process, so its peak memory includes loading. Its time does not include loading. It is the time until its own
stopping rule (see the files in ``peer/``) guarantees values within 1e-9 of the optimal values. Every solver has one
turn per round, so that changes in the machine's speed affect all solvers.

There are two tasks: values at discount 0.95, and the undiscounted win probability, where the only other solver is
Storm. Results may differ from ours by the sum of both error bounds and `ROUNDING`, because the bounds of other solvers
ignore rounding. A sweep of values up to 20 has a rounding error of at most 1e-12, and the errors of all sweeps add up
to at most 20 times as much.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench import harness
from bench.contenders import GIVEN, OURS, PEERS, WHOLE, WIN, WIN_PEERS, Contender
from bench.harness import BenchmarkError, Check, Fact, Measurement, Options, Report, new_report, run_child, say

ROUNDING = 1e-10
# Number of solves per turn. A single solve by our solver is too short to measure.
OUR_REPEATS = 5
QUICK_RULES = str(Path(__file__).parent / "houses" / "short.toml")


def run(options: Options) -> Report:
    """Compare all solvers on both tasks."""
    rules = QUICK_RULES if options.quick else "notebook"
    report, turns = new_report("peers", options, Path(rules).stem), dict[str, list[dict[str, Any]]]()
    with tempfile.TemporaryDirectory(prefix="punish-fast-bench-") as name:
        folder = Path(name)
        for size, game in (("small", "tiny"), ("tensor", rules)):
            say(f"peers: building the tensor of {Path(game).stem}")
            (folder / size).mkdir()
            built = run_child("bench.tensor", {"rules": game, "folder": str(folder / size)}, "the tensor")
        report.facts |= {"states": built["states"], "rows": built["rows"], "nonzeros": built["nonzeros"]}
        for number in range(1, options.runs + 1):
            for peers in (PEERS, WIN_PEERS):
                for peer in peers:
                    if any(problem.startswith(f"{peer.name}: ") for problem in report.problems):
                        continue
                    say(f"peers: run {number} of {options.runs}, {peer.name}")
                    try:
                        turns.setdefault(peer.name, []).append(_turn(folder, peer, options.threads))
                    except BenchmarkError as error:
                        report.problems.append(str(error))
                        continue
                    if peer is not peers[0]:
                        report.checks.append(_check(folder, turns, peer.name, peers[0].name))
    _add_measurements(report, turns)
    return report


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name.replace(', ', '-')}.npy"


def _turn(folder: Path, peer: Contender, threads: int) -> dict[str, Any]:
    own = {"discount": harness.DISCOUNT, "tolerance": harness.TOLERANCE, "threads": threads if peer.uses_threads else 1}
    request = {
        "peer": peer.module,
        "small": str(folder / "small"),
        "folder": str(folder / "tensor"),
        "values": str(_file(folder, peer.name)),
        "repeats": OUR_REPEATS if peer.module == "ours" else 1,
        "settings": own | dict(peer.settings),
    }
    return run_child("bench.tensor", request, peer.name)


def _check(folder: Path, turns: dict[str, list[dict[str, Any]]], name: str, ours: str) -> Check:
    """Compare the last values of another solver with ours."""
    values, others = np.load(_file(folder, ours)), np.load(_file(folder, name))
    difference = float(np.abs(values - others).max()) if values.shape == others.shape else np.nan
    limit = turns[ours][-1]["error_bound"] + turns[name][-1]["error_bound"] + ROUNDING
    return Check(f"{name} and {ours}", difference, limit)


def _add_measurements(report: Report, turns: dict[str, list[dict[str, Any]]]) -> None:
    """Add durations to the report, and targets relative to the best methods of QuantEcon and of Storm.

    Targets exclude solvers that start with the values of win and loss. Their times are reported without a target.
    """
    for peers in (PEERS, WIN_PEERS):
        for peer in (peer for peer in peers if turns.get(peer.name)):
            found = turns[peer.name]
            peak = max(turn["peak_bytes"] for turn in found)
            facts: dict[str, Fact] = {"peak MB": round(peak / 1e6), "within": found[-1]["error_bound"]}
            measurement = Measurement(peer.name, [each for turn in found for each in turn["seconds"]], facts)
            reference = report.find(peers[0].name)
            if reference is not None:
                facts["times ours"] = measurement.median / reference.median
            report.measurements.append(measurement)
    ours, whole, win = (report.find(name) for name in (OURS, WHOLE, OURS + WIN))
    quantecon, storm = (_best(report, name) for name in ("QuantEcon", "Storm"))
    if ours and whole and quantecon:
        report.aim("QuantEcon's best solve / our solve", quantecon / ours.median, at_least=40)
        name = "QuantEcon's best solve / our states, tensor and solve"
        report.aim(name, quantecon / whole.median, at_least=10)
    if win and storm:
        report.aim("Storm's best solve / our solve", storm / win.median, at_least=8)


def _best(report: Report, family: str) -> float | None:
    """Return the shortest median in a family of solvers, without solvers that start with the values of win and loss."""
    named = (each for each in report.measurements if each.name.startswith(family) and not each.name.endswith(GIVEN))
    return min((each.median for each in named), default=None)

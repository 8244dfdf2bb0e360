"""Compare punish-fast with QuantEcon and with the memory bandwidth of the machine.

    python bench/compare.py [--runs N] [--threads N] [--json FILE]

The game is that of the rules ``notebook`` against the naive enemy, with discount 0.95. One round measures, one after
another, so that a drift of the machine's speed hits all of them:

* ``states``, ``tensor``, ``solve``: enumerate the states, build the transition tensor, and solve it to an error bound
  of 1e-9. Each round begins anew, so ``solve`` includes cutting the tensor into chunks.
* ``read``, ``triad``: a sum of all of ``tensor.data``, and ``a = b + s c`` on arrays of the same size, with as many
  threads. They count 8 and 24 bytes for each element.
* ``quantecon``: ``DiscreteDP.solve`` by modified policy iteration on the same tensor, as state-action pairs with a
  sparse matrix of 32-bit indices. Win and loss are two more states, each with one row that leads to itself.
  Setting this up is not counted. QuantEcon has one thread only. Its ``epsilon`` of 1e-9 guarantees values
  within ``epsilon / 2`` of the optimal ones, and all its values must be within 1e-8 of ours, or the exit code is 1.

The first round compiles every kernel and warms all caches; it is not counted. Of all others, medians, minima and maxima
are reported, and the ratios are ratios of medians.

``sweep`` is one layered sweep of value iteration, taken from the log of each solve without its first sweep. The bytes
it must move are ``state_ptr``, ``indptr``, ``indices``, ``data`` and ``reward`` read once, and the values read and
written once; what it reads again because the caches are too small, and what finding the error bound reads, is not
counted.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from punish_fast._jit import kernel, max_threads, set_threads, threads
from punish_fast.chunks import for_each
from punish_fast.mdp.model import MDP
from punish_fast.mdp.solver import Solution, solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.punish.transitions import build

RULES = PRESETS["notebook"]
DISCOUNT = 0.95
TOLERANCE = 1e-9
MAX_DIFFERENCE = 1e-8
LEAST_RUNS = 3
BANDWIDTH_RUNS = 10  # in each round
N_CHUNKS = 512
STAGES = ("states", "tensor", "solve", "all three", "quantecon", "sweep", "read", "triad")
PACKAGES = ("punish-fast", "numpy", "numba", "scipy", "quantecon")

T = TypeVar("T")

# Unsigned, because Numba tests every signed index for being negative.
ONE, TWO, THREE, FOUR, FIVE, SIX, SEVEN, EIGHT = (np.uint64(k) for k in range(1, 9))


@dataclass
class Samples:
    """What the rounds measured.

    Attributes:
        seconds: Durations of each stage.
        difference: Largest absolute difference between QuantEcon's values and ours, for each round.
        ours: Our last solution.
        theirs: QuantEcon's last result.
    """

    seconds: dict[str, list[float]] = field(default_factory=lambda: {stage: [] for stage in STAGES})
    difference: list[float] = field(default_factory=list)
    ours: Solution | None = None
    theirs: Any = None


@kernel
def sum_chunks(begin: int, end: int, chunks: np.ndarray, array: np.ndarray, totals: np.ndarray) -> None:
    """Sum chunks of ``array``; all chunks but the last are as long as a multiple of eight."""
    for chunk in range(begin, end):
        a = b = c = d = e = f = g = h = 0.0
        k = chunks[chunk]
        while k + EIGHT <= chunks[chunk + 1]:
            a += array[k]
            b += array[k + ONE]
            c += array[k + TWO]
            d += array[k + THREE]
            e += array[k + FOUR]
            f += array[k + FIVE]
            g += array[k + SIX]
            h += array[k + SEVEN]
            k += EIGHT
        while k < chunks[chunk + 1]:
            a += array[k]
            k += ONE
        totals[chunk] = ((a + b) + (c + d)) + ((e + f) + (g + h))


@kernel
def add_scaled(
    begin: int, end: int, chunks: np.ndarray, out: np.ndarray, array: np.ndarray, other: np.ndarray, scale: float
) -> None:
    """``out = array + scale * other`` on chunks, the triad of the STREAM benchmark."""
    for chunk in range(begin, end):
        for k in range(chunks[chunk], chunks[chunk + 1]):
            out[k] = array[k] + scale * other[k]


class Bandwidth:
    """Measures the bandwidth of the memory with arrays of ``n`` float64."""

    def __init__(self, n: int) -> None:
        self._chunks = (np.linspace(0, n // 8, N_CHUNKS + 1).astype(np.uint64)) * EIGHT
        self._chunks[-1] = n
        self._totals = np.zeros(N_CHUNKS)
        self._other = np.ones(n)
        self._out = np.zeros(n)

    def read(self, array: np.ndarray) -> float:
        """Read ``array`` once; return its sum."""
        for_each(sum_chunks, N_CHUNKS, self._chunks, array, self._totals)
        return float(self._totals.sum())

    def triad(self, array: np.ndarray) -> None:
        """Read ``array`` and another one once, and write a third."""
        for_each(add_scaled, N_CHUNKS, self._chunks, self._out, array, self._other, 2.0)


def timed(function: Callable[[], T]) -> tuple[T, float]:
    """Call ``function``; return its result and how many seconds it took."""
    begin = time.perf_counter()
    result = function()
    return result, time.perf_counter() - begin


def solve_theirs(ddp: Any) -> Any:
    """Solve with QuantEcon, to values within half of ``TOLERANCE`` of the optimal ones."""
    return ddp.solve(method="modified_policy_iteration", epsilon=TOLERANCE, max_iter=100_000)


def run_round(ddp: Any, bandwidth: Bandwidth, samples: Samples) -> None:
    """Measure everything once and add it to ``samples``."""
    space, states_seconds = timed(lambda: StateSpace(RULES))
    mdp, tensor_seconds = timed(lambda: build(space))
    ours, solve_seconds = timed(lambda: solve(mdp, DISCOUNT, tolerance=TOLERANCE))
    for _ in range(BANDWIDTH_RUNS):
        total, read_seconds = timed(lambda: bandwidth.read(mdp.data))
        if abs(total - mdp.n_rows) > 1e-3:
            raise ArithmeticError(f"the probabilities of {mdp.n_rows} rows add up to {total}")
        samples.seconds["read"].append(read_seconds)
        samples.seconds["triad"].append(timed(lambda: bandwidth.triad(mdp.data))[1])
    theirs, quantecon_seconds = timed(lambda: solve_theirs(ddp))
    samples.seconds["states"].append(states_seconds)
    samples.seconds["tensor"].append(tensor_seconds)
    samples.seconds["solve"].append(solve_seconds)
    samples.seconds["all three"].append(states_seconds + tensor_seconds + solve_seconds)
    samples.seconds["quantecon"].append(quantecon_seconds)
    samples.seconds["sweep"].extend(ours.log.seconds[1:])
    samples.difference.append(float(np.abs(theirs.v[: mdp.n_states] - ours.v).max()))
    samples.ours, samples.theirs = ours, theirs


def run(runs: int) -> tuple[MDP, Samples]:
    """Run ``runs`` rounds after one that is not counted; return the game and what they measured."""
    mdp = build(StateSpace(RULES))
    ddp = mdp.to_quantecon(DISCOUNT)
    bandwidth = Bandwidth(mdp.n_entries)
    print("warming up", file=sys.stderr)
    run_round(ddp, bandwidth, Samples())
    samples = Samples()
    for number in range(1, runs + 1):
        print(f"round {number} of {runs}", file=sys.stderr)
        run_round(ddp, bandwidth, samples)
    return mdp, samples


def sweep_bytes(mdp: MDP) -> int:
    """Count the bytes that one sweep must move."""
    arrays = (mdp.state_ptr, mdp.indptr, mdp.indices, mdp.data, mdp.reward)
    bytes_per_value = 8
    return sum(array.nbytes for array in arrays) + bytes_per_value * (mdp.n_columns + mdp.n_states)


def cpu_model() -> str:
    """Find the name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def promise(name: str, value: float, target: float) -> dict[str, Any]:
    """Judge a ratio that the project promises."""
    return {"name": name, "value": value, "target": target, "ok": value >= target}


def make_report(mdp: MDP, samples: Samples) -> dict[str, Any]:
    """Gather everything there is to tell, ready for JSON."""
    assert samples.ours is not None
    stages = {
        stage: {"median": statistics.median(seconds), "min": min(seconds), "max": max(seconds)}
        for stage, seconds in samples.seconds.items()
    }
    median = {stage: numbers["median"] for stage, numbers in stages.items()}
    moved = {"sweep": sweep_bytes(mdp), "read": mdp.data.nbytes, "triad": 3 * mdp.data.nbytes}
    gb_per_s = {stage: n_bytes / median[stage] / 1e9 for stage, n_bytes in moved.items()}
    return {
        "machine": {"cpu": cpu_model(), "cores": os.cpu_count()},
        "versions": {"python": platform.python_version()} | {package: version(package) for package in PACKAGES},
        "threads": threads(),
        "runs": len(samples.difference),
        "game": {"states": mdp.n_states, "rows": mdp.n_rows, "entries": mdp.n_entries, "discount": DISCOUNT},
        "seconds": stages,
        "bytes": moved,
        "gb_per_s": gb_per_s,
        "ours": {"sweeps": samples.ours.sweeps, "error_bound": samples.ours.error_bound},
        "quantecon": {"iterations": int(samples.theirs.num_iter), "error_bound": TOLERANCE / 2},
        "difference": agreement(samples.difference),
        "promises": [
            promise("quantecon / solve", median["quantecon"] / median["solve"], 25),
            promise("quantecon / (states + tensor + solve)", median["quantecon"] / median["all three"], 8),
            promise("sweep bandwidth / read bandwidth", gb_per_s["sweep"] / gb_per_s["read"], 0.60),
        ],
    }


def agreement(differences: list[float]) -> dict[str, Any]:
    """Judge the largest difference of all rounds; a NaN is too large."""
    largest = float(np.max(differences))
    return {"max_abs": largest, "limit": MAX_DIFFERENCE, "ok": largest <= MAX_DIFFERENCE}


def table_of(report: dict[str, Any]) -> str:
    """Write the report for people."""
    machine, game, ours, theirs = (report[key] for key in ("machine", "game", "ours", "quantecon"))
    lines = [
        f"machine   {machine['cpu']}, {machine['cores']} cores",
        f"versions  {', '.join(f'{name} {number}' for name, number in report['versions'].items())}",
        f"threads   {report['threads']} (quantecon: 1)",
        f"game      {game['states']:,} states, {game['rows']:,} rows, {game['entries']:,} entries",
        f"runs      {report['runs']}, after one that is not counted",
        "",
        f"{'seconds':<12}{'median':>10}{'min':>10}{'max':>10}",
    ]
    for stage, seconds in report["seconds"].items():
        numbers = f"{seconds['median']:>10.4f}{seconds['min']:>10.4f}{seconds['max']:>10.4f}"
        bandwidth = f"{report['gb_per_s'][stage]:>10.1f} GB/s" if stage in report["gb_per_s"] else ""
        lines.append(f"{stage:<12}{numbers}{bandwidth}")
    difference = report["difference"]
    lines += [
        "",
        f"one sweep moves {report['bytes']['sweep'] / 1e6:.1f} MB",
        f"ours: {ours['sweeps']} sweeps, values within {ours['error_bound']:.1e}; "
        f"quantecon: {theirs['iterations']} iterations, values within {theirs['error_bound']:.1e}",
        f"largest difference of a value {difference['max_abs']:.1e}, "
        f"at most {difference['limit']:.0e} is allowed: {'ok' if difference['ok'] else 'MISSED'}",
        "",
        f"{'ratio':<40}{'value':>8}{'target':>10}",
    ]
    for ratio in report["promises"]:
        verdict = "ok" if ratio["ok"] else "missed"
        lines.append(f"{ratio['name']:<40}{ratio['value']:>8.2f}{'>= ' + format(ratio['target'], 'g'):>10}  {verdict}")
    return "\n".join(lines)


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line and set the thread count."""
    parser = argparse.ArgumentParser(description="Compare punish-fast with QuantEcon and with the memory bandwidth.")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help=f"{LEAST_RUNS} or more; default: 5")
    parser.add_argument("--threads", type=int, default=max_threads(), metavar="N", help="default: all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE, too")
    options = parser.parse_args(arguments)
    if options.runs < LEAST_RUNS:
        parser.error(f"--runs: {options.runs} is not allowed, it must be {LEAST_RUNS} or more")
    if options.json is not None and not options.json.parent.is_dir():
        parser.error(f"--json: there is no folder {options.json.parent}")
    try:
        set_threads(options.threads)
    except ValueError as error:
        parser.error(f"--{error}")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; 1 if QuantEcon's values are not ours."""
    options = parse_options(arguments)
    try:
        results = run(options.runs)
    except ModuleNotFoundError as error:
        if error.name != "quantecon":
            raise
        sys.exit(str(error))
    report = make_report(*results)
    print(table_of(report))
    if options.json is not None:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0 if report["difference"]["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())

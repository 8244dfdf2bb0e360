"""Growth of time and memory with the size of the game, and time by number of threads.

House rules with different numbers of cards, HP and breaths (``houses/``) define a family of games, from a tiny game to
fifteen times the nonzeros of the notebook's game. For each game, a child process computes the states, the tensor and
the values. If the time is ``c n^k`` for ``n`` nonzeros, the exponent ``k`` is the slope of the least-squares line
through the logarithms of the median times. The exponent of memory is computed in the same way, after subtracting the
peak memory before the game.

The line uses only games with at least `LEAST_NONZEROS` nonzeros. In smaller games, fixed costs of threads and chunks
dominate, and would make the exponent too small.
"""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bench import harness
from bench.harness import BenchmarkError, Fact, Measurement, Options, Report, new_report, run_child, say

HOUSES = Path(__file__).parent / "houses"
FAMILY = (
    "tiny",
    *(str(HOUSES / f"{name}.toml") for name in ("frail", "short", "four_cards")),
    "notebook",
    *(str(HOUSES / f"{name}.toml") for name in ("five_hp", "twenty_cards", "nine_hp")),
)
LEAST_NONZEROS = 1_000_000
MOST_EXPONENT = 1.05
STAGES = ("states", "tensor", "solve")
_REPEATS = 3


def run(options: Options) -> Report:
    """Time all games and numbers of threads, and report the exponents."""
    family = FAMILY[:5] if options.quick else FAMILY
    report = new_report("scaling", options, "the family")
    games = [(f"rules {Path(rules).stem}", rules, options.threads) for rules in family]
    games += [
        (f"notebook, {threads} thread{'' if threads == 1 else 's'}", "notebook", threads)
        for threads in range(1, options.threads + 1)
    ]
    found: dict[str, list[dict[str, Any]]] = {}
    for number in range(1, options.runs + 1):
        for name, rules, threads in games:
            say(f"scaling: run {number} of {options.runs}, {name}")
            request = {"rules": rules, "threads": threads, "repeats": 1 if options.quick else _REPEATS}
            try:
                found.setdefault(name, []).append(run_child("bench.scaling", request, name))
            except BenchmarkError as error:
                report.problems.append(str(error))
    memory = {}
    for name, results in found.items():
        peak = max((result["peak_bytes"] for result in results), default=0)
        memory[name] = peak - min((result["baseline_bytes"] for result in results), default=0)
        if results:
            facts: dict[str, Fact] = {
                "states": results[0]["states"],
                "nonzeros": results[0]["nonzeros"],
                "tensor MB": round(results[0]["tensor_bytes"] / 1e6, 2),
                "peak MB": round(peak / 1e6, 1),
                "for the game MB": round(memory[name] / 1e6, 2),
            }
            facts |= {f"{stage}:": float(np.median(_seconds(results, stage))) for stage in STAGES}
            report.measurements.append(Measurement(name, _seconds(results, "all"), facts))
    large = [each for each in report.measurements if "rules " in each.name]
    large = [each for each in large if int(each.facts["nonzeros"]) >= LEAST_NONZEROS]
    sizes = [float(each.facts["nonzeros"]) for each in large]
    amounts = {"seconds": [each.median for each in large], "memory": [memory[each.name] for each in large]}
    for what, amount in amounts.items() if len(large) > 1 else ():
        name = f"exponent of {what} over nonzeros, from {LEAST_NONZEROS:,} nonzeros on"
        report.aim(name, exponent(sizes, amount), at_most=MOST_EXPONENT)
    return report


def _seconds(results: list[dict[str, Any]], stage: str) -> list[float]:
    return [duration for result in results for duration in result["seconds"][stage]]


def exponent(sizes: list[float], amounts: list[float]) -> float:
    """Return the slope of the least-squares line through ``log amounts`` over ``log sizes``."""
    return float(np.polyfit(np.log(sizes), np.log(amounts), 1)[0])


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Solve the game of ``rules`` ``repeats`` times. Return its sizes and the seconds of each stage.

    The rules ``tiny`` are solved first, to compile the kernels. The peak memory at this point (Python, libraries,
    compiled kernels) is the baseline.
    """
    from punish_fast.runtime._jit import set_threads

    set_threads(request["threads"])
    limit_memory()
    _play("tiny")
    found: dict[str, Any] = {"baseline_bytes": harness.peak_memory()}
    seconds = []
    for _ in range(request["repeats"]):
        sizes, one = _play(request["rules"])
        seconds.append([*one, sum(one)])
    columns = zip((*STAGES, "all"), zip(*seconds, strict=True), strict=True)
    return found | sizes | {"seconds": {stage: list(each) for stage, each in columns}}


def _play(rules: str) -> tuple[dict[str, int], list[float]]:
    """Solve a game against the random player. Return its sizes and the seconds of each stage."""
    from punish_fast.mdp.objectives.solver import solve
    from punish_fast.punish.rules import load_rules
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.punish.transitions.tensor import build

    game, times = load_rules(rules), [time.perf_counter()]
    space = StateSpace(game)
    times.append(time.perf_counter())
    mdp = build(space)
    times.append(time.perf_counter())
    solve(mdp, harness.DISCOUNT, tolerance=harness.TOLERANCE)
    times.append(time.perf_counter())
    sizes = {"states": mdp.n_states, "rows": mdp.n_rows, "nonzeros": mdp.nnz, "tensor_bytes": mdp.nbytes}
    return sizes, [after - before for before, after in pairwise(times)]


def limit_memory() -> None:
    """Limit this process to the available memory on Linux, so that large games do not affect other processes."""
    if not Path("/proc/meminfo").is_file():
        return
    import resource

    meminfo = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    free = next(int(line.split()[1]) * 1024 for line in meminfo if "MemAvailable" in line)
    held = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + free, resource.getrlimit(resource.RLIMIT_AS)[1]))

"""A whole game in a child process: seconds of states, tensor and solve, and peak memory.

The kernels are compiled on the smallest game first. The process's memory then (Python, libraries, compiled kernels) is
the baseline; it does not grow with the game.
"""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.benchmark import DISCOUNT, TOLERANCE
from bench.child import peak_memory
from punish_fast.mdp.model import MDP
from punish_fast.mdp.solver import solve
from punish_fast.punish.rules import Rules, load_rules
from punish_fast.punish.space import StateSpace
from punish_fast.punish.tensor import build
from punish_fast.runtime._jit import set_threads

STAGES = ("states", "tensor", "solve")
_MEMORY = Path("/proc/meminfo")


def play(rules: Rules) -> tuple[MDP, list[float]]:
    """Solve the game of ``rules`` against the random player; return the tensor and the seconds of each stage."""
    times = [time.perf_counter()]
    space = StateSpace(rules)
    times.append(time.perf_counter())
    mdp = build(space)
    times.append(time.perf_counter())
    solve(mdp, DISCOUNT, tolerance=TOLERANCE)
    times.append(time.perf_counter())
    return mdp, [after - before for before, after in pairwise(times)]


def limit_memory() -> None:
    """Cap this process at the free memory, so that a game that is too large ends no other process."""
    if not _MEMORY.is_file():
        return
    import resource

    free = [line.split()[1] for line in _MEMORY.read_text(encoding="ascii").splitlines() if "MemAvailable" in line]
    held = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    if free:
        most = int(held) * resource.getpagesize() + int(free[0]) * 1024
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Solve the game of ``rules`` with ``threads`` threads ``repeats`` times."""
    set_threads(request["threads"])
    limit_memory()
    play(load_rules("tiny"))
    baseline = peak_memory()
    rules = load_rules(request["rules"])
    seconds: list[list[float]] = []
    for _ in range(request["repeats"]):
        mdp, one = play(rules)
        seconds.append(one)
        sizes = {"states": mdp.n_states, "rows": mdp.n_rows, "nonzeros": mdp.n_entries, "tensor_bytes": mdp.nbytes}
        # Free the game before the next one is built.
        del mdp
    stages = {stage: [run[k] for run in seconds] for k, stage in enumerate(STAGES)}
    return {"seconds": stages | {"all": [sum(run) for run in seconds]}, "baseline_bytes": baseline, **sizes}

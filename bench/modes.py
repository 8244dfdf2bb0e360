"""A sweep with transitions stored and made again: ``python -m bench.modes [RULES ...]``.

For each game, in one process and in turn: seconds to prepare the process, seconds a sweep, and nanoseconds an entry, in
the modes *tensor*, *compact* and *matrix-free* of ``punish_fast/punish/memory_plan.py``. A mode that does not fit into
the machine's memory is left out. All must end with the same values.

The time of a matrix-free sweep is then taken apart, with one thread: *count* finds how many entries rows have, *fill*
makes them, and *back up* is what a stored tensor would leave to do if it were in the cache. The last is what the
arithmetic of a sweep has to cost; the rest is the price of the memory saved.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from statistics import median
from timeit import timeit
from typing import Any
from unittest.mock import patch

from bench.tables import Table, markdown
from punish_fast.mdp.process import Process
from punish_fast.mdp.value_iteration import Layered
from punish_fast.punish import row_maker
from punish_fast.punish.matrix_free import MatrixFree
from punish_fast.punish.memory_plan import COMPACT, MATRIX_FREE, TENSOR, memory_limit, plan_memory
from punish_fast.punish.row_batches import RowBatches
from punish_fast.punish.row_builder import RowBuilder, count_rows
from punish_fast.punish.rules import load_rules
from punish_fast.punish.space import StateSpace
from punish_fast.punish.tensor import build, build_compact
from punish_fast.runtime._jit import set_threads, threads

DISCOUNT = 0.95
_PARTS = ("count", "fill", "back up")


class DifferentValuesError(Exception):
    """Two modes end with different values."""


def prepare(mode: str, batches: RowBatches) -> Process:
    """The process of a game in a mode."""
    makers: dict[str, Callable[[], Process]] = {
        TENSOR: lambda: build(batches.space),
        COMPACT: lambda: build_compact(batches.space),
        MATRIX_FREE: lambda: MatrixFree(batches),
    }
    return makers[mode]()


def measure_modes(rules: str, runs: int) -> Table:
    """Seconds to prepare, and the median of a sweep, in each mode that fits.

    Raises:
        DifferentValuesError: two modes end with different values.
    """
    batches = RowBatches(StateSpace(load_rules(rules)))
    limit, rows, found = memory_limit(None), [], set()
    for plan in plan_memory(batches):
        if plan.n_bytes > limit:
            continue
        prepare(plan.mode, batches)
        begin = time.perf_counter()
        process = prepare(plan.mode, batches)
        prepared = time.perf_counter() - begin
        iteration = Layered(process, DISCOUNT)
        seconds = [timeit(iteration.sweep, number=1) for _ in range(runs + 1)][1:]
        found.add(iteration.v.tobytes())
        sweep = median(seconds)
        per_entry = f"{1e9 * sweep / batches.n_entries:.2f}"
        rows.append([rules, plan.mode, f"{plan.n_bytes / 1e6:,.0f}", f"{prepared:.3f}", f"{sweep:.4f}", per_entry])
    if len(found) > 1:
        raise DifferentValuesError(f"{rules}: the modes end with different values")
    return rows


def measure_parts(rules: str, runs: int) -> Table:
    """Where the time of a matrix-free sweep goes, with one thread."""
    before = threads()
    set_threads(1)
    try:
        batches = RowBatches(StateSpace(load_rules(rules)))
        iteration = Layered(MatrixFree(batches), DISCOUNT)
        spent = [_parts_of_a_sweep(iteration) for _ in range(runs + 1)][1:]
    finally:
        set_threads(before)
    rows = []
    for number, part in enumerate(_PARTS):
        nanoseconds = 1e9 * median(each[number] for each in spent) / batches.n_entries
        rows.append([rules, part, f"{nanoseconds:.2f}"])
    return rows


def _parts_of_a_sweep(iteration: Layered) -> list[float]:
    """Seconds of each part."""
    seconds = dict.fromkeys(_PARTS, 0.0)

    def timed(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            begin = time.perf_counter()
            result = function(*args)
            seconds[part] += time.perf_counter() - begin
            return result

        return call

    process = iteration.mdp
    assert isinstance(process, MatrixFree)
    with (
        patch.object(row_maker, "count_rows", timed("count", count_rows)),
        patch.object(RowBuilder, "fill", timed("fill", RowBuilder.fill)),
    ):
        whole = timeit(iteration.sweep, number=1)
    seconds["back up"] = whole - seconds["count"] - seconds["fill"]
    return [seconds[part] for part in _PARTS]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print two tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("rules", nargs="*", default=["notebook"], metavar="RULES", help="presets or TOML files")
    parser.add_argument("--runs", type=int, default=5, help="repetitions of every measurement")
    options = parser.parse_args(arguments)
    modes: Table = [["rules", "mode", "MB", "s to prepare", "s a sweep", "ns an entry"]]
    parts: Table = [["rules", "part", "ns an entry, one thread"]]
    for rules in options.rules:
        modes += measure_modes(rules, options.runs)
        parts += measure_parts(rules, options.runs)
    for table in (modes, parts):
        print("\n".join(markdown(table)), end="\n\n", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Sweeps without a tensor on a cluster: seconds with one worker and with two, and with other sizes of tasks.

Workers are processes of this machine with a thread each. Both numbers take turns, so that they meet the same load, each
in a cluster of its own. The values after the last sweep are compared with those of this process, bit by bit.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from timeit import timeit
from unittest.mock import patch

from bench.tables import Table, markdown
from punish_fast.cluster import cluster_backups
from punish_fast.cluster.cluster_backups import ClusterBackups
from punish_fast.cluster.connection import connected
from punish_fast.mdp.value_iteration import Layered
from punish_fast.punish.matrix_free import MatrixFree
from punish_fast.punish.row_batches import RowBatches
from punish_fast.punish.rules import load_rules
from punish_fast.punish.space import StateSpace
from punish_fast.runtime._jit import set_threads, threads

DISCOUNT = 0.95
_WORKERS = (1, 2)
# Sweeps of a round, after a first one that is not measured.
_SWEEPS = 3
_TASKS = (1, 2, 4, 8, 16)


class DifferentValuesError(Exception):
    """A cluster has other values than this process."""


def measure_workers(batches: RowBatches, runs: int) -> Table:
    """Seconds of a sweep with threads of this process, and with workers.

    Raises:
        DifferentValuesError: they end with different values.
    """
    kinds = {"thread": _sweep_with_threads, "worker": _sweep_with_workers}
    seconds: dict[tuple[int, str], list[float]] = {(n, kind): [] for kind in kinds for n in _WORKERS}
    found = set()
    for _ in range(runs):
        for (n, kind), medians in seconds.items():
            with kinds[kind](batches, n) as iteration:
                medians.append(median([timeit(iteration.sweep, number=1) for _ in range(_SWEEPS + 1)][1:]))
                found.add(iteration.v.tobytes())
    if len(found) > 1:
        raise DifferentValuesError("a cluster ends with other values than this process")
    rows = []
    for (n, kind), each in seconds.items():
        now, one = median(each), median(seconds[1, kind])
        rows.append([f"{n} {kind}{'s' * (n > 1)}", f"{now:.3f}", f"{one / now:.2f}"])
    return rows


def measure_tasks(batches: RowBatches, runs: int) -> Table:
    """Seconds of a sweep with other numbers of tasks."""
    seconds: dict[int, list[float]] = {n: [] for n in _TASKS}
    with _sweep_with_workers(batches, max(_WORKERS)) as iteration:
        for _ in range(runs * _SWEEPS + 1):
            for n in _TASKS:
                with patch.multiple(cluster_backups, _TASKS_PER_THREAD=n, _LEAST_WORK=0.1):
                    seconds[n].append(timeit(iteration.sweep, number=1))
    return [[str(n), f"{median(each[1:]):.3f}"] for n, each in seconds.items()]


@contextmanager
def _sweep_with_threads(batches: RowBatches, n: int) -> Iterator[Layered]:
    before = threads()
    set_threads(min(n, before))
    try:
        yield Layered(MatrixFree(batches), DISCOUNT)
    finally:
        set_threads(before)


@contextmanager
def _sweep_with_workers(batches: RowBatches, n: int) -> Iterator[Layered]:
    with connected(f"local:{n}") as client:
        yield Layered(MatrixFree(batches, backups=ClusterBackups(client, batches)), DISCOUNT)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print two tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("rules", nargs="?", default="bench/houses/ten_million.toml", metavar="RULES")
    parser.add_argument("--runs", type=int, default=3, help="rounds of three sweeps of every kind")
    options = parser.parse_args(arguments)
    batches = RowBatches(StateSpace(load_rules(options.rules)))
    print(f"{batches.space.n_states:,} states, {batches.n_entries:,} entries\n")
    sweeps: Table = [["", "s a sweep", "times one"], *measure_workers(batches, options.runs)]
    tasks: Table = [["tasks a thread", "s a sweep"], *measure_tasks(batches, options.runs)]
    for table in (sweeps, tasks):
        print("\n".join(markdown(table)), end="\n\n", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

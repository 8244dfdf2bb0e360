"""The price of checkpoints: seconds of a sweep without a tensor, and of writing all that the next one depends on.

Both take turns, so that they meet the same load. A checkpoint is written at most every ten seconds.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from timeit import timeit

from bench.tables import Table, markdown
from punish_fast.mdp.checkpoints import SweepState
from punish_fast.mdp.interval_iteration import Reachability
from punish_fast.mdp.value_iteration import Layered
from punish_fast.punish.matrix_free import MatrixFree
from punish_fast.punish.row_batches import RowBatches
from punish_fast.punish.rules import load_rules
from punish_fast.punish.space import StateSpace
from punish_fast.store.sweeps import SweepOrigin, save_sweeps

DISCOUNT = 0.95
# So many sweeps fill the memory of the acceleration.
_WARM_UP = 3


def measure(batches: RowBatches, runs: int, folder: Path) -> Table:
    """Seconds of sweeps and of checkpoints, by objective."""
    process, rules = MatrixFree(batches), batches.space.rules
    rows = []
    for objective, iteration in (
        ("discounted", Layered(process, DISCOUNT)),
        ("win-probability", Reachability(process, None)),
    ):
        path, sweeps, saves = folder / f"{objective}.h5", [], []

        def save(iteration: Layered = iteration, path: Path = path, objective: str = objective) -> None:
            settings = {"objective": objective, "discount": DISCOUNT, "schedule": "layered"}
            save_sweeps(
                path, SweepOrigin(rules, {"kind": "unknown"}), SweepState(settings, *iteration.state(), iteration.log)
            )

        for number in range(_WARM_UP + runs):
            sweeps.append(timeit(iteration.sweep, number=1))
            iteration.log.seconds.append(sweeps[-1])
            if number >= _WARM_UP:
                saves.append(timeit(save, number=1))
        sweep, saved = median(sweeps[_WARM_UP:]), median(saves)
        rows.append(
            [objective, f"{sweep:.2f}", f"{saved:.2f}", f"{saved / sweep:.2f}", f"{path.stat().st_size / 1e6:,.0f}"]
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("rules", nargs="?", default="bench/houses/ten_million.toml", metavar="RULES")
    parser.add_argument("--runs", type=int, default=3, help="sweeps of each kind")
    parser.add_argument("--folder", type=Path, help="where to write; a temporary folder by default")
    options = parser.parse_args(arguments)
    batches = RowBatches(StateSpace(load_rules(options.rules)))
    print(f"{batches.space.n_states:,} states, {batches.n_entries:,} entries\n")
    with TemporaryDirectory(dir=options.folder) as folder:
        rows = measure(batches, options.runs, Path(folder))
    print("\n".join(markdown([["objective", "s a sweep", "s a checkpoint", "ratio", "MB"], *rows])), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

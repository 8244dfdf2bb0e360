"""The commands ``tapnswap grid``, ``tournament`` and ``retrain``: a search for the best way to learn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from punish_fast.cli.errors import UsageError, say
from punish_fast.cli.plots import drawing, must_draw
from punish_fast.cli.report import Progress, Stopwatch, print_json, print_table
from punish_fast.games.tapnswap import TapnSwap, Variant
from punish_fast.learn.league import Championship, Report, grid_entries
from punish_fast.learn.processes import OnTask
from punish_fast.runtime.figures import check_picture
from punish_fast.runtime.files import check_output

# Tables of more agents do not fit on a terminal.
_WIDEST = 8


@dataclass(frozen=True)
class Setting:
    """Options that the commands share; None where the user said nothing."""

    processes: int | None
    plot: Path | None
    as_json: bool
    quiet: bool

    def check(self) -> int:
        """How many processes there are to be; refuse, before any work is done, what cannot be done."""
        if self.plot is not None:
            must_draw()
            check_picture(self.plot)
            check_output(self.plot)
        if self.processes is not None and self.processes < 1:
            raise UsageError(f"--processes is {self.processes}, allowed are 1 and more")
        return self.processes or os.cpu_count() or 1


@dataclass(frozen=True)
class Grid:
    """Agents to train, as they were asked for."""

    schemes: str
    epsilons: str
    against: str
    games: int
    seed: int


@dataclass(frozen=True)
class Retraining:
    """Who is to be trained on, and how."""

    best: float
    against: str
    games: int


def grid_command(folder: Path, variant: Variant, grid: Grid, setting: Setting) -> None:
    """Run ``punish-fast tapnswap grid``."""
    n_processes = setting.check()
    entries = grid_entries(
        _words(grid.schemes),
        _numbers("--epsilons", grid.epsilons),
        [tuple(each.split("-")) for each in _words(grid.against)],
        _positive(grid.games),
    )
    championship = Championship(folder, TapnSwap(variant), grid.seed)
    championship.begin_grid(entries)
    _train(championship, 0, n_processes, setting)


def retrain_command(folder: Path, wanted: Retraining, setting: Setting) -> None:
    """Run ``punish-fast tapnswap retrain``."""
    n_processes = setting.check()
    championship = Championship(folder)
    number, options = championship.last_round, asdict(wanted)
    if number > 0 and championship.ranking(number) is None:
        # Begun, or done and not yet followed by a tournament: the same command changes nothing that is there.
        championship.must_have_options(number, options)
    else:
        names = _words(wanted.against)
        entries = championship.next_entries(number, wanted.best, names, _positive(wanted.games))
        number = championship.begin_round(entries, **options)
    _train(championship, number, n_processes, setting)


def tournament_command(folder: Path, setting: Setting) -> None:
    """Run ``punish-fast tapnswap tournament``."""
    n_processes, clock = setting.check(), Stopwatch()
    championship = Championship(folder)
    number = championship.last_round
    with clock("matches"), _kept(folder), _progress("tournament", setting) as step:
        names, table, places = championship.tournament(number, n_processes, step)
    report: dict[str, Any] = {
        "folder": str(folder),
        "round": number,
        "agents": names,
        "points": table.tolist(),
        "ranking": [asdict(place) for place in places],
        "seconds": clock.seconds,
    }
    if setting.as_json:
        print_json(report)
        return
    print(f"round {number} in {folder}: {len(names)} agents, every pair in both seats, exact")
    print()
    print_table([["ranking", "score"], *([place.agent, f"{place.score:.4f}"] for place in places)])
    if len(names) <= _WIDEST:
        order = [names.index(place.agent) for place in places]
        print()
        rows = [["points of row", *(names[j] for j in order)]]
        rows += [[names[i], *("-" if i == j else f"{table[i, j]:.3f}" for j in order)] for i in order]
        print_table(rows)


def _train(championship: Championship, number: int, n_processes: int, setting: Setting) -> None:
    clock = Stopwatch()
    with clock("train"), _kept(championship.folder), _progress("train", setting) as step:
        reports = championship.train(number, n_processes, step)
    if setting.plot is not None:
        from punish_fast.learn.plots import draw_learning

        with drawing(setting.plot):
            draw_learning({report.name: report.curve for report in reports}, setting.plot)
    if setting.as_json:
        agents = [asdict(report) for report in reports]
        plot = None if setting.plot is None else str(setting.plot)
        folder = str(championship.folder)
        print_json({"folder": folder, "round": number, "agents": agents, "plot": plot, "seconds": clock.seconds})
    else:
        _print_round(championship.folder, number, reports)
        if setting.plot is not None:
            print(f"wrote {setting.plot}")


def _print_round(folder: Path, number: int, reports: list[Report]) -> None:
    print(f"round {number} in {folder}: {len(reports)} agents")
    print()
    rows = [["agent", "games", "wins against random", "mistakes", ""]]
    for report in reports:
        note = "rejected" if report.is_rejected else ""
        rows.append([report.name, f"{report.games:,}", f"{report.win_share:.6f}", f"{report.mistakes}", note])
    print_table(rows)


@contextmanager
def _progress(stage: str, setting: Setting) -> Iterator[OnTask]:
    progress = Progress(setting.quiet)
    step: Callable[[int, int], None] = lambda done, total: progress.step(stage, done, total)  # noqa: E731
    try:
        yield step
    finally:
        progress.clear()


@contextmanager
def _kept(folder: Path) -> Iterator[None]:
    """Say on an interrupt that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"{folder} holds all that is done; the same command goes on with the rest")
        raise


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(word) for word in _words(text)]
    except ValueError:
        raise UsageError(f"{option} is {text!r}, allowed are numbers with commas between them") from None


def _positive(games: int) -> int:
    if games < 1:
        raise UsageError(f"--games is {games}, allowed are 1 and more")
    return games

"""``punish-fast records plot``: plot recorded games.

JSON keys:
    database (string): Database.
    games (integer): Number of games.
    files (list of strings): Plot files.
"""

from pathlib import Path
from typing import Literal

from punish_fast.cli.frame.options import PictureOptions, argument, option, verb
from punish_fast.cli.frame.outputs import default_output
from punish_fast.cli.frame.report import UsageError, count, say
from punish_fast.cli.records.selection import SelectionOptions

PlotName = Literal["all", "durations", "contributions", "win-rates", "games-win-rate", "over-time", "matchups"]


class RecordsPlotOptions(PictureOptions, SelectionOptions):
    """Options of ``records plot``."""

    kind: PlotName = argument(
        "PLOT",
        "durations: distribution of game lengths; contributions: games won and lost by each player; win-rates: "
        "win rate of each player, with 95% intervals; games-win-rate: win rate against number of games; over-time: "
        "win rate as a player's games accumulate; matchups: human players' win rates against each bot; all: all plots.",
        default="all",
    )
    output: Path | None = option("Output file, or a folder for all plots.  [default: PLOT.png]", "-o", writes=True)


@verb(
    "punish-fast records plot win-rates --db games.db -o rates.svg",
    "punish-fast records plot over-time --db games.db --player Joe",
    "punish-fast records plot --db games.db -o plots",
    stage="plot",
)
def plot(options: RecordsPlotOptions) -> None:
    """Plot recorded games, as PNG, SVG or PDF."""
    from punish_fast.records.database import RecordsError
    from punish_fast.records.plots import PLOTS, draw
    from punish_fast.records.summary import read_results

    results = read_results(options.database, options.selection())
    files = _files(options, list(PLOTS))
    options.check_outputs(*files.values(), sources=[options.database])
    options.check_pictures(*files.values())
    for file in files.values() if options.output is None else ():
        default_output(file)
    written = []
    for kind, file in files.items():
        try:
            draw(kind, results, file, options.player)
        except RecordsError as error:
            if len(files) == 1 or len(results) == 0:
                raise
            say(f"{kind}: {error}")
        else:
            written.append(file)
    report = {"database": options.database, "games": len(results), "files": written}
    result = f"Wrote {count(len(written), 'plot')} of {count(len(results), 'game')}."
    options.print(report, result=result, then=("records", "summary", *options.source))


def _files(options: RecordsPlotOptions, plots: list[str]) -> dict[str, Path]:
    if options.kind != "all":
        return {options.kind: options.output or Path(f"{options.kind}.png")}
    folder = options.output or Path()
    if folder.is_file() or folder.suffix.lower() in (".png", ".svg", ".pdf"):
        raise UsageError(f"{folder}: all plots need a folder; to write one plot, name the plot, such as {plots[0]}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: the folder cannot be created ({error.strerror})") from None
    return {plot: folder / f"{plot}.png" for plot in plots}

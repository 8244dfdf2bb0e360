"""The commands of ``punish-fast games``: bringing recorded games in, and what they say.

Nothing heavy is imported here.
"""

from pathlib import Path
from typing import Annotated

import typer

from punish_fast.cli.plain_options import JsonOption, OutputOption
from punish_fast.cli.startup import prepare_kernels

games = typer.Typer(
    name="games",
    help="Bring recorded games in, sum them up, draw them.",
    epilog="Examples: punish-fast games import saves.json --db games.db; punish-fast games summary --db games.db; "
    "punish-fast games plot win-rates --db games.db",
    invoke_without_command=True,
    rich_markup_mode=None,
)

DatabaseOption = Annotated[
    Path, typer.Option("--db", metavar="DB", envvar="PUNISH_FAST_DB", help="A database of recorded games.")
]
RulesOption = Annotated[
    str,
    typer.Option(
        "--rules", metavar="R", envvar="PUNISH_FAST_RULES", help="The rules that were played: a preset or a TOML file."
    ),
]
HumansOption = Annotated[
    bool, typer.Option("--humans-only", envvar="PUNISH_FAST_HUMANS_ONLY", help="Leave out games with bots.")
]
SinceOption = Annotated[
    int | None,
    typer.Option(metavar="GAME_ID", envvar="PUNISH_FAST_SINCE", help="Leave out games before this one (Unix seconds)."),
]
UntilOption = Annotated[
    int | None,
    typer.Option(metavar="GAME_ID", envvar="PUNISH_FAST_UNTIL", help="Leave out games after this one (Unix seconds)."),
]
PlayerOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", envvar="PUNISH_FAST_PLAYER", help="Leave out games without this player."),
]


@games.callback()
def _options(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@games.command(
    "import",
    epilog="Examples: punish-fast games import saves.json --db games.db; "
    "punish-fast games import one.json two.json --db games.db --strict --report remarks.json",
)
def import_(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Logs of the original game, in either layout.")
    ],
    database: DatabaseOption,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", envvar="PUNISH_FAST_STRICT", help="Reject every game with a fault, even if no breath is wrong."
        ),
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", envvar="PUNISH_FAST_REPORT", help="List every rejection and warning in this JSON file."
        ),
    ] = None,
    rules: RulesOption = "tabletop",
    as_json: JsonOption = False,
) -> None:
    """Check logs breath by breath and enter their games into a database, which is made if there is none.

    All of it happens at once or not at all. A game that is there already changes nothing.
    """
    prepare_kernels()
    from punish_fast.cli.records import run

    run.import_command(files, database, run.ImportOptions(rules, strict, report), as_json)


@games.command(
    epilog="Examples: punish-fast games summary --db games.db; "
    "punish-fast games summary --db games.db --humans-only --until 1668358800 --json"
)
def summary(
    database: DatabaseOption,
    humans_only: HumansOption = False,
    since: SinceOption = None,
    until: UntilOption = None,
    player: PlayerOption = None,
    rules: RulesOption = "tabletop",
    as_json: JsonOption = False,
) -> None:
    """Sum up recorded games: how many, how long, how much of the game they have seen, and who won."""
    prepare_kernels()
    from punish_fast.cli.records import run
    from punish_fast.records.choices import Selection

    run.summary_command(database, Selection(humans_only, since, until, player), rules, as_json)


@games.command(
    epilog="Examples: punish-fast games plot win-rates --db games.db -o rates.svg; "
    "punish-fast games plot over-time --db games.db --player Joe; punish-fast games plot --db games.db -o pictures"
)
def plot(
    database: DatabaseOption,
    kind: Annotated[
        str,
        typer.Argument(
            metavar="PLOT",
            help="durations, contributions, win-rates, games-win-rate, over-time or matchups; or all of them.",
        ),
    ] = "all",
    humans_only: HumansOption = False,
    since: SinceOption = None,
    until: UntilOption = None,
    player: PlayerOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            envvar="PUNISH_FAST_OUTPUT",
            help="A .png or .svg file; for all plots, a folder.  [default: PLOT.png, in this folder]",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Draw recorded games, as PNG or SVG."""
    prepare_kernels()
    from punish_fast.cli.records import run
    from punish_fast.records.choices import Selection

    run.plot_command(database, Selection(humans_only, since, until, player), kind, output, as_json)


@games.command(
    epilog="Examples: punish-fast games player Joe --db games.db --export -o joe.json; "
    "punish-fast games player Joe --db games.db --anonymise; punish-fast games player Joe --db games.db --delete"
)
def player(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The player.")],
    database: DatabaseOption,
    export: Annotated[
        bool, typer.Option("--export", envvar="PUNISH_FAST_EXPORT", help="Write all games of the player as a log.")
    ] = False,
    anonymise: Annotated[
        bool, typer.Option("--anonymise", envvar="PUNISH_FAST_ANONYMISE", help="Replace the name by a number.")
    ] = False,
    delete: Annotated[
        bool, typer.Option("--delete", envvar="PUNISH_FAST_DELETE", help="Delete the player and all games played.")
    ] = False,
    layout: Annotated[
        str,
        typer.Option(metavar="breaths|games", envvar="PUNISH_FAST_LAYOUT", help="One object per breath, or per game."),
    ] = "breaths",
    output: OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Hand out, anonymise or delete what a database holds of a player.

    An export goes to stdout unless there is a file to write. What is replaced or deleted is overwritten in the file.
    """
    prepare_kernels()
    from punish_fast.cli.records import run

    wanted = {"--export": export, "--anonymise": anonymise, "--delete": delete}
    run.player_command(name, database, wanted, run.ExportOptions(layout, output), as_json)

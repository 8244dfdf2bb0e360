"""The commands of ``punish-fast enemy``: making strategy files, and what they hold.

Nothing heavy is imported here. Further commands of the group stand in files of their own; they decorate with
``@enemy.command`` and are imported by ``app.py``.
"""

from pathlib import Path
from typing import Annotated

import typer

from punish_fast.cli.plain_options import JsonOption, OutputOption, RulesOption, TemperatureOption
from punish_fast.cli.startup import prepare_kernels

enemy = typer.Typer(
    name="enemy",
    help="Make enemies to solve against, and see how they play.",
    epilog="Examples: punish-fast enemy parless --db games.db --winners -o champion.h5; "
    "punish-fast enemy show champion.h5; punish-fast solve --enemy champion.h5",
    invoke_without_command=True,
    rich_markup_mode=None,
)

WinnersOption = Annotated[
    bool,
    typer.Option(
        "--winners", envvar="PUNISH_FAST_WINNERS", help="Learn only from the player who won each game (champion)."
    ),
]
DatabaseOption = Annotated[
    Path, typer.Option("--db", metavar="DB", envvar="PUNISH_FAST_DB", help="A database of recorded games.")
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
    typer.Option(metavar="NAME", envvar="PUNISH_FAST_PLAYER", help="Learn only from the choices of this player."),
]


@enemy.callback()
def _options(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@enemy.command(
    epilog="Examples: punish-fast enemy parless --db games.db -o general.h5; "
    "punish-fast enemy parless --db games.db --winners --until 1668358800 -o champion.h5"
)
def parless(
    database: DatabaseOption,
    winners: WinnersOption = False,
    since: SinceOption = None,
    until: UntilOption = None,
    player: PlayerOption = None,
    prior: Annotated[
        float,
        typer.Option(
            metavar="C", envvar="PUNISH_FAST_PRIOR", help="So many choices weigh as much as playing every action alike."
        ),
    ] = 3.0,
    rules: RulesOption = None,
    output: OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make the enemy PARLESS: what people chose in the states of recorded games, smoothed towards playing all alike.

    Only games between people count. By default written to general.h5, or to champion.h5 with --winners.
    """
    prepare_kernels()
    from punish_fast.cli.enemy import parless as command
    from punish_fast.cli.enemy.source import Source

    command.parless_command(Source(database, winners, since, until, player), prior, rules, output, as_json)


@enemy.command(epilog="Examples: punish-fast enemy show champion.h5; punish-fast enemy show naive.h5 --temperature 0.5")
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE.h5", help="A strategy, or an agent (its greedy policy).")],
    temperature: TemperatureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how an enemy plays: rules, states covered, and how undecided it is, breath by breath."""
    prepare_kernels()
    from punish_fast.cli.enemy import show

    show.describe_command(file, temperature, as_json)

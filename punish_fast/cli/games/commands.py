"""The commands of ``punish-fast tapnswap``.

Nothing heavy is imported here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from punish_fast.cli.plain_options import JsonOption, OutputOption, QuietOption
from punish_fast.cli.startup import prepare_kernels

tapnswap = typer.Typer(
    name="tapnswap",
    help="TapnSwap, a finger game: solve it, learn it, play it.",
    epilog="Examples: punish-fast tapnswap solve; punish-fast tapnswap show 3-1/2-4; punish-fast tapnswap play",
    invoke_without_command=True,
    rich_markup_mode=None,
)

LimitOption = Annotated[
    int, typer.Option("--limit", metavar="N", envvar="PUNISH_FAST_LIMIT", help="A hand with N fingers is dead.")
]
RollOption = Annotated[
    bool,
    typer.Option("--roll-over", envvar="PUNISH_FAST_ROLL_OVER", help="Count on from 0 beyond the limit."),
]
KeepOption = Annotated[
    bool, typer.Option("--no-emptying", envvar="PUNISH_FAST_NO_EMPTYING", help="Forbid swaps that empty a hand.")
]
TapsOption = Annotated[bool, typer.Option("--taps-only", envvar="PUNISH_FAST_TAPS_ONLY", help="Forbid all swaps.")]
GamesOption = Annotated[
    int, typer.Option("--games", metavar="N", envvar="PUNISH_FAST_GAMES", help="So many games in each session.")
]
SeedOption = Annotated[
    int, typer.Option("--seed", metavar="N", envvar="PUNISH_FAST_SEED", help="What everything random follows from.")
]
PlotOption = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", envvar="PUNISH_FAST_PLOT", help="Draw learning curves, as .png or .svg."),
]
ProcessesOption = Annotated[
    int | None,
    typer.Option(
        "--processes", metavar="N", envvar="PUNISH_FAST_PROCESSES", help="Processes to share work.  [default: all]"
    ),
]
FolderArgument = Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the agents are.")]


@tapnswap.callback()
def _options(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@tapnswap.command(
    epilog="Examples: punish-fast tapnswap solve; punish-fast tapnswap solve --roll-over; "
    "punish-fast tapnswap solve --limit 6 --no-emptying --json"
)
def solve(
    limit: LimitOption = 5,
    roll_over: RollOption = False,
    no_emptying: KeepOption = False,
    taps_only: TapsOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find out who wins, and how often random play is beaten."""
    prepare_kernels()
    from punish_fast.cli.games import solve

    solve.solve_command(solve.variant_of(limit, roll_over, no_emptying, taps_only), as_json)


@tapnswap.command(
    epilog="Examples: punish-fast tapnswap show 1-1/1-1; punish-fast tapnswap show 3-1/2-4 --roll-over --json"
)
def show(
    state: Annotated[
        str, typer.Argument(metavar="STATE", help="The hands of who is to move, then the opponent's: 3-1/2-4.")
    ],
    limit: LimitOption = 5,
    roll_over: RollOption = False,
    no_emptying: KeepOption = False,
    taps_only: TapsOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show what a position and its moves lead to, and the line of best play."""
    prepare_kernels()
    from punish_fast.cli.games import solve

    solve.show_command(state, solve.variant_of(limit, roll_over, no_emptying, taps_only), as_json)


@tapnswap.command(
    epilog="Examples: punish-fast tapnswap train; punish-fast tapnswap train --against random,self --games 50000 "
    "-o mine.h5; punish-fast tapnswap train --from mine.h5 --against self -o better.h5; "
    "punish-fast tapnswap train --scheme author --epsilon 0.2 --plot curve.png"
)
def train(  # noqa: PLR0913, PLR0917 - every option of the command is a parameter
    against: Annotated[
        str,
        typer.Option(
            metavar="OPPONENT,...", envvar="PUNISH_FAST_AGAINST", help="random and self, one session after the other."
        ),
    ] = "self",
    games: GamesOption = 200_000,
    scheme: Annotated[
        str | None,
        typer.Option(
            metavar="negamax|author",
            envvar="PUNISH_FAST_SCHEME",
            help="Learn what legal moves lead to, or as the game's author did.  [default: negamax]",
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(metavar="E", envvar="PUNISH_FAST_EPSILON", help="Share of moves at random.  [default: 0.5]"),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="R|visits",
            envvar="PUNISH_FAST_RATE",
            help="Learning rate, or one over the visits of a move.  [default: 1 for negamax, visits for author]",
        ),
    ] = None,
    discount: Annotated[
        float | None,
        typer.Option(
            metavar="G",
            envvar="PUNISH_FAST_DISCOUNT",
            help="What a move later is worth.  [default: 0.95 for negamax, 1 for author]",
        ),
    ] = None,
    seed: SeedOption = 0,
    former: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE.h5", envvar="PUNISH_FAST_FROM", help="Train this agent on."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", envvar="PUNISH_FAST_RESUME", help="Go on with the unfinished sessions in the output."),
    ] = False,
    play_every: Annotated[
        int | None,
        typer.Option(metavar="N", envvar="PUNISH_FAST_PLAY_EVERY", help="Play a game against the agent every N games."),
    ] = None,
    plot: PlotOption = None,
    limit: LimitOption = 5,
    roll_over: RollOption = False,
    no_emptying: KeepOption = False,
    taps_only: TapsOption = False,
    output: OutputOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Let an agent learn by playing, and measure it on the way.

    By default written to tapnswap.h5. The file is kept up to date while the agent learns.
    """
    prepare_kernels()
    from punish_fast.cli.games import solve, train

    variant = solve.variant_of(limit, roll_over, no_emptying, taps_only)
    lesson = train.Lesson(against, games, scheme, epsilon, rate, discount, seed, former, resume, play_every, plot)
    train.train_command(variant, lesson, output, as_json, quiet)


@tapnswap.command(
    epilog="Examples: punish-fast tapnswap grid agents; "
    "punish-fast tapnswap grid agents --schemes negamax,author --epsilons 0.1,0.5 --against random,self,random-self "
    "--games 50000 --plot curves.png"
)
def grid(  # noqa: PLR0913, PLR0917
    folder: FolderArgument,
    schemes: Annotated[
        str, typer.Option(metavar="NAME,...", envvar="PUNISH_FAST_SCHEMES", help="negamax, author, or both.")
    ] = "negamax",
    epsilons: Annotated[
        str, typer.Option(metavar="E,...", envvar="PUNISH_FAST_EPSILONS", help="Shares of moves at random.")
    ] = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1",
    against: Annotated[
        str,
        typer.Option(
            metavar="NAMES,...", envvar="PUNISH_FAST_AGAINST", help="Opponents; a hyphen joins those of one agent."
        ),
    ] = "random,self,random-self,self-random",
    games: GamesOption = 20_000,
    seed: SeedOption = 0,
    processes: ProcessesOption = None,
    plot: PlotOption = None,
    limit: LimitOption = 5,
    roll_over: RollOption = False,
    no_emptying: KeepOption = False,
    taps_only: TapsOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Train an agent for every way to learn, in a folder. The same command goes on with what is missing there."""
    prepare_kernels()
    from punish_fast.cli.games import league, solve

    variant = solve.variant_of(limit, roll_over, no_emptying, taps_only)
    wanted = league.Grid(schemes, epsilons, against, games, seed)
    league.grid_command(folder, variant, wanted, league.Setting(processes, plot, as_json, quiet))


@tapnswap.command(
    epilog="Examples: punish-fast tapnswap tournament agents; punish-fast tapnswap tournament agents --json"
)
def tournament(
    folder: FolderArgument,
    processes: ProcessesOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Let the agents of the last round meet, and rank them.

    Every one meets every other one, in both seats. What comes of it is worked out, not played.
    """
    prepare_kernels()
    from punish_fast.cli.games import league

    league.tournament_command(folder, league.Setting(processes, None, as_json, quiet))


@tapnswap.command(
    epilog="Examples: punish-fast tapnswap retrain agents; "
    "punish-fast tapnswap retrain agents --best 0.9 --against same,other --games 50000 --plot curves.png"
)
def retrain(
    folder: FolderArgument,
    best: Annotated[
        float,
        typer.Option(
            metavar="S", envvar="PUNISH_FAST_BEST", help="Keep agents with this share of the top score; 0 keeps all."
        ),
    ] = 0.9,
    against: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            envvar="PUNISH_FAST_AGAINST",
            help="same, other (than met last), random or self; more than one trains an agent in several ways.",
        ),
    ] = "same",
    games: GamesOption = 20_000,
    processes: ProcessesOption = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Train the best agents of a tournament on. One that would lose to its former self stays as it was.

    The same command goes on with what is missing; after a tournament, it begins the next round.
    """
    prepare_kernels()
    from punish_fast.cli.games import league

    wanted = league.Retraining(best, against, games)
    league.retrain_command(folder, wanted, league.Setting(processes, plot, as_json, quiet))


@tapnswap.command(
    epilog="Examples: punish-fast tapnswap play; punish-fast tapnswap play --level perfect --second; "
    "punish-fast tapnswap play --level trained --agent mine.h5; punish-fast tapnswap play --players 2"
)
def play(
    level: Annotated[
        str,
        typer.Option(metavar="random|trained|perfect", envvar="PUNISH_FAST_LEVEL", help="How the other side plays."),
    ] = "trained",
    agent: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.h5",
            envvar="PUNISH_FAST_AGENT",
            help="The trained agent.  [default: one that is trained in a second]",
        ),
    ] = None,
    players: Annotated[
        int, typer.Option(metavar="1|2", envvar="PUNISH_FAST_PLAYERS", help="How many people play.")
    ] = 1,
    second: Annotated[
        bool, typer.Option("--second", envvar="PUNISH_FAST_SECOND", help="Let the other side begin.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", envvar="PUNISH_FAST_SEED", help="That of random play.  [default: a random one]"),
    ] = None,
    limit: LimitOption = 5,
    roll_over: RollOption = False,
    no_emptying: KeepOption = False,
    taps_only: TapsOption = False,
    as_json: JsonOption = False,
) -> None:
    """Play on the terminal, with the machine or with each other.

    With --json, the board goes to stderr.
    """
    prepare_kernels()
    from punish_fast.cli.games import play, solve

    variant = solve.variant_of(limit, roll_over, no_emptying, taps_only)
    play.play_command(variant, play.Wish(level, agent, players, second, seed), as_json)

"""The ``punish-fast`` command: its verbs and their options.

Nothing heavy is imported here, so that ``--help`` answers at once; every verb imports what it needs. For the same
reason annotations are no strings, here and wherever else commands are defined: Typer would compile each of them twice.
"""

from pathlib import Path
from typing import Annotated

import typer

from punish_fast.cli.agents import agents
from punish_fast.cli.build import build
from punish_fast.cli.compare import compare
from punish_fast.cli.doctor import doctor
from punish_fast.cli.enemy.group import enemy
from punish_fast.cli.errors import guarded
from punish_fast.cli.export import export
from punish_fast.cli.games.group import games
from punish_fast.cli.import_ import import_
from punish_fast.cli.openings import openings
from punish_fast.cli.options import add_verb, family, print_help
from punish_fast.cli.plain_options import (
    ArenaRulesOption,
    ArenaTemperatureOption,
    JsonOption,
    OutputOption,
    QuietOption,
    ThreadsOption,
)
from punish_fast.cli.records.group import records
from punish_fast.cli.report import Progress
from punish_fast.cli.show import show
from punish_fast.cli.solve import solve
from punish_fast.cli.warmup import warmup
from punish_fast.runtime.compilation import announce_to
from punish_fast.runtime.version import __version__

app = family(
    "punish-fast",
    "Solve the card duel Punish: every state, every transition, every value.",
    "punish-fast solve",
    "punish-fast show naive.h5",
    "punish-fast show naive.h5 102012300350000300",
)
for added in (agents, doctor, warmup):
    add_verb(app, added, "This installation")
for added in (solve, build, show, compare, export, import_):
    add_verb(app, added, "One-player model")
add_verb(app, openings, "Lessons")
app.add_typer(records)
app.add_typer(enemy)
app.add_typer(games)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"punish-fast {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    print_help(context)


@app.command("help")
def _help(verbs: Annotated[list[str] | None, typer.Argument(metavar="VERB...", help="The verb.")] = None) -> None:
    """Show the help of a verb: punish-fast help enemy parless."""
    app(args=[*(verbs or []), "--help"], prog_name="punish-fast", standalone_mode=False)


@app.command(
    epilog="Examples: punish-fast lessons equilibrium.h5; punish-fast lessons equilibrium.h5 --people games.db"
)
def lessons(
    file: Annotated[Path, typer.Argument(metavar="FILE.h5", help="An agent or a strategy for both sides.")],
    people: Annotated[
        Path | None,
        typer.Option(
            metavar="DB", envvar="PUNISH_FAST_PEOPLE", help="Show where people play otherwise, and what it costs."
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the lessons, as a .png or .svg file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what an agent or a strategy teaches: what HP, hands and kept cards are worth, and how often to play what."""
    from punish_fast.cli import lessons as lessons_verb

    lessons_verb.lessons_command(file, None, lessons_verb.Wanted(plot, people), as_json)


@app.command(
    epilog="Examples: punish-fast arena random naive careful; "
    "punish-fast arena naive.h5 naive.h5@0.2 random --games 100000 --seed 1 --resume arena.json; "
    "punish-fast arena one.h5 two.h5 --json --plot arena.png"
)
def arena(  # noqa: PLR0913, PLR0917 - every option of the command is a parameter
    agents: Annotated[
        list[str],
        typer.Argument(
            metavar="AGENT...",
            help="random, naive, careful, aggressive, punisher, or an agent or strategy file; "
            "with @T, an agent plays by softmax at the temperature T.",
        ),
    ],
    exact: Annotated[
        bool, typer.Option("--exact", envvar="PUNISH_FAST_EXACT", help="Exact chances, without any games.  [default]")
    ] = False,
    games: Annotated[
        int | None, typer.Option(metavar="N", envvar="PUNISH_FAST_GAMES", help="Let every pair play so many games.")
    ] = None,
    temperature: ArenaTemperatureOption = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="S", envvar="PUNISH_FAST_SEED", help="The seed of the games.  [default: a random one]"),
    ] = None,
    rules: ArenaRulesOption = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            envvar="PUNISH_FAST_RESUME",
            help="Go on with the matches in this file, and keep all matches there.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", envvar="PUNISH_FAST_PLOT", help="Draw who beats whom, as a .png or .svg file."),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="DB", envvar="PUNISH_FAST_RECORD", help="Enter all games into this database of recorded games."
        ),
    ] = None,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Let agents meet in the real game, every one every other one, and rank them."""
    from punish_fast.cli import arena

    setting = arena.Setting(rules, temperature, threads, quiet)
    arena.arena_command(agents, setting, arena.Season(exact, games, seed, resume, plot, record), as_json)


@app.command(epilog="Examples: punish-fast exploit naive.h5; punish-fast exploit naive.h5 --temperature 0.2 --json")
def exploit(
    agent: Annotated[
        str,
        typer.Argument(metavar="AGENT.h5", help="An agent or strategy file, or one of the names that arena knows."),
    ],
    temperature: ArenaTemperatureOption = None,
    rules: ArenaRulesOption = None,
    exploiter: Annotated[
        list[str] | None,
        typer.Option(
            metavar="E",
            envvar="PUNISH_FAST_EXPLOITER",
            help="Only this one; may stand more than once: uniform, true (it reckons with what hands are likely), "
            "memory (it also remembers who played what) or bayes (it forgets nothing; sampled).",
        ),
    ] = None,
    ceiling: Annotated[
        bool,
        typer.Option("--ceiling", envvar="PUNISH_FAST_CEILING", help="Also what nobody wins more often than."),
    ] = False,
    stray: Annotated[
        float,
        typer.Option(
            metavar="W",
            envvar="PUNISH_FAST_STRAY",
            help="How much its own moves that an exploiter would not make count in what hands it takes for likely; "
            "with 1 it leaves all of them out, as if it forgot nothing.",
        ),
    ] = 0.01,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="S", envvar="PUNISH_FAST_SEED", help="The seed of sampled games.  [default: a random one]"
        ),
    ] = None,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Find out how often an agent is beaten by whoever knows it: agents are made to beat just that one."""
    from punish_fast.cli import arena, exploit

    setting = arena.Setting(rules, temperature, threads, quiet)
    exploit.exploit_command(agent, setting, exploit.Wanted(exploiter or [], seed, ceiling, stray), as_json)


@app.command(
    epilog="Examples: punish-fast equilibrium; punish-fast equilibrium --information memory --time 1500 --resume run.h5"
)
def equilibrium(  # noqa: PLR0913, PLR0917 - every option of the command is a parameter
    rules: Annotated[
        str | None,
        typer.Option(
            metavar="R",
            envvar="PUNISH_FAST_RULES",
            help="A preset or a TOML file; the redeal is always the true one.  [default: tabletop]",
        ),
    ] = None,
    information: Annotated[
        str,
        typer.Option(
            metavar="I",
            envvar="PUNISH_FAST_INFORMATION",
            help="Information model: view (the discard pile) or memory (who played what).",
        ),
    ] = "view",
    iterations: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            envvar="PUNISH_FAST_ITERATIONS",
            help="Stop after so many iterations.  [default: 80, if there is no other goal]",
        ),
    ] = None,
    target: Annotated[
        float | None,
        typer.Option(
            metavar="E",
            envvar="PUNISH_FAST_TARGET",
            help="Stop when at most so many percentage points are conceded to who knows the strategy.",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--time", metavar="T", envvar="PUNISH_FAST_TIME", help="Stop learning after so many seconds."),
    ] = None,
    answers: Annotated[
        float | None,
        typer.Option(
            metavar="H",
            envvar="PUNISH_FAST_ANSWERS",
            help="The share of games against an answer to the strategy; the others are against itself.  "
            "[default: 0.9, or 0.8 if it remembers more than the view]",
        ),
    ] = None,
    output: OutputOption = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.h5",
            envvar="PUNISH_FAST_RESUME",
            help="Go on with what was learned in this file, and keep it there every minute.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", envvar="PUNISH_FAST_DRY_RUN", help="Only say how much memory it takes.")
    ] = False,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Learn to play so that nobody has much to gain against it, and measure how much that is."""
    from punish_fast.cli import equilibrium

    setting = equilibrium.Setting(rules, information, answers, output, resume, dry_run, threads, quiet)
    equilibrium.equilibrium_command(setting, equilibrium.Goal(iterations, target, seconds), as_json)


def run(arguments: list[str] | None = None) -> int:
    """Run a command line; return its exit code (0 done, 1 failed, 2 wrong usage or input, 130 interrupted)."""
    announce_to(Progress().compiling)
    return guarded(lambda: app(args=arguments, prog_name="punish-fast", standalone_mode=False))

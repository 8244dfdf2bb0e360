"""The ``punish-fast`` command: assembles its verbs, one file each.

Nothing heavy is imported here, so that ``--help`` answers at once; every verb imports what it needs when it runs.
"""

from typing import Annotated, Any

import typer

from punish_fast.cli.agents import agents
from punish_fast.cli.arena import arena
from punish_fast.cli.balance import balance
from punish_fast.cli.build import build
from punish_fast.cli.compare import compare
from punish_fast.cli.doctor import doctor
from punish_fast.cli.enemy.group import enemy
from punish_fast.cli.equilibrium import equilibrium
from punish_fast.cli.errors import guarded
from punish_fast.cli.exploit import exploit
from punish_fast.cli.export import export
from punish_fast.cli.games.group import games
from punish_fast.cli.import_ import import_
from punish_fast.cli.lessons import lessons
from punish_fast.cli.openings import openings
from punish_fast.cli.options import Verb, add_verb, family, print_help
from punish_fast.cli.play import play
from punish_fast.cli.practice import practice
from punish_fast.cli.records.group import records
from punish_fast.cli.report import Progress
from punish_fast.cli.serve import serve
from punish_fast.cli.show import show
from punish_fast.cli.solve import solve
from punish_fast.cli.streams import must_have_output
from punish_fast.cli.sweep import sweep
from punish_fast.cli.warmup import warmup
from punish_fast.runtime.compile_progress import announce_to
from punish_fast.runtime.version import __version__

# Verbs, and families of verbs, as the help groups them.
_PANELS: dict[str, tuple[Verb | typer.Typer, ...]] = {
    "One-player model": (solve, build, show, compare, export, import_),
    "Real game between two": (arena, exploit, equilibrium),
    "Lessons": (openings, lessons),
    "House rules": (sweep, balance),
    "People and other games": (play, practice, serve, enemy, records, games),
    "Installation": (agents, doctor, warmup),
}

app = family(
    "punish-fast",
    "Solve the card duel Punish: every state, every transition, every value.",
    "punish-fast solve",
    "punish-fast show naive.h5",
    "punish-fast show naive.h5 --hand rrspp --discard ddd",
    panels=_PANELS,
)
for panel, members in _PANELS.items():
    for member in members:
        if isinstance(member, typer.Typer):
            app.add_typer(member, rich_help_panel=panel)
        else:
            add_verb(app, member, panel)


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


@app.command("help", rich_help_panel="Installation")
def _help(verbs: Annotated[list[str] | None, typer.Argument(metavar="VERB...", help="The verb.")] = None) -> None:
    """Show the help of a verb: punish-fast help enemy parless."""
    app(args=[*(verbs or []), "--help"], prog_name="punish-fast", standalone_mode=False)


def run(arguments: list[str] | None = None) -> int:
    """Run a command line; return its exit code.

    0 done, 1 failed, 2 wrong usage or input, 130 interrupted, 143 terminated.
    """
    announce_to(Progress().compiling)

    def call() -> Any:
        must_have_output()
        return app(args=arguments, prog_name="punish-fast", standalone_mode=False)

    return guarded(call)

"""The ``punish-fast`` command, whose subcommands (verbs) are defined in separate files.

A subcommand is imported on first use. Its heavy dependencies are imported when it runs. This keeps ``--help`` fast.
"""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from punish_fast.cli.frame.errors import guarded
from punish_fast.cli.frame.family import Command, family, print_help
from punish_fast.cli.frame.progress import Progress
from punish_fast.cli.frame.report import UsageError
from punish_fast.cli.frame.streams import must_have_output
from punish_fast.runtime import __version__
from punish_fast.runtime.compilation.compile_progress import announce_to
from punish_fast.runtime.errors import printable

# Modules of commands and command groups, by help heading.
_PANELS = {
    "Play": ("playing.play", "playing.hand", "playing.improve", "playing.practice", "playing.serve", "records"),
    "Lessons": ("strategies.openings", "strategies.lessons"),
    "House rules": ("house_rules.balance", "house_rules.survey"),
    "Two-player game": ("strategies.arena", "strategies.exploit", "strategies.equilibrium"),
    "One-player model": (
        *("solving.solve", "solving.build", "files.show", "files.compare", "files.export", "files.import_", "enemy"),
    ),
    "Other games": ("games",),
    "Installation": ("files.agents", "installation.doctor", "installation.warmup", "help"),
}

app = family(
    "punish-fast",
    "Play, study and solve the card game Punish.",
    "punish-fast play",
    "punish-fast hand rrspp",
    "punish-fast improve",
    "punish-fast solve",
    package=__package__,
    panels=_PANELS,
)


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


@app.command("help", cls=Command)
def _help(
    context: typer.Context,
    verbs: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND", help="Command to describe.  [default: list all commands]")
    ] = None,
) -> None:
    """Show help for a command, such as `punish-fast help enemy parless`."""
    command: Any = context.find_root().command
    for verb in verbs or []:
        if command is not None and not isinstance(command, TyperGroup):
            raise UsageError(f"help: {command.name} has no command {printable(verb)!r}")
        command = command and command.get_command(context, verb)
    app(args=[*(verbs or []), "--help"], prog_name="punish-fast", standalone_mode=False)


def run(arguments: list[str] | None = None) -> int:
    """Run a command line and return its exit code.

    Exit codes: 0 success, 1 failure, 2 invalid usage or input, 130 interrupted, 141 pipe closed by its reader (1 on
    Windows), 143 terminated.
    """
    announce_to(Progress().compiling)

    def call() -> Any:
        must_have_output()
        return app(args=arguments, prog_name="punish-fast", standalone_mode=False)

    return guarded(call)

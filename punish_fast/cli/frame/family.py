"""Families of verbs (command groups). Verbs are imported on first use. A family's help imports all of its verbs."""

from collections import UserDict
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from punish_fast.cli.frame.options import HelpContext, epilog_of, verb_name


def family(name: str, help: str, *examples: str, package: str, panels: Mapping[str, Sequence[str]]) -> typer.Typer:
    """Return a family of verbs that prints its help if called without a verb.

    Args:
        name: Name of the family.
        help: First sentence of the help.
        examples: Commands shown at the end of the help.
        package: Package that contains the modules of the verbs.
        panels: Modules of the verbs, by heading. Each module defines a verb or a family named like the module.
    """
    group = typer.Typer(
        name=name,
        cls=type("_Family", (_Group,), {"package": package, "panels": panels}),
        help=help,
        epilog=epilog_of(examples, {}),
        invoke_without_command=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    group.callback()(print_help)
    return group


def print_help(context: typer.Context) -> None:
    """Print the help of a family if it is called without a verb."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


class _Commands(UserDict[str, Any]):
    """Commands by name. Until a command is first used, its value is a function that imports it."""

    def __getitem__(self, name: str) -> Any:
        found = self.data[name]
        if isinstance(found, partial):
            self.data[name] = found = found()
        return found


class _Group(TyperGroup):
    context_class = HelpContext
    package = ""
    panels: Mapping[str, Sequence[str]] = {}

    def __init__(self, *, commands: dict[str, Any], **settings: Any) -> None:
        later = {
            _name(module): partial(self._command, module) for modules in self.panels.values() for module in modules
        }
        super().__init__(**settings)
        self.commands = _Commands(later | commands)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the names of the verbs without importing them."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        for heading, modules in self.panels.items():
            with formatter.section(heading):
                names = map(_name, modules)
                formatter.write_dl([(name, self.commands[name].get_short_help_str(200)) for name in names])

    def _command(self, module: str) -> Any:
        """Return the verb or family defined in a module, as a Typer command."""
        member = getattr(import_module(f"{self.package}.{module}"), module.rpartition(".")[2])
        return (typer.main.get_group if member.registered_callback else typer.main.get_command)(member)


def _name(module: str) -> str:
    return verb_name(module.rpartition(".")[2])

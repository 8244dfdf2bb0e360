"""Verbs (commands), their help, and families of verbs (command groups).

Verbs are imported on first use. The help of a family imports all of its verbs.
"""

import re
import textwrap
from collections import UserDict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from punish_fast.runtime.errors import PunishFastError

# Maximum width of a line of a command, excluding its indent of four columns and a backslash.
_WIDTH = 74
# Temporary replacements for characters, so that lines are not broken at them. Help texts do not contain them.
_HYPHEN, _SPACE = "\N{NON-BREAKING HYPHEN}", "\N{NO-BREAK SPACE}"


def verb_name(function: str) -> str:
    """Convert the name of a function or module to a verb: ``import_flux`` to ``import-flux``."""
    return function.rstrip("_").replace("_", "-")


def epilog_of(examples: Iterable[str], variables: Mapping[str, str | None]) -> str:
    """Return the end of a help text: examples and a note on environment variables."""
    # Click does not rewrap paragraphs that begin with \b.
    parts = ["\n".join(["\b", "Examples:", *(f"  {line}" for example in examples for line in folded(example))])]
    known = [(flag, variable) for flag, variable in variables.items() if variable is not None]
    if known:
        unknown = [flag for flag, variable in variables.items() if variable is None]
        flag, variable = known[0]
        but = f" except {' and '.join(', '.join(unknown).rsplit(', ', 1))}" if unknown else ""
        parts.append(f"Any option{but} can also be set by an environment variable, such as {variable} for {flag}.")
    return "\n\n".join(parts)


def folded(command: str) -> list[str]:
    """Split a long command into lines before its options. All lines but the last end with a backslash."""
    text = re.sub(" (?!-)", _SPACE, command)
    lines = textwrap.wrap(text, _WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return " \\\n".join(lines).replace(_SPACE, " ").splitlines()


def tidy_entry(names: str, help: str) -> tuple[str, str]:
    """Remove Python types of arguments and large ranges from an entry of a help text, and put other ranges in words."""
    help = re.sub(r"\s*\[\d<=x<=\d{10,}\]$", "", help)
    words = re.sub(r"(\d+)<=x<=(\d+)", r"\1 to \2", re.sub(r"x>=(\d+)", r"at least \1", help))
    return re.sub(r"^(\w\S*) <.*>$", r"\1", names), words


class _Formatter(typer.Context.formatter_class):  # type: ignore[misc,valid-type]
    """Formatter of help texts that does not break lines at hyphens."""

    def write_text(self, text: str) -> None:
        super().write_text(text.replace("-", _HYPHEN))

    def write_dl(self, rows: Iterable[tuple[str, str]], *sizes: int) -> None:
        entries = [tidy_entry(*row) for row in rows]
        super().write_dl([(names, help.replace("-", _HYPHEN)) for names, help in entries], *sizes)

    def getvalue(self) -> str:
        return str(super().getvalue()).replace(_HYPHEN, "-")


class HelpContext(typer.Context):
    """Context of commands and families, with their help formatter."""

    formatter_class = _Formatter


class Command(TyperCommand):
    """A command that names the option, not the field, in error messages."""

    context_class = HelpContext

    def invoke(self, ctx: Any) -> Any:
        """Run the verb. If an error message begins with the name of a field or option, replace it with the flag.

        A message that begins with a value of an option, such as a file called ``database``, is kept.
        """
        try:
            return super().invoke(ctx)
        except PunishFastError as error:
            field, colon, told = str(error).partition(":")
            for parameter in self.params:
                is_field = parameter.name == field or f"--{field}" in parameter.opts
                if colon and is_field and field not in map(str, ctx.params.values()):
                    error.args = (f"{parameter.opts[0]}:{told}",)
            raise


def family(name: str, help: str, *examples: str, package: str, panels: Mapping[str, Sequence[str]]) -> typer.Typer:
    """Return a family of verbs. Without a verb, the family prints its help.

    Args:
        name: Name of the family.
        help: First sentence of the help.
        examples: Commands shown at the end of the help.
        package: Package that contains the modules of the verbs.
        panels: Modules of the verbs, by heading. Each module defines a verb or a family with the name of the module.
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
    """Commands by name. The value of an unused command is a function that imports the command."""

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
        later = {_name(each): partial(self._command, each) for modules in self.panels.values() for each in modules}
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

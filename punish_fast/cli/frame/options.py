"""Declare options in one place: signature, help, environment variable, and value.

The options and arguments of a verb are the fields of one frozen dataclass. The help lists shared options, defined in
this file, last. The verb is a function of that dataclass::

    @dataclass(frozen=True, kw_only=True)
    class SolveOptions(ComputeOptions):                            # --threads, --quiet, --json
        tensor: Annotated[Path | None, argument("TENSOR.h5", "A tensor to solve.")] = None
        sweeps: Annotated[int | None, option("Make exactly this many sweeps.", metavar="N")] = None
        output: OutputOption = None                                # shared, from this file

    @verb("punish-fast solve", "punish-fast solve --sweeps 20")    # examples
    def solve(options: SolveOptions) -> None:
        '''Solve a game. (This is the help text.)'''

`add_verb` registers a verb with a family of verbs (`family`). A field ``no_tensor`` is set by the flag ``--no-tensor``
and the variable ``PUNISH_FAST_NO_TENSOR``, unless it ``writes``: an option that names an output or destroys something
is never read from the environment. Nothing heavy is imported here.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from punish_fast.cli.frame.errors import UsageError, clear_progress
from punish_fast.cli.frame.progress import Progress
from punish_fast.cli.frame.report import plain, print_json, print_report, printable_report
from punish_fast.punish.rules import PRESETS
from punish_fast.runtime.compile_progress import announce_to
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.printable import printable

O = TypeVar("O")  # noqa: E741 - the options of a verb

Complete = Callable[[str], Iterable[str]]

_MOST_THREADS = 4096
# Maximum width of an example, excluding its indent of four columns.
_EXAMPLE = 76
# Stage of the running verb.
_working = ExitStack()


@dataclass(frozen=True)
class Declaration:
    """An option whose flag and environment variable are derived from the name of its field."""

    help: str
    flags: tuple[str, ...]
    writes: bool
    settings: dict[str, Any]

    def flags_of(self, field: str) -> tuple[str, ...]:
        """Return the flags, the long one first."""
        return self.flags if self.flags[:1] and self.flags[0].startswith("--") else (_flag(field), *self.flags)

    def variable_of(self, field: str) -> str | None:
        """Return the environment variable, or None if the option ``writes``."""
        return None if self.writes else environment_variable(self.flags_of(field)[0])

    def for_typer(self, field: str) -> Any:
        """Return the option as a Typer option."""
        variable = self.variable_of(field)
        return typer.Option(*self.flags_of(field), help=self.help, envvar=variable, show_envvar=False, **self.settings)


def environment_variable(flag: str) -> str:
    """Return the environment variable of a flag: ``PUNISH_FAST_NO_TENSOR`` for ``--no-tensor``."""
    return "PUNISH_FAST_" + flag.partition("/")[0].removeprefix("--").replace("-", "_").upper()


def option(help: str, *flags: str, writes: bool = False, complete: Complete | None = None, **settings: Any) -> Any:
    """Declare an option.

    Args:
        help: Help text; if the default is not the field's, it ends with ``[default: all]`` or similar.
        flags: ``-q`` for a short flag, ``--from`` for a flag that is not the field's name.
        writes: True if the option names an output or deletes something; it then has no environment variable.
        complete: Shell completion of a value.
        settings: Further arguments of ``typer.Option``: ``metavar``, ``min``, ``max``.
    """
    return Declaration(help, flags, writes, settings | {"autocompletion": complete})


def argument(metavar: str, help: str, complete: Complete | None = None) -> Any:
    """Declare an argument, a field without a flag."""
    return typer.Argument(metavar=metavar, help=help, autocompletion=complete)


@dataclass(frozen=True)
class Verb:
    """A verb that `add_verb` can register."""

    call: Callable[..., None]
    name: str
    epilog: str


def verb(*examples: str, stage: str | None = None) -> Callable[[Callable[[O], None]], Verb]:
    """Turn a function of an options dataclass into a verb; its help ends with ``examples``, one per line.

    If the verb reports no progress of its own, ``stage`` is shown until it prints.
    """

    def declare(function: Callable[[O], None]) -> Verb:
        options_class = next(iter(get_type_hints(function).values()))
        parameters, variables = _parameters(options_class)

        def call(**values: Any) -> None:
            options = options_class(**values)
            _prepare(options)
            with _working:
                if stage is not None:
                    _working.enter_context(Progress(options.quiet).stage(stage))
                function(options)

        call.__doc__ = function.__doc__
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return Verb(call, verb_name(function.__name__), epilog_of(examples, variables))

    return declare


def verb_name(function: str) -> str:
    """Return the name of the verb for a function or module: ``import-flux`` for ``import_flux``."""
    return function.rstrip("_").replace("_", "-")


def add_verb(group: typer.Typer, added: Verb, panel: str | None = None) -> None:
    """Register a verb with a family, listed under the heading ``panel``."""
    group.command(added.name, cls=_Command, epilog=added.epilog, rich_help_panel=panel)(added.call)


def epilog_of(examples: Iterable[str], variables: dict[str, str | None]) -> str:
    """Return the end of a help text: examples, and a note on environment variables."""
    # Click does not rewrap paragraphs that begin with \b.
    parts = ["\n".join(["\b", "Examples:", *(f"  {line}" for example in examples for line in _folded(example))])]
    known = [(flag, variable) for flag, variable in variables.items() if variable is not None]
    if known:
        unknown = [flag for flag, variable in variables.items() if variable is None]
        flag, variable = known[0]
        but = f" except {', '.join(unknown)}" if unknown else ""
        parts.append(f"Set any option{but} by an environment variable: {variable} for {flag}.")
    return "\n\n".join(parts)


def _folded(example: str) -> list[str]:
    """Break a command before options into lines joined by backslashes."""
    first, *options = re.split(r" (?=-)", example)
    lines = [first]
    for option in options:
        if len(lines[-1]) + len(option) + 3 <= _EXAMPLE:
            lines[-1] += f" {option}"
        else:
            lines[-1] += " \\"
            lines.append(f"    {option}")
    return lines


def _flag(field: str) -> str:
    return "--" + field.replace("_", "-")


def _parameters(options_class: type) -> tuple[list[inspect.Parameter], dict[str, str | None]]:
    """Return the parameters of a command, and the environment variable of each flag."""
    hints = get_type_hints(options_class, include_extras=True)
    parameters, variables = [], {}
    for field in _in_order(options_class):
        kind, told = get_args(hints[field.name])
        if isinstance(told, Declaration):
            variables[told.flags_of(field.name)[0]] = told.variable_of(field.name)
            told = told.for_typer(field.name)
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        parameters.append(
            inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, told]
            )
        )
    return parameters, variables


def _in_order(options_class: Any) -> list[Any]:
    """Return the fields: inherited ones first, shared options of this file last."""
    depth: dict[str, tuple[bool, int]] = {}
    for number, each in enumerate(options_class.__mro__):
        if is_dataclass(each):
            depth |= {field.name: (each.__module__ == __name__, number) for field in fields(each)}

    def place(field: Any) -> tuple[bool, int]:
        is_shared, number = depth[field.name]
        return is_shared, number if is_shared else -number

    return sorted(fields(options_class), key=place)


def _prepare(options: Any) -> None:
    if getattr(options, "quiet", False):
        announce_to(None)
    check_thread_limit(os.environ.get("NUMBA_NUM_THREADS"))
    if getattr(options, "threads", None) is not None:
        from punish_fast.runtime._jit import set_threads

        set_threads(options.threads)


def check_thread_limit(text: str | None) -> None:
    """Check ``NUMBA_NUM_THREADS`` before Numba reads it."""
    if text is not None and not (re.fullmatch("[0-9]{1,4}", text) and 1 <= int(text) <= _MOST_THREADS):
        raise UsageError(
            f"NUMBA_NUM_THREADS is {printable(text)!r}, allowed are whole numbers from 1 to {_MOST_THREADS}"
        )


class _Command(TyperCommand):
    def invoke(self, ctx: Any) -> Any:
        """Run the verb; if an error begins with the name of a field, replace it by the flag."""
        try:
            return super().invoke(ctx)
        except PunishFastError as error:
            field, colon, told = str(error).partition(":")
            flag = _flag(field)
            if colon and any(flag in parameter.opts for parameter in self.params):
                error.args = (f"{flag}:{told}",)
            raise


# Options shared by several verbs.


def complete_rules(incomplete: str) -> list[str]:
    """Complete the names of presets and of TOML files in the current folder."""
    return _complete(incomplete, PRESETS, "toml")


def complete_agents(incomplete: str) -> list[str]:
    """Complete the names of built-in agents and of HDF5 files in the current folder."""
    from punish_fast.arena.descriptions import DESCRIPTIONS

    return _complete(incomplete, DESCRIPTIONS, "h5")


def _complete(incomplete: str, names: Iterable[str], suffix: str) -> list[str]:
    files = sorted(str(path) for path in Path().glob(f"*.{suffix}"))
    return [name for name in (*names, *files) if name.startswith(incomplete)]


def _rules(text: str) -> str:
    if not text:
        raise typer.BadParameter("must not be empty")
    return text


def _rules_option(help: str) -> Any:
    return option(help, metavar="RULES", complete=complete_rules, parser=_rules)


RulesOption = Annotated[
    str | None,
    _rules_option(
        "notebook, tabletop, tiny, or a TOML file that names what differs from notebook.  [default: notebook]"
    ),
]


def game_rules_option(default: str) -> Any:
    """Declare ``--rules`` for the real game; ``default`` is shown at the end of the help."""
    return _rules_option(f"A preset or a TOML file; the redeal is always the true one.  [default: {default}]")


GameRulesOption = Annotated[str | None, game_rules_option("the agent's rules, or tabletop")]
LineupRulesOption = Annotated[str | None, game_rules_option("the first file's rules, or tabletop")]


TemperatureOption = Annotated[
    float | None,
    option(
        "Softmax temperature of the agent, instead of greedy play, in the unit of values: 0.05 is five "
        "percentage points of win probability.",
        metavar="T",
    ),
]
SeedOption = Annotated[
    int | None, option("Random seed.  [default: a random one]", metavar="N", min=0, max=(1 << 64) - 1)
]
FixedSeedOption = Annotated[int, option("Random seed.", metavar="N")]
OutputOption = Annotated[Path | None, option("The file to write.", "-o", metavar="FILE", writes=True)]
PlotOption = Annotated[Path | None, option("Draw a plot, as a .png or .svg file.", metavar="FILE", writes=True)]
DatabaseOption = Annotated[Path, option("A database of recorded games.", "--db", metavar="DB")]


@dataclass(frozen=True, kw_only=True)
class CommonOptions:
    """Options of all verbs."""

    quiet: Annotated[bool, option("Print no progress.", "--quiet", "-q")] = False
    as_json: Annotated[bool, option("Print one JSON object instead of text.", "--json")] = False

    def print(self, report: Any, as_text: Callable[[dict[str, Any]], None] = print_report) -> None:
        """Print a report, an object or a dataclass, as JSON if requested, otherwise by ``as_text``."""
        _working.close()
        clear_progress()
        if self.as_json:
            print_json(report)
        else:
            as_text(printable_report(plain(report)))


@dataclass(frozen=True, kw_only=True)
class ComputeOptions(CommonOptions):
    """Options of all verbs that compute."""

    threads: Annotated[int | None, option("Threads to compute with.  [default: all]", metavar="N")] = None

"""Options, each written once: its signature, its help, its environment variable, and the value that goes on.

The options and arguments of a verb are the fields of one frozen dataclass; those of this file come last in the help.
The verb is a function of that dataclass::

    @dataclass(frozen=True, kw_only=True)
    class SolveOptions(ComputeOptions):                            # --threads, --quiet, --json
        tensor: Annotated[Path | None, argument("TENSOR.h5", "A tensor to solve.")] = None
        sweeps: Annotated[int | None, option("Make exactly this many sweeps.", metavar="N")] = None
        output: OutputOption = None                                # shared, from this file

    @verb("punish-fast solve", "punish-fast solve --sweeps 20")    # examples
    def solve(options: SolveOptions) -> None:
        '''Solve a game. (This is the help text.)'''

`add_verb` registers it with a family of verbs (`family`). A field ``no_tensor`` is the flag ``--no-tensor`` and the
variable ``PUNISH_FAST_NO_TENSOR``, unless it ``writes``: an option that names an output or destroys something is never
taken from the environment. Values of a ``Literal`` are checked and completed. Nothing heavy is imported here.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperOption

from punish_fast.cli.errors import UsageError
from punish_fast.cli.help import HelpLayout, epilog_of
from punish_fast.cli.report import Progress, clear_progress, print_json, printable_report
from punish_fast.runtime.compile_progress import announce_to
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.printable import printable

O = TypeVar("O")  # noqa: E741 - the options of a verb

Complete = Callable[[str], Iterable[str]]

_MOST_THREADS = 4096
# Options and arguments that name files, which must not be empty: as a path, this would be the current folder.
_paths = {"rules"}
# Texts of a variable that switch a flag on or off; empty as if it were not set.
_TRUTHS = {"", "0", "1", "f", "t", "n", "y", "false", "true", "no", "yes", "off", "on"}
# The stage of the verb that runs.
_working = ExitStack()


@dataclass(frozen=True)
class Declaration:
    """An option before its flag and its environment variable are derived from the name of its field."""

    help: str
    flags: tuple[str, ...]
    writes: bool
    settings: dict[str, Any]

    def flags_of(self, field: str) -> tuple[str, ...]:
        """The flags, the long one first."""
        return self.flags if self.flags[:1] and self.flags[0].startswith("--") else (_flag(field), *self.flags)

    def variable_of(self, field: str) -> str | None:
        """The environment variable."""
        return None if self.writes else environment_variable(self.flags_of(field)[0])

    def for_typer(self, field: str, kind: Any) -> Any:
        """The option as Typer takes it."""
        choices = _choices(kind)
        settings = ({"metavar": "|".join(choices)} if choices else {}) | self.settings
        bounds = settings.pop("min", None), settings.pop("max", None)
        if bounds != (None, None):
            settings["callback"] = _within(*bounds)
        for number in (int, float):
            if kind is number or kind == number | None:
                settings["parser"] = _number(number)
        return typer.Option(*self.flags_of(field), help=self.help, envvar=self.variable_of(field), **settings)


def _within(low: int | None, high: int | None) -> Callable[[Any], Any]:
    """A check of a range that names the value, as newer versions of Typer do not."""
    ends = (f"from {low}" if low is not None else "", f"to {high}" if high is not None else "")
    allowed = " ".join(end for end in ends if end)

    def check(value: Any) -> Any:
        if value is not None and ((low is not None and value < low) or (high is not None and value > high)):
            raise typer.BadParameter(f"{value} is not allowed, it must be {allowed}")
        return value

    return check


def _number(kind: type[int] | type[float]) -> Callable[[Any], Any]:
    """A parser of numbers that names the value, as newer versions of Typer do not."""

    def parse(text: Any) -> Any:
        try:
            return kind(str(text).encode("ascii"))
        except ValueError:
            wanted = "a whole number" if kind is int else "a number"
            raise typer.BadParameter(f"{printable(str(text))!r} is not {wanted}") from None

    return parse


def environment_variable(flag: str) -> str:
    """The environment variable of a flag: ``PUNISH_FAST_NO_TENSOR`` for ``--no-tensor``."""
    return "PUNISH_FAST_" + flag.partition("/")[0].removeprefix("--").replace("-", "_").upper()


def option(help: str, *flags: str, writes: bool = False, complete: Complete | None = None, **settings: Any) -> Any:
    """Declare an option.

    Args:
        help: What it does; a default that is not the field's own as ``[default: all]`` at the end.
        flags: ``-q`` for a short flag, ``--from`` for a flag that is not the field's name.
        writes: It names an output, or replaces or deletes something: no environment variable.
        complete: What completes a value in a shell.
        settings: Further ones of ``typer.Option``: ``metavar``, ``min``, ``max``.
    """
    return Declaration(help, flags, writes, settings | {"autocompletion": complete})


def argument(metavar: str, help: str, complete: Complete | None = None) -> Any:
    """Declare an argument, a field without a flag."""
    return typer.Argument(metavar=metavar, help=help, autocompletion=complete)


@dataclass(frozen=True)
class Verb:
    """A verb as `add_verb` registers it."""

    call: Callable[..., None]
    name: str
    epilog: str


def verb(*examples: str, stage: str | None = None) -> Callable[[Callable[[O], None]], Verb]:
    """Turn a function of an options dataclass into a verb; ``examples`` end its help, one on each line.

    A verb without progress of its own has a sign of life, the name of its one ``stage``, until it prints.
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
    """The name of a verb, from that of its function or module: ``import-flux`` for ``import_flux``."""
    return function.rstrip("_").replace("_", "-")


def add_verb(group: typer.Typer, added: Verb, panel: str | None = None) -> None:
    """Register a verb with a family; ``panel`` is the heading it is listed under."""
    group.command(added.name, cls=_Command, epilog=added.epilog, rich_help_panel=panel)(added.call)


def _flag(field: str) -> str:
    return "--" + field.replace("_", "-")


def _choices(kind: Any) -> list[str]:
    """The values of ``Literal[...]`` or ``Literal[...] | None``."""
    kinds = (kind, *get_args(kind)) if get_origin(kind) is not Literal else (kind,)
    return [str(value) for each in kinds if get_origin(each) is Literal for value in get_args(each)]


def _parameters(options_class: type) -> tuple[list[inspect.Parameter], dict[str, str | None]]:
    """The parameters of a command, and the environment variable of each flag."""
    hints = get_type_hints(options_class, include_extras=True)
    parameters, variables = [], {}
    for field in _in_order(options_class):
        kind, told = get_args(hints[field.name])
        if "Path" in str(kind):
            _paths.add(field.name)
        if isinstance(told, Declaration):
            variables[told.flags_of(field.name)[0]] = told.variable_of(field.name)
            told = told.for_typer(field.name, kind)
        elif kind in (int, int | None):
            told.parser = _number(int)
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        parameters.append(
            inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, told]
            )
        )
    return parameters, variables


def _in_order(options_class: Any) -> list[Any]:
    """The fields: inherited ones first, but those of this file last."""
    depth: dict[str, tuple[bool, int]] = {}
    for number, each in enumerate(options_class.__mro__):
        if is_dataclass(each):
            depth |= {field.name: (each.__module__ == __name__, number) for field in fields(each)}

    def place(field: Any) -> tuple[bool, int]:
        is_shared, number = depth[field.name]
        return is_shared, number if is_shared else -number

    return sorted(fields(options_class), key=place)


def _prepare(options: Any) -> None:
    """Apply the options that every verb treats alike."""
    if getattr(options, "quiet", False):
        announce_to(None)
    check_thread_limit(os.environ.get("NUMBA_NUM_THREADS"))
    if getattr(options, "threads", None) is not None:
        from punish_fast.runtime._jit import set_threads

        set_threads(options.threads)


def check_thread_limit(text: str | None) -> None:
    """Check the variable that limits threads before Numba reads it.

    Raises:
        UsageError: it is no number of threads.
    """
    if text is not None and not (re.fullmatch("[0-9]{1,4}", text) and 1 <= int(text) <= _MOST_THREADS):
        raise UsageError(
            f"NUMBA_NUM_THREADS is {printable(text)!r}, allowed are whole numbers from 1 to {_MOST_THREADS}"
        )


class _Command(HelpLayout, TyperCommand):
    def get_help(self, ctx: Any) -> str:
        self._name_variables(lambda _: False)
        return super().get_help(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse; an error names a variable only if it is set."""
        self._name_variables(lambda variable: variable in os.environ)
        self._check_flags()
        given = list(args)
        rest = super().parse_args(ctx, args)
        self._check_texts(self.make_parser(ctx).parse_args(args=given)[0])
        return rest

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; an error of ours that names an option also names the variable that set it."""
        try:
            return super().invoke(ctx)
        except PunishFastError as error:
            error.args = (self._in_flags(str(error)),)
            for variable in self._variables_behind(ctx, str(error)):
                error.args = (f"{error} (set by {variable})",)
            raise

    def _in_flags(self, message: str) -> str:
        """A message that begins with the name of a field, with the flag in its place."""
        field, colon, told = message.partition(":")
        flag = "--" + field.replace("_", "-")
        return flag + colon + told if any(flag in parameter.opts for parameter in self.params) else message

    def _variables_behind(self, ctx: Any, message: str) -> list[str]:
        found = []
        for parameter in self.params:
            flag, source = parameter.opts[0], ctx.get_parameter_source(parameter.name)
            is_named = re.search(rf"{flag}(?![\w-])", message)
            if source is not None and source.name == "ENVIRONMENT" and is_named:
                found.append(str(parameter.envvar))
        return found

    def _check_flags(self) -> None:
        """Check the variables of flags: Typer's error does not name the value."""
        for parameter in self.params:
            text = os.environ.get(str(parameter.envvar), "")
            if getattr(parameter, "is_flag", False) and text.strip().lower() not in _TRUTHS:
                raise UsageError(f"{parameter.envvar} is {printable(text)!r}, allowed are true and false")

    def _check_texts(self, given: dict[str, Any]) -> None:
        """Check that no name of a file is empty."""
        for parameter in self.params:
            values = given.get(str(parameter.name))
            is_empty = "" in (values if isinstance(values, list | tuple) else [values])
            if is_empty and parameter.name in _paths:
                name = parameter.opts[0] if isinstance(parameter, TyperOption) else parameter.metavar
                raise UsageError(f"{name}: must not be empty")

    def _name_variables(self, wanted: Callable[[str], bool]) -> None:
        for parameter in self.params:
            if isinstance(parameter, TyperOption):
                parameter.show_envvar = isinstance(parameter.envvar, str) and wanted(parameter.envvar)


# Options that several verbs share.


def complete_rules(incomplete: str) -> list[str]:
    """Presets, and TOML files of the folder."""
    from punish_fast.punish.rules import PRESETS

    return _complete(incomplete, PRESETS, "toml")


def complete_agents(incomplete: str) -> list[str]:
    """Built-in agents, and files of the folder."""
    from punish_fast.arena.descriptions import DESCRIPTIONS

    return _complete(incomplete, DESCRIPTIONS, "h5")


def _complete(incomplete: str, names: Iterable[str], suffix: str) -> list[str]:
    files = sorted(str(path) for path in Path().glob(f"*.{suffix}"))
    return [name for name in (*names, *files) if name.startswith(incomplete)]


RulesOption = Annotated[
    str | None,
    option(
        "notebook, tabletop, tiny, or a TOML file that names what differs from notebook.  [default: notebook]",
        metavar="RULES",
        complete=complete_rules,
    ),
]


def game_rules_option(default: str) -> Any:
    """Declare ``--rules`` for the real game; ``default`` ends the help."""
    text = f"A preset or a TOML file; the redeal is always the true one.  [default: {default}]"
    return option(text, metavar="RULES", complete=complete_rules)


GameRulesOption = Annotated[str | None, game_rules_option("the agent's rules, or tabletop")]
LineupRulesOption = Annotated[str | None, game_rules_option("the first file's rules, or tabletop")]


def temperature_option(who: str) -> Any:
    """Declare ``--temperature`` for a player, named in the help by ``who``."""
    return option(
        f"Let {who} play by softmax at this temperature instead of greedily, in the unit of values: 0.05 is five "
        "percentage points of win probability.",
        metavar="T",
    )


TemperatureOption = Annotated[float | None, temperature_option("the agent")]
EnemyTemperatureOption = Annotated[float | None, temperature_option("the enemy")]
LineupTemperatureOption = Annotated[float | None, temperature_option("agents without @T")]
SeedOption = Annotated[
    int | None, option("Random seed.  [default: a random one]", metavar="N", min=0, max=(1 << 64) - 1)
]
FixedSeedOption = Annotated[int, option("Random seed.", metavar="N")]
OutputOption = Annotated[Path | None, option("The file to write.", "-o", metavar="FILE", writes=True)]
PlotOption = Annotated[Path | None, option("Draw a plot, as a .png or .svg file.", metavar="FILE", writes=True)]
DatabaseOption = Annotated[Path, option("A database of recorded games.", "--db", metavar="DB")]


@dataclass(frozen=True, kw_only=True)
class CommonOptions:
    """Options of every verb."""

    quiet: Annotated[bool, option("Print no progress.", "--quiet", "-q")] = False
    as_json: Annotated[bool, option("Print one JSON object instead of text.", "--json")] = False

    def print(self, report: dict[str, Any], as_text: Callable[[dict[str, Any]], None]) -> None:
        """Print what was found, by ``as_text`` unless JSON is asked for."""
        _working.close()
        clear_progress()
        if self.as_json:
            print_json(report)
        else:
            as_text(printable_report(report))


@dataclass(frozen=True, kw_only=True)
class ComputeOptions(CommonOptions):
    """Options of every verb that computes."""

    threads: Annotated[int | None, option("Threads to compute with.  [default: all]", metavar="N")] = None

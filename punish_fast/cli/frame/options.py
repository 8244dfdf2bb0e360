"""Declare verbs (subcommands) and their options with types, help texts, environment variables and defaults.

The options and arguments of a verb are the fields of a frozen dataclass. The verb is a function with this dataclass as
its only parameter::

    class SolveOptions(ComputeOptions):                            # --threads, --quiet, --json
        tensor: Path | None = argument("TENSOR.h5", "A tensor to solve.")
        sweeps: int | None = option("Number of sweeps.")
        output: OutputOption = None                                # shared, from this file

    @verb("punish-fast solve", "punish-fast solve --sweeps 20")    # examples
    def solve(options: SolveOptions) -> None:
        '''Solve a game. (This is the help text.)'''

A function has the name of its module, because `family` finds a verb by this name. The field ``no_tensor`` is set by the
flag ``--no-tensor`` or the variable ``PUNISH_FAST_NO_TENSOR``. Options that name an output or delete data are declared
with ``writes=True`` and are never read from the environment. This module does not import heavy dependencies.
"""

import inspect
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cached_property, partial
from itertools import combinations, zip_longest
from pathlib import Path
from typing import Annotated, Any, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

import typer

from punish_fast.cli.frame.errors import limited
from punish_fast.cli.frame.family import Command, epilog_of, folded, verb_name
from punish_fast.cli.frame.outputs import are_one
from punish_fast.cli.frame.progress import Stages
from punish_fast.cli.frame.report import UsageError, clear_progress, plain, print_json, print_report, print_text, say
from punish_fast.punish.rules import PRESETS, RulesError, load_rules
from punish_fast.runtime.compilation.compile_progress import announce_to
from punish_fast.runtime.errors import MOST_OF_LINE, printable
from punish_fast.runtime.files import check_output

O = TypeVar("O")  # noqa: E741 - the options of a verb

Complete = Callable[[str], Iterable[str]]
AsText = Callable[[dict[str, Any]], None]  # prints a report

_MOST_THREADS = 4096
# Options whose values are names of players, not of files.
_PLAYER_NAMES = ("name", "player")
# Options that the help lists last.
_LAST = {"width": 1, "dpi": 2, "threads": 3, "quiet": 4, "as_json": 5}
# Default names of values in help texts.
_METAVARS = {int: "N", float: "X", Path: "FILE"}
_readable = partial(printable, most=MOST_OF_LINE)
# Progress stage of the running verb.
_working = ExitStack()


def option(
    help: str, *flags: str, default: Any = None, writes: bool = False, complete: Complete | None = None, **settings: Any
) -> Any:
    """Declare an option as a field of a dataclass or in an annotated type that several verbs share.

    Args:
        help: Help text. If the default is computed, it ends with ``[default: all]`` or similar.
        flags: A short flag, such as ``-q``, or a long flag that is not the field's name, such as ``--from``.
        default: Default value. MISSING if the option is required. The default of an annotated type is not used.
        writes: True if the option names an output or deletes something. It then has no environment variable.
        complete: Function that returns shell completions of an incomplete value. The metavars ``AGENT``, ``ENEMY`` and
            ``RULES`` have default functions.
        settings: Further arguments of ``typer.Option``, such as ``min``, ``max`` and ``metavar``, by default ``N`` for
            an integer, ``X`` for another number and ``FILE`` for a path.
    """
    complete = complete or _COMPLETIONS.get(settings.get("metavar", ""))
    settings |= {"help": help, "show_envvar": False, "autocompletion": complete}
    return field(default=default, metadata={"flags": flags, "writes": writes, "settings": settings})


def argument(metavar: str, help: str, complete: Complete | None = None, default: Any = MISSING) -> Any:
    """Declare a positional argument like an option. It is required unless it has a default or may be None."""
    told = typer.Argument(metavar=metavar, help=help, autocompletion=complete or _COMPLETIONS.get(metavar))
    return field(default=default, metadata={"argument": told})


def verb(*examples: str, stage: str | None = None) -> Callable[[Callable[[O], None]], typer.Typer]:
    """Return a decorator that turns a function of an options dataclass into a command.

    The help of the command ends with ``examples``, one per line. If a command does not report progress, ``stage`` is
    shown until the command prints its results. An option called ``time`` limits the run time of the command.
    """

    def declare(function: Callable[[O], None]) -> typer.Typer:
        options_class = next(iter(get_type_hints(function).values()))
        parameters, variables = _parameters(options_class)

        def call(**values: Any) -> None:
            options = options_class(**values)
            _ = options.stages
            _prepare(options)
            with _working, limited(getattr(options, "time", None)):
                if stage is not None:
                    _working.enter_context(options.stages.progress.stage(stage))
                function(options)

        call.__doc__ = function.__doc__
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        command = typer.Typer(rich_markup_mode=None, add_completion=False)
        command.command(verb_name(function.__name__), cls=Command, epilog=epilog_of(examples, variables))(call)
        return command

    return declare


def _declared(options_class: Any) -> Iterator[tuple[Field[Any], Any, Any, tuple[str, ...]]]:
    """Yield each option's field, type, declaration, and flags. A positional argument has no flags."""
    hints = get_type_hints(options_class, include_extras=True)
    # The sort is stable, so other options keep their order, with inherited options first.
    for each in sorted(fields(options_class), key=lambda each: _LAST.get(each.name, 0)):
        kind, declared = hints[each.name], each
        if get_origin(kind) is Annotated:
            kind, declared = get_args(kind)
        flags = declared.metadata.get("flags", ())
        if "flags" in declared.metadata and not (flags and flags[0].startswith("--")):
            flags = ("--" + each.name.replace("_", "-"), *flags)
        yield each, kind, declared, flags


def _parameters(options_class: Any) -> tuple[list[inspect.Parameter], dict[str, str | None]]:
    """Return the parameters of a command, and the environment variable of each flag."""
    parameters, variables = [], {}
    for each, kind, declared, flags in _declared(options_class):
        told = declared.metadata.get("argument")
        if told is None:
            _, writes, settings = declared.metadata.values()
            variable = None if writes else "PUNISH_FAST_" + flags[0].removeprefix("--").replace("-", "_").upper()
            variables[flags[0]] = variable
            metavar = next((name for of, name in _METAVARS.items() if of in (kind, *get_args(kind))), None)
            told = typer.Option(*flags, envvar=variable, **{"metavar": metavar, **settings})
        unset = None if type(None) in get_args(kind) else inspect.Parameter.empty
        default = unset if each.default is MISSING else each.default
        kinds = {"default": default, "annotation": Annotated[kind, told]}
        parameters.append(inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, **kinds))
    return parameters, variables


def _prepare(options: Any) -> None:
    if options.quiet:
        announce_to(None)
    # Check the limit before Numba reads it.
    limit = os.environ.get("NUMBA_NUM_THREADS", "1")
    if not (re.fullmatch("[0-9]{1,4}", limit) and 1 <= int(limit) <= _MOST_THREADS):
        told = f"it must be a whole number from 1 to {_MOST_THREADS}"
        raise UsageError(f"NUMBA_NUM_THREADS is {printable(limit)!r}; {told}")
    threads = getattr(options, "threads", None)
    if threads is not None:
        from punish_fast.runtime._jit import max_threads, set_threads

        if threads > max_threads():
            say(f"--threads {threads} exceeds the {max_threads()} available here; all of them are used")
        set_threads(min(threads, max_threads()))


# Options shared by several verbs.


def complete_rules(incomplete: str) -> list[str]:
    """Complete the names of presets and of TOML files in the current folder."""
    return _complete(incomplete, PRESETS, "toml")


def complete_agents(incomplete: str) -> list[str]:
    """Complete the names of built-in agents and of HDF5 files in the current folder."""
    from punish_fast.arena.built_in_players import BUILT_INS

    return _complete(incomplete, BUILT_INS, "h5")


def _complete(incomplete: str, names: Iterable[str], suffix: str) -> list[str]:
    files = sorted(str(path) for path in Path().glob(f"*.{suffix}"))
    return [name for name in (*names, *files) if name.startswith(incomplete)]


_COMPLETIONS: dict[str, Complete] = {"AGENT": complete_agents, "ENEMY": complete_agents, "RULES": complete_rules}


def _rules(text: str) -> str:
    try:
        load_rules(text)
    except RulesError as error:
        raise typer.BadParameter(str(error).removeprefix("rules: ")) from None
    return text


def _of_rules(help: str) -> Any:
    return option(help, metavar="RULES", parser=_rules)


RulesOption = Annotated[str | None, _of_rules("Rules: notebook, tabletop, tiny or a TOML file.  [default: notebook]")]


def game_rules(default: str, noun: str = "Rules") -> Any:
    """Declare an option with rules of the two-player game."""
    return _of_rules(f"{noun}: notebook, tabletop, tiny or a TOML file, with tabletop's redeal.  [default: {default}]")


PlayedRulesOption = Annotated[str, _of_rules("Rules of the games: a preset or a TOML file.")]
SeedOption = Annotated[int | None, option("Random seed, below 2^64.  [default: random]", min=0, max=(1 << 64) - 1)]
FixedSeedOption = Annotated[int, option("Random seed.")]
EnemyOption = Annotated[str | None, option("Enemy of the agent.  [default: as recorded in its file]", metavar="AGENT")]
KeptGamesOption = Annotated[Path | None, option("Database of games.  [default: in your data folder]", metavar="DB")]
OutputOption = Annotated[Path | None, option("Output file.", "-o", writes=True)]
PlotOption = Annotated[Path | None, option("Write a plot to this .png, .svg or .pdf file.", writes=True)]
DatabaseOption = Annotated[Path, option("Database of recorded games.", "--db", metavar="DB")]


def command_line(*command: object) -> str:
    """Join words to a command line. Options with the value None are omitted."""
    pairs = zip_longest(command, command[1:], fillvalue="")
    return shlex.join(str(word) for word, value in pairs if None not in (word, value))


@dataclass_transform(frozen_default=True, kw_only_default=True)
@dataclass(frozen=True, kw_only=True)
class CommonOptions:
    """Options common to all verbs. Subclasses automatically become frozen dataclasses."""

    quiet: bool = option("Do not print progress.", "--quiet", "-q", default=False)
    as_json: bool = option("Print one JSON object instead of text.", "--json", default=False)

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)

    @cached_property
    def stages(self) -> Stages:
        """Stopwatch and progress reports of the running command. The first access starts the stopwatch."""
        return Stages(self.quiet)

    def given(self, *omitted: str) -> list[str]:
        """Return the arguments and options that differ from their defaults, except those named in ``omitted``.

        The result consists of words of a command line.
        """
        words: list[str] = []
        for each, _, _, flags in _declared(type(self)):
            value = getattr(self, each.name)
            if each.name not in omitted and value not in (None, each.default):
                for one in value if isinstance(value, list) else [value]:
                    words += [*flags[:1], str(one)] if one is not True else flags[:1]
        return words

    def check_outputs(
        self, *outputs: Path | None, sources: Iterable[Path | None] = (), endings: Sequence[str] = ()
    ) -> None:
        """Check that every output can be written and replaces neither an input nor another output.

        Args:
            outputs: Files to write, in addition to the option ``plot``. Each may be None.
            sources: Files to read, in addition to the files that other options name. Each may be None or missing.
            endings: Allowed file extensions of ``outputs``. Any ending is allowed by default.

        JSON keys:
            output (string): Output file, if a file was written.
            output_bytes (integer, bytes): Size of the output file.
        """
        plot = getattr(self, "plot", None)
        if isinstance(self, PictureOptions) and plot is not None:
            self.check_pictures(plot)
        written = [path for path in (*outputs, plot) if path is not None]
        values = [value for name, value in vars(self).items() if name not in _PLAYER_NAMES]
        options = [each for value in values for each in (value if isinstance(value, list) else [value])]
        named = [each for each in options if isinstance(each, str | Path) and all(each is not path for path in written)]
        # A database that is being written consists of several files.
        parts = ("", "-wal", "-shm", "-journal")
        read = [Path(f"{path}{part}") for path in (*named, *sources) if path is not None for part in parts]
        for output in written:
            check_output(output)
            if any(are_one(output, source) for source in read):
                raise UsageError(f"{output}: is an input file and will not be replaced")
            if endings and output != plot and output.suffix.lower() not in endings:
                raise UsageError(f"{output}: the name of this file must end in {' or '.join(endings)}")
        for first, second in combinations(written, 2):
            if are_one(first, second):
                raise UsageError(f"{second}: would be written twice; choose another name for one of them")

    def work_report(self, output: Path | None = None) -> dict[str, Any]:
        """Return the report fields that describe the computation and its output file.

        JSON keys:
            threads (integer): Number of threads.
            seconds (object of numbers by stage, seconds): Duration of each stage, and the `total`.
            peak_memory_bytes (integer, bytes): Peak memory of the process.
        """
        from punish_fast.runtime import _jit
        from punish_fast.runtime.limits import peak_memory

        seconds = self.stages.clock.seconds_in_all()
        report = {"threads": _jit.threads(), "seconds": seconds, "peak_memory_bytes": peak_memory()}
        return report if output is None else report | {"output": output, "output_bytes": output.stat().st_size}

    def print(
        self,
        report: Any,
        as_text: AsText = print_report,
        hidden: Any = (),
        result: str = "",
        then: Iterable[object] = (),
    ) -> None:
        """Print a report, as JSON if requested, and suggest the next command on stderr.

        Args:
            report: A mapping or a dataclass.
            as_text: Function that prints the report as text.
            hidden: Names of fields that are not passed to ``as_text``.
            result: One sentence with the result, printed below the text.
            then: Arguments of the suggested next command. Options with the value None are omitted.
        """
        _working.close()
        clear_progress()
        if self.as_json:
            print_json(report)
            return
        as_text({name: value for name, value in plain(report, _readable).items() if name not in hidden})
        if not result and isinstance(report, Mapping) and report.get("output"):
            result = f"Wrote {report['output']}."
        if result:
            print_text(_readable(result), first="\n")
        self.suggest(*then)

    def suggest(self, *command: object) -> None:
        """Print the suggested next command on stderr, unless ``quiet`` or ``as_json`` is set."""
        words = command_line(*command)
        for line in folded(f"Next: punish-fast {words}") if words and not (self.quiet or self.as_json) else ():
            say(line)


class PictureOptions(CommonOptions):
    """Options of verbs that draw."""

    width: float | None = option("Width of plots in inches.  [default: set by the plot]", min=1, max=40)
    dpi: int = option("Resolution of .png plots in dots per inch.", min=20, max=1200, default=150)

    def check_pictures(self, *paths: Path) -> None:
        """Check that plots can be drawn to these files, and set the size of all plots."""
        from punish_fast.runtime import figures

        figures.picture_size.set(figures.PictureSize(self.width, self.dpi))
        for path in paths:
            figures.check_picture(path)


class ComputeOptions(CommonOptions):
    """Options common to all verbs that use several threads."""

    threads: int | None = option("Number of threads.  [default: all]")

"""Default names of output files, and checks of output files before any work is done."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.frame.report import plain
from punish_fast.punish.rules import PRESETS, Rules, name_of, unique_name
from punish_fast.runtime.errors import ReadError
from punish_fast.runtime.files import check_output, fault_of_input

# File name endings of agents, tensors, strategies and checkpoints.
HDF5 = (".h5", ".hdf5")


def default_output(
    path: Path,
    settings: Mapping[str, Any] | None = None,
    settings_of: Callable[[Path], Mapping[str, Any]] | None = None,
) -> Path:
    """Return ``path``, the default output. Raise UsageError if it exists and has other settings.

    Args:
        path: The default output path.
        settings: JSON-like settings of the file to write. Pass None if files of its kind do not record settings.
            Existing files are then never replaced.
        settings_of: Function that reads the settings of a file. `made_with` by default.
    """
    if not path.exists():
        return path
    how = ""
    if settings is not None:
        from punish_fast.store.checked_file import OldFormatError
        from punish_fast.store.tensors import made_with

        try:
            if plain((settings_of or made_with)(path)) == plain(settings):
                return path
            how = " and was made with other settings"
        except OldFormatError:
            raise
        except ReadError:
            how = " and was not made by this command"
    raise UsageError(f"{path}: already exists{how}; choose another output with -o")


def default_strategy(path: Path, rules: Rules, origin: Mapping[str, Any], information: str = "memoryless") -> Path:
    """Return ``path``, the default output of a strategy. Raise UsageError if it exists and has another origin."""
    return default_output(path, {"kind": "strategy", "rules": name_of(rules), "information": information, **origin})


def rules_stem(rules: Rules, option: str | None) -> str:
    """Return the name of rules for use in file names: the name of the preset or the stem of the TOML file."""
    name = unique_name(rules)
    return Path(option).stem if option is not None and name.startswith("house-") else name


def output_beside(source: Path, suffix: str, output: Path | None, verb: str, others: Sequence[Path] = ()) -> Path:
    """Return the file to write: ``output``, or ``source`` with another suffix.

    Args:
        source: The file to read.
        suffix: Suffix of the file to write, including the dot.
        output: The user's choice, or None.
        verb: Verb in error messages: "the file to VERB".
        others: Other input files that must not be replaced.
    """
    output = output or source.with_suffix(suffix)
    check_outputs([output], [source, *others], verb, endings=HDF5 if suffix in HDF5 else (suffix,))
    return output


def check_inputs(*paths: Path) -> None:
    """Raise `ReadError` if a path is not a file, before anything slower is done or an output is checked."""
    for path in paths:
        if fault := fault_of_input(path):
            raise ReadError(f"{path}: {fault}")


def check_outputs(
    outputs: Iterable[Path | None],
    sources: Iterable[Path | None],
    verb: str,
    plot: Path | None = None,
    endings: Sequence[str] = (),
) -> None:
    """Check that every output can be written and replaces neither an input nor another output.

    Args:
        outputs: Files to write. Each may be None.
        sources: Files to read. Each may be None or missing.
        verb: Verb in error messages: "the file to VERB".
        plot: Output file of a plot, or None.
        endings: Allowed file extensions of ``outputs``. Any ending is allowed by default.

    JSON keys:
        output (string): Output file, if a file was written.
        output_bytes (integer, bytes): Size of the output file.
    """
    if plot is not None:
        from punish_fast.runtime.figures import check_picture

        check_picture(plot)
    written = [path for path in (*outputs, plot) if path is not None]
    # A database that is being written consists of several files.
    parts = ("", "-wal", "-shm", "-journal")
    read = [Path(f"{path}{part}") for path in sources if path is not None for part in parts]
    for output in written:
        check_output(output)
        if any(_are_one(output, source) for source in read):
            raise UsageError(f"{output}: is the file to {verb} and will not be replaced")
        if endings and output != plot and output.suffix.lower() not in endings:
            raise UsageError(f"{output}: the name of this file must end in {' or '.join(endings)}")
    for first, second in combinations(written, 2):
        if _are_one(first, second):
            raise UsageError(f"{second}: would be written twice; choose another name for one of them")


def rules_files(rules: str | None) -> list[Path]:
    """Return the TOML file that ``--rules`` names. Empty for a preset or if the option is not given."""
    return [] if rules is None or rules in PRESETS else [Path(rules)]


def _are_one(first: Path, second: Path) -> bool:
    """Return True if two paths refer to the same file, directly or through links."""
    if os.path.realpath(first) == os.path.realpath(second):
        return True
    return first.exists() and second.exists() and first.samefile(second)

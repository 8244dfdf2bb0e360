"""Choose default output files, and check input and output files before the computation."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from punish_fast.cli.frame.report import UsageError, plain
from punish_fast.punish.rules import Rules, name_of, unique_name
from punish_fast.runtime.errors import ReadError
from punish_fast.runtime.files import fault_of_input

# File name endings of agents, tensors, strategies and checkpoints.
HDF5 = (".h5", ".hdf5")


def default_output(
    path: Path,
    settings: Mapping[str, Any] | None = None,
    settings_of: Callable[[Path], Mapping[str, Any]] | None = None,
    advice: str = "",
) -> Path:
    """Return ``path``, the default output. Raise UsageError if the file exists and has other settings.

    Args:
        path: The default output path.
        settings: JSON-like settings of the file to write. None if files of this kind do not record settings, so that
            existing files are never replaced.
        settings_of: Function that reads the settings of a file. `made_with` by default.
        advice: End of the error message, with another way to use the file.
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
    raise UsageError(f"{path}: already exists{how}; choose another output with -o{advice}")


def default_strategy(path: Path, rules: Rules, origin: Mapping[str, Any], information: str = "memoryless") -> Path:
    """Return ``path``, the default output of a strategy. Raise UsageError if the file exists and has another origin."""
    return default_output(path, {"kind": "strategy", "rules": name_of(rules), "information": information, **origin})


def rules_stem(rules: Rules, option: str | None) -> str:
    """Return the name of rules for use in file names: the name of the preset or the stem of the TOML file."""
    name = unique_name(rules)
    return Path(option).stem if option is not None and name.startswith("house-") else name


def check_inputs(*paths: Path) -> None:
    """Raise `ReadError` if a path is not a file. Call this function before slow work and before `check_outputs`."""
    for path in paths:
        if fault := fault_of_input(path):
            raise ReadError(f"{path}: {fault}")


def are_one(first: Path, second: Path) -> bool:
    """Return True if two paths refer to the same file, directly or through links."""
    if os.path.realpath(first) == os.path.realpath(second):
        return True
    # A file might be missing, and an option that is not a path might be too long for one.
    with suppress(OSError):
        return first.samefile(second)
    return False

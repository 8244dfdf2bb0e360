"""Checks of the files that a command will write, before any work."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

from punish_fast.cli.errors import UsageError
from punish_fast.runtime.files import check_output


def output_beside(source: Path, suffix: str, output: Path | None, verb: str) -> Path:
    """The file to write: ``output``, or ``source`` with another suffix.

    Args:
        source: The file to read.
        suffix: Suffix of the file to write, with its dot.
        output: The user's choice, or None.
        verb: What is done with ``source``, for messages.

    Raises:
        UsageError: it is the file to read, or that is a folder.
        OutputError: nothing can be written there.
    """
    if not source.name:
        raise UsageError(f"{source}: is a folder, not a file to {verb}")
    output = output or source.with_suffix(suffix)
    check_outputs([output], [source], verb)
    return output


def check_outputs(
    outputs: Iterable[Path | None], sources: Iterable[Path | None], verb: str, plot: Path | None = None
) -> None:
    """Check that every output can be written and replaces no file that is read, and no other output.

    Args:
        outputs: The files to write; None is ignored, here and below.
        sources: The files to read; a path without a file is ignored.
        verb: What is done with these, for messages.
        plot: A plot to draw.

    Raises:
        UsageError: an output is a file to read, or two outputs are the same.
        FigureError: the plot is neither .png nor .svg.
        ExtraError: matplotlib is not installed.
        OutputError: one cannot be written.
    """
    if plot is not None:
        from punish_fast.runtime.figures import check_picture

        check_picture(plot)
    written, read = ([path for path in paths if path is not None] for paths in ((*outputs, plot), sources))
    for output in written:
        check_output(output)
        if any(_are_one(output, source) for source in read):
            raise UsageError(f"{output}: is the file to {verb} and will not be replaced")
    for first, second in combinations(written, 2):
        if _are_one(first, second):
            raise UsageError(f"{second}: would be written twice; choose another name for one of them")


def rules_files(rules: str | None) -> list[Path]:
    """The TOML file that ``--rules`` names; empty for a preset and without the option."""
    from punish_fast.punish.rules import PRESETS

    return [] if rules is None or rules in PRESETS else [Path(rules)]


def _are_one(first: Path, second: Path) -> bool:
    """Whether two paths are one file, also by links."""
    if os.path.realpath(first) == os.path.realpath(second):
        return True
    return first.exists() and second.exists() and first.samefile(second)

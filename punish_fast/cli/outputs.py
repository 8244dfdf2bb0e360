"""The files that commands write, and that none of them takes the place of one that is read."""

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
        suffix: Of the file to write, with its dot.
        output: What the user asked for, or None.
        verb: What is done with ``source``, to complain with.

    Raises:
        UsageError: it is the file to read, or that is a folder.
        OutputError: nothing can be written there.
    """
    if not source.name:
        raise UsageError(f"{source}: is a folder, not a file to {verb}")
    output = output or source.with_suffix(suffix)
    check_outputs([output], [source], verb)
    return output


def check_outputs(outputs: Iterable[Path], sources: Iterable[Path], verb: str) -> None:
    """Find out, before any work is done, whether files can be written, each in a place of its own.

    Args:
        outputs: The files to write.
        sources: The files to read.
        verb: What is done with these, to complain with.

    Raises:
        UsageError: one is a file to read, or two are the same.
        OutputError: one cannot be written.
    """
    outputs, sources = list(outputs), list(sources)
    for output in outputs:
        check_output(output)
        if any(_are_one(output, source) for source in sources):
            raise UsageError(f"{output}: is the file to {verb} and will not be replaced")
    for first, second in combinations(outputs, 2):
        if _are_one(first, second):
            raise UsageError(f"{second}: is to be written twice, choose another for one of them")


def _are_one(first: Path, second: Path) -> bool:
    if os.path.realpath(first) == os.path.realpath(second):
        return True
    return first.exists() and second.exists() and first.samefile(second)

"""The file that a command writes when it makes one file of another."""

from __future__ import annotations

from pathlib import Path

from punish_fast.cli.errors import UsageError
from punish_fast.store.files import check_output


def output_beside(source: Path, suffix: str, output: Path | None, verb: str) -> Path:
    """The file to write: ``output``, or ``source`` with another suffix.

    Args:
        source: The file to read.
        suffix: Of the file to write, with its dot.
        output: What the user asked for, or None.
        verb: What is done with ``source``, to complain with.

    Raises:
        UsageError: it is the file to read.
        OutputError: nothing can be written there.
    """
    output = output or source.with_suffix(suffix)
    check_output(output)
    if output.exists() and output.samefile(source):
        raise UsageError(f"{output}: is the file to {verb}, choose another with --output")
    return output

"""What may go wrong where commands draw pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from punish_fast.cli.errors import UsageError
from punish_fast.runtime.files import explain

_MISSING = 'plots need matplotlib, install with: pip install "punish-fast[plot]"'


@contextmanager
def drawing(path: Path) -> Iterator[None]:
    """Turn errors of drawing ``path`` into ours.

    Raises:
        UsageError: matplotlib is not installed.
        WriteError: the file could not be written to its end.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise UsageError(_MISSING) from None
    except OSError as error:
        raise explain(path, error) from None


def must_draw() -> None:
    """Insist, before long work, that pictures can be drawn.

    Raises:
        UsageError: matplotlib is not installed.
    """
    try:
        missing = find_spec("matplotlib") is None
    except ValueError:  # put out of reach by hand
        missing = True
    if missing:
        raise UsageError(_MISSING)

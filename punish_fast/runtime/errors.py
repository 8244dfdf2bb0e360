"""Base class of the package's errors, missing extras (optional dependencies), and untrusted values in messages."""

import difflib
import math
import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from importlib.util import find_spec
from numbers import Real
from typing import Any


class PunishFastError(Exception):
    """Base class of errors with messages for users.

    Attributes:
        exit_code: Exit code of a command that prints the error: 2 for invalid usage or input, 1 for a failure.
    """

    exit_code = 2


class ArgumentError(PunishFastError, ValueError):
    """Raised when an argument is invalid. The message begins with the name of the argument."""


class ExtraError(PunishFastError):
    """Raised when an optional package is not installed. The message contains the command that installs it."""


class StoreError(PunishFastError):
    """Raised when a file cannot be read or written. The message contains the file and the fault."""


class ReadError(StoreError):
    """Raised when a file cannot be read or has invalid content. The message contains the file and any invalid field."""


class WriteError(StoreError):
    """Raised when writing a file fails."""

    exit_code = 1


class DataWarning(UserWarning):
    """Warning that a result omits data. Commands that show this warning exit with code 1."""


class OutputError(StoreError):
    """Raised before anything is written if a path is not writable."""


def require(*modules: str) -> None:
    """Raise `ExtraError` if any of these modules is not installed. Do not import them.

    Each module must have the same name as its package.
    """
    for module in modules:
        if not are_installed(module):
            raise ExtraError(f"{module} is not installed. Install it with: pip install {' '.join(modules)}")


def are_installed(*modules: str) -> bool:
    """Return True if all modules are installed. Do not import them."""
    try:
        return all(find_spec(module) is not None for module in modules)
    except ValueError:  # sys.modules[module] is None
        return False


# Maximum number of characters in a name, and in a message.
MOST_OF_NAME = 200
MOST_OF_LINE = 500
_GAP = " ... "


JOINERS = "\u200c\u200d"
# Unicode categories of the characters before and after an effective joiner.
_JOINED = {"Lo", "Mn", "Mc", "So", "Sm", "Sk"}, {"Lo", "Mn", "Mc", "So", "Sm"}
# Tags in flags of regions.
_TAGS = re.compile("(?<=\U0001f3f4)[\U000e0030-\U000e007a]+\U000e007f")


def joins(before: str, after: str) -> bool:
    """Return True if a joiner between two characters has an effect. A character is empty at the end of a text."""
    return all(c and unicodedata.category(c) in kinds for c, kinds in zip((before, after), _JOINED, strict=True))


def printable(text: str, most: int = MOST_OF_NAME) -> str:
    """Escape unprintable characters in ``text``, and shorten it to ``most`` characters by omitting the middle.

    Joiners and tags that letters or emoji need are not escaped.
    """
    if len(text) <= most and text.isascii() and text.isprintable():
        return text
    # Keep both ends, because messages begin with the file name and end with the fault.
    ends = text if len(text) <= 2 * most else text[:most] + text[-most:]
    kept = {k for tags in _TAGS.finditer(ends) for k in range(*tags.span())}
    kept |= {k for k, c in enumerate(ends) if c in JOINERS and joins(ends[k - 1 : k], ends[k + 1 : k + 2])}
    shown = (c if c.isprintable() or k in kept else c.encode("unicode_escape").decode() for k, c in enumerate(ends))
    line = "".join(shown)
    if len(line) <= most and ends is text:
        return line
    end = (most - len(_GAP)) // 2
    return line[: most - len(_GAP) - end] + _GAP + line[-end:]


def closest(name: str, names: Iterable[str]) -> str:
    """Return ``; did you mean X?`` for the name closest to ``name``, or an empty string if no name is similar."""
    near = difflib.get_close_matches(name.lower(), names, n=1)
    return f"; did you mean {near[0]}?" if near else ""


_MOST_CHARACTERS = 60


def is_whole(value: object, low: int, high: int) -> bool:
    """Return True if a value is an integer from ``low`` to ``high``."""
    return type(value) is int and low <= value <= high


def is_number(value: object, low: float, high: float) -> bool:
    """Return True if a value is an int or float from ``low`` to ``high``."""
    return type(value) in (int, float) and low <= value <= high  # type: ignore[operator]


def check_allowed(is_allowed: bool, error: type[PunishFastError], name: str, value: object, allowed: str) -> None:
    """Raise ``error`` with a message about the allowed values, unless the value of an option or argument is allowed."""
    if not is_allowed:
        raise error(f"{name}: {value} is not allowed; it must be {allowed}")


def as_float(value: Any) -> float:
    """Convert a real number or an array without dimensions to float. Return NaN for other values."""
    if type(value) is float:
        return value
    value = value[()] if getattr(value, "shape", None) == () else value
    try:
        is_real = isinstance(value, Real | Decimal) and not isinstance(value, bool)
        # NumPy counts durations as integers.
        return float(value) if is_real and getattr(getattr(value, "dtype", None), "kind", "") != "m" else math.nan
    except (OverflowError, ValueError):
        return math.nan


def shown(value: object) -> str:
    """Return the representation of a value for a message, shortened to 60 characters."""
    try:
        return printable(repr(value), _MOST_CHARACTERS)
    except Exception:  # repr can fail for any object, for example for a number with too many digits
        return type(value).__name__


def brief(value: object) -> str:
    """Format a value in ASCII for a message, truncated to 60 characters."""
    text = ascii(value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."

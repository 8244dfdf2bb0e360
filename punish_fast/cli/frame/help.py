"""The end of a help text: examples, and the variables that set options."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Columns of an example, which is indented by four more.
_EXAMPLE = 76


def epilog_of(examples: Iterable[str], variables: dict[str, str | None]) -> str:
    """Examples, and how options come from the environment."""
    # Click leaves the lines of a paragraph as they are after \b.
    parts = ["\n".join(["\b", "Examples:", *(f"  {line}" for example in examples for line in _folded(example))])]
    known = [(flag, variable) for flag, variable in variables.items() if variable is not None]
    if known:
        unknown = [flag for flag, variable in variables.items() if variable is None]
        flag, variable = known[0]
        but = f" except {', '.join(unknown)}" if unknown else ""
        parts.append(f"Set any option{but} by an environment variable: {variable} for {flag}.")
    return "\n\n".join(parts)


def _folded(example: str) -> list[str]:
    """A command in lines that a shell takes for one, broken before options."""
    first, *options = re.split(r" (?=-)", example)
    lines = [first]
    for option in options:
        if len(lines[-1]) + len(option) + 3 <= _EXAMPLE:
            lines[-1] += f" {option}"
        else:
            lines[-1] += " \\"
            lines.append(f"    {option}")
    return lines

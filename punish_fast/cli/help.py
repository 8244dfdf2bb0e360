"""The layout of help: names that stay whole, arguments without Python's types, examples of 80 columns, some colour."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from typer.core import TyperCommand

# Columns of an example, which is indented by four more.
_EXAMPLE = 76
# Lines break at a hyphen, but not at this one, which becomes a hyphen again.
_HYPHEN = "\N{NON-BREAKING HYPHEN}"
_Context: Any = TyperCommand.context_class


class _Formatter(_Context.formatter_class):  # type: ignore[misc]
    def write_dl(self, rows: Sequence[tuple[str, str]], *settings: Any, **named: Any) -> None:
        plain = [(re.sub(r" <.*>$", "", term), _whole(text)) for term, text in rows]
        super().write_dl(plain, *settings, **named)

    def write_text(self, text: str) -> None:
        super().write_text(_whole(text))

    def getvalue(self) -> str:
        return str(super().getvalue()).replace(_HYPHEN, "-")


class _HelpContext(_Context):  # type: ignore[misc]
    formatter_class = _Formatter


def _whole(text: str) -> str:
    return re.sub(r"(?<=\w)-(?=\w)|(?<= )--?(?=\w)|(?<=^)--?(?=\w)", lambda found: _HYPHEN * len(found[0]), text)


class HelpLayout:
    """A command, as Typer has it, with this layout of its help."""

    context_class: Any = _HelpContext

    def get_help(self, ctx: Any) -> str:
        """The help, coloured."""
        return _colour(super().get_help(ctx))  # type: ignore[misc]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Arguments as the usage line names them, without Typer's braces and second dots."""
        pieces = super().collect_usage_pieces(ctx)  # type: ignore[misc]
        return [re.sub(r"\.\.\.(\]?)\.\.\.$", r"...\1", re.sub(r"\{(.*)\}", r"\1", piece)) for piece in pieces]


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


def _colour(text: str) -> str:
    """Help with bold headings and coloured names; Typer leaves colours out where there is no terminal."""
    if os.environ.get("NO_COLOR"):
        return text
    bold = re.sub(r"^( {0,2}[A-Z][^\n]*:)$", lambda found: typer.style(found[1], bold=True), text, flags=re.MULTILINE)
    names = r"^  (-.*?|[\w.-]+)(?=  |$)"
    return re.sub(names, lambda found: "  " + typer.style(found[1], fg="cyan"), bold, flags=re.MULTILINE)

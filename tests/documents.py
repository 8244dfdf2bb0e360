"""Run the commands and code of a Markdown page.

Fenced blocks of a page run in order, in one folder:

* ``console``: lines that begin with ``$`` are commands, the others what they print on stdout. A line ``...`` stands for
  any lines, and numbers that depend on the machine (seconds, rates, sizes of files, threads) may differ.
* ``sh``: commands that run; what they print is not compared. A line that ends with ``&&`` goes on in the next one.
* ``python``: statements, all of a page in one namespace.

Every other kind of block is only shown.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# What differs between machines: durations, rates, sizes of files and threads.
_MACHINE = re.compile(r"\d[\d.,:]* ?(?:s|ms|h|min|[kMG]?B|threads?)\b|[\d.,]+ ?[kMG]? ?\w*/s\b")


@dataclass(frozen=True)
class Block:
    """A fenced block: its first line in the page, its kind and its lines."""

    line: int
    kind: str
    text: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """A command, or a whole block of Python, and its output; None if that is not compared."""

    line: int
    kind: str
    source: str
    shown: tuple[str, ...] | None


def blocks_of(page: Path) -> Iterator[Block]:
    begin, kind, text = 0, None, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            if kind is not None:
                text.append(line)
        elif kind is None:
            begin, kind, text = number, line[3:].strip(), []
        else:
            yield Block(begin, kind, tuple(text))
            kind = None


def steps_of(page: Path) -> Iterator[Step]:
    for block in blocks_of(page):
        if block.kind == "python":
            yield Step(block.line, "python", "\n".join(block.text), None)
        elif block.kind == "sh":
            commands = re.sub(r"(?<=&&)\n", " ", "\n".join(block.text)).splitlines()
            yield from (Step(block.line, "sh", line, None) for line in commands if line and not line.startswith("#"))
        elif block.kind == "console":
            yield from _commands(block)


def _commands(block: Block) -> Iterator[Step]:
    source, shown = "", []
    for line in block.text:
        if line.startswith("$ "):
            if source:
                yield Step(block.line, "console", source, tuple(shown))
            source, shown = line[2:], []
        else:
            shown.append(line)
    yield Step(block.line, "console", source, tuple(shown))


def agrees(shown: tuple[str, ...], printed: list[str]) -> bool:
    """Whether a command printed what the page shows, up to differences of machines and lines elided by ``...``."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(_masked(line)) + r"\n" for line in shown)
    return re.fullmatch(pattern + r"\n*", "".join(_masked(line.rstrip()) + "\n" for line in printed)) is not None


def _masked(line: str) -> str:
    return re.sub(r" +", " ", _MACHINE.sub("#", line))

"""The website of the documentation: ``python -m bench.make.site`` writes ``build/site``."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from itertools import starmap
from typing import Any

import typer
from typer.core import TyperGroup

from bench.harness import ROOT
from bench.make.python_reference import write_reference
from punish_fast.cli.app import app
from punish_fast.cli.frame.family import tidy_entry

PAGES = ROOT / "build" / "pages"


def command_reference() -> str:
    """Return the Markdown page that describes all commands."""
    return "\n\n".join(_sections(typer.main.get_command(app), None, "punish-fast"))


def _sections(command: Any, parent: Any, path: str) -> Iterator[str]:
    context = command.context_class(command, info_name=command.name, parent=parent, **command.context_settings)
    yield f"{'#' * len(path.split())} {path.partition(' ')[2] or 'Commands'}"
    yield inspect.cleandoc(command.help)
    yield f"```text\n{' '.join([path, *command.collect_usage_pieces(context)])}\n```"
    parameters = sorted(command.get_params(context), key=lambda parameter: parameter.param_type_name)
    records = filter(None, (parameter.get_help_record(context) for parameter in parameters))
    yield from (f"`{names}`\n:   {help}" for names, help in starmap(tidy_entry, records))
    # Examples begin with \b, so that Click does not rewrap them.
    examples, _, note = (command.epilog or "").removeprefix("\b\nExamples:\n").partition("\n\n")
    if examples:
        yield f"Examples:\n\n```sh\n{textwrap.dedent(examples)}\n```"
    yield note
    if isinstance(command, TyperGroup):
        for name in command.list_commands(context):
            yield from _sections(command.get_command(context, name), context, f"{path} {name}")


def main() -> int:
    """Collect the pages in ``build/pages`` and build the website. Return 0 if there are no warnings."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES / "docs")
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, PAGES)
    reference = PAGES / "reference"
    reference.mkdir()
    write_reference(reference)
    (reference / "commands.md").write_text(command_reference(), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout)
    # Zensical prints Griffe's warnings about docstrings, but its exit code ignores them.
    return done.returncode or int("griffe:" in done.stdout)


if __name__ == "__main__":
    sys.exit(main())

"""Options written once: flags, environment variables, help and values follow from the fields of a dataclass."""

from __future__ import annotations

import os
import re
import sys
import threading
from pathlib import Path
from typing import Literal

import pytest
import typer

from punish_fast.cli.frame.options import (
    CommonOptions,
    OutputOption,
    argument,
    complete_agents,
    complete_rules,
    option,
    verb,
)


class TrialOptions(CommonOptions):
    """Options of every kind."""

    files: list[Path] = argument("FILE...", "Files to read.")
    n_rounds: int = option("Rounds.", metavar="N", min=1, default=3)
    start: str | None = option("Where to start.", "--from", "-f")
    kind: Literal["one", "two"] | None = option("Which.  [default: both]")
    delete: bool = option("Delete it.", "--delete", writes=True, default=False)
    output: OutputOption = None


class TypedOptions(CommonOptions):
    """Options whose types determine their help."""

    name: str | None = argument("NAME", "Name.")
    rounds: int | None = option("Rounds.")
    share: float = option("Share.", default=0.5)
    file: Path | None = option("File.")
    limit: int | None = option("Limit.", metavar="LIMIT")


@pytest.fixture
def trial(monkeypatch):
    """Run a verb with all kinds of options; returns what it was given."""
    given = []

    @verb("trial run a.h5", "trial run a.h5 --n-rounds 5")
    def run_it(options: TrialOptions) -> None:
        """Run a trial.

        At length.
        """
        given.append(options)

    monkeypatch.setattr("punish_fast.cli.frame.options._prepare", lambda _options: None)

    def call(*arguments: str) -> TrialOptions:
        given.clear()
        run_it(args=list(arguments), prog_name="trial run", standalone_mode=False)
        return given[0] if given else None

    return call


def test_values_arrive_as_the_dataclass(trial):
    assert trial("a.h5", "b.h5") == TrialOptions(files=[Path("a.h5"), Path("b.h5")])
    found = trial("a.h5", "--n-rounds", "5", "-f", "x", "--kind", "two", "-q", "-o", "y", "--json")
    given = {"n_rounds": 5, "start": "x", "kind": "two", "quiet": True, "output": Path("y"), "as_json": True}
    assert found == TrialOptions(files=[Path("a.h5")], **given)


def test_options_come_from_the_environment_except_those_that_write(trial, monkeypatch):
    for name, value in {"N_ROUNDS": "7", "FROM": "x", "DELETE": "1", "OUTPUT": "y"}.items():
        monkeypatch.setenv(f"PUNISH_FAST_{name}", value)
    found = trial("a.h5")
    assert (found.n_rounds, found.start) == (7, "x")
    assert (found.delete, found.output) == (False, None)
    assert trial("a.h5", "--n-rounds", "2").n_rounds == 2


def test_choices_are_checked_and_shown(trial, capsys):
    with pytest.raises(typer.BadParameter, match="one"):
        trial("a.h5", "--kind", "three")
    trial("--help")
    assert re.search(r"--kind .one\|two.", capsys.readouterr().out)


def test_help_has_own_options_first_and_examples_line_by_line(trial, capsys):
    trial("--help")
    text = capsys.readouterr().out
    flags = ["--n-rounds", "--from", "--kind", "--delete", "--output", "--quiet", "--json", "--help"]
    assert sorted(flags, key=text.index) == flags
    assert "  Examples:\n    trial run a.h5\n    trial run a.h5 --n-rounds 5\n" in text
    assert text.count("PUNISH_FAST_") == 1
    assert "except --delete and --output" in " ".join(text.split())


def test_names_of_values_and_optional_arguments_follow_from_the_types(capsys):
    @verb("trial types")
    def types(options: TypedOptions) -> None:
        """Print the name."""
        print(options.name)

    types(args=[], prog_name="trial types", standalone_mode=False)
    types(args=["--help"], prog_name="trial types", standalone_mode=False)
    out = capsys.readouterr().out
    assert out.startswith("None\n")
    for words in ("[NAME]", "--rounds N ", "--share X ", "--file FILE ", "--limit LIMIT "):
        assert words in out


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_a_stage_is_a_sign_of_life_until_the_verb_prints(monkeypatch, capsys, quiet):
    before, during = threading.active_count(), []

    @verb("trial work", stage="hard work")
    def work(options: CommonOptions) -> None:
        """Work."""
        during.append(threading.active_count())
        options.print({}, lambda _: print(threading.active_count()))

    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    work(args=[*quiet], prog_name="trial work", standalone_mode=False)
    printed = capsys.readouterr()
    assert printed.out == f"{before}\n"
    assert (during, printed.err[:10]) == (([before], "") if quiet else ([before + 1], "\rhard work"))


def test_names_and_files_complete_a_value(folder):
    for name in ("nest.h5", "other.h5", "note.toml"):
        (folder / name).touch()
    assert complete_agents("n") == ["naive", "nest.h5"]
    assert complete_rules("no") == ["notebook", "note.toml"]


@pytest.mark.usefixtures("files")
def test_a_variable_of_a_flag_names_its_value(run, monkeypatch):
    monkeypatch.setenv("PUNISH_FAST_QUIET", "maybe")
    run("agents").refused("--quiet", "PUNISH_FAST_QUIET is set")
    for text in ("", "Yes", "0"):
        monkeypatch.setenv("PUNISH_FAST_QUIET", text)
        assert run("agents").code == 0


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (["solve", "--rules="], "--rules: '' is neither a preset"),
        (["help", "solve", "extra"], "help: solve has no command 'extra'"),
        (["help", "enemy", "parless", "extra", "more"], "help: parless has no command 'extra'"),
        (["arena", "naive@-1", "random"], "naive@-1: temperature -1 is not allowed; it must be above 0"),
        (["solve", "--rules", "tiny", "--sweeps", "9" * 20], f"--sweeps: {'9' * 20} is not allowed; it must be"),
    ],
)
def test_values_are_named_where_they_are_wrong(run, folder, line, text):
    run(*line).refused(text)
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes")
def test_a_pipe_is_not_a_missing_file(run, folder):
    for name in ("pipe", "pipe.umb"):
        os.mkfifo(folder / name)
    for line in ("show pipe", "solve --rules pipe", "solve pipe.umb", "import pipe -o x.h5", "records list --db pipe"):
        run(*line.split()).refused("is not a regular file; save it as one")

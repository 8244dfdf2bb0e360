"""Prompts and seeds."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from punish_fast.cli.frame import errors
from punish_fast.cli.frame.errors import UsageError
from punish_fast.cli.playing.table import asks_on, games_database, played_database, seed_of, table_stream
from punish_fast.punish.rules import PRESETS


def test_what_a_pipe_answers_is_shown(say):
    say("rush\x1b", "")
    drawn = io.StringIO()
    ask = asks_on(drawn)
    assert ask("Your move: ") == "rush\x1b\n"
    assert ask("Again? ") == "\n"
    with pytest.raises(EOFError):
        ask("More? ")
    assert drawn.getvalue() == "Your move: rush\\x1b\nAgain? \nMore? \n"


def test_a_terminal_shows_its_own_answers(say, monkeypatch):
    say("rush")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    drawn = io.StringIO()
    assert asks_on(drawn)("Your move: ") == "rush\n"
    assert drawn.getvalue() == "Your move: "


def test_seeds_are_kept_or_short():
    assert [seed_of(seed) for seed in (0, 7, 2**64 - 1)] == [0, 7, 2**64 - 1]
    found = {seed_of(None) for _ in range(20)}
    assert len(found) > 1
    assert all(0 <= seed < 1_000_000 for seed in found)


@pytest.mark.parametrize("as_json", [False, True])
def test_a_line_of_progress_is_gone_before_anything_is_drawn(capsys, monkeypatch, as_json):
    monkeypatch.setattr(errors, "_width", 3)
    print("cards", file=table_stream(as_json))
    print("more cards", file=table_stream(as_json))
    drawn = capsys.readouterr()
    assert drawn.err.startswith("\r   \r")
    assert (drawn.err.count("\r"), (drawn.err if as_json else drawn.out).count("cards")) == (2, 2)


def test_records_are_looked_for_where_play_keeps_them(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert played_database(Path("games.db")) == Path("games.db")
    database = games_database(None, PRESETS["tabletop"])
    with pytest.raises(UsageError, match="does not exist yet"):
        played_database(None)
    database.touch()
    assert played_database(None) == database

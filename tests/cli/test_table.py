"""Prompts and seeds."""

from __future__ import annotations

import io

import pytest

from punish_fast.cli.table import asks_on, seed_of


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

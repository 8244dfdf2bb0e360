"""The maker of the opening book of Connect Four."""

from __future__ import annotations

import shutil

import pytest

from bench import connect4_book
from punish_fast.games.connect4 import Connect4
from punish_fast.games.connect4_book import FILE, opening_book, read_book

GAME = Connect4()


def test_a_finished_book_is_made_again_without_search(tmp_path, capsys):
    shutil.copy(FILE, tmp_path / "book.npz")
    assert connect4_book.main([str(tmp_path / "book.npz"), "--memory", "1"]) == 0
    made, known = read_book(tmp_path / "book.npz"), opening_book()
    assert (made.scores, made.columns) == (known.scores, known.columns)
    assert f"{len(known.scores):,} positions" in capsys.readouterr().out


@pytest.mark.compiled
def test_an_interrupted_run_goes_on_with_what_the_file_has(tmp_path):
    maker = connect4_book.BookMaker(tmp_path / "book.npz", memory=16)
    known = opening_book()
    gone = sorted(state for state in known.columns if state.n_stones == 9)[::400]
    maker.book.scores = {state: score for state, score in known.scores.items() if state not in gone}
    maker.book.columns = {state: column for state, column in known.columns.items() if state not in gone}
    maker.save()
    maker = connect4_book.BookMaker(tmp_path / "book.npz", memory=16)
    maker.add_play(9, 1)
    assert gone
    assert (maker.book.scores, maker.book.columns) == (known.scores, known.columns)

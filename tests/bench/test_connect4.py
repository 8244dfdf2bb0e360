import random
import shutil

import numpy as np
import pytest

from bench import connect4
from bench.make import connect4 as maker
from punish_fast.games.connect4 import known_scores as connect4_sets
from punish_fast.games.connect4.game import Connect4
from punish_fast.games.connect4.known_scores import SETS, position_sets
from punish_fast.games.connect4.oracle import FILE, OpeningBook, opening_book, read_book

GAME = Connect4()


def test_random_positions_and_finished_books(tmp_path):
    generator = random.Random(3)
    found = [maker.random_position(generator, 20) for _ in range(50)]
    states = [state for state in found if state is not None]
    assert states
    assert all(state.n_stones == 20 for state in states)
    assert not any(maker.is_win(state, action) for state in states for action in GAME.actions(state))
    shutil.copy(FILE, tmp_path / "book.npz")
    assert maker.main(["book", str(tmp_path / "book.npz"), "--memory", "1"]) == 0
    made, known = read_book(tmp_path / "book.npz"), opening_book()
    assert (made.scores, made.columns) == (known.scores, known.columns)


@pytest.mark.compiled
def test_sets_are_made_anew_from_a_seed_and_stored(tmp_path, monkeypatch):
    # Later middles take no time.
    monkeypatch.setitem(maker.STONES, "middles", (20, 24))
    made, again = maker.make_sets(3, seed=5), maker.make_sets(3, seed=5)
    assert set(made) == set(SETS)
    for name, each in made.items():
        assert np.array_equal(each.boards, again[name].boards)
        assert len(each.states) == 3
    maker.save_sets(made, tmp_path / "sets.npz")
    monkeypatch.setattr(connect4_sets, "FILE", tmp_path / "sets.npz")
    read = position_sets.__wrapped__()
    assert all(np.array_equal(read[name].scores, made[name].scores) for name in SETS)


def test_both_solvers_find_the_same_scores(capsys):
    pytest.importorskip("bitbully")
    assert connect4.main(["compare", "easy-ends", "--size", "20"]) == 0
    row = capsys.readouterr().out.splitlines()[-1].split("|")
    assert [cell.strip() for cell in row[1:4]] == ["easy-ends", "20", "0"]
    columns = connect4.columns_of(GAME.state_of("4453"))
    assert columns[2:5] == [[2, 0, 0, 0, 0, 0], [1, 2, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]]


def test_another_score_is_counted(monkeypatch, capsys):
    monkeypatch.setattr(connect4, "bitbully_solver", lambda states: lambda: [99] * len(states))
    assert connect4.main(["compare", "hard-ends", "--size", "2"]) == 1
    assert "| hard-ends | 2 | 2 |" in " ".join(capsys.readouterr().out.split())


def test_a_position_is_reported_with_its_moves(monkeypatch, capsys):
    monkeypatch.setattr(connect4, "_MEMORY", 1)
    state = GAME.state_of("444444326555553233322676235")
    for exact, value, moves in (
        (True, "-1", "-1, -1, -, -, -, -7, -1"),
        (False, "loss", "loss, loss, -, -, -, loss, loss"),
    ):
        assert connect4.report(state, exact) == 0
        first, second = capsys.readouterr().out.splitlines()
        assert first.startswith(f"{GAME.text(state)}: {value}, ")
        assert second.startswith(f"columns 1 to 7: {moves}, ")
    # A book that says anything else is noticed.
    book = OpeningBook()
    book.scores = {GAME.position(state): 2, GAME.position(GAME.apply(state, 5)): -2}
    monkeypatch.setattr(connect4, "opening_book", lambda: book)
    assert [connect4.report(state, exact) for exact in (True, False)] == [2, 2]
    capsys.readouterr()

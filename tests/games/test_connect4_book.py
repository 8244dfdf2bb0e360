"""The opening book of Connect Four."""

from __future__ import annotations

import pytest

from bench.make.connect4 import save_book
from punish_fast.games.connect4.game import Connect4
from punish_fast.games.connect4.oracle import MOST_STONES, MOST_STONES_OF_PLAY, OpeningBook, opening_book, read_book

GAME = Connect4()


def successors(state):
    return [GAME.apply(state, action) for action in GAME.actions(state)]


def test_a_book_finds_positions_and_their_mirror_images(tmp_path):
    book = OpeningBook()
    first = next(GAME.state_of(text) for text in "17" if GAME.position(GAME.state_of(text)) == GAME.state_of(text))
    book.scores |= {first: -2, GAME.position(GAME.state_of("4455")): 3}
    book.columns[first] = 1 if first == GAME.state_of("1") else 5
    save_book(book, tmp_path / "book.npz")
    for found in (book, read_book(tmp_path / "book.npz")):
        assert [found.score(GAME.state_of(text)) for text in ("1", "7", "4455", "4433", "4")] == [-2, -2, 3, 3, None]
        assert [found.best_column(GAME.state_of(text)) for text in ("1", "7", "4455", "4")] == [1, 5, None, None]


def test_the_book_has_all_early_positions_and_each_is_worth_what_its_best_successor_is():
    book, layer = opening_book(), {GAME.initial()}
    # Who begins wins with the last but one stone of its own, but only by the centre.
    assert [-book.score(each) for each in successors(GAME.initial())] == [-2, -1, 0, 1, 0, -1, -2]
    for _ in range(MOST_STONES):
        for state in layer:
            scores = [-book.score(after) for after in successors(state)]
            assert book.score(state) == max(scores) == scores[GAME.actions(state).index(book.best_column(state))]
        layer = {GAME.position(after) for state in layer for after in successors(state)}
    assert all(book.score(state) is not None for state in layer)


@pytest.mark.parametrize("seat", [0, 1])
def test_whoever_plays_by_the_book_stays_in_it(seat):
    book, layer = opening_book(), {GAME.initial()}
    for n_stones in range(MOST_STONES_OF_PLAY + 1):
        if n_stones % 2 == seat:
            after = {state: GAME.apply(state, book.best_column(state)) for state in layer}
            assert all(book.score(each) == -book.score(state) for state, each in after.items())
            layer = set(after.values())
        else:
            layer = {each for state in layer for each in successors(state)}
        layer = {GAME.position(state) for state in layer if not GAME.is_terminal(state)}
    assert len(layer) > 100

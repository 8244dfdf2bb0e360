"""Searches over decks in files: what is read is what was written, and what no search comes to is refused."""

from __future__ import annotations

import json
from itertools import combinations

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.learn import deck_file, deck_search
from punish_fast.learn.deck_file import load_search, save_search
from punish_fast.learn.deck_search import DeckSearch, SearchMethod, curve_of, run_search
from punish_fast.learn.qlearning import LearnError
from punish_fast.runtime.files import ReadError
from punish_fast.store.checksum import seal
from punish_fast.store.deck_pools import PoolFile

SMALL = SearchMethod(pool=6, games=2, survivors=2, newcomers=1, player="random")


@pytest.fixture(scope="module")
def search():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deck_search, "FRESH_GAMES", 50)
        made = DeckSearch(SMALL, 2**62, 9)
        run_search(DeckSearch(SMALL, 2**62, 3, made.history))
    return made


@pytest.fixture
def path(tmp_path, search):
    save_search(tmp_path / "x.h5", search)
    return tmp_path / "x.h5"


def test_round_trip(path, search, monkeypatch):
    found = load_search(path)
    assert (found.method, found.seed, found.wanted) == (SMALL, 2**62, 9)
    assert curve_of(found) == curve_of(search)
    monkeypatch.setattr(deck_search, "FRESH_GAMES", 50)
    ends = []
    for each in (found, DeckSearch(SMALL, 2**62, 9)):
        run_search(each)
        ends.append((each.history[-1].decks.tolist(), curve_of(each)))
    assert ends[0] == ends[1]


def change(path, name, edit):
    """Change a dataset, or an attribute, and seal the file anew."""
    with h5py.File(path, "r+") as file:
        if name.startswith("/"):
            array = file[name][...]
            edit(array)
            file[name][...] = array
        else:
            file.attrs[name] = json.dumps(edit(json.loads(file.attrs[name])))
    seal(path)


def put(index, value):
    def edit(array):
        array[index] = value

    return edit


def add_one(array):
    array += 1


def swap_survivors(array):
    array[1, [0, 1]] = array[1, [1, 0]]


def exchange_best(array):
    """Give the points of the first survivor to the last deck in the ranking, and the other way round."""
    best, worst = np.argmax(array[0]), np.argmin(array[0])
    array[0, [best, worst]] = array[0, [worst, best]]


@pytest.mark.parametrize(
    ("name", "edit", "text"),
    [
        ("search", lambda value: {**value, "extra": 1}, "search: .* must have method, seed, wanted"),
        ("search", lambda value: {**value, "seed": -1}, "seed: -1 is not allowed"),
        ("search", lambda value: {**value, "wanted": 2}, "/pool/deck: 3 generations are too many, the search has 2"),
        ("search", lambda value: {**value, "wanted": "many"}, "generations: 'many' is not allowed"),
        ("search", lambda value: {**value, "method": 1}, "method: 1 is not allowed"),
        ("search", lambda value: {**value, "method": {**value["method"], "games": 3}}, "games: 3 is not allowed"),
        (
            "search",
            lambda value: {**value, "method": {**value["method"], "pool": 7}},
            r"/pool/deck: its shape is \(3, 6, 25\), the search has 7 decks of 25 cards",
        ),
        ("/pool/deck", put((0, 0, 0), 0), "/pool/deck: a number is 0, allowed are those from 1 to 76"),
        ("/pool/deck", put((0, 5, 24), 76), f"/pool/deck: generation 0 is not what random seed {2**62} breeds"),
        # A deck that is allowed, but another one.
        ("/pool/deck", put((2, 5), 4), "/pool/deck: generation 2 is not what random seed"),
        ("/pool/deck", swap_survivors, "/pool/deck: generation 1 is not what random seed"),
        ("/pool/points", exchange_best, "/pool/deck: generation 1 is not what random seed"),
        ("search", lambda value: {**value, "seed": 5}, "/pool/deck: generation 0 is not what random seed 5 breeds"),
        (
            "search",
            lambda value: {**value, "method": {**value["method"], "deviation": 1.0}},
            "/pool/deck: generation 1 is not what random seed",
        ),
        ("/pool/points", put((2, 0), 11), "/pool/points: the numbers of generation 2 are impossible"),
        ("/pool/decided", put(1, 31), "/pool/decided: the numbers of generation 1 are impossible"),
        # Points without games that were decided.
        ("/pool/decided", put(1, 0), "/pool/decided: the numbers of generation 1 are impossible"),
        ("/pool/pair_squares", put(1, 0), "/pool/pair_squares: the numbers of generation 1 are impossible"),
        ("/pool/pair_squares", add_one, "/pool/pair_squares: the numbers of generation 0 are impossible"),
        ("/pool/pair_squares", put(1, 10**12), "/pool/pair_squares: the numbers of generation 1 are impossible"),
        ("/fresh/games", put(0, 0), "/fresh/games: the numbers of generation 0 are impossible"),
        ("/fresh/wins", put(0, 51), "/fresh/wins: the numbers of generation 0 are impossible"),
        ("/fresh/losses", put(0, -1), "/fresh/losses: a number is -1"),
    ],
)
def test_what_no_search_comes_to_is_refused_in_one_line(path, name, edit, text):
    change(path, name, edit)
    with pytest.raises(ReadError, match=rf"x\.h5: [^\n]*{text}"):
        load_search(path)


@given(st.data())
def test_results_of_games_are_possible(data):
    """Whatever the results are, as long as they are those of games."""
    n, games = data.draw(st.integers(2, 5)), data.draw(st.sampled_from([2, 4]))
    results = st.lists(st.sampled_from([1, 0, -1]), min_size=games, max_size=games)
    played = {pair: data.draw(results) for pair in combinations(range(n), 2)}
    points = np.zeros((1, n), dtype=np.int64)
    for (one, other), values in played.items():
        points[0, one] += sum(values)
        points[0, other] -= sum(values)
    decided = np.array([sum(abs(value) for values in played.values() for value in values)])
    squares = np.array([sum(sum(values) ** 2 for values in played.values())])
    one = np.ones(1, dtype=np.int64)
    file = PoolFile({}, np.zeros((1, n, 25), dtype=np.int8), points, decided, squares, one, 0 * one, one)
    method = SearchMethod(pool=n, games=games, survivors=1, newcomers=0)
    deck_file._check_results(DeckSearch(method, 0, 1), file)
    for wrong in ({"pair_squares": squares + 1}, {"decided": np.abs(points).sum(axis=1) // 2 - 1}):
        with pytest.raises(LearnError, match="are impossible"):
            deck_file._check_results(DeckSearch(method, 0, 1), file._replace(**wrong))


def test_a_dataset_of_another_length_is_refused(path):
    with h5py.File(path, "r+") as file:
        del file["/pool/points"]
        file["/pool/points"] = np.zeros((2, 6), np.int64)
    seal(path)
    with pytest.raises(ReadError, match=r"/pool/points: shape is \(2, 6\), allowed is 3 x 6"):
        load_search(path)


def test_damaged_and_other_files_are_refused(path, tmp_path):
    content = path.read_bytes()
    path.write_bytes(content[:-9])
    with pytest.raises(ReadError, match=r"x\.h5: damaged"):
        load_search(path)
    with pytest.raises(ReadError, match="there is no such file"):
        load_search(tmp_path / "none.h5")

"""Connect Four against boards as lists of stones; its solver against slow ones, perfect play, and the opening book."""

import random
import time
from itertools import pairwise

import numpy as np
import pytest

from bench.make.connect4 import is_win, save_book
from punish_fast.games.connect4.game import WIDTH, Connect4, Connect4State
from punish_fast.games.connect4.known_scores import position_sets
from punish_fast.games.connect4.oracle import (
    MOST_STONES,
    MOST_STONES_OF_PLAY,
    Connect4Oracle,
    OpeningBook,
    opening_book,
    read_book,
)
from punish_fast.games.connect4.search import Connect4Solver, distance_to_center, plies_to_end, value_of
from punish_fast.games.contract import GameError
from punish_fast.games.enumeration.positions import enumerate_positions
from punish_fast.games.enumeration.retrograde import solve_game
from punish_fast.runtime._jit import config, set_threads, threads

pytestmark = pytest.mark.kernels

GAME = Connect4()
# Without kernels, only the ends of games are quick.
FEWEST = 36 if config.DISABLE_JIT else 30


@pytest.fixture(scope="module")
def solver() -> Connect4Solver:
    return Connect4Solver(memory=1)


def position_after(n_stones: int, seed: int) -> Connect4State:
    """A position of random play in which nobody makes a line as long as there is another move."""
    generator = random.Random(seed)
    while True:
        state = GAME.initial()
        while state.n_stones < n_stones and not GAME.is_terminal(state):
            actions = GAME.actions(state)
            quiet = [action for action in actions if not is_win(state, action)]
            state = GAME.apply(state, generator.choice(quiet or actions))
        if state.n_stones == n_stones:
            return state


@pytest.mark.parametrize("seed", range(3))
def test_whole_endings_are_those_of_retrograde_analysis(solver, seed):
    positions = enumerate_positions(GAME, position_after(FEWEST, seed))
    perfect = solve_game(positions)
    stones = np.array([state.n_stones for state in positions.states])
    # The winner's stones at the end: those of the player to move after a win, of the other after a loss.
    winner = np.where(
        perfect.value > 0, stones // 2 + (perfect.distance + 1) // 2, (stones + 1) // 2 + perfect.distance // 2
    )
    wanted = perfect.value * (22 - winner)
    assert np.array_equal(solver.solve_many(positions.states).score, wanted)
    assert np.array_equal(solver.solve_many(positions.states, exact=False).score, perfect.value)


@pytest.mark.parametrize("seed", range(6))
def test_scores_of_moves_and_the_line_agree(solver, seed):
    state = position_after(FEWEST, seed)
    score, _ = solver.solve(state)
    scores, nodes = solver.score_moves(state)
    assert max(each for each in scores if each is not None) == score
    assert [column for column, each in enumerate(scores) if each is not None] == GAME.actions(state)
    assert nodes >= 0
    line = solver.line(state, score)
    best = [column for column, each in enumerate(scores) if each == score]
    # Of columns as near to the center, the left one.
    assert line[0] == solver.best_column(state, score) == min(best, key=distance_to_center)
    states = [state]
    for column in line:
        states.append(GAME.apply(states[-1], column))
    assert GAME.is_terminal(states[-1])
    found = solver.solve_many(states).score.tolist()
    assert all(after == -before for before, after in pairwise(found))
    assert score == 0 or plies_to_end(state.n_stones, score) == len(line)


def test_a_search_in_small_steps_finds_the_same(monkeypatch):
    states = [position_after(FEWEST, seed) for seed in range(20)]
    before = threads()
    try:
        set_threads(1)
        whole = Connect4Solver(memory=1).solve_many(states)
        monkeypatch.setattr("punish_fast.games.connect4.search._BUDGET", 7)
        steps = Connect4Solver(memory=1).solve_many(states)
        assert np.array_equal(whole.nodes, steps.nodes)
    finally:
        set_threads(before)
    assert np.array_equal(whole.score, steps.score)
    assert np.array_equal(whole.score, Connect4Solver(memory=1).solve_many(states).score)


@pytest.mark.compiled
def test_searches_with_one_thread_take_known_numbers_of_nodes():
    """A fault in the order of moves changes no score, only the number of nodes."""
    before = threads()
    try:
        set_threads(1)
        found = [Connect4Solver(memory=1).solve(position_after(*drawn)) for drawn in ((20, 1), (22, 1), (24, 2))]
    finally:
        set_threads(before)
    assert found == [(-6, 2450), (-2, 4153), (2, 908)]


def test_ends_need_no_search(solver):
    for moves, score in (("112233", 18), ("1122334", -18), ("547125662261271266215743771576315353334444", 0)):
        assert solver.solve(GAME.state_of(moves)) == (score, 0)
    assert len(solver.solve_many([]).score) == 0
    assert solver.score_moves(GAME.state_of("1122334")) == ([None] * 7, 0)
    assert solver.line(GAME.state_of("1122334"), -18) == []
    assert [value_of(score) for score in (-3, 0, 1)] == ["loss", "draw", "win"]


@pytest.fixture(scope="module")
def oracle():
    oracle = Connect4Oracle(GAME)
    oracle.open()
    return oracle


def test_the_values_of_moves_are_those_of_the_position_sets(oracle):
    found = position_sets()["easy-ends"]
    for state, scores in zip(found.states[:20], found.scores.tolist(), strict=False):
        moves = oracle.move_values(state)
        assert [move.action for move in moves] == GAME.actions(state)
        assert [move.value for move in moves] == [(s > 0) - (s < 0) for s in (scores[move.action] for move in moves)]
        assert [move.is_best for move in moves] == [scores[move.action] == max(scores) for move in moves]
        best = [move.action for move in moves if move.is_best]
        action = oracle.best_action(state)
        assert action in best
        assert distance_to_center(action) == min(map(distance_to_center, best))


def test_what_a_search_that_is_cut_short_knows_is_right(oracle):
    n_known = n_short = 0
    for state in position_sets()["hard-ends"].states[:10]:
        is_ready, (known, is_exact) = oracle.prepare(state, 0.0), oracle.known_values(state, 0.0)
        n_short += not is_exact and not is_ready
        exact = oracle.move_values(state)
        assert oracle.prepare(state, time.monotonic() + 60)
        for move, value in zip(known, exact, strict=True):
            if move is not None:
                n_known += 1
                assert (move.action, move.value) == (value.action, value.value)
                assert move.plies in (None, value.plies)
                assert value.is_best or not move.is_best
        assert oracle.known_values(state, 0.0) == (exact, True)
    assert n_known > 0
    assert n_short > 0


@pytest.mark.compiled
def test_a_search_ends_at_its_deadline(oracle):
    state = GAME.state_of("71223")
    begin = time.monotonic()
    _, is_exact = oracle.known_values(state, begin + 0.5)
    assert not is_exact
    assert time.monotonic() - begin < 3


def test_openings_come_from_the_book_and_a_win_at_once_is_made(oracle):
    moves = oracle.move_values(GAME.initial())
    outer = [(-1, 40, False), (-1, 42, False), (0, None, False)]
    assert [(move.value, move.plies, move.is_best) for move in moves] == [*outer, (1, 41, True), *outer[::-1]]
    assert oracle.best_action(GAME.initial()) == WIDTH // 2
    assert oracle.best_action(GAME.state_of("112233")) == 3
    assert oracle.best_action(GAME.state_of("7717276")) == 6


def test_a_book_finds_positions_and_their_mirror_images(tmp_path):
    book = OpeningBook()
    first = next(GAME.state_of(text) for text in "17" if GAME.position(GAME.state_of(text)) == GAME.state_of(text))
    book.scores |= {first: -2, GAME.position(GAME.state_of("4455")): 3}
    book.columns[first] = 1 if first == GAME.state_of("1") else 5
    save_book(book, tmp_path / "book.npz")
    for found in (book, read_book(tmp_path / "book.npz")):
        assert [found.score(GAME.state_of(text)) for text in ("1", "7", "4455", "4433", "4")] == [-2, -2, 3, 3, None]
        assert [found.best_column(GAME.state_of(text)) for text in ("1", "7", "4455", "4")] == [1, 5, None, None]


def successors(state):
    return [GAME.apply(state, action) for action in GAME.actions(state)]


def test_the_book_has_all_early_positions_and_each_is_worth_what_its_best_successor_is():
    book, layer = opening_book(), {GAME.initial()}
    # Who begins wins with the last but one stone of its own, but only by the center.
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


def lines_of(grid: np.ndarray) -> set[tuple[int, int]]:
    """The places of all lines of four stones of one player, from the bottom."""
    found = set()
    for row, column in np.argwhere(grid).tolist():
        for up, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            places = [(row + k * up, column + k * right) for k in range(4)]
            inside = all(0 <= r < 6 and 0 <= c < 7 for r, c in places)
            if inside and len({grid[place] for place in places}) == 1:
                found.update(places)
    return found


@pytest.mark.parametrize("seed", range(15))
def test_random_games_are_those_of_stones_on_a_grid(seed):
    generator, state, player = random.Random(seed), GAME.initial(), 0
    # By row from the bottom and column: 1 and 2 for the players, 0 for none.
    grid = np.zeros((6, 7), dtype=int)
    while not GAME.is_terminal(state):
        assert GAME.actions(state) == [c for c in range(7) if grid[5, c] == 0]
        assert not lines_of(grid)
        planes = GAME.features(state).reshape(2, 6, 7)
        assert np.array_equal(planes[0] == 1, grid == player + 1)
        assert np.array_equal(planes[1] == 1, grid == 2 - player)
        action = generator.choice(GAME.actions(state))
        grid[np.count_nonzero(grid[:, action]), action] = player + 1
        state, player = GAME.apply(state, action), 1 - player
        assert GAME.player(state) == player
    line = lines_of(grid)
    assert GAME.returns(state) == ((0, 0) if not line else (1, -1) if player == 1 else (-1, 1))
    board = GAME.board(state, 1)
    assert {(5 - square // 7, square % 7) for square in board["line"]} == line
    assert board["cells"] == grid[::-1].ravel().tolist()
    assert (board["rows"], board["columns"], board["own"]) == (6, 7, 2)
    assert GAME.text(state) == "/".join("".join(".XO"[stone] for stone in row) for row in grid[::-1])


def test_full_boards_and_pictures():
    state = GAME.state_of("547125662261271266215743771576315353334444")
    assert GAME.is_terminal(state)
    assert GAME.returns(state) == (0, 0)
    assert GAME.board(state, 0)["line"] == []
    assert GAME.draw(GAME.state_of("4453"), 1, ("Ann", "Ben")).split("\n") == [
        *("X Ann, O Ben", ""),
        *[". . . . . . ."] * 4,
        ". . . O . . .",
        ". . O X X . .",
        "1 2 3 4 5 6 7",
    ]


def test_mirror_images_are_one_position():
    state, mirrored = GAME.state_of("44511"), GAME.state_of("44377")
    assert GAME.position(state) == GAME.position(mirrored)
    numbers = zip(GAME.position_actions(state), GAME.position_actions(mirrored), strict=True)
    assert sorted(map(sorted, numbers)) == [[0, 6], [0, 6], [1, 5], [1, 5], [2, 4], [2, 4], [3, 3]]
    assert GAME.position_actions(GAME.initial()) == list(range(7))


def test_a_state_is_that_of_its_moves_and_wrong_ones_are_refused():
    assert GAME.state_of("") == GAME.initial()
    assert GAME.state_of("41") == Connect4State(own=1 << 21, filled=1 << 21 | 1)
    for text, problem in (
        ("8", "use the columns played, 1 to 7, such as 4455"),
        ("4 4", "use the columns"),
        ("4444444", "before move 7, column 4 is full"),
        ("11223345", "before move 8, the game is over"),
        ("٣", "use the columns"),
        ("4\n", "use the columns"),
    ):
        with pytest.raises(GameError, match=problem):
            GAME.state_of(text)


def test_all_positions_are_too_many_but_those_at_the_end_are_not():
    with pytest.raises(GameError, match="has more than 2,000,000 positions"):
        enumerate_positions(GAME)
    assert len(enumerate_positions(GAME, GAME.state_of("54712566226127126621574377157631"))) > 1

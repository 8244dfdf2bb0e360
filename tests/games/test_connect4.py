"""Connect Four against boards as lists of stones."""

import random

import numpy as np
import pytest

from punish_fast.games.connect4.game import Connect4, Connect4State
from punish_fast.games.contract import GameError
from punish_fast.games.solve.positions import enumerate_positions

pytestmark = pytest.mark.kernels

GAME = Connect4()


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

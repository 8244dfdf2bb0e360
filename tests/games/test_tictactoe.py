"""Tic-tac-toe against a plain model of lists of squares."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.games.contract import GameError
from punish_fast.games.solve.positions import enumerate_positions
from punish_fast.games.solve.retrograde import check_perfect_play, solve_game
from punish_fast.games.tictactoe import TicTacToe, TicTacToeState

GAME = TicTacToe()
LINES = ["012", "345", "678", "036", "147", "258", "048", "246"]


def winner(cells: str) -> str | None:
    return next((mark for mark in "XO" for line in LINES if all(cells[int(k)] == mark for k in line)), None)


def text_of(cells: str) -> str:
    return "/".join((cells[:3], cells[3:6], cells[6:]))


@pytest.fixture(scope="module")
def boards() -> dict[str, list[str]]:
    """Every board that play can reach, as nine signs, with the boards after it."""
    found: dict[str, list[str]] = {}
    queue = ["." * 9]
    for cells in queue:
        if cells not in found:
            mark = "XO"[(9 - cells.count(".")) % 2]
            empty = [] if winner(cells) else [k for k in range(9) if cells[k] == "."]
            found[cells] = [cells[:k] + mark + cells[k + 1 :] for k in empty]
            queue += found[cells]
    return found


def test_the_rules_are_those_of_the_plain_model(boards):
    assert len(boards) == 5478
    for cells, after in boards.items():
        state = GAME.state_of(cells)
        assert GAME.text(state) == text_of(cells)
        assert GAME.is_terminal(state) == (not after)
        assert [GAME.text(GAME.apply(state, action)) for action in GAME.actions(state)] == [text_of(c) for c in after]
        assert GAME.returns(state) == {"X": (1.0, -1.0), "O": (-1.0, 1.0), None: (0.0, 0.0)}[winner(cells)]
        assert GAME.board(state, 1)["cells"] == [".XO".index(cell) for cell in cells]


def turned(cells: str) -> str:
    return "".join(cells[3 * (2 - column) + row] for row in range(3) for column in range(3))


def mirrored(cells: str) -> str:
    return "".join(cells[3 * row + 2 - column] for row in range(3) for column in range(3))


def test_positions_are_boards_up_to_turns_and_mirror_images(boards):
    classes = {}
    for cells in boards:
        images = [cells]
        for _ in range(3):
            images.append(turned(images[-1]))
        images += [mirrored(image) for image in images]
        classes[cells] = min(images)
    assert len(set(classes.values())) == 765
    assert len({(classes[cells], GAME.position(GAME.state_of(cells))) for cells in boards}) == 765
    assert GAME.counts() == {"states": 5478, "canonical_states": 765}


def test_rows_of_equivalent_states_lead_to_the_same_positions():
    positions = enumerate_positions(GAME)
    plain = enumerate_positions(GAME, is_folded=False)
    for state in plain.states:
        after = [positions.find(GAME.apply(state, action)) for action in GAME.actions(state)]
        assert positions.after[positions.rows_of(state)].tolist() == after
        assert plain.action[plain.rows_of(state)].tolist() == GAME.actions(state)


def test_tic_tac_toe_is_a_draw_and_values_do_not_depend_on_symmetry():
    folded, plain = (
        check_perfect_play(solve_game(enumerate_positions(GAME, is_folded=each))) for each in (True, False)
    )
    assert (folded.value[0], folded.distance[0]) == (0, -1)
    numbers = [folded.positions.find(state) for state in plain.positions.states]
    assert np.array_equal(plain.value, folded.value[numbers])
    assert np.array_equal(plain.distance, folded.distance[numbers])


def test_features_are_the_movers_stones_first():
    features = GAME.features(GAME.state_of("XX. O.. ..."))
    assert np.flatnonzero(features[:9]).tolist() == [3]
    assert np.flatnonzero(features[9:]).tolist() == [0, 1]


@pytest.mark.parametrize("text", ["X../.O./...", "x...o....", " X.. | .O. | ... ", "X..\n.O.\n..."])
def test_states_are_read_from_text(text):
    assert GAME.state_of(text) == TicTacToeState(1, 16)
    assert GAME.state_of("X../.../...") == TicTacToeState(0, 1)


@pytest.mark.parametrize("text", ["", "X", "X../.O./....", "X../.o./..2", "X-O", "\x1b"])
def test_other_texts_are_refused(text):
    with pytest.raises(GameError, match=r"^position: .* is wrong, allowed: three rows of X, O and \. for an empty"):
        GAME.state_of(text)


@pytest.mark.parametrize("text", ["XX. ... ...", "O.. ... ...", "XXX OO. O..", "XXX OOO ...", "XX. OOO X.X"])
def test_boards_that_play_cannot_reach_are_refused(text):
    with pytest.raises(GameError, match=r"^position: '.*' cannot be reached, allowed: as many X as O, or one more"):
        GAME.state_of(text)


PICTURE = """\
X Anna, O Ben

 X | 2 | 3
---+---+---
 4 | O | 6
---+---+---
 7 | 8 | X"""


@pytest.mark.parametrize("viewer", [0, 1])
def test_the_board_is_drawn_with_names(viewer):
    assert GAME.draw(GAME.state_of("X...O...X"), viewer, ("Anna", "Ben")) == PICTURE


def test_a_page_is_told_squares_and_the_lines_that_end_the_game():
    assert GAME.board(GAME.state_of("X...O...X"), 1) == {
        "rows": 3,
        "columns": 3,
        "cells": [1, 0, 0, 0, 2, 0, 0, 0, 1],
        "own": 2,
        "line": [],
    }
    assert GAME.board(GAME.state_of("XXXOO...."), 0)["line"] == [0, 1, 2]
    assert GAME.board(GAME.state_of("XOXOXOXOX"), 0)["line"] == [0, 2, 4, 6, 8]

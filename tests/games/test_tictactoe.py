"""Tic-tac-toe against a plain model of lists of squares."""

import numpy as np
import pytest

from punish_fast.games.contract import GameError
from punish_fast.games.enumeration.positions import enumerate_positions
from punish_fast.games.enumeration.retrograde import check_perfect_play, solve_game
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


def test_positions_are_boards_up_to_turns_and_mirror_images(boards):
    classes = {}
    for cells in boards:
        grid = np.array(list(cells)).reshape(3, 3)
        turned = [np.rot90(each, k) for each in (grid, grid.T) for k in range(4)]
        classes[cells] = min("".join(each.ravel()) for each in turned)
    assert len(set(classes.values())) == 765
    assert len({(classes[cells], GAME.position(GAME.state_of(cells))) for cells in boards}) == 765
    assert GAME.counts() == {"states": 5478, "canonical_states": 765}


def test_rows_of_equivalent_states_lead_to_the_same_positions():
    positions, plain = (enumerate_positions(GAME, is_folded=is_folded) for is_folded in (True, False))
    for state in plain.states:
        after = [positions.find(GAME.apply(state, action)) for action in GAME.actions(state)]
        assert positions.after[positions.rows_of(state)].tolist() == after
        assert plain.action[plain.rows_of(state)].tolist() == GAME.actions(state)
    # The game is a draw, and values do not depend on symmetry.
    folded, whole = (check_perfect_play(solve_game(each)) for each in (positions, plain))
    assert (folded.value[0], folded.distance[0]) == (0, -1)
    numbers = [positions.find(state) for state in plain.states]
    assert np.array_equal(whole.value, folded.value[numbers])
    assert np.array_equal(whole.distance, folded.distance[numbers])


def test_states_are_read_from_text():
    for text in ("X../.O./...", "x...o....", " X.. | .O. | ... ", "X..\n.O.\n..."):
        assert GAME.state_of(text) == TicTacToeState(1, 16)
    assert GAME.state_of("X../.../...") == TicTacToeState(0, 1)
    for text in ("", "X", "X../.O./....", "X../.o./..2", "X-O", "\x1b"):
        with pytest.raises(GameError, match=r"^position: .* is wrong; use three rows of X, O and \. for an empty"):
            GAME.state_of(text)
    for text in ("XX. ... ...", "O.. ... ...", "XXX OO. O..", "XXX OOO ...", "XX. OOO X.X"):
        with pytest.raises(
            GameError, match=r"^position: '.*' cannot be reached; there must be as many X as O, or one more"
        ):
            GAME.state_of(text)


PICTURE = """\
X Anna, O Ben

 X | 2 | 3
---+---+---
 4 | O | 6
---+---+---
 7 | 8 | X"""


def test_pictures_boards_and_features_show_the_squares():
    state = GAME.state_of("X...O...X")
    for viewer in (0, 1):
        assert GAME.draw(state, viewer, ("Anna", "Ben")) == PICTURE
    cells = [1, 0, 0, 0, 2, 0, 0, 0, 1]
    assert GAME.board(state, 1) == {"rows": 3, "columns": 3, "cells": cells, "own": 2, "line": []}
    assert GAME.board(GAME.state_of("XXXOO...."), 0)["line"] == [0, 1, 2]
    assert GAME.board(GAME.state_of("XOXOXOXOX"), 0)["line"] == [0, 2, 4, 6, 8]
    features = GAME.features(GAME.state_of("XX. O.. ..."))
    assert [np.flatnonzero(part).tolist() for part in (features[:9], features[9:])] == [[3], [0, 1]]

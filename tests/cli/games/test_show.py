"""``punish-fast games show``."""

from __future__ import annotations

import pytest


def test_show_values_every_move(run):
    report = run("games", "show", "tapnswap", "3-1/2-4", "--json").report
    assert (report["value"], report["plies"]) == ("draw", None)
    assert {move["move"]: (move["outcome"], move["plies"]) for move in report["moves"]} == {
        "tap 1 on 2": ("loss", 18),
        "tap 1 on 4": ("loss", 18),
        "tap 3 on 2": ("draw", None),
        "tap 3 on 4": ("loss", 18),
        "swap to 4-0": ("loss", 2),
        "swap to 2-2": ("draw", None),
    }
    assert [move["move"] for move in report["moves"] if move["best"]] == ["tap 3 on 2"]
    done = run("games", "show", "tapnswap", "1-1/1-1")
    assert "the player to move: loss in 26\n" in done.out
    assert "tap 1 on 1   loss in 26  <- best" in done.out


def test_show_tells_the_trap_of_the_corner_and_the_far_edge(run):
    before = run("games", "show", "tictactoe", "X../..X/O..", "--json").report
    assert before["value"] == "draw"
    outcomes = {move["move"]: (move["outcome"], move["plies"]) for move in before["moves"]}
    assert outcomes.pop("bottom right") == ("draw", None)
    assert set(outcomes.values()) == {("loss", 4)}
    after = run("games", "show", "tictactoe", "X../.OX/O..")
    assert "X to move, O opponent" in after.out
    assert "  top right     win in 3  <- best\n" in after.out
    assert "the player to move: loss in 0\n" in run("games", "show", "tictactoe", "XXX/OO./...").out
    run("games", "show", "tictactoe", "X../..X/...").refused("position: 'X../..X/...' cannot be reached")


def test_moves_of_symmetric_positions_are_those_of_the_position_shown(run):
    for position, best in (("X../.../...", "centre"), (".../.../..X", "centre"), ("X.O/.../X..", "left")):
        moves = run("games", "show", "tictactoe", position, "--json").report["moves"]
        assert [move["move"] for move in moves if move["best"]] == [best]


def test_show_knows_unreachable_and_terminal_positions(run):
    assert run("games", "show", "tapnswap", "4444", "--json").report["value"] == "win"
    ended = run("games", "show", "tapnswap", "0-0/1-1", "--json").report
    assert (ended["value"], ended["plies"], ended["moves"], ended["line"]) == ("loss", 0, [], [])
    assert run("games", "show", "tapnswap", "0-0/1-1").code == 0


@pytest.mark.parametrize("position", ["5-0/1-1", "1-1", "٣-1/2-4"])
def test_wrong_positions_are_refused(run, position):
    run("games", "show", "tapnswap", position).refused(f"position: '{position}' is wrong", 'such as "3-1 2-4"')

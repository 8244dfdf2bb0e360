from __future__ import annotations


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


def test_show_values_moves_of_symmetric_positions_as_they_are_shown(run):
    for position, best in (("X../.../...", "center"), (".../.../..X", "center"), ("X.O/.../X..", "left")):
        moves = run("games", "show", "tictactoe", position, "--json").report["moves"]
        assert [move["move"] for move in moves if move["best"]] == [best]
    after = run("games", "show", "tictactoe", "X../.OX/O..").out
    assert "X to move, O opponent" in after
    assert "  top right     win in 3   <- best\n" in after
    assert "the player to move: loss in 0\n" in run("games", "show", "tictactoe", "XXX/OO./...").out


def test_show_knows_unreachable_and_terminal_positions(run):
    assert run("games", "show", "tapnswap", "4444", "--json").report["value"] == "win"
    ended = run("games", "show", "tapnswap", "0-0/1-1", "--json").report
    assert (ended["value"], ended["plies"], ended["moves"], ended["line"]) == ("loss", 0, [], [])


def test_wrong_positions_are_refused(run):
    run("games", "show", "tapnswap", "5-0/1-1").refused("position: '5-0/1-1' is wrong", 'such as "3-1 2-4"')
    run("games", "show", "tictactoe", "X../..X/...").refused("position: 'X../..X/...' cannot be reached")

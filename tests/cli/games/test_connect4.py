"""``punish-fast games solve connect4`` and ``show connect4``."""

from __future__ import annotations

import pytest

from punish_fast.runtime.errors import are_installed

# A win of the player to move, in the one column that does not lose.
POSITION = "444444326555"


@pytest.mark.compiled
def test_solve_scores_every_move(run):
    report = run("games", "solve", "connect4", POSITION, "--json", "--threads", "1").report
    assert (report["score"], report["value"]) == (1, "win")
    assert report["scores"] == [-2, -2, -2, None, 1, -2, -2]
    assert report["values"] == ["loss", "loss", "loss", None, "win", "loss", "loss"]
    assert report["line"].startswith("5")
    assert len(report["line"]) == 29
    assert report["nodes"] > 1000
    assert set(report["seconds"]) == {"kernels", "solve", "line", "total"}
    again = run("games", "solve", "connect4", POSITION, "--json", "--threads", "1").report
    assert again["nodes"] == report["nodes"]


@pytest.mark.compiled
def test_the_line_of_play_ends_with_a_line_of_stones(run):
    report = run("games", "solve", "connect4", POSITION, "--json").report
    end = run("games", "solve", "connect4", POSITION + report["line"], "--json").report
    assert (end["value"], end["line"], end["scores"]) == ("loss", "", [None] * 7)
    assert end["score"] == -report["score"]


@pytest.mark.compiled
def test_who_wins_is_found_without_scores(run):
    report = run("games", "solve", "connect4", POSITION, "--value-only", "--json").report
    assert (report["score"], report["scores"], report["line"]) == (None, None, None)
    assert report["value"] == "win"
    assert report["values"] == ["loss", "loss", "loss", None, "win", "loss", "loss"]
    done = run("games", "solve", "connect4", POSITION, "--value-only")
    assert "score   loss  loss  loss  -  win  loss  loss\n" in done.out
    assert "the player to move: win\n" in done.out


@pytest.mark.compiled
def test_solve_and_show_print_words(run):
    done = run("games", "solve", "connect4", POSITION + "5")
    assert done.code == 0
    assert "the player to move: loss in 28 (score -1)\nperfect play: 5 3" in done.out
    shown = run("games", "show", "connect4", POSITION)
    assert "the player to move: win in 29\n" in shown.out
    assert "  column 5  win in 29  <- best\n" in shown.out
    assert "  column 1  loss in 28\n" in shown.out
    report = run("games", "show", "connect4", POSITION, "--json").report
    assert [move["move"] for move in report["moves"]] == [f"column {column}" for column in (1, 2, 3, 5, 6, 7)]
    assert [move["best"] for move in report["moves"]] == [False, False, False, True, False, False]
    assert len(report["line"]) == report["plies"] == 29


def test_late_positions_are_solved(run):
    # Two columns are left.
    report = run("games", "solve", "connect4", POSITION + "553233322676235266611", "--json").report
    assert (report["score"], report["value"]) == (-1, "loss")
    assert run("games", "show", "connect4", POSITION + "553233322676235266611", "--json").report["plies"] == 8


def test_a_finished_game_has_no_moves(run):
    report = run("games", "show", "connect4", "1122334", "--json").report
    assert (report["value"], report["plies"], report["moves"], report["line"]) == ("loss", 0, [], [])


def test_yardsticks_are_judged_by_positions(run):
    report = run("games", "judge", "connect4", "--json").report
    agents = {each["agent"]: each["sets"] for each in report["agents"]}
    assert list(agents) == ["random", "search-2", "search-4", "search-8"]
    for better, worse in (("search-2", "random"), ("search-4", "search-2"), ("search-8", "search-4")):
        for name, shares in agents[better].items():
            assert all(shares[key] > agents[worse][name][key] for key in ("keeps_value", "best_score"))
    (perfect,) = run("games", "judge", "connect4", "search-42", "--json").report["agents"]
    assert all(shares == {"keeps_value": 1, "best_score": 1} for shares in perfect["sets"].values())
    done = run("games", "judge", "connect4", "random")
    assert done.out.splitlines()[1].split()[:3] == ["random", "0.825", "0.463"]


@pytest.mark.slow
@pytest.mark.parametrize("illegal", ["mask", "punish"])
def test_networks_are_judged_by_positions(run, illegal):
    pytest.importorskip("jax")
    size = ["--games", "32", "--set", "filters=2", "--set", "hidden=4", "--set", f"illegal={illegal}"]
    assert run("games", "train", "connect4", "--method", "dqn", *size, "--quiet").code == 0
    (agent,) = run("games", "judge", "connect4", "connect4.h5", "--json").report["agents"]
    assert all(0 < shares["best_score"] <= shares["keeps_value"] < 1 for shares in agent["sets"].values())
    for seat in ("first", "second"):
        assert sum(agent[seat].values()) == pytest.approx(1)
        assert (agent[seat]["illegal"] == 0) == (illegal == "mask")
    done = run("games", "judge", "connect4", "connect4.h5", "random")
    assert f"connect4.h5 wins against random play: {agent['first']['win']:.2%} moving first, " in done.out


@pytest.mark.compiled
@pytest.mark.skipif(not are_installed("jax", "optax"), reason="needs the extra learn")
def test_the_network_that_comes_with_the_package_is_judged(run):
    (agent,) = run("games", "judge", "connect4", "trained", "--json").report["agents"]
    assert (agent["agent"], agent["simulations"], agent["games"]) == ("trained", None, 2000)
    assert agent["sets"]["easy-ends"]["keeps_value"] > 0.85
    assert agent["first"]["win"] > 0.99


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["solve", "connect4", "8"], "position: '8' is wrong, allowed: the columns played, 1 to 7"),
        (["show", "connect4", "4444444"], "position: '4444444' is wrong: before move 7, column 4 is full"),
        (["solve", "tapnswap", "44"], "tapnswap: takes no POSITION or --value-only, which are for connect4"),
        (["judge", "connect4", "search-0"], "search-0: is no agent, allowed are random, search-N"),
        (["judge", "connect4", "nobody"], "nobody: is no agent, allowed are random, search-N"),
        (["league", "connect4", "x"], "connect4: does not offer 'league'"),
    ],
)
def test_what_makes_no_sense_is_refused(run, arguments, problem):
    run("games", *arguments).refused(problem)


def test_no_table_learns_connect_four(run, folder):
    run("games", "train", "connect4", "-q").refused("connect4: has more than 2,000,000 positions", "--method dqn")
    assert list(folder.iterdir()) == []

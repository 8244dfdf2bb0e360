from __future__ import annotations

import numpy as np
import pytest

from punish_fast.games.connect4 import commands
from punish_fast.games.connect4.known_scores import position_sets, shares
from punish_fast.games.registry import make_game, vector_game

# A win of the player to move, in the one column that does not lose.
POSITION = "444444326555"


@pytest.mark.compiled
def test_solve_scores_every_move_and_show_values_them(run):
    report = run("games", "solve", "connect4", POSITION, "--json", "--threads", "1").report
    assert (report["score"], report["value"]) == (1, "win")
    assert report["scores"] == [-2, -2, -2, None, 1, -2, -2]
    assert report["values"] == ["loss", "loss", "loss", None, "win", "loss", "loss"]
    assert (report["line"][0], len(report["line"])) == ("5", 29)
    assert report["nodes"] > 1000
    assert set(report["seconds"]) == {"kernels", "solve", "line", "total"}
    end = run("games", "solve", "connect4", POSITION + report["line"], "--json").report
    assert (end["value"], end["line"], end["scores"]) == ("loss", "", [None] * 7)
    assert end["score"] == -report["score"]
    shown = run("games", "show", "connect4", POSITION, "--json").report
    assert [move["move"] for move in shown["moves"]] == [f"column {column}" for column in (1, 2, 3, 5, 6, 7)]
    assert [move["best"] for move in shown["moves"]] == [False, False, False, True, False, False]
    assert len(shown["line"]) == shown["plies"] == 29
    ended = run("games", "show", "connect4", "1122334", "--json").report
    assert (ended["value"], ended["plies"], ended["moves"], ended["line"]) == ("loss", 0, [], [])


def test_yardsticks_are_judged_by_positions(run):
    report = run("games", "evaluate", "connect4", "--json").report
    agents = {each["agent"]: each["sets"] for each in report["agents"]}
    assert list(agents) == ["random", "search-2", "search-4", "search-8"]
    for better, worse in (("search-2", "random"), ("search-4", "search-2"), ("search-8", "search-4")):
        for name, found in agents[better].items():
            assert all(found[key] > agents[worse][name][key] for key in ("keeps_value", "best_score"))
    (perfect,) = run("games", "evaluate", "connect4", "search-42", "--json").report["agents"]
    assert all(shares == {"keeps_value": 1, "best_score": 1} for shares in perfect["sets"].values())


@pytest.mark.slow
@pytest.mark.parametrize("illegal", ["mask", "punish"])
def test_networks_of_files_are_judged(run, illegal):
    pytest.importorskip("jax")
    size = ["--games", "32", "--set", "filters=2", "--set", "hidden=4", "--set", f"illegal={illegal}"]
    assert run("games", "train", "connect4", "--method", "dqn", *size, "--quiet").code == 0
    (agent,) = run("games", "evaluate", "connect4", "connect4.h5", "--json").report["agents"]
    assert all(0 < shares["best_score"] <= shares["keeps_value"] < 1 for shares in agent["sets"].values())
    for seat in ("first", "second"):
        assert sum(agent[seat].values()) == pytest.approx(1)
        assert (agent[seat]["illegal"] == 0) == (illegal == "mask")


def test_a_network_that_prefers_columns_to_the_left_is_judged(run, monkeypatch):
    vector = vector_game(make_game("connect4", {}))
    values = -np.arange(7.0)
    monkeypatch.setattr(
        commands, "trained_values", lambda _game: (vector, lambda boards: np.tile(values, (len(boards), 1)))
    )
    monkeypatch.setattr(commands, "_GAMES", 20)
    (agent,) = run("games", "evaluate", "connect4", "trained", "--json").report["agents"]
    assert (agent["games"], sum(agent["first"].values())) == (20, pytest.approx(1))
    for name, found in position_sets().items():
        leftmost = np.eye(7)[vector.legal(found.boards).argmax(axis=1)]
        assert agent["sets"][name] == shares(found, leftmost)._asdict()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["solve", "connect4", "8"], "position: '8' is wrong; use the columns played, 1 to 7"),
        (["show", "connect4", "4444444"], "position: '4444444' is wrong: before move 7, column 4 is full"),
        (["solve", "tapnswap", "44"], "tapnswap: POSITION applies only to connect4"),
        (["evaluate", "connect4", "search-0"], "search-0: unknown agent; use random, search-N"),
        (["league", "connect4", "x"], "connect4: does not offer 'league'"),
        (["train", "connect4", "--method", "q", "-q"], "connect4: has more than 2,000,000 positions"),
    ],
)
def test_what_makes_no_sense_is_refused(run, arguments, problem):
    run("games", *arguments).refused(problem)

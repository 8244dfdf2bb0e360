"""``punish-fast games model``."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from punish_fast.cli.games.model import _print, _told
from punish_fast.games.registry import make_game, vectorise
from punish_fast.learn.muzero.checkpoint import save_muzero
from punish_fast.learn.muzero.learner import new_muzero
from punish_fast.learn.muzero.method import MuZeroMethod
from punish_fast.learn.muzero.model_errors import SearchedNodes, UnrolledErrors

SETTINGS = {"simulations": 5, "width": 4}


@pytest.fixture
def files(folder):
    vector = vectorise(make_game("tictactoe", {}))
    for model in ("learned", "rules"):
        save_muzero(folder / f"{model}.h5", new_muzero(vector, MuZeroMethod(model=model, **SETTINGS), 1))
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("fast_compilation")
def test_a_model_is_judged_and_drawn(run, files):
    command = ("games", "model", "tictactoe", "learned.h5", "--states", "30", "--actions", "8", "--quiet")
    plot = ("--plot", "model.png") if find_spec("matplotlib") else ()
    report = run(*command, *plot, "--json").report
    assert (report["states"], report["unroll"], len(report["unrolled"])) == (30, 5, 9)
    assert (report["unrolled"][0]["reward"], report["unrolled"][0]["states"]) == (None, 30)
    assert sum(each["nodes"] for each in report["nodes"]) == 150
    assert not plot or (files / "model.png").stat().st_size > 10_000
    done = run(*command)
    assert (done.code, done.err) == (0, "")
    assert "from 30 states, after moves in the model, which learned to follow 5 moves" in done.out
    tables = ("values and rewards, from -1 to 1: mean errors", "policy", "nodes of searches: ")
    assert all(any(line.startswith(table) for line in done.out.splitlines()) for table in tables)


def test_tables_fit_a_terminal_and_name_their_errors(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    errors = UnrolledErrors(3, 1234, 0.1, 0.02, 0.003, 0.99, 0.98, 0.07, 0.6, 0.04, float("nan"))
    nodes = [SearchedNodes(1, 20, 0.25, 0.5)]
    report = {"states": 500, "unroll": 1, "unrolled": _told([errors]), "nodes": _told(nodes), "plot": None}
    _print(report)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "from 500 states, after moves in the model, which learned to follow 1 move"
    assert max(map(len, lines)) <= 80
    rows = [line.split() for line in lines if line.split()[:2] == ["3", "1,234"]]
    assert rows == [
        ["3", "1,234", "0.100", "0.020", "0.003", "0.040", "-"],
        ["3", "1,234", "0.990", "0.980", "0.070", "0.600"],
    ]
    assert lines[-1].split() == ["1", "20", "0.250", "0.500"]


@pytest.mark.usefixtures("files", "fast_compilation")
def test_what_has_no_model_is_refused(run):
    run("games", "model", "tictactoe", "rules.h5").refused("plans in the rules of the game, so there is no model")
    run("games", "model", "connect4", "learned.h5").refused("learned.h5: its game is tictactoe, not connect4")
    run("games", "model", "gwent", "learned.h5").refused("gwent: does not offer 'model', only")
    run("games", "model", "tictactoe", "none.h5").refused("none.h5: ")
    run("games", "model", "tictactoe", "learned.h5", "--seed", "-1").refused("'--seed': -1 is not allowed")

"""``punish-fast games model``."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from punish_fast.games.registry import make_game, vectorise
from punish_fast.learn.muzero.checkpoint import save_muzero
from punish_fast.learn.muzero.learner import new_muzero
from punish_fast.learn.muzero.method import MuZeroMethod

SETTINGS = {"simulations": 5, "width": 4}


@pytest.fixture
def files(folder):
    vector = vectorise(make_game("tictactoe", {}))
    for model in ("learned", "rules"):
        save_muzero(folder / f"{model}.h5", new_muzero(vector, MuZeroMethod(model=model, **SETTINGS), 1))
    return folder


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
    assert "from 30 states, after moves that the model followed (it learned 5)" in done.out
    assert "nodes of searches" in done.out


@pytest.mark.usefixtures("files", "fast_compilation")
def test_what_has_no_model_is_refused(run):
    run("games", "model", "tictactoe", "rules.h5").refused("model: it plans in the rules of the game")
    run("games", "model", "connect4", "learned.h5").refused("learned.h5: its game is tictactoe, not connect4")
    run("games", "model", "gwent", "learned.h5").refused("gwent: does not offer 'model', only")
    run("games", "model", "tictactoe", "none.h5").refused("none.h5: ")

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from punish_fast.games.learn import agent_file
from punish_fast.games.learn.agent_file import load_agent, save_agent
from punish_fast.games.learn.hyperparameters import MuZeroMethod
from punish_fast.games.learn.muzero import learner
from punish_fast.games.learn.muzero.learner import MuZeroLearner
from punish_fast.games.registry import make_game, vector_game
from punish_fast.games.tictactoe import TicTacToe
from punish_fast.play.games.policies import file_policy

TRAIN = ("games", "train", "tictactoe", "--quiet")
SMALL = ("--method", "muzero", "--games", "200", "--set", "simulations=2", "--set", "width=4", "--set", "unroll=1")


@pytest.mark.slow
@pytest.mark.usefixtures("fast_compilation")
def test_a_stopped_learner_resumes_to_the_same_end_and_is_judged(run, folder, monkeypatch):
    # Rounds are small, and judges search no more than agents do.
    monkeypatch.setattr(learner, "EVALUATED_SIMULATIONS", (0, 2))
    monkeypatch.setattr(MuZeroMethod, "for_game", partial(MuZeroMethod.for_game, games=100, steps=2, batch=16))
    whole = run(*TRAIN, *SMALL, "--json").report
    assert (whole["games"], whole["played"], whole["output"]) == (200, 200, "tictactoe.h5")
    assert {"model": "learned", "simulations": 2, "width": 4, "unroll": 1}.items() <= whole["method"].items()
    assert load_agent(folder / "tictactoe.h5").digest == whole["digest"]

    def train(learner, _strength, _on_round):
        learner.learn_round()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(agent_file, "train", train)
        stopped = run(*TRAIN, *SMALL, "-o", "x.h5")
    assert (stopped.code, "x.h5 is a checkpoint; resume with --from x.h5" in stopped.err) == (130, True)
    further = run(*TRAIN, "--from", "x.h5", "--games", "100", "-o", "y.h5", "--json").report
    assert (further["games"], further["played"]) == (200, 100)
    resumed = run(*TRAIN, "--from", "x.h5", "--json").report
    assert (resumed["digest"], resumed["curve"], resumed["played"]) == (whole["digest"], whole["curve"], 100)
    assert resumed["searches"] == whole["searches"]
    assert [each["simulations"] for each in whole["searches"]] == [0, 2]
    # An agent is judged alike wherever it is.
    (point,) = whole["curve"]
    assert point.items() >= {name: whole["searches"][1][name] for name in ("first", "second", "mistakes")}.items()
    judged = run("games", "evaluate", "tictactoe", "x.h5", "random", "--json").report["agents"]
    assert [(each["agent"], each["simulations"]) for each in judged] == [("x.h5", 0), ("x.h5", 2), ("random", None)]
    for each, other in zip(judged[:2], whole["searches"], strict=True):
        assert each["first"] == pytest.approx(other["first"])
        assert each["losing_lines"] == other["evaluation"]["losing_lines"]
        assert each["keeps_value"] == pytest.approx(other["perfect"])


@pytest.mark.slow
@pytest.mark.usefixtures("fast_compilation")
def test_an_agent_of_a_file_makes_the_move_that_its_search_finds(tmp_path):
    vector = vector_game(make_game("tictactoe", {}))
    learner = MuZeroLearner.new(vector, MuZeroMethod(simulations=2, width=4), 3)
    save_agent(tmp_path / "x.h5", learner)
    game, choices = file_policy(tmp_path / "x.h5", TicTacToe())
    state = game.state_of("X........")
    values = learner.values_of(learner.weights)(vector.pack([state]))[0]
    assert np.flatnonzero(choices(state)).tolist() == [game.actions(state).index(int(values.argmax()))]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("tictactoe --set hidden=8", "--set hidden=8: unknown name; the names are model"),
        ("tictactoe --set priority=3", "priority: 3.0 is not allowed"),
        ("tictactoe --set unroll=0", "unroll: 0 is not allowed with a learned model"),
        ("tapnswap --set filters=4", "filters: (4,) are impossible; the features"),
        ("gwent", "muzero: gwent is not a zero-sum game of two players without chance"),
    ],
)
@pytest.mark.usefixtures("fast_compilation")
def test_what_does_not_fit_is_refused(run, folder, line, problem):
    run("games", "train", *line.split(), "--method", "muzero", "-q").refused(problem)
    assert list(folder.iterdir()) == []

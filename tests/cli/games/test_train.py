"""``punish-fast games train``."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from punish_fast.learn import agent_file
from punish_fast.learn.agent_file import load_checkpoint

TRAIN = ("games", "train", "tapnswap")


def test_an_agent_learns_and_is_trained_further(run, folder):
    options = ("--games", "3000", "--epsilon", "0.6", "--seed", "5", "--quiet")
    report = run(*TRAIN, *options, "--json").report
    assert (report["games"], report["output"]) == (3000, "tapnswap.h5")
    assert report["curve"][-1]["games"] == 3000
    assert load_checkpoint(folder / "tapnswap.h5")[1].digest == report["digest"]
    again = run(*TRAIN, *options, "-o", "again.h5", "--json").report
    assert again["digest"] == report["digest"]
    further = ("--from", "again.h5", "--against", "random", "--games", "50", "-o", "more.h5")
    more = run(*TRAIN, *further, "--json", "--quiet").report
    assert [session["opponent"] for session in more["sessions"]] == ["self", "random"]
    assert more["games"] == 3050
    assert run(*TRAIN, *options, "--resume", "--json").report["played"] == 0
    refused = run(*TRAIN, "--epsilon", "0.1", "--resume", "--quiet")
    refused.refused("tapnswap.h5: has scheme negamax, epsilon 0.6", "not scheme negamax, epsilon 0.1")
    assert load_checkpoint(folder / "tapnswap.h5")[1].digest == report["digest"]


@pytest.mark.compiled
def test_tic_tac_toe_is_learned_without_a_mistake(run):
    report = run("games", "train", "tictactoe", "--games", "60000", "--json").report
    point = report["curve"][-1]
    assert (point["games"], point["mistakes"], point["perfect"]) == (60_000, 0, 1)
    (agent,) = run("games", "judge", "tictactoe", "tictactoe.h5", "--json").report["agents"]
    assert agent["losing_lines"] == {"first": 0, "second": 0}
    assert agent["keeps_value"] == 1
    wins = (agent["first"]["win"] + agent["second"]["win"]) / 2
    assert wins == pytest.approx(point["win_share"], abs=1e-12)


def test_training_prints_a_table(run):
    done = run(*TRAIN, "--games", "1000", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert "scheme negamax, epsilon 0.5, rate 1, discount 0.95\n1,000 games against self\n" in done.out
    assert "wins against random" in done.out
    assert "games/s" in done.out


def test_stopped_training_resumes_to_the_same_end(run, monkeypatch, folder):
    options = (*TRAIN, "--games", "400", "--against", "random,self", "--scheme", "author", "--quiet")
    whole = run(*options, "-o", "whole.h5", "--json").report
    save, saved = agent_file.save_checkpoint, []

    def save_three(path, game, learner):
        save(path, game, learner)
        saved.append(learner.games)
        if len(saved) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(agent_file, "save_checkpoint", save_three)
    stopped = run(*options, "-o", "x.h5")
    assert stopped.code == 130
    assert "x.h5 is a checkpoint; resume with --resume" in stopped.err
    monkeypatch.setattr(agent_file, "save_checkpoint", save)
    assert 0 < load_checkpoint(folder / "x.h5")[1].games < 800
    resumed = run(*options, "-o", "x.h5", "--resume", "--json").report
    assert (resumed["digest"], resumed["curve"]) == (whole["digest"], whole["curve"])
    assert resumed["played"] < 800


def test_the_learner_can_be_played_during_training(run, say):
    say("1", "q", "q")
    done = run(*TRAIN, "--games", "300", "--play-every", "150", "--quiet")
    assert done.code == 0
    assert done.out.count("your move (1 to 2, ? for help)") == 2
    assert done.out.count("You left the game.") == 2
    assert "after 150 games\nafter 300 games\n" in done.err


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs the extra plot")
def test_curves_are_drawn(run, folder):
    assert run(*TRAIN, "--games", "300", "--plot", "one.svg", "--quiet").code == 0
    assert "negamax-e0.5-self" in (folder / "one.svg").read_text()


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        (["--games", "0"], ["--games", "0 is not allowed, it must be from 1"]),
        (["--against", "me"], ["opponent: 'me' is not allowed, it must be one of random, self"]),
        (["--scheme", "x"], ["--scheme", "'x' is not one of 'negamax', 'author'"]),
        (["--rate", "x"], ["rate: 'x' is not allowed, it must be a number or visits"]),
        (["--epsilon", "2"], ["epsilon: 2.0 is not allowed"]),
        (["--seed", "-1"], ["seed: -1 is not allowed"]),
        (["--from", "no.h5"], ["no.h5: there is no such file"]),
        (["--from", "tapnswap.h5"], ["tapnswap.h5", "will not be replaced"]),
        (["--from", "a.h5", "--rate", "1"], ["--from keeps the agent's hyperparameters"]),
        (["--play-every", "0"], ["--play-every", "0 is not allowed, it must be from 1"]),
        (["-o", "no/x.h5"], ["there is no folder no"]),
    ],
)
def test_wrong_options_are_refused_in_one_line(run, folder, options, texts):
    run(*TRAIN, *options).refused(*texts)
    assert list(folder.iterdir()) == []

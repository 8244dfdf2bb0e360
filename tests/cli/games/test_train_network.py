"""``punish-fast games train --method dqn``."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest

from cli.conftest import COMMAND, clean_environment
from punish_fast.learn import network_file, network_training
from punish_fast.learn.network_file import load_dqn

pytestmark = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")

TRAIN = ("games", "train", "tapnswap", "--method", "dqn", "--limit", "3", "--hidden", "8", "--quiet")


def test_a_network_learns_and_is_trained_further(run, folder):
    options = ("--games", "600", "--epsilon", "0.6", "--seed", "5", "--target", "td", "--illegal", "punish")
    report = run(*TRAIN, *options, "--json").report
    assert (report["games"], report["played"], report["output"]) == (768, 768, "tapnswap.h5")
    assert {"target": "td", "illegal": "punish", "hidden": [8], "filters": [], "epsilon": 0.6}.items() <= report[
        "method"
    ].items()
    assert [point["games"] for point in report["curve"]] == [768]
    assert report["judgement"] is None
    assert load_dqn(folder / "tapnswap.h5").digest == report["digest"]
    again = run(*TRAIN, *options, "-o", "again.h5", "--json").report
    assert again["digest"] == report["digest"]
    more = run(*TRAIN[:-3], "--quiet", "--from", "again.h5", "--games", "50", "-o", "more.h5", "--json").report
    assert (more["games"], more["played"]) == (1024, 256)
    assert more["method"] == report["method"]
    finished = run(*TRAIN, *options, "--resume", "--json")
    assert finished.report["played"] == 0
    assert "tapnswap.h5: nothing is unfinished; train it further with --from tapnswap.h5" in finished.err
    refused = run(*TRAIN, "--epsilon", "0.1", "--resume")
    refused.refused("tapnswap.h5: has the epsilon 0.6, not 0.1")
    run(*TRAIN).refused("tapnswap.h5: exists and", "name an output with -o")


@pytest.mark.slow
def test_training_prints_a_table_and_a_judgement(run):
    done = run("games", "train", "tictactoe", "--method", "dqn", "--games", "1500", "--hidden", "16", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert "target mc, legal moves only, 16 units, epsilon 0.2, rate 0.001, discount 0.95\n" in done.out
    assert "457 weights, 1,536 games of self-play" in done.out
    assert "exactly, moving second: win " in done.out
    assert "keeps the value in " in done.out
    assert "games/s" in done.out


def test_a_large_board_is_learned_through_filters(run):
    command = ("games", "train", "connect4", "--method", "dqn", "--games", "1", "--hidden", "4", "--quiet")
    report = run(*command, "--filters", "2", "--json").report
    (point,) = report["curve"]
    assert (report["games"], report["method"]["filters"], report["judgement"]) == (256, [2], None)
    assert (point["mistakes"], point["perfect"]) == (None, None)
    for seat in ("first", "second"):
        assert sum(point[seat].values()) == pytest.approx(1)


def test_training_that_is_interrupted_at_once_keeps_what_it_learned(run, monkeypatch, folder):
    def train(learner, _strength, _on_round):
        learner.learn()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(network_training, "train", train)
        stopped = run(*TRAIN, "--games", "1500", "-o", "x.h5")
    assert (stopped.code, "x.h5 is a checkpoint; resume with --resume" in stopped.err) == (130, True)
    assert load_dqn(folder / "x.h5").games == 256
    whole, resumed = (
        run(*TRAIN, "--games", "1500", "-o", name, "--resume", "--json").report for name in ("whole.h5", "x.h5")
    )
    assert (resumed["digest"], resumed["played"]) == (whole["digest"], whole["played"] - 256)


def test_stopped_training_resumes_to_the_same_end(run, monkeypatch, folder):
    options = (*TRAIN, "--games", "1500")
    whole = run(*options, "-o", "whole.h5", "--json").report
    save, stops = network_file.save_dqn, [KeyboardInterrupt]

    def save_and_stop(path, learner):
        save(path, learner)
        if stops:
            raise stops.pop()

    monkeypatch.setattr(network_file, "save_dqn", save_and_stop)
    stopped = run(*options, "-o", "x.h5")
    assert stopped.code == 130
    assert "x.h5 is a checkpoint; resume with --resume" in stopped.err
    monkeypatch.setattr(network_file, "save_dqn", save)
    assert 0 < load_dqn(folder / "x.h5").games < 1500
    resumed = run(*options, "-o", "x.h5", "--resume", "--json").report
    assert (resumed["digest"], resumed["curve"]) == (whole["digest"], whole["curve"])
    assert 0 < resumed["played"] < whole["played"]


@pytest.mark.slow
@pytest.mark.compiled
def test_killed_training_resumes_to_the_same_network(run, folder):
    options = (*TRAIN, "--games", "40000")
    whole = run(*options, "-o", "whole.h5", "--json").report
    command, generator, n_killed = [*COMMAND, *options, "-o", "x.h5", "--resume"], random.Random(1), 0
    while not (folder / "x.h5").exists() or load_dqn(folder / "x.h5").games < whole["games"] / 4:
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=clean_environment()) as child:
            before = modified(folder / "x.h5")
            while child.poll() is None and modified(folder / "x.h5") == before:
                time.sleep(0.01)
            # Somewhere between the first checkpoint and those that follow.
            time.sleep(generator.random() / 2)
            child.kill()
        n_killed += child.returncode == -signal.SIGKILL
    resumed = run(*options, "-o", "x.h5", "--resume", "--json").report
    assert n_killed > 0
    assert (resumed["digest"], resumed["curve"]) == (whole["digest"], whole["curve"])
    assert 0 < resumed["played"] < whole["played"]


def modified(path):
    return path.stat().st_mtime_ns if path.exists() else None


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs the extra plot")
def test_curves_are_drawn(run, folder):
    assert run(*TRAIN, "--games", "300", "--plot", "one.svg").code == 0
    assert "dqn-mc-mask" in (folder / "one.svg").read_text()


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        (["--against", "self"], ["--against does not go with --method dqn"]),
        (["--scheme", "author"], ["--scheme does not go with --method dqn"]),
        (["--play-every", "3"], ["--play-every does not go with --method dqn"]),
        (["--hidden", "x"], ["hidden: 'x' is not allowed, it must be whole numbers such as 64,64, or none"]),
        (["--hidden", "0"], ["hidden: (0,) is not allowed, it must be up to 8 numbers from 1 to 4096"]),
        (["--filters", "8"], ["filters: (8,) are impossible, the features of tapnswap have no places"]),
        (["--rate", "visits"], ["rate: 'visits' is not allowed, it must be a number"]),
        (["--rate", "2"], ["rate: 2.0 is not allowed, it must be a number from 1e-09 to 1.0"]),
        (["--target", "x"], ["--target", "'x' is not one of 'mc', 'td'"]),
        (["--seed", "-1"], ["seed: -1 is not allowed"]),
        (["--from", "no.h5"], ["--from keeps the agent's hyperparameters"]),
    ],
)
def test_wrong_options_are_refused_in_one_line(run, folder, options, texts):
    run(*TRAIN, *options).refused(*texts)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("option", ["target=mc", "illegal=mask", "hidden=8", "filters=8"])
def test_tables_have_no_networks(run, option):
    name, value = option.split("=")
    run("games", "train", "tapnswap", f"--{name}", value).refused(f"--{name} does not go with --method q")


def test_without_jax_it_says_what_to_install(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    run(*TRAIN).refused('jax is missing, install with: pip install "punish-fast[learn]"')
    assert list(folder.iterdir()) == []


def test_a_table_is_no_network(run):
    run("games", "train", "tapnswap", "--games", "20", "--quiet")
    run("games", "train", "tapnswap", "--method", "dqn", "--from", "tapnswap.h5", "-o", "x.h5").refused(
        "tapnswap.h5: kind: 'learner', must be a network"
    )

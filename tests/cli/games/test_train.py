from __future__ import annotations

import math
import re
import sys
from importlib.util import find_spec

import pytest

from punish_fast.games.learn import agent_file
from punish_fast.games.learn.agent_file import load_agent
from punish_fast.runtime.deadline import TimeLimitError, seconds_left

TABLE = ("games", "train", "tapnswap", "--quiet")
NETWORK = ("games", "train", "tapnswap:limit=3", "--method", "dqn", "--set", "hidden=8", "--quiet")
needs_jax = pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")


def test_a_table_learns_and_is_trained_further(run, folder):
    options = ("--games", "3000", "--set", "epsilon=0.6", "--seed", "5")
    report = run(*TABLE, *options, "--json").report
    assert (report["games"], report["output"]) == (3000, "tapnswap.h5")
    assert report["curve"][-1]["games"] == 3000
    assert load_agent(folder / "tapnswap.h5").digest == report["digest"]
    again = run(*TABLE, *options, "-o", "again.h5", "--json").report
    assert again["digest"] == report["digest"]
    further = ("--from", "again.h5", "--against", "random", "--games", "50")
    more = run(*TABLE, *further, "-o", "more.h5", "--json").report
    assert [session["opponent"] for session in more["sessions"]] == ["self", "random"]
    assert more["games"] == 3050
    assert load_agent(folder / "again.h5").digest == report["digest"]
    assert run(*TABLE, *further, "--json").report["output"] == "again.h5"
    assert load_agent(folder / "again.h5").digest == more["digest"]


def test_the_strength_comes_last(run):
    last = run(*TABLE, "--games", "500").out.split("\n\n")[-1]
    assert re.fullmatch(
        r"After 500 games of training, tapnswap\.h5 wins \d+\.\d% of its games against random play\. "
        r"It gives away a win or a draw in \d+\.\d% of all positions\.",
        " ".join(last.split()),
    )


def test_training_stops_after_a_time_limit_and_names_the_next_command(run, folder):
    done = run(*TABLE[:3], "--games", "900000000", "--time", "0.01", "-o", "timed.h5")
    assert done.then == "punish-fast games play tapnswap --agent timed.h5"
    agent = load_agent(folder / "timed.h5")
    assert agent.games == agent.games_wanted == agent.curve[-1]["games"] < 900000000
    further = run(*TABLE, "--from", "timed.h5", "--games", "50", "--json").report
    assert further["games"] == agent.games + 50
    # An agent of hours is not replaced by one of seconds.
    (folder / "timed.h5").rename(folder / "tapnswap.h5")
    advice = "choose another output with -o, or train that agent further with --from tapnswap.h5"
    run(*TABLE[:3], "--time", "0.01").refused(f"tapnswap.h5: already exists; {advice}")


def test_an_agent_is_saved_after_a_time_limit_even_if_saving_takes_long(run, monkeypatch):
    left, train = [], agent_file.train
    monkeypatch.setattr(agent_file, "save_agent", lambda *_: left.append(seconds_left()))
    run(*TABLE[:3], "--time", "0.01")
    assert left[-1] == math.inf

    def too_long(*arguments):
        train(*arguments)
        raise TimeLimitError("too long")

    monkeypatch.setattr(agent_file, "train", too_long)
    done = run(*TABLE, "--time", "0.01", "-o", "x.h5")
    assert done.err == "x.h5 is a checkpoint; resume with --from x.h5\nerror: too long\n"
    assert left[-1] == math.inf


@needs_jax
def test_games_with_too_many_positions_are_learned_by_a_network(run):
    small = ("--set", "hidden=4", "--set", "games=4", "--set", "steps=1", "--set", "batch=4", "--set", "replay_size=1")
    done = run("games", "train", "gwent", *small, "--time", "0.01", "-o", "told.h5")
    assert done.then == "punish-fast games evaluate gwent told.h5"
    assert "mistake" not in done.out
    report = run("games", "train", "gwent", *small, "--time", "0.01", "--json").report
    assert (report["games"], report["played"], report["curve"][-1]["games"]) == (4, 4, 4)


def test_checkpoints_are_saved_at_points_of_the_curve_and_after_a_while(run, monkeypatch):
    saved, train = [], agent_file.train
    monkeypatch.setattr(agent_file, "save_agent", lambda _, agent: saved.append(agent.games))

    def slowly(agent, strength, on_round):
        on_round()
        monkeypatch.setattr("punish_fast.cli.games.train._SECONDS_BETWEEN_CHECKPOINTS", 0.0)
        on_round()
        return train(agent, strength, on_round)

    monkeypatch.setattr(agent_file, "train", slowly)
    report = run(*TABLE, "--games", "3000", "--json").report
    assert saved == [0, *(point["games"] for point in report["curve"]), 3000]


@pytest.mark.parametrize(
    ("n_rounds", "options"),
    [
        (3, (*TABLE, "--games", "400", "--against", "random,self", "--set", "scheme=author")),
        pytest.param(1, (*NETWORK, "--games", "600"), marks=needs_jax),
    ],
    ids=["table", "network"],
)
def test_stopped_training_resumes_to_the_same_end(run, monkeypatch, folder, options, n_rounds):
    whole = run(*options, "-o", "whole.h5", "--json").report
    train = agent_file.train

    def stopped(agent, strength, on_round):
        rounds = []

        def stop():
            on_round()
            rounds.append(agent.games)
            if len(rounds) == n_rounds:
                raise KeyboardInterrupt

        return train(agent, strength, stop)

    with monkeypatch.context() as patch:
        patch.setattr(agent_file, "train", stopped)
        done = run(*options, "-o", "x.h5")
    assert (done.code, "x.h5 is a checkpoint; resume with --from x.h5" in done.err) == (130, True)
    before = load_agent(folder / "x.h5").games
    assert 0 < before < whole["games"]
    resumed = run(*options[:3], "--quiet", "--from", "x.h5", "--json").report
    assert (resumed["digest"], resumed["curve"]) == (whole["digest"], whole["curve"])
    assert resumed["played"] == whole["games"] - before


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs the extra plot")
def test_curves_are_drawn(run, folder):
    assert run(*TABLE, "--games", "300", "--plot", "one.svg").code == 0
    assert "negamax-e0.5-self" in (folder / "one.svg").read_text()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("--against me", "opponent: 'me' is not allowed; it must be one of random, self"),
        ("--set rate=x", "rate: 'x' is not allowed; it must be a number"),
        ("--set hidden=8", "--set hidden=8: unknown name; the names are scheme, epsilon, rate, discount"),
        ("--seed -1", "seed: -1 is not allowed"),
        ("--from no.h5", "no.h5: no such file"),
        pytest.param("--method dqn --against self", "--against requires --method q", marks=needs_jax),
        pytest.param("--method dqn --set filters=x", "filters: 'x' is not allowed; it must be", marks=needs_jax),
        pytest.param("--method dqn --set filters=8", "filters: (8,) are impossible; the features", marks=needs_jax),
    ],
)
def test_wrong_options_are_refused_in_one_line(run, folder, options, text):
    run(*TABLE, *options.split()).refused(text)
    assert list(folder.iterdir()) == []


def test_wrong_variants_are_refused(run):
    for options, text in (
        ("limit=x", "limit: 'x' is not allowed; it must be a whole number"),
        ("limit=17", "limit: 17 is not allowed"),
        ("taps_only", "taps_only: '' is not allowed; it must be true or false"),
        ("size=3", "tapnswap: unknown option 'size'; use limit, roll_over"),
    ):
        run("games", "train", f"tapnswap:{options}").refused(text)


def test_an_agent_keeps_its_method(run, monkeypatch):
    # Without -o, the file of --from is replaced, so no environment variable sets this option.
    monkeypatch.setenv("PUNISH_FAST_FROM", "no.h5")
    run(*TABLE, "--games", "20")
    run(*TABLE, "--from", "tapnswap.h5", "--set", "epsilon=0.1").refused("--set cannot be combined with --from")
    run(*TABLE, "--from", "tapnswap.h5", "--method", "dqn").refused("tapnswap.h5: is not an agent of --method dqn")
    run(*TABLE, "--from", "tapnswap.h5", "-o", "tapnswap.svg", "--plot", "tapnswap.svg").refused("written twice")


def test_without_jax_it_says_what_to_install(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    run(*NETWORK).refused("jax is not installed. Install it with: pip install jax optax")
    assert list(folder.iterdir()) == []


def test_methods_are_listed_with_what_is_allowed(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    methods = run("games", "methods", "--json").report["methods"]
    assert list(methods) == ["q", "dqn", "muzero", "decks"]
    (epsilon,) = [each for each in methods["dqn"] if each["name"] == "epsilon"]
    assert (epsilon["default"], epsilon["allowed"]) == (0.2, "a number from 0 to 1")
    assert "Units of each hidden layer." in run("games", "methods").out


def test_checkpoints_are_written_at_points(run, monkeypatch):
    saved, save = [], agent_file.save_agent
    monkeypatch.setattr(agent_file, "save_agent", lambda path, agent: saved.append(agent.games) or save(path, agent))
    run(*TABLE, "--games", "300")
    assert saved == sorted(saved)
    assert (saved[0], saved[-1]) == (100, 300)

"""``equilibrium --public`` and the commands that read its files."""

from __future__ import annotations

import signal

import numpy as np
import pytest

from punish_fast.cli.strategies import public_equilibrium
from punish_fast.duel.graph import GameGraph
from punish_fast.duel.public_states import PublicPolicy
from punish_fast.equilibrium.public_equilibrium import PublicEquilibrium, likely_public_states
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.play.punish.punish_player import PunishPlayer
from punish_fast.punish.states.space import StateSpace
from punish_fast.store.reader import load

# Three cards in hand and measures of two breaths, so players keep at least one card.
KEEPING = """copies = [1, 1, 1, 2, 2]
hand_size = 3
reveal_size = 0
hp = 2
breaths = 2
feints = 0
damage = { punish = 3 }
dodge_stops = ["strike", "punish"]
exhausting = ["punish"]
redeal = "reshuffle"
"""
LEARN = ("equilibrium", "--rules", "k.toml", "--iterations", "20")
PUBLIC = (*LEARN, "--public", "3", "-q")


@pytest.fixture(autouse=True)
def rules(folder):
    (folder / "k.toml").write_text(KEEPING, encoding="utf-8")


def policies(path):
    file = load(path)
    policy = file.public_policy(StateSpace(file.rules))
    return policy.states.rows, [*policy]


def equal(one, other):
    (rows, found), (other_rows, others) = policies(one), policies(other)
    return np.array_equal(rows, other_rows) and all(map(np.array_equal, found, others))


def test_strategies_after_public_states_are_learned_and_stored(run, folder):
    report = run(*PUBLIC, "--json").report
    assert (report["public_states"], report["iterations"], report["output"]) == (3, 20, "k-equilibrium-public.h5")
    assert report["exploitability"] is report["exploiter_wins"] is None
    file = load(folder / "k-equilibrium-public.h5")
    assert (file.origin["public_states"], file.origin["target_public_states"]) == (3, 3)
    learner = Equilibrium(GameGraph(StateSpace(file.rules)), share=0.9)
    for _ in range(20):
        learner.iterate()
    public = likely_public_states(learner.graph, learner.average, 3)
    expected = PublicEquilibrium(GameGraph(learner.graph.space, public=public), learner.average)
    expected.learn_all(20)
    rows, found = policies(folder / "k-equilibrium-public.h5")
    assert np.array_equal(rows, public.rows)
    assert np.array_equal(found[0], expected.policy[0])
    for one, other in zip(found, expected.policy, strict=True):
        assert one == pytest.approx(other, abs=0.02)
    # A second run with the same settings may replace the file.
    assert run(*PUBLIC).code == 0
    run(*LEARN, "--public", "2", "-q").refused("already exists and was made with other settings")


@pytest.mark.parametrize("information", ["memoryless", "memory"])
def test_exploitability_falls_and_the_arena_is_exact(run, information):
    learn = (*LEARN, "--information", information)
    run(*learn, "-o", "base.h5", "-q")
    assert run(*learn, "--public", "20", "-o", "public.h5").then.startswith("punish-fast exploit public.h5 --bracket")
    base, public = (
        run("exploit", name, "--bracket", "--gap", "0.1", "-q", "--json").report for name in ("base.h5", "public.h5")
    )
    assert 0.5 <= public["upper_bound"] < base["lower_bound"]
    report = run("arena", "public.h5", "base.h5", "random", "-q", "--json").report
    assert report["win"][0][1] != 0.5
    # The measures after a public state are part of the game lengths.
    lengths = run("arena", "public.h5", "base.h5", "-q", "--json").report["game_lengths"]
    assert sum(entry["wins"][0] for entry in lengths) == pytest.approx(report["win"][0][1], abs=1e-8)


@pytest.mark.filterwarnings("always")
def test_other_commands_play_the_first_policy_and_say_so(run):
    run(*PUBLIC, "-o", "a.h5")
    told = "warning: a.h5: the strategies after "
    done = run("exploit", "a.h5", "--exploiter", "belief", "-q")
    assert (done.code, done.err.count(told)) == (0, 1), done.err
    run("exploit", "a.h5", "--bracket", "--exploiter", "belief").refused("a.h5: remembers public states; --exploiter")
    run("equilibrium", "--rules", "k.toml", "--information", "memory", "--iterations", "2", "-q", "-o", "b.h5")
    done = run("arena", "a.h5", "b.h5", "-q")
    assert (done.code, done.err.count(told)) == (0, 1), done.err


@pytest.mark.filterwarnings("error")
def test_games_are_played_with_the_strategies_after_public_states(run, folder):
    run(*PUBLIC, "-o", "a.h5")
    exact = run("arena", "a.h5", "random", "-q", "--json").report["win"][0][1]
    games = ("--games", "20000", "--seed", "1", "--db", "games.db")
    report = run("arena", "a.h5", "random", *games, "-q", "--json").report
    assert abs(report["win"][0][1] - exact) < 4 * report["standard_error"][0][1]
    watched = run("play", "--watch", "a.h5", "random", "--rules", "k.toml", "--seed", "1", "-q", "--json").report
    assert watched["games"][0]["winner"] in ("a", "random")
    player = PunishPlayer(str(folder / "a.h5"))
    (opponent,) = player.opponents(None)
    assert isinstance(opponent.policy, PublicPolicy)
    assert np.array_equal(opponent.first_policy, player.strategy)


def test_a_finished_run_continues_with_another_round(run, folder):
    run(*PUBLIC, "--rounds", "2", "-o", "whole.h5")
    resume = (*PUBLIC, "--resume", "run.h5", "-o")
    first = run(*resume, "first.h5", "--json").report
    second = run(*resume, "second.h5", "--rounds", "2", "--json").report
    assert (first["rounds"], second["rounds"]) == (1, 2)
    assert equal(folder / "whole.h5", folder / "second.h5")
    assert not equal(folder / "first.h5", folder / "second.h5")
    # No round is left.
    assert run(*resume, "third.h5", "--rounds", "1", "--json").report["rounds"] == 2
    assert equal(folder / "second.h5", folder / "third.h5")


@pytest.mark.parametrize("at", [1, 3])
def test_an_interrupted_run_is_resumed_with_the_same_bits(run, folder, monkeypatch, at):
    run(*PUBLIC, "-o", "whole.h5")
    learn, learned = PublicEquilibrium.learn, []

    def interrupted(learner, index, iterations):
        if len(learned) == at:
            signal.raise_signal(signal.SIGINT)
        learned.append(index)
        learn(learner, index, iterations)

    monkeypatch.setattr(PublicEquilibrium, "learn", interrupted)
    resume = (*PUBLIC, "--resume", "run.h5", "-o", "part.h5")
    done = run(*resume)
    assert done.code == 130
    assert done.err.startswith("run.h5 contains the strategies learned; repeat the command to resume")
    monkeypatch.setattr(PublicEquilibrium, "learn", learn)
    assert run(*resume, "--json").report["resume"] == "run.h5"
    assert equal(folder / "whole.h5", folder / "part.h5")
    run(*LEARN, "--public", "2", "--resume", "run.h5", "-q").refused(
        "run.h5: was made with other options; public is '3'"
    )
    run(*LEARN, "--resume", "run.h5", "-o", "b.h5", "-q").refused("run.h5: was made with other options; public is '3'")


def test_a_checkpoint_of_the_first_stage_is_resumed(run, folder, monkeypatch):
    run(*LEARN, "--resume", "run.h5", "-o", "base.h5")
    run(*PUBLIC, "-o", "whole.h5")
    monkeypatch.setattr(public_equilibrium, "_SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    run(*PUBLIC, "--resume", "run.h5", "-o", "part.h5")
    assert equal(folder / "whole.h5", folder / "part.h5")


def test_a_time_limit_leaves_a_valid_file(run, folder):
    report = run("equilibrium", "--rules", "k.toml", "--public", "20", "--time", "0.01", "-q", "--json").report
    assert report["public_states"] == 0
    assert not load(folder / "k-equilibrium-public.h5").remembers_public_states


@pytest.mark.slow
@pytest.mark.compiled
def test_workers_of_a_cluster_learn_batches(run, folder):
    pytest.importorskip("distributed")
    run(*PUBLIC, "-o", "alone.h5")
    learn = (*PUBLIC, "--resume", "run.h5", "--json", "-o")
    one = run(*learn, "one.h5", "--cluster", "local:1").report
    two = run(*learn, "two.h5", "--cluster", "local:2", "--rounds", "2").report
    assert (one["cluster"]["workers"], one["public_states"], one["rounds"]) == (1, 3, 1)
    assert (two["cluster"]["workers"], two["public_states"], two["rounds"]) == (2, 3, 2)
    assert equal(folder / "alone.h5", folder / "one.h5")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--rounds", "2"), "--rounds requires --public"),
        (("--cluster", "local:2"), "--cluster requires --public"),
        (("--public", "1", "--cluster", "two"), "--cluster: 'two' is not allowed; it must be a scheduler"),
        (("--public", "1", "--rounds", "0"), "rounds: 0 is not allowed"),
        (("--public", "0"), "public: 0 is not allowed; it must be at least 1"),
        (("--public", "1", "--exploitability", "1"), "cannot be combined with --exploitability"),
    ],
)
def test_unsuitable_options_are_refused(run, words, text):
    run("equilibrium", "--rules", "k.toml", *words).refused(text)

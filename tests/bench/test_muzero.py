from __future__ import annotations

import time

import numpy as np
import pytest

from bench import muzero
from punish_fast.games.registry import make_game, vectorise

SMALL = {"width": 4, "filters": (), "simulations": 2, "games": 8, "steps": 2, "batch": 4, "unroll": 1}


def test_the_first_run_is_no_measurement():
    pauses = [0.2, 0, 0.02, 0, 0]
    assert muzero.seconds_of(lambda: time.sleep(pauses.pop(0)), 3) < 0.02
    assert len(pauses) == 1


def test_random_states_are_of_all_depths_and_not_over():
    vector = vectorise(make_game("tictactoe", {}))
    states = muzero.random_states(vector, 200)
    assert states.shape == (200, vector.n_words)
    assert vector.legal(states).any(axis=1).all()
    assert set(vector.legal(states).sum(axis=1)) >= set(range(2, 10))


def test_the_time_of_an_inner_part_is_no_time_of_the_outer():
    watch = muzero.Stopwatch()
    with watch.part("outer"):
        for _ in range(2):
            watch.timed("inner", time.sleep)(0.05)
        time.sleep(0.01)
    assert watch.seconds["inner"] >= 0.1
    assert 0.01 <= watch.seconds["outer"] < 0.1


@pytest.mark.usefixtures("fast_compilation")
def test_a_round_is_split_into_all_its_parts():
    seconds, method = muzero.timed_round("tictactoe", 1, **SMALL | {"reanalysed": 1.0})
    assert (method.games, method.width) == (8, 4)
    assert set(seconds) == {
        "searches of self-play",
        "searches of reanalysis",
        "rules of the game",
        "bookkeeping of self-play",
        "states and targets of games",
        "draws",
        "steps of the optimiser",
        "the rest",
    }
    assert all(np.isfinite(each) and each > 0 for each in seconds.values())
    # Searches in the learned model are most of the work, however small the networks.
    assert seconds["searches of self-play"] > seconds["draws"]


@pytest.mark.usefixtures("fast_compilation")
def test_each_verb_prints_a_table(monkeypatch, capsys):
    monkeypatch.setattr(muzero, "GAMES", ("tictactoe",))
    monkeypatch.setattr(muzero, "SIMULATIONS", (2,))
    assert muzero.main(["search", "--batch", "8", "--runs", "1"]) == 0
    title, _, row, *_ = (line.split("|") for line in capsys.readouterr().out.splitlines())
    assert [each.strip() for each in title[1:3]] == ["game", "search"]
    assert [each.strip() for each in row[1:6]] == ["tictactoe", "gumbel", "64", "2", "8"]
    compiled, plain = (float(each.replace(",", "")) for each in row[6:8])
    assert compiled > 0
    assert plain > 0


def test_a_verb_that_is_none_is_refused(capsys):
    with pytest.raises(SystemExit):
        muzero.main(["dance"])
    assert "'dance' is not measured, allowed are search, play, round" in capsys.readouterr().err

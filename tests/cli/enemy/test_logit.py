from __future__ import annotations

import re

import pytest

from punish_fast.enemies.choice_model import choice_model_policy, fit_choice_model
from punish_fast.enemies.counts import locate_choices
from punish_fast.records.games import read_choices
from punish_fast.store.reader import load

TINY = ("--rules", "tiny")


def test_the_file_is_that_of_the_library(run, games, space):
    report = run("enemy", "logit", "--db", games, *TINY, "--json").report
    found = read_choices(games)
    row, column = locate_choices(space, found.decimal, found.action)
    model = fit_choice_model(space, row, column, found.game)
    file = load("tiny-logit.h5")
    assert file.support(space).all()
    assert file.policy(space).tobytes() == choice_model_policy(space, model).tobytes()
    assert (report["games"], report["choices"], report["states"]) == (30, 240, 558)
    assert report["origin"]["concentration"] == model.concentration


@pytest.mark.usefixtures("games")
def test_what_was_done_is_told_and_noted(run):
    done = run("enemy", "logit", "--db", "games.db", *TINY, "--winners", "--until", "1020", "-o", "x.h5")
    assert (done.code, done.then.startswith("punish-fast solve --rules ")) == (0, True)
    assert re.search(r"^name +champion choice model$", done.out, re.MULTILINE)
    origin = load("x.h5").origin
    assert origin.pop("concentration") > 0
    made = {"method": "logit", "ridge": 5.0, "lapse": 0.01, "folds": 5, "seed": 0}
    assert f"learned from {origin.pop('choices')} choices in {origin.pop('states')} of " in done.err
    assert origin == made | {"database": "games.db", "winners": True, "until": 1020}
    assert run("solve", *TINY, "--enemy", "x.h5", "-o", "y.h5", "--json").report["error_bound"] < 1e-9
    few = run("enemy", "logit", "--until", "1", "--db", "games.db", *TINY)
    few.refused("games.db: 0 games between people selected; at least 5 are needed")


@pytest.mark.usefixtures("games")
def test_commands_that_use_a_learned_enemy_say_from_how_many_choices(run, say):
    for method, output, elsewhere in (
        ("logit", "tiny-logit.h5", "generalizes from these"),
        ("parless", "tiny-general.h5", "plays at random"),
    ):
        run("enemy", method, "--db", "games.db", *TINY)
        told = f"learned from {load(output).origin['choices']} choices; in all other states it {elsewhere}."
        solved = " ".join(run("solve", "--rules", "tiny", "--enemy", output, "-o", f"{method}.h5").out.split())
        assert solved.endswith(f"{output} {told}")
        say("q")
        assert told in " ".join(run("play", output, "--db", "played.db").out.split())

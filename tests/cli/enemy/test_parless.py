from __future__ import annotations

import re

import numpy as np
import pytest

from cli.made_up_games import random_games, write_games
from punish_fast.enemies.counts import count_choices
from punish_fast.enemies.parless import parless
from punish_fast.store.reader import load

# Rush and strike in hand, punish revealed, all HP.
KNOWN = 101010200220000001
TINY = ("--rules", "tiny")


@pytest.fixture
def few(folder):
    """Anna beats Ben, Ben beats Anna, and a robot loses."""
    games = {
        100: (1, 2, [(1, KNOWN, 40), (0, KNOWN, 20)]),
        200: (2, 1, [(1, KNOWN, 41), (0, KNOWN, 10)]),
        300: (2, 3, [(1, KNOWN, 21), (0, 999, 21)]),
    }
    return write_games(folder / "few.db", games)


def strategy(path):
    """The probabilities that a strategy file of one state gives to actions."""
    _, p = load(path).strategy()
    legal = np.flatnonzero(p[0])
    return dict(zip(np.array([10, 11, 20, 21, 30, 31, 40, 41, 50, 51, 90])[legal].tolist(), p[0][legal], strict=True))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("options", "expected", "choices", "illegal"),
    [
        ([], {20: 1.75, 21: 0.75, 40: 1.75, 41: 1.75}, 4, 1),
        (["--winners"], {20: 0.75, 21: 0.75, 40: 1.75, 41: 1.75}, 2, 0),
        (["--until", "1970-01-01T00:01:40"], {20: 1.75, 21: 0.75, 40: 1.75, 41: 0.75}, 2, 0),
        (["--player", "Anna"], {20: 0.75, 21: 0.75, 40: 1.75, 41: 0.75}, 2, 1),
        (["--prior", "8"], {20: 3.0, 21: 2.0, 40: 3.0, 41: 3.0}, 4, 1),
    ],
)
def test_probabilities_by_hand(run, options, expected, choices, illegal):
    report = run("enemy", "parless", "--db", "few.db", *TINY, *options, "-o", "x.h5", "--json").report
    assert (report["choices"], report["illegal"], report["unreachable"]) == (choices, illegal, 0)
    assert (report["states"], report["counted"]) == (1, choices - illegal)
    total = sum(expected.values())
    assert strategy("x.h5") == pytest.approx({action: n / total for action, n in expected.items()}, rel=1e-14)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("options", "name"), [([], "general"), (["--winners"], "champion")])
def test_what_was_done_is_told_and_noted(run, folder, options, name):
    done = run("enemy", "parless", "--db", "few.db", *TINY, "--until", "250", *options)
    assert (done.code, done.then) == (0, f"punish-fast solve --rules tiny --enemy tiny-{name}.h5")
    assert re.search(rf"^output +tiny-{name}\.h5 ", done.out, re.MULTILINE)
    origin = load(folder / f"tiny-{name}.h5").origin
    made = {"method": "parless", "prior": 3.0, "choices": 3 if name == "general" else 2}
    assert origin == made | {"database": "few.db", "winners": name == "champion", "until": 250}
    assert run("show", f"tiny-{name}.h5", "--json").report["name"] == f"{name} PARLESS"


def test_the_file_is_that_of_the_library(run, games, space):
    report = run("enemy", "parless", "--db", games, *TINY, "--json").report
    choices = [choice for _, _, of_game in random_games(space, 1).values() for choice in of_game]
    _, decimals, actions = np.array(choices).T
    counts = count_choices(space, decimals, actions)
    file = load("tiny-general.h5")
    assert file.policy(space).tobytes() == parless(space, counts).tobytes()
    assert np.flatnonzero(file.support(space)).tolist() == counts.state.tolist()
    assert (report["games"], report["choices"], report["illegal"]) == (30, 240, 0)
    assert report["rules_digest"] == space.rules.digest


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("options", "texts"),
    [
        (["--db", "no.db"], ["no.db: no such file"]),
        (["--until", "2022-11"], ["'2022-11' is neither a Unix time nor a date such as 2022-11-13"]),
        (["--db", "text.db"], ["text.db: "]),
        (["--prior", "0"], ["prior: 0.0 is not allowed; it must be above 0"]),
        (["--until", "99"], ["few.db: 0 games between people selected; at least 1 is needed; --with-bots adds games"]),
        (["--until", "99", "--with-bots"], ["few.db: 0 games selected; at least 1 is needed"]),
        (["--player", "Nobody"], ["Nobody", "Anna"]),
        (["--rules", "short.toml", "--with-bots"], ["short.toml: none of the ", "was made in a state of this game"]),
    ],
)
def test_what_cannot_be_learned_from_is_refused(run, folder, options, texts):
    (folder / "text.db").write_text("no database" * 99)
    rules = "hand_size = 1\nreveal_size = 0\nhp = 1\nbreaths = 1\nfeints = 0\ncopies = [1, 1, 1, 1, 1]\n"
    (folder / "short.toml").write_text(rules)
    before = sorted(folder.iterdir())
    run("enemy", "parless", "--db", "few.db", *TINY, *options).refused(*texts)
    assert sorted(folder.iterdir()) == before


@pytest.mark.usefixtures("few")
def test_an_existing_output_does_not_hide_a_missing_database(run, folder):
    (folder / "tiny-general.h5").write_text("mine")
    run("enemy", "parless", "--db", "no.db", *TINY).refused("no.db: no such file")


@pytest.mark.usefixtures("few")
def test_games_against_bots_that_are_left_out_are_counted(run, space):
    done = run("enemy", "parless", "--db", "few.db", *TINY)
    assert done.err.startswith("2 games between people; --with-bots adds 1 game against bots")
    assert f"choices in 1 of {space.n_states:,} states; elsewhere, tiny-general.h5 plays at random" in done.err


@pytest.mark.parametrize("verb", ["parless", "logit", "import-flux", "validate"])
def test_enemies_play_the_true_rules_by_default(run, verb):
    said = " ".join(run("enemy", verb, "--help").out.split())
    assert "Rules of the games: a preset or a TOML file. [default: tabletop]" in said

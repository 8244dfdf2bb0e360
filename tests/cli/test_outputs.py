"""Outputs: what is read is never replaced."""

from __future__ import annotations

import shutil
from itertools import product

import pytest
from fuzz.damage import set_attribute
from fuzz.trial import contents

from cli.commands import HOUSE, all_verbs
from cli.made_up_games import random_games, write_games
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace


@pytest.mark.parametrize(("first", "second"), [([], ["--no-tensor"]), (["--sweeps", "20"], ["--sweeps", "21"])])
def test_a_file_made_with_other_settings_is_replaced_only_when_asked(run, folder, first, second):
    path = folder / run("solve", "--rules", "tiny", *first, "--json").report["output"]
    assert run("solve", "--rules", "tiny", *first).code == 0
    before = path.read_bytes()
    again = ("solve", "--rules", "tiny", *second)
    run(*again).refused(f"{path.name}: already exists and was made with other settings; choose another output with -o")
    assert path.read_bytes() == before
    assert run(*again, "-o", path.name).code == 0
    assert path.read_bytes() != before


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["solve", "tensor.h5", "--discount", "0.99"], "tensor-agent-discount-0.99.h5"),
        (["solve", "tiny-tensor.h5"], "tiny.h5"),
        (["build", "--rules", "tiny", "--enemy", "naive"], "tiny-against-naive-tensor.h5"),
        (["build", "--rules", "tiny", "--enemy", "naive.h5@0.5"], "tiny-against-naive-file@0.5-tensor.h5"),
        (["solve", "--rules", "tiny", "--discount", "1"], "tiny-naive-discount-1.h5"),
        (["solve", "--rules", "tiny", "--objective", "reach-probability"], "tiny-naive-reach-probability.h5"),
        (["solve", "--rules", "home.toml"], "home-naive.h5"),
        (["solve", "--rules", "home.toml", "--discount", "0.95"], "home-naive-discounted.h5"),
        (["equilibrium", "--rules", "home.toml", "--iterations", "1"], "home-equilibrium.h5"),
    ],
)
def test_default_names_tell_what_is_not_standard(run, folder, arguments, name):
    rules = "hp = 1\nhand_size = 1\nreveal_size = 1\nbreaths = 2\ncopies = [1, 2, 1, 1, 1]\nredeal = 'reshuffle'\n"
    (folder / "home.toml").write_text(rules)
    shutil.copy("tensor.h5", "tiny-tensor.h5")
    shutil.copy("agent.h5", "naive.h5")
    assert run(*arguments, "--json").report["output"] == name


def test_a_default_output_of_an_earlier_format_is_not_replaced(run, files):
    shutil.copy("agent.h5", "tiny-naive.h5")
    set_attribute(files / "tiny-naive.h5", "format_version", 1)
    run("solve", "--rules", "tiny").refused("tiny-naive.h5: ", "remove it and make it again: punish-fast solve")
    assert run("solve", "--rules", "tiny", "-o", "tiny-naive.h5").code == 0


def test_a_worse_equilibrium_does_not_replace_a_better_one(run, folder):
    learn = ("equilibrium", "--rules", "tiny", "--resume", "learn.h5")
    assert run(*learn, "--iterations", "4").code == 0
    before = (folder / "tiny-equilibrium.h5").read_bytes()
    run(*learn, "--iterations", "2").refused("tiny-equilibrium.h5: already exists and was made with other settings")
    assert (folder / "tiny-equilibrium.h5").read_bytes() == before
    assert run(*learn, "--iterations", "4").code == 0


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["solve", "--rules", "tiny"], "tiny-naive.h5"),
        (["export", "agent.h5", "--to", "npz"], "agent.npz"),
        (["export", "agent.h5", "--to", "notebook-json"], "agent.json"),
        (["games", "train", "tapnswap", "--games", "10"], "tapnswap.h5"),
    ],
)
def test_a_file_of_others_is_replaced_only_when_asked(run, files, arguments, name):
    (files / name).write_text("mine")
    run(*arguments).refused(f"{name}: already exists", "choose another output with -o")
    assert (files / name).read_text() == "mine"
    assert run(*arguments, "-o", name).code == 0
    assert (files / name).read_bytes() != b"mine"


def test_a_missing_input_is_reported_before_the_default_output(run, folder):
    for name in ("none.h5", "survey-results.jsonl"):
        (folder / name).mkdir()
    for line in ("import none.json", "survey none.toml", "records import none.json --db ."):
        run(*line.split()).refused("none.", "no such file")


# Options that write, and how each verb reads files.
READING = {
    "solve": (["tensor.h5"], ["tensor.h5"]),
    "build": (["--rules", "house.toml", "--enemy", "agent.h5"], ["house.toml", "agent.h5"]),
    "export": (["agent.h5", "--to", "npz"], ["agent.h5"]),
    "show": (["agent.h5", "101010200220000001"], ["agent.h5"]),
    "import": (["q.json", "--rules", "house.toml"], ["q.json", "house.toml"]),
    "balance": (["house.toml"], ["house.toml"]),
    "survey": (["survey.toml"], ["survey.toml"]),
    "arena": (["agent.h5", "strategy.h5", "--rules", "house.toml", "--games", "4"], ["agent.h5", "house.toml"]),
    "exploit": (["agent.h5", "--rules", "house.toml", "--bracket"], ["agent.h5", "house.toml"]),
    "equilibrium": (["--rules", "house.toml"], ["house.toml"]),
    "openings": (["agent.h5"], ["agent.h5"]),
    "lessons": (["agent.h5", "--db", "games.db"], ["agent.h5", "games.db"]),
    "enemy parless": (["--db", "games.db", "--rules", "house.toml"], ["games.db", "house.toml"]),
    "enemy logit": (["--db", "games.db", "--rules", "house.toml"], ["games.db", "house.toml"]),
    "enemy import-flux": (["params.json", "--rules", "house.toml"], ["params.json", "house.toml"]),
    "enemy pawnn": (["--from", "strategy.h5", "--cross-validate", "2"], ["strategy.h5"]),
    "records plot": (["win-rates", "--db", "games.db"], ["games.db"]),
    "records player": (["Anna", "--db", "games.db", "--export"], ["games.db"]),
    "games train": (["tapnswap", "--from", "strategy.h5", "-o", "other.h5"], ["strategy.h5"]),
}


def writing_options(verb):
    """The flags of a verb that take the name of an output."""
    return [
        option.opts[0]
        for option in verb.params
        if option.param_type_name == "option"
        and option.envvar is None
        and not option.is_flag
        # --from of games train names the agent that is read and then replaced.
        and option.name not in ("help", "former")
    ]


@pytest.mark.parametrize("name", READING)
def test_no_verb_replaces_what_it_reads(run, files, name):
    """Neither under its own name nor by links, for every option that names an output."""
    if name == "enemy pawnn":
        pytest.importorskip("optax", reason="needs the extra learn")
    texts = {"house.toml": HOUSE, "survey.toml": 'base = "tiny"\n', "q.json": "{}", "params.json": "[]"}
    for path, text in texts.items():
        (files / path).write_text(text, encoding="utf-8")
    write_games(files / "games.db", random_games(StateSpace(PRESETS["tiny"]), 1))
    verb, (arguments, sources) = all_verbs()[name], READING[name]
    for source, flag in product(sources, writing_options(verb)):
        suffix = ".svg" if flag in ("--plot", "--svg") or name == "records plot" else ".h5"
        links = [files / f"soft{suffix}", files / f"hard{suffix}"]
        links[0].symlink_to(source)
        links[1].hardlink_to(files / source)
        before = contents(files)
        for output in [*links, source][: 2 if suffix == ".svg" else 3]:
            run(*name.split(), *arguments, flag, output).refused("will not be replaced")
            assert contents(files) == before
        for link in links:
            link.unlink()


def test_every_verb_with_outputs_is_tried():
    # The search for decks reads no file.
    assert READING.keys() | {"games decks"} == {name for name, verb in all_verbs().items() if writing_options(verb)}

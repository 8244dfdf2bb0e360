"""The documented keys of JSON output are those that commands print."""

from __future__ import annotations

import json
import re
import shlex
from importlib.util import find_spec

import numpy as np
import pytest
from playing import some_games
from store.formats.test_umb_import import archive, small_model

from bench.make import key_pages
from cli.commands import HOUSE
from cli.json_keys import documented, faults_of, fits, paths_in
from cli.made_up_games import random_games, write_games
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.logs import write_log

CODE = "101010200220000001"
# Plays of cards, of which one is legal at any choice.
CARDS = " ".join("grdsp" * 8)
# Commands that together print all keys of the sections. After "<<" are the lines on stdin.
RUNS = {
    ("build",): ["build --rules tiny"],
    ("solve", "solve --dry-run", "compare"): [
        "solve tensor.h5 -o a.h5",
        "solve --rules tiny --objective reach-probability --enemy a.h5@1 -o b.h5",
        "solve --rules tiny --dry-run",
        "compare a.h5 b.h5",
    ],
    ("solve MODEL.umb",): ['solve model.umb --objective \'max P [!"init" U "the goal"]\' -o values.npz'],
    ("show FILE POSITION", "show FILE POSITION --why"): [
        f"show agent.h5 {CODE}",
        "solve tensor.h5 --objective reach-probability -o b.h5",
        f"show b.h5 {CODE}",
        f"show strategy.h5 {CODE}",
        f"show agent.h5 {CODE} --why",
    ],
    ("equilibrium", "show", "export", "import"): [
        "equilibrium --rules tiny --iterations 2 -o e.h5 --resume run.h5",
        *("show e.h5", "show run.h5", "show careful", "show agent.h5"),
        "export agent.h5 --to npz -o a.npz",
        "export agent.h5 --to notebook-json -o a.json",
        "import a.json --rules tiny -o imported.h5",
        "show imported.h5",
        "export strategy.h5 --to notebook-json -o s.json",
        "import s.json --rules tiny -o s.h5",
    ],
    ("exploit", "arena", "openings", "hand", "lessons"): [
        "exploit strategy.h5 --exploiter belief --bracket --resume bounds.h5",
        "arena random careful --rules tiny",
        "openings agent.h5",
        "hand rs --rules tiny --discard p",
        "lessons other-strategy.h5 --db true.db",
    ],
    ("survey", "balance"): [
        "survey survey.toml --equilibrium",
        "balance --base tiny --set damage.strike=3 --restore --time 20",
    ],
    ("play", "practice", "serve"): [
        f"play naive --rules tiny --db played.db --seed 0 << {CARDS}",
        f"practice naive --rules tiny -n 1 --seed 1 << {CARDS}",
        "serve --rules tiny --port 0 --db played.db --check",
    ],
    ("improve", "records import", "records list", "records plot", "records repair", "records review"): [
        "records import log.json --db x.db --rules house.toml",
        "records import other.json --db x.db --rules house.toml",
        *("records list --db x.db", "records plot durations --db x.db -o d.svg", "records repair --db x.db"),
        "records review --db x.db --agent other-agent.h5",
        "improve --player Ann --db x.db --against other-agent.h5",
    ],
    ("records summary", "records player"): [
        "records summary --db tiny.db --rules tiny",
        "records player Anna --db tiny.db --export -o anna.json",
        "records player Anna --db tiny.db --anonymize",
        "records player Ben --db tiny.db --delete --yes",
    ],
    ("enemy parless", "enemy logit", "enemy validate", "enemy import-flux", "enemy show"): [
        "enemy parless --db tiny.db --rules tiny -o parless.h5",
        "enemy logit --db tiny.db --rules tiny",
        "enemy validate --db tiny.db --rules tiny --models uniform,parless",
        "enemy import-flux params.json --rules tiny -o flux.h5",
        *("enemy show parless.h5", "enemy show agent.h5 --temperature 1"),
    ],
    ("enemy pawnn",): [
        "enemy pawnn --from strategy.h5 --set hidden=3 --set epochs=1",
        "enemy pawnn --from strategy.h5 --set hidden=3 --set epochs=1 --cross-validate 2",
    ],
    ("games list", "games methods", "games solve", "games show", "games evaluate", "games play"): [
        *("games list", "games methods", "games solve tapnswap", "games solve tictactoe"),
        *("games show tapnswap", "games show gwent", "games evaluate tictactoe random"),
        "games play gwent --level random --seed 3 << " + "1 " * 40,
    ],
    ("games solve connect4", "games solve incan-gold"): ["games solve connect4 444444326555", "games solve incan-gold"],
    ("games evaluate connect4", "games evaluate gwent", "games evaluate incan-gold"): [
        "games evaluate connect4 random",
        "games evaluate gwent random --games 4",
        "games evaluate incan-gold random --games 3",
    ],
    ("games train", "games league", "games decks"): [
        "games train tapnswap --games 20",
        "games train tictactoe --method dqn --games 200",
        "games league tapnswap agents --set epsilon=0.3 --games 20",
        "games decks gwent --set games=2 --generations 1",
    ],
    ("agents", "doctor"): ["agents", "doctor"],
}
# Keys of clusters, of files of other programs, and of results that take longer: other tests check those they print.
ELSEWHERE = (
    r"(cluster|worst|third|searches|remarks)\.|\.third$|\.searches$|enemy\.(digest|file|imported_from|temperature)$|"
    r"^games evaluate connect4: agents\.(first|second)\.|^games train: searches$"
)
LEARNS = {("enemy pawnn",), ("games train", "games league", "games decks")}


@pytest.fixture
def inputs(files):
    """The current folder with files that the commands read."""
    space = StateSpace(PRESETS["tiny"])
    write_games(files / "tiny.db", random_games(space, 1))
    write_games(files / "true.db", random_games(StateSpace(true_rules(PRESETS["tiny"])), 1))
    games = some_games(40)
    (files / "log.json").write_text(write_log(games[:30]), encoding="utf-8")
    (files / "other.json").write_text(write_log(games[20:]), encoding="utf-8")
    (files / "house.toml").write_text(HOUSE, encoding="utf-8")
    (files / "survey.toml").write_text('base = "tiny"\n[grid]\nhp = [1]\n', encoding="utf-8")
    archive(files / "model.umb", *small_model())
    generator = np.random.default_rng(4)
    layers = [generator.normal(size=size).tolist() for size in ((18, 3), 3, (3, 11), 11)]
    (files / "params.json").write_text(json.dumps(layers), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.usefixtures("inputs", "fast_compilation")
@pytest.mark.parametrize("titles", RUNS, ids=lambda titles: titles[0])
def test_every_documented_key_is_printed(run, say, titles):
    if titles in LEARNS and (find_spec("jax") is None or find_spec("optax") is None):
        pytest.skip("needs the extra learn")
    seen: set[str] = set()
    for line in RUNS[titles]:
        command, _, typed = line.partition(" << ")
        say(*typed.split())
        done = run(*shlex.split(command), "--json", "--quiet")
        assert done.code == 0, f"{command}: {done.err}"
        assert faults_of(json.loads(done.out), done.arguments, seen) == []
    expected = {f"{title}: {path}" for title in titles for path in paths_in(documented()[title])}
    assert {path for path in expected - seen if not re.search(ELSEWHERE, path)} == set()


def test_every_section_is_compared_with_output():
    tested = [title for titles in RUNS for title in titles]
    # `warmup` takes long and has a test of its own.
    assert sorted([*tested, "warmup"]) == [*documented()]


@pytest.mark.parametrize("page", key_pages.PAGES, ids=lambda page: page.name)
def test_generated_pages_are_up_to_date(page):
    assert page.read_text(encoding="utf-8") == key_pages.PAGES[page](), "run python -m bench.make.key_pages"


SECTION = """
    Summary.

    JSON keys:
        games (integer): Number of
            games.
        agents (list of objects): Agents.
            share (number or null, from 0 to 1): Share.
        rows (list of lists of optional numbers): Rows.

    More text.
"""


def test_keys_are_read_from_docstrings_and_compared_with_values():
    games, agents, rows = key_pages.keys_in(SECTION)
    assert games == key_pages.Key("games", "integer", "", "Number of games.", [])
    assert [(key.name, key.type, key.unit) for key in agents.inner] == [("share", "number or null", "from 0 to 1")]
    assert fits([[1, None]], rows.type)
    assert not fits([[1, True]], rows.type)
    assert not fits(2**60, games.type)
    assert fits({"rush": [1.5]}, "object of lists of numbers by card")
    assert not fits({"rush": [1.5]}, "object of numbers by card")
    assert keys_fault({"fiels": "x"}) == ["fiels: not documented"]
    assert keys_fault({"seconds": "x"}) == ["seconds: x is not of the type number"]


def keys_fault(report):
    return faults_of(report, ["warmup"])

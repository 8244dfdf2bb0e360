"""JSON files that are damaged in any way: logs, leagues, and what files of learners say of themselves."""

from __future__ import annotations

import json
from collections import Counter
from importlib.util import find_spec

import numpy as np
import pytest
from cli.conftest import folder, run
from cli.records.test_commands import house
from playing import RULES, some_games
from records.conftest import query

from fuzz.json_mutations import mutated
from fuzz.trial import Trials, contents, is_refusal, nothing_found, restore
from punish_fast.games.registry import describe
from punish_fast.games.tapnswap import TapnSwap
from punish_fast.learn.agent_file import load_checkpoint
from punish_fast.learn.agent_plans import grid_plans
from punish_fast.learn.league import League
from punish_fast.punish.space import StateSpace
from punish_fast.records.database import RecordsError
from punish_fast.records.importing import import_logs
from punish_fast.records.logs import LAYOUTS, write_log
from punish_fast.store.learners import save_learner
from punish_fast.store.networks import load_network, save_network

__all__ = ["folder", "house", "run"]


@pytest.fixture
def n_files(pytestconfig):
    return pytestconfig.getoption("fuzz_files")


@pytest.fixture
def generator(pytestconfig):
    return np.random.default_rng(pytestconfig.getoption("fuzz_seed"))


def breaths(path) -> list[tuple]:
    return query(path, "SELECT game_id, is_winner, state, action, number FROM breaths ORDER BY game_id, rowid")


def import_damaged(space, folder, n, generator):
    """Import ``n`` damaged logs, each into a database of other games; return what became of them."""
    db, log = folder / "x.db", folder / "x.json"
    log.write_text(write_log(some_games(5, seed=99)))
    import_logs(space, [log], db)
    content, before = db.read_bytes(), breaths(db)
    sound = [write_log(some_games(4, seed=100 + k), layout).encode() for k in range(3) for layout in LAYOUTS]
    became: Counter[str] = Counter()
    for k in range(n):
        log.write_bytes(mutated(sound[k % len(sound)], generator))
        try:
            report = import_logs(space, [log], db)
        except RecordsError as error:
            became["refused"] += 1
            assert is_refusal(error, log), error
            assert db.read_bytes() == content
            continue
        assert report.imported + report.known + report.rejected == report.games
        became["imported" if report.imported else "unchanged"] += 1
        became["reported"] += bool(report.rejected or any(file["flaw"] for file in report.files))
        if report.imported:
            after = breaths(db)
            assert [row for row in after if row in set(before)] == before
            db.write_bytes(content)
        else:
            assert db.read_bytes() == content
    assert {path.name for path in folder.iterdir()} == {"x.db", "x.json"}
    return became


def test_damaged_logs(tmp_path):
    became = import_damaged(StateSpace(RULES), tmp_path, 100, np.random.default_rng(1))
    assert became["refused"] + became["reported"] > 30
    assert became["imported"] > 10


@pytest.mark.slow
def test_ten_thousand_damaged_logs(tmp_path):
    became = import_damaged(StateSpace(RULES), tmp_path, 10_000, np.random.default_rng(2))
    assert became["refused"] + became["reported"] > 3000
    assert became["imported"] > 1500


@pytest.mark.slow
def test_imports_of_damaged_logs(run, house, n_files, generator):
    sound = [write_log(some_games(3, seed=100 + k), layout).encode() for k in range(3) for layout in LAYOUTS]
    run("records", "import", "saves.json", "--db", "x.db", "--rules", "house.toml")
    files, trials = contents(house), Trials(run, house)
    for number in range(n_files):
        restore(house, files)
        (house / "bad.json").write_bytes(mutated(sound[number % len(sound)], generator))
        command = ["records", "import", "bad.json", "--db", "x.db", "--rules", "house.toml"]
        trials.attempt(number, command, writes=["x.db"], codes=(0, 1))
    nothing_found(trials.wrong)
    assert trials.ended[1] + trials.ended[2] > n_files / 10


@pytest.fixture
def league(folder):
    """The current folder with a league after its first tournament and the start of its second round."""
    league = League(folder / "league", TapnSwap(), 3)
    league.start_grid(grid_plans(["negamax"], [0.2, 0.7], [("random",), ("self",)], 50))
    league.train(0)
    league.tournament(0)
    return folder


@pytest.mark.slow
def test_damaged_leagues(run, league, n_files, generator):
    sets = [contents(league)]
    run("games", "retrain", "tapnswap", "league", "--games", "50", "--processes", "1")
    sets.append(contents(league))
    grid = ["--epsilons", "0.2,0.7", "--against", "random,self", "--games", "50", "--seed", "3"]
    verbs = [["tournament"], ["retrain", "--games", "50"], ["grid", *grid]]
    trials = Trials(run, league)
    for number in range(n_files):
        files = sets[generator.integers(2)]
        restore(league, files)
        names = [name for name in files if name.endswith(".json")]
        name = names[generator.integers(len(names))]
        (league / name).write_bytes(mutated(files[name], generator))
        verb, *options = verbs[generator.integers(len(verbs))]
        # Work goes on from a sound file; what is there is not replaced but for the tournament, which may be complete.
        made = [f"league/{name}" for name in ("tournament-0.json", "tournament-1.json", "round-1.json", "round-2.json")]
        agents = {name for name in sets[1] if name.endswith(".h5")} - files.keys()
        command = ["games", verb, "tapnswap", "league", "--processes", "1", "--quiet", *options]
        trials.attempt(
            number, command, [*made, *agents], ignored=lambda name: "/round-1/" in name or "/round-2/" in name
        )
    nothing_found(trials.wrong)
    assert trials.ended[2] > n_files / 10


@pytest.mark.slow
def test_learners_that_describe_themselves_wrongly(run, folder, n_files, generator):
    run("games", "train", "tapnswap", "--games", "50", "--against", "self,random", "-o", "sound.h5", "--quiet")
    game, learner = load_checkpoint(folder / "sound.h5")
    mappings = json.dumps({"game": describe(game), "learner": learner.to_mapping()}).encode()
    verbs = [
        ["--from", "bad.h5", "--games", "20", "-o", "more.h5"],
        ["--resume", "-o", "bad.h5"],
        ["--from", "bad.h5", "--against", "random", "-o", "sound.h5", "--games", "20"],
    ]
    files, trials = contents(folder), Trials(run, folder)
    for number in range(n_files):
        restore(folder, files)
        try:
            mapping = json.loads(mutated(mappings, generator))
            save_learner(folder / "bad.h5", mapping["game"], mapping["learner"], learner.q, learner.visits)
        except (ValueError, RecursionError, TypeError, KeyError):
            continue
        verb = verbs[generator.integers(len(verbs))]
        trials.attempt(number, ["games", "train", "tapnswap", "--quiet", *verb], ["more.h5", "bad.h5", "sound.h5"])
    nothing_found(trials.wrong)
    assert trials.ended[2] > n_files / 20


@pytest.mark.slow
@pytest.mark.skipif(find_spec("jax") is None or find_spec("optax") is None, reason="needs the extra learn")
def test_networks_that_describe_themselves_wrongly(run, folder, n_files, generator):
    train = ["games", "train", "tapnswap", "--method", "dqn", "--limit", "3", "--hidden", "4", "--quiet"]
    run(*train, "--games", "20", "-o", "sound.h5")
    sound = load_network(folder / "sound.h5")
    mappings = json.dumps({"game": sound.game, "learner": sound.learner}).encode()
    further = ["games", "train", "tapnswap", "--method", "dqn", "--limit", "3", "--quiet"]
    verbs = [["--from", "bad.h5", "--games", "20", "-o", "more.h5"], ["--resume", "-o", "bad.h5"]]
    files, trials = contents(folder), Trials(run, folder)
    # Every one that is sound trains a network.
    for number in range(n_files // 4):
        restore(folder, files)
        try:
            mapping = json.loads(mutated(mappings, generator))
            save_network(folder / "bad.h5", sound._replace(game=mapping["game"], learner=mapping["learner"]))
        except (ValueError, RecursionError, TypeError, KeyError):
            continue
        trials.attempt(number, [*further, *verbs[generator.integers(len(verbs))]], ["more.h5", "bad.h5"])
    nothing_found(trials.wrong)
    assert trials.ended[2] > n_files / 80


def test_mutations_follow_from_the_seed():
    content = write_log(some_games(3)).encode()
    one, other = ([mutated(content, generator) for _ in range(20)] for generator in map(np.random.default_rng, (5, 5)))
    assert one == other
    assert len(set(one)) > 15

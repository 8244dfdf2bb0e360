"""JSON files that are damaged in any way: logs, leagues, and what files of learners say of themselves."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from cli.conftest import folder, run
from cli.records.test_commands import house
from playing import RULES, some_games
from records.conftest import query

from fuzz.json_mutations import mutated
from fuzz.trial import Trials, contents, is_refusal, nothing_found, restore
from punish_fast.games.learn import agent_file
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.database import RecordsError
from punish_fast.records.importing import import_logs
from punish_fast.records.logs import LAYOUTS, write_log
from punish_fast.runtime.errors import are_installed
from punish_fast.store.bundles import load_bundle, save_bundle

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


@pytest.mark.parametrize("n", [100, pytest.param(10_000, marks=pytest.mark.slow)])
def test_damaged_logs(tmp_path, n):
    became = import_damaged(StateSpace(RULES), tmp_path, n, np.random.default_rng(1))
    assert became["refused"] + became["reported"] > 0.3 * n
    assert became["imported"] > 0.1 * n


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


TRAIN = {
    "q": ["tapnswap:limit=3", "--against", "self,random", "--games", "50"],
    "dqn": ["tapnswap:limit=3", "--method", "dqn", "--set", "hidden=4", "--games", "20"],
}


def trains_long(header):
    """Return True if a header plans more training than this test waits for."""
    learner = header.get("learner")
    method = learner.get("method") if isinstance(learner, dict) else None
    if not isinstance(method, dict):
        return False
    numbers = [learner.get("wanted"), *(method.get(name) for name in ("games", "steps", "batch"))]
    limits = (50 if "steps" in method else 1000, 1000, 100, 1000)
    return any(isinstance(n, int | float) and n > most for n, most in zip(numbers, limits, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("method", TRAIN)
def test_agents_that_describe_themselves_wrongly(run, folder, n_files, generator, method):
    if method == "dqn" and not are_installed("jax", "optax"):
        pytest.skip("needs the extra learn")
    run("games", "train", *TRAIN[method], "-o", "sound.h5", "--quiet")
    header, arrays = load_bundle(folder / "sound.h5", agent_file.LAYOUTS)
    verbs = [["--from", "bad.h5", "--games", "20", *output] for output in ([], ["-o", "more.h5"])]
    files, trials = contents(folder), Trials(run, folder)
    # Each sound one trains an agent.
    for number in range(n_files // (4 if method == "dqn" else 1)):
        restore(folder, files)
        try:
            mutant = json.loads(mutated(json.dumps(header).encode(), generator))
            save_bundle(folder / "bad.h5", mutant.pop("kind"), mutant, arrays)
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
            continue
        if trains_long(mutant):
            continue
        verb = verbs[generator.integers(len(verbs))]
        trials.attempt(number, ["games", "train", "tapnswap:limit=3", "--quiet", *verb], ["more.h5", "bad.h5"])
    nothing_found(trials.wrong)
    assert trials.ended[2] > n_files / 80

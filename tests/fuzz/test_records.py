"""Logs and databases of recorded games that are damaged in any way."""

from collections import Counter

import numpy as np
import pytest
from cli.conftest import folder, run
from cli.records.test_commands import house
from playing import LAYOUTS, RULES, some_games, written
from records.conftest import ORIGINAL, query, run_sql

from fuzz.json_mutations import mutated
from fuzz.sqlite_mutations import mutate
from fuzz.trial import attempt, contents, is_refusal, nothing_found, restore
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.database import RecordsError
from punish_fast.records.importing import import_logs
from punish_fast.records.logs import write_log

__all__ = ["folder", "house", "run"]

_RULES = ["--rules", "house.toml"]
# Commands, and the files that they write.
_COMMANDS = (
    (["records", "summary", "--db", "bad.db", *_RULES], []),
    (["records", "summary", "--db", "bad.db", "--player", "Ann", "--json", *_RULES], []),
    (["records", "import", "more.json", "--db", "bad.db", *_RULES], ["bad.db"]),
    (["records", "player", "Ann", "--db", "bad.db", "--export", "-o", "out.json"], ["out.json"]),
    (["records", "player", "Ann", "--db", "bad.db", "--anonymize"], ["bad.db"]),
    (["records", "player", "Ben", "--db", "bad.db", "--delete", "--yes"], ["bad.db"]),
    (["enemy", "parless", "--db", "bad.db", "-o", "parless.h5", "--quiet", *_RULES], ["parless.h5"]),
)


@pytest.fixture
def databases(run, house):
    """The current folder, with a database of ours and one of the original."""
    (house / "more.json").write_text(write_log(some_games(8, seed=50)))
    run("records", "import", "saves.json", "--db", "x.db", *_RULES)
    run_sql(house / "original.db", ORIGINAL)
    return house


@pytest.mark.slow
def test_damaged_databases(run, databases, pytestconfig):
    n_files = pytestconfig.getoption("fuzz_files")
    generator = np.random.default_rng(pytestconfig.getoption("fuzz_seed"))
    files, wrong, ended = contents(databases), [], Counter()

    def tried(command, writes, codes=(0, 1)):
        """Run a command, which may change ``writes`` if it ends with one of ``codes``, and no other files."""
        before = contents(databases)
        done, faults = attempt(run, command)
        after = contents(databases)
        ended[done.code] += 1
        if done.code not in (*codes, 2):
            faults.append(f"exit code {done.code}")
        # A command that fails for another reason warns of invalid rows that were left out.
        lines = [line for line in done.err.splitlines() if not line.startswith("warning: bad.db: table ")]
        if len(lines) != (done.code != 0):
            faults.append("more in stderr than the error")
        changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        changed -= set(writes if done.code in codes else ())
        # SQLite keeps files beside a database with a write-ahead log.
        faults += [f"changed {name}" for name in sorted(changed) if not name.endswith(("-wal", "-shm"))]
        if faults:
            wrong.append((number, " ".join(command), done.err[-300:], faults))
        return done

    for number in range(n_files):
        restore(databases, files)
        (databases / "bad.db").write_bytes(files["x.db" if generator.random() < 0.8 else "original.db"])
        mutate(databases / "bad.db", generator)
        command, writes = _COMMANDS[generator.integers(len(_COMMANDS))]
        done = tried(command, writes)
        # An error names the invalid rows that were left out.
        assert done.code != 1 or "has an invalid row: " in done.err
        if done.code < 2 and "--export" in command:
            done = tried(["records", "import", "out.json", "--db", "new.db", *_RULES], ["new.db"])
            # Unreachable states of a damaged database are rejected.
            assert done.code == 0 or "rejected" in done.out, f"{number}: {command}: {done.err}"
    nothing_found(wrong)
    assert min(ended[0], ended[2]) > n_files / 10


def breaths(path) -> list[tuple]:
    return query(path, "SELECT game_id, is_winner, state, action, number FROM breaths ORDER BY game_id, rowid")


def import_damaged(space, folder, n, generator):
    """Import ``n`` damaged logs, each into a database of other games; return what became of them."""
    db, log = folder / "x.db", folder / "x.json"
    log.write_text(write_log(some_games(5, seed=99)))
    import_logs(space, [log], db)
    content, before = db.read_bytes(), breaths(db)
    sound = [written(some_games(4, seed=100 + k), layout).encode() for k in range(3) for layout in LAYOUTS]
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

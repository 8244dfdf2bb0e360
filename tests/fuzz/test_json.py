"""Logs of recorded games that are damaged in any way."""

from collections import Counter

import numpy as np
import pytest
from playing import LAYOUTS, RULES, some_games, written
from records.conftest import query

from fuzz.json_mutations import mutated
from fuzz.trial import is_refusal
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.database import RecordsError
from punish_fast.records.importing import import_logs
from punish_fast.records.logs import write_log


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

"""Logs that are damaged in any way: one line and nothing changed, or a report that adds up and nothing lost."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from playing import some_games

from punish_fast.records.database import RecordsError
from punish_fast.records.importing import import_logs
from punish_fast.records.logs import LAYOUTS, write_log
from records.conftest import query
from records.mutating import mutated


def breaths(path) -> list[tuple]:
    return query(path, "SELECT game_id, is_winner, state, action, number FROM breaths ORDER BY game_id, rowid")


def fuzz(space, folder, n, seed):
    """Import ``n`` damaged logs, each into a database of other games; return what became of them."""
    generator = np.random.default_rng(seed)
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
            text = str(error)
            assert text.startswith(f"{log}: ")
            assert "\n" not in text
            assert len(text) < 400 + len(str(log))
            assert db.read_bytes() == content
            continue
        assert report.imported + report.known + report.rejected == report.games
        became["imported" if report.imported else "unchanged"] += 1
        if report.imported:
            after = breaths(db)
            assert [row for row in after if row in set(before)] == before
            db.write_bytes(content)
        else:
            assert db.read_bytes() == content
    assert {path.name for path in folder.iterdir()} == {"x.db", "x.json"}
    return became


def test_damaged_logs(tmp_path, space):
    became = fuzz(space, tmp_path, 100, seed=1)
    assert became["refused"] > 30
    assert became["imported"] > 10


@pytest.mark.slow
def test_ten_thousand_damaged_logs(tmp_path, space):
    became = fuzz(space, tmp_path, 10_000, seed=2)
    assert became["refused"] > 3000
    assert became["imported"] > 1500

"""The real logs and the original's database of them, which hold games that are not ours: read in place."""

import hashlib
from collections import Counter
from itertools import groupby

import pytest
from numba import config
from playing import LAYOUTS, written

from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.database import open_to_read
from punish_fast.records.games import read_games
from punish_fast.records.importing import SAME_SECOND, import_logs
from punish_fast.records.validation import FEINTS, ILLEGAL, SUCCESSION, UNREACHABLE
from records.test_games import plain
from records.test_importing import rows
from records.test_logs import read_log

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="the whole game takes hours with NUMBA_DISABLE_JIT=1")


@pytest.fixture(scope="module")
def tabletop_space():
    return StateSpace(PRESETS["tabletop"])


@pytest.fixture(scope="module")
def imported(tmp_path_factory, real_logs, tabletop_space):
    path = tmp_path_factory.mktemp("real") / "games.db"
    return path, import_logs(tabletop_space, real_logs, path)


def test_games_are_accepted_and_rejected_for_reasons(imported):
    """A digest of all verdicts, kinds and reasons by game; the ids of games of one second are random."""
    _, report = imported
    assert (report.games, report.imported, report.known) == (1261, 1210, 0)
    assert report.count("rejected") == {ILLEGAL: 46, UNREACHABLE: 5}
    assert report.count("warning") == {FEINTS: 280, SAME_SECOND: 20, SUCCESSION: 6}
    remarks = [each for each in report.remarks if each.kind != SAME_SECOND]
    lines = sorted(f"{each.game} {each.verdict} {each.kind} {each.reason}" for each in remarks)
    assert (len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]) == (337, "8eb1497daee56b63")


def test_the_original_database_agrees_row_by_row(imported, real_db, real_logs):
    """In the order of play, but for what the original mixed up: it put games of one second under one id."""
    path, report = imported
    ours, theirs = (
        {game: list(found) for game, found in groupby(rows(db), key=lambda row: row[0])} for db in (path, real_db)
    )
    ids = Counter(game.id for log in map(read_log, real_logs) for game in log.games)
    twice = {game for game, n in ids.items() if n > 1}
    assert (len(ids), len(twice)) == (1240, 21)
    rejected = {remark.game for remark in report.remarks if remark.verdict == "rejected"}
    # An older version of the original let illegal actions in, most of them 91.
    assert len([game for game in theirs if game in rejected and game not in twice]) == 15
    agreeing = [game for game in theirs if game not in rejected | twice]
    assert len(agreeing) == 1169
    assert all(ours[game] == theirs[game] for game in agreeing)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_real_games_survive_being_written_and_imported(imported, tmp_path, tabletop_space, layout):
    path, _ = imported
    with open_to_read(path) as connection:
        games = [game for _, game in read_games(connection)]
    whole = [g for g in games if g.winner.number == tuple(range(len(g.winner.number)))]
    assert len(games) - len(whole) == 6
    log = tmp_path / "x.json"
    log.write_text(written(games if layout == "breaths" else whole, layout))
    assert import_logs(tabletop_space, [log], tmp_path / "x.db").imported == (1210 if layout == "breaths" else 1204)
    assert {plain(game) for game in read_log(log).games} == set(map(plain, games if layout == "breaths" else whole))

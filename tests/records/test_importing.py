import json
import re
import sys
import tracemalloc
from dataclasses import replace

import pytest
from playing import LAYOUTS, some_games, with_side, written

from punish_fast.records import importing
from punish_fast.records.database import RecordsError, open_to_read
from punish_fast.records.games import read_games
from punish_fast.records.importing import CONFLICT, SAME_SECOND, import_logs, record_games
from punish_fast.records.logs import write_log
from punish_fast.records.schema import LAST_ID, LAST_SECOND, new_id
from punish_fast.records.validation import FEINTS, ILLEGAL, SUCCESSION, UNREACHABLE
from punish_fast.runtime.errors import DataWarning
from records.conftest import query, run_sql
from records.test_games import plain


def rows(path) -> list[tuple]:
    """Every choice, with names instead of numbers, in the order of play."""
    return query(
        path,
        "SELECT game_id, winner.username, loser.username, is_winner, state, action"
        " FROM games JOIN breaths USING (game_id) JOIN players AS winner ON winner.player_id = winner_id"
        " JOIN players AS loser ON loser.player_id = loser_id"
        " ORDER BY game_id, is_winner DESC, breaths.rowid",
    )


def write(path, games, layout="breaths"):
    path.write_text(written(games, layout))
    return path


def test_games_go_in_and_come_out_as_they_were(tmp_path, space, games):
    for layout in LAYOUTS:
        path, db = write(tmp_path / f"{layout}.json", games, layout), tmp_path / f"{layout}.db"
        report = import_logs(space, [path], db)
        assert (report.games, report.imported, report.known, report.rejected, report.remarks) == (30, 30, 0, 0, [])
        with open_to_read(db) as connection:
            found = [game for _, game in read_games(connection)]
        assert [plain(game) for game in found] == games
        assert write_log(found) == write_log(games)


def test_games_that_are_known_change_nothing(tmp_path, space, db, log, games):
    before = db.read_bytes()
    other = write(tmp_path / "other.json", games[::-1], "games")
    report = import_logs(space, [log, other, log], db)
    assert (report.games, report.imported, report.known) == (90, 0, 90)
    assert db.read_bytes() == before
    part = write(tmp_path / "part.json", games[:20])
    report = import_logs(space, [part, other], tmp_path / "x.db")
    assert (report.games, report.imported, report.known, len(report.files)) == (50, 30, 20, 2)
    assert query(tmp_path / "x.db", "SELECT count(DISTINCT source_digest) FROM games") == [(2,)]


def test_a_lost_game_that_is_imported_again_has_its_breaths_once(space, db, log, games):
    before = rows(db)
    run_sql(db, f"DELETE FROM games WHERE game_id = {games[0].id}")
    report = import_logs(space, [log], db)
    assert (report.imported, report.known, report.remarks) == (1, 29, [])
    assert rows(db) == before


def faulty(games):
    """Games with one fault each, and a sound one."""
    actions = games[0].winner.actions
    feint = next(
        g
        for g in games[5:]
        if g.winner.actions[0] % 10 == 0 and g.winner.actions[0] != 90 and len(g.winner.actions) > 1
    )
    plain_end = next(g for g in games[4:] if not (g.winner.actions[-1] % 10 or g.loser.actions[-1] % 10 or g == feint))
    return [
        with_side(games[0], actions=(91, *actions[1:])),
        with_side(games[1], states=(1, *games[1].winner.states[1:])),
        replace(games[2], winner=games[3].winner, loser=games[3].loser),
        replace(plain_end, winner=plain_end.loser, loser=plain_end.winner),
        with_side(feint, actions=(feint.winner.actions[0] + 1, *feint.winner.actions[1:])),
    ]


def test_every_game_that_stays_out_has_a_reason(tmp_path, space, games):
    path = write(tmp_path / "x.json", faulty(games))
    report = import_logs(space, [path], tmp_path / "x.db")
    assert report.count("rejected") == {ILLEGAL: 1, UNREACHABLE: 1}
    assert sum(report.count("warning").values()) == 2
    assert (report.imported, report.rejected) == (3, 2)
    assert (report.remarks[0].game, report.remarks[0].players) == (
        games[0].id,
        (games[0].winner.name, games[0].loser.name),
    )
    mapping = json.loads(json.dumps(report.as_mapping()))
    assert mapping["rejected_by_kind"] == report.count("rejected")
    for remark in mapping["remarks"]:
        assert remark["file"] == str(path)
        assert remark["reason"]
        assert len(remark["players"]) == 2
    assert {remark["kind"] for remark in mapping["remarks"]} <= {ILLEGAL, UNREACHABLE, SUCCESSION, FEINTS}


def test_one_bad_log_keeps_all_out(tmp_path, space, log, db):
    before = db.read_bytes()
    bad = tmp_path / "bad.json"
    bad.write_text("[{}]")
    more = write(tmp_path / "more.json", some_games(40))
    for path in (db, tmp_path / "new.db"):
        with pytest.raises(RecordsError, match=r"bad\.json: entry 1 has no State"):
            import_logs(space, [more, bad, log], path)
    assert db.read_bytes() == before
    assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_valid_games_go_in_from_a_log_that_is_cut_off(tmp_path, space, games, layout):
    path = write(tmp_path / "x.json", games[:10], layout)
    path.write_bytes(path.read_bytes()[:-30])
    report = import_logs(space, [path], tmp_path / "x.db")
    assert (report.imported, report.rejected) == (9, 1 if layout == "breaths" else 0)
    assert report.files[0]["flaw"].startswith("is cut off in entry ")
    assert report.remarks[0].reason.startswith("the log is cut off in entry ")
    # The whole log brings the rest.
    whole = write(tmp_path / "y.json", games[:10], layout)
    report = import_logs(space, [whole], tmp_path / "x.db")
    assert (report.imported, report.known, report.files[0]["flaw"]) == (1, 9, None)


def players_of(game, other):
    """``game`` played by the players of ``other``."""
    sides = (game.winner, other.winner), (game.loser, other.loser)
    winner, loser = (replace(side, name=named.name, is_bot=named.is_bot) for side, named in sides)
    return replace(game, winner=winner, loser=loser)


def test_another_version_of_a_game_is_rejected(tmp_path, space, games):
    """Another game has the random id of the first, and more breaths than recorded have the second of the other."""
    own = replace(games[0], id=2**53 - 1, played=games[0].id)
    long = next(game for game in games if len(game.winner.states) > 1)
    part = with_side(long, number=(0,), states=long.winner.states[:1], actions=long.winner.actions[:1])
    db = tmp_path / "x.db"
    assert import_logs(space, [write(tmp_path / "x.json", [own, part])], db).imported == 2
    before = db.read_bytes()
    other = replace(players_of(games[1], own), id=own.id, played=own.played + 9)
    assert import_logs(space, [write(tmp_path / "y.json", [other, long])], db).count("rejected") == {CONFLICT: 2}
    assert db.read_bytes() == before


@pytest.mark.parametrize("layout", LAYOUTS)
def test_games_of_the_same_players_and_second_are_kept_and_known_again(tmp_path, space, games, layout):
    crowd = [replace(players_of(game, games[0]), id=games[0].id) for game in games[:4]]
    log = write(tmp_path / "x.json", crowd, "games")
    db = tmp_path / "x.db"
    report = import_logs(space, [log], db)
    assert (report.imported, report.count("warning")) == (4, {SAME_SECOND: 3})
    assert import_logs(space, [log], db).known == 4
    with open_to_read(db) as connection:
        found = dict(read_games(connection))
    assert {game.second for game in found.values()} == {games[0].id}
    exported = write(tmp_path / "out.json", found.values(), layout)
    assert import_logs(space, [exported], db).known == 4
    assert import_logs(space, [exported], tmp_path / "y.db").imported == 4
    assert import_logs(space, [log, exported], tmp_path / "y.db").known == 8


def test_new_ids_are_all_numbers_above_the_seconds(monkeypatch):
    assert LAST_SECOND < new_id() <= LAST_ID
    monkeypatch.setattr("secrets.randbelow", lambda n: n - n)
    assert new_id() == LAST_SECOND + 1
    monkeypatch.setattr("secrets.randbelow", lambda n: n - 1)
    assert new_id() == LAST_ID


def test_recorded_games_keep_their_ids_and_times_in_logs(tmp_path, space, games):
    now = 1_700_000_000
    played = [replace(players_of(game, games[0]), id=new_id(), played=now) for game in games]
    for part in (played[:20], played[20:]):
        assert record_games(space, part, tmp_path / "x.db").imported == len(part)
    assert query(tmp_path / "x.db", "SELECT DISTINCT played, source_digest FROM games") == [(now, None)]
    with open_to_read(tmp_path / "x.db") as connection:
        found = dict(read_games(connection))
    assert sorted(found) == sorted(game.id for game in played)
    for layout in LAYOUTS:
        log = write(tmp_path / f"{layout}.json", found.values(), layout)
        assert import_logs(space, [log], tmp_path / "x.db").known == 30
        assert import_logs(space, [log], tmp_path / f"{layout}.db").imported == 30
        assert rows(tmp_path / f"{layout}.db") == rows(tmp_path / "x.db")
    with pytest.raises(RecordsError, match="logs allow only names of 1 to"):
        record_games(space, [with_side(played[0], name="\n")], tmp_path / "x.db")


def test_games_of_one_second_take_a_random_id(tmp_path, space, games):
    second = games[0].id
    crowd = [
        replace(game, id=second, winner=replace(game.winner, name=f"a{k}"), loser=replace(game.loser, name=f"b{k}"))
        for k, game in enumerate(games[:3])
    ]
    neighbor = replace(games[4], id=second + 1)
    path = write(tmp_path / "x.json", [neighbor, *crowd])
    report = import_logs(space, [path], tmp_path / "x.db")
    assert (report.imported, report.count("warning")) == (4, {SAME_SECOND: 2})
    assert "stored as" in report.remarks[0].reason
    with open_to_read(tmp_path / "x.db") as connection:
        found = dict(read_games(connection))
    assert sorted(found)[:2] == [second, second + 1]
    assert min(sorted(found)[2:]) > LAST_SECOND
    assert sorted((game.second, game.winner.name) for game in found.values()) == sorted(
        (game.id, game.winner.name) for game in [neighbor, *crowd]
    )
    before = (tmp_path / "x.db").read_bytes()
    assert import_logs(space, [path], tmp_path / "x.db").known == 4
    assert (tmp_path / "x.db").read_bytes() == before


def test_games_that_the_original_mixed_up_are_known(tmp_path, space, db, games):
    """The original put the breaths of two games of one second under the first one's players."""
    log = write(tmp_path / "x.json", games)
    run_sql(db, f"UPDATE breaths SET game_id = {games[0].id} WHERE game_id = {games[1].id}")
    run_sql(db, f"DELETE FROM games WHERE game_id = {games[1].id}")
    moved = replace(games[1], id=games[0].id)
    assert import_logs(space, [write(tmp_path / "y.json", [moved])], db).known == 1
    assert import_logs(space, [log], db).imported == 1


def test_games_of_a_database_with_names_that_no_log_holds_are_refused(tmp_path, space, db, games):
    run_sql(db, "UPDATE players SET username = 'A' || char(27) || 'n' WHERE username = 'Ann'")
    report = import_logs(space, [db], tmp_path / "new.db")
    assert (report.games, report.rejected) == (30, sum("Ann" in (g.winner.name, g.loser.name) for g in games))
    assert report.rejected > 0
    assert all(r"player 'A\x1bn': logs allow only" in remark.reason for remark in report.remarks)


def test_an_original_database_takes_new_games(tmp_path, space, original, games, db):
    old = "SELECT game_id, is_winner, state, action FROM breaths WHERE game_id < 1000 ORDER BY rowid"
    before = query(original, old)
    report = import_logs(space, [write(tmp_path / "x.json", games)], original)
    assert report.imported == 30
    assert query(original, old) == before
    assert query(original, "SELECT username FROM players ORDER BY player_id")[:3] == [("Ann",), ("Ben",), ("naive",)]
    # However large a database is: the query for games that can be equal searches indexes only.
    keys = dict.fromkeys(("id", "second", "only_second", "winner", "loser"))
    with open_to_read(db) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {importing._CANDIDATES}", keys)]
    assert len(plan) > 3
    assert not any(step.startswith("SCAN") for step in plan)


@pytest.mark.parametrize(
    ("played", "temperature", "reason"),
    [
        (-5, 0.5, "table games has an invalid row: .*played -5"),
        (LAST_SECOND + 1, 0.5, "table games has an invalid row"),
        (5, 9e999, "table bot_parameters has an invalid row: .*temperature inf"),
        (5, -1.0, "temperature -1.0"),
    ],
)
def test_rows_that_could_not_be_read_are_not_written(tmp_path, space, games, played, temperature, reason):
    """Games recorded with a clock before 1970, for example; other games of the transaction are stored."""
    bad, good = (
        replace(game, id=new_id(), played=second, loser=replace(game.loser, is_bot=True, temperature=warmth))
        for game, second, warmth in ((games[0], played, temperature), (games[1], 5, sys.float_info.max))
    )
    report = record_games(space, [bad, good], tmp_path / "x.db")
    (remark,) = (remark for remark in report.remarks if remark.verdict == "rejected")
    assert (remark.game, report.imported) == (bad.id, 1)
    assert re.search(reason, remark.reason)
    with open_to_read(tmp_path / "x.db") as connection:
        assert [number for number, _ in read_games(connection)] == [good.id]
    assert query(tmp_path / "x.db", "SELECT count(*) FROM bot_parameters") == [(1,)]


def test_the_memory_to_import_a_database_does_not_depend_on_its_texts(tmp_path, space, db):
    run_sql(db, "UPDATE players SET username = CAST(zeroblob(50000000) AS TEXT) || player_id")
    tracemalloc.start()
    with pytest.raises(RecordsError, match=r"games\.db: contains a text or blob of more than 1,000,000 bytes"):
        import_logs(space, [db], tmp_path / "x.db")
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()
    run_sql(db, "UPDATE players SET username = player_id; UPDATE breaths SET state = 'x' WHERE rowid = 1")
    with pytest.warns(DataWarning, match="state 'x'"):
        assert import_logs(space, [db], tmp_path / "x.db").imported == 29

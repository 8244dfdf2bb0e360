"""Finished games as records: valid in a database, and in logs that were there before."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager

import numpy as np
import pytest
from playing import some_games

from punish_fast.play import records
from punish_fast.play.punish_match import PunishMatch
from punish_fast.play.records import Finished, Keeper
from punish_fast.play.seats import Agent, Script
from punish_fast.play.session import PlaySession
from punish_fast.play.table import Table
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.records.database import RecordsError, open_to_read
from punish_fast.records.games import read_games
from punish_fast.records.logs import read_log, write_log
from punish_fast.records.schema import LAST_SECOND
from punish_fast.records.validation import check_games
from punish_fast.runtime.folder_lock import file_lock

RULES = PRESETS["tiny"]._replace(redeal="reshuffle")


@pytest.fixture(scope="module")
def table():
    return Table(StateSpace(RULES))


def played(table, game):
    generator = np.random.default_rng(game)
    policy = table.thresholds(np.ones(len(table.space.action)) / np.repeat(*[np.diff(table.space.state_ptr)] * 2))
    seats = Script("Ann", lambda _, legal: int(generator.choice(legal))), Agent("bot", policy, 0.5)
    match = PunishMatch(table, 1, game)
    session = PlaySession(match, seats)
    session.begin()
    while session.is_on:
        session.reveal()
    return match, seats, session.winner


def keep(keeper, table, game):
    return keeper.keep_all([Finished(*played(table, game))])[0]


def stored(database):
    with open_to_read(database) as connection:
        return dict(read_games(connection))


def test_games_are_valid_records_with_both_players(table, tmp_path):
    keeper = Keeper(table.space, tmp_path / "games.db", None)
    ids = [keep(keeper, table, game) for game in range(8)]
    games = stored(tmp_path / "games.db")
    assert sorted(games) == sorted(set(ids))
    assert check_games(table.space, list(games.values())) == [[]] * 8
    for number, game_id in enumerate(ids):
        match, seats, winner = played(table, number)
        game = games[game_id]
        assert (game.winner.name, game.loser.name) == (seats[winner].name, seats[1 - winner].name)
        sides = (game.winner, game.loser) if winner == 0 else (game.loser, game.winner)
        assert [(side.is_bot, side.temperature) for side in sides] == [(False, None), (True, 0.5)]
        for seat, side in enumerate(sides):
            assert side.states == tuple(breath.states[seat] for breath in match.breaths)
            assert side.actions == tuple(breath.actions[seat] for breath in match.breaths)


def test_the_same_game_twice_is_kept_twice(table, tmp_path):
    keeper = Keeper(table.space, tmp_path / "games.db", None)
    assert keep(keeper, table, 1) != keep(keeper, table, 1)
    assert len(stored(tmp_path / "games.db")) == 2


def test_games_that_end_at_once_are_all_kept(table, tmp_path):
    keeper = Keeper(table.space, tmp_path / "games.db", None)
    games = [Finished(*played(table, game % 3)) for game in range(12)]
    ids = keeper.keep_all(games)
    found = stored(tmp_path / "games.db")
    assert sorted(found) == sorted(set(ids))
    for game_id, game in zip(ids, games, strict=True):
        assert found[game_id].winner == game.record().winner


def test_a_game_keeps_the_second_in_which_it_ended(table, tmp_path, monkeypatch):
    """Games of the same players that ended in the same second, kept at another time."""
    monkeypatch.setattr(time, "time", lambda: 1_700_000_000.0)
    games = [Finished(*played(table, game)) for game in range(20)]
    monkeypatch.setattr(time, "time", lambda: 1_700_000_060.0)
    keeper = Keeper(table.space, tmp_path / "games.db", None)
    ids = [*keeper.keep_all(games[:10]), *keeper.keep_all(games[10:])]
    found = stored(tmp_path / "games.db")
    assert sorted(found) == sorted(set(ids))
    assert {game.second for game in found.values()} == {1_700_000_000}
    assert all(LAST_SECOND < game_id < 2**53 for game_id in ids)


@pytest.mark.parametrize("layout", ["breaths", "games"])
def test_games_are_added_to_a_log_in_its_layout(table, tmp_path, layout):
    log = tmp_path / "saves.json"
    before = some_games(3, rules=RULES)
    log.write_text(write_log(before, layout), encoding="utf-8")
    keeper = Keeper(table.space, None, log)
    ids = [keep(keeper, table, game) for game in range(2)]
    found = read_log(log)
    assert found.layout == layout
    assert [game.id for game in found.games] == [*(game.id for game in before), *ids]
    assert not found.refused


def test_two_processes_add_to_one_log(table, tmp_path, monkeypatch):
    """Through a link, too, and while one waits for the other."""
    log = tmp_path / "saves.json"
    (tmp_path / "link.json").symlink_to(log.name)
    keepers = [Keeper(table.space, None, tmp_path / name) for name in (log.name, "link.json")]
    ids = [keep(keepers[game % 2], table, game) for game in range(4)]
    assert [game.id for game in read_log(log).games] == ids

    @contextmanager
    def held_by_another(path):
        monkeypatch.setattr(records, "file_lock", file_lock)
        ids.append(keep(keepers[0], table, 4))
        with file_lock(path):
            assert [each.name for each in tmp_path.glob(".*")] == [".saves.json.lock"]
            yield

    monkeypatch.setattr(records, "file_lock", held_by_another)
    ids.append(keep(keepers[1], table, 5))
    assert [game.id for game in read_log(log).games] == ids
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.json", "saves.json"]


def test_a_new_log_has_the_original_layout(table, tmp_path):
    keep(Keeper(table.space, None, tmp_path / "saves.json"), table, 1)
    entry = json.loads((tmp_path / "saves.json").read_text())[0]
    assert {"State", "Choice", "Feint", "Result", "TurnsFromEnd", "GameID", "UserName", "EnemyName"} <= entry.keys()


def test_a_log_that_would_lose_games_is_refused(table, tmp_path):
    entries = json.loads(write_log(some_games(1, rules=RULES)))
    for entry in entries:
        entry["TurnsFromEnd"] += 1
    (tmp_path / "saves.json").write_text(json.dumps(entries))
    with pytest.raises(RecordsError, match=r"cannot be read \(the last breath is missing\); name another log"):
        Keeper(table.space, None, tmp_path / "saves.json")
    (tmp_path / "cut.json").write_text(write_log(some_games(2, rules=RULES))[:-10])
    with pytest.raises(RecordsError, match=r"is cut off in entry \d+ \(line \d+\); name another log"):
        Keeper(table.space, None, tmp_path / "cut.json")

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import closing

import pytest
from serving import TINY

from punish_fast.play.punish.match import Finished, PunishMatch
from punish_fast.play.session import HumanPlayer, PlaySession
from punish_fast.records import database as database_of_games
from punish_fast.records.summary import read_results
from punish_fast.web.game_database import GameDatabase, GameRecorder
from punish_fast.web.workers import Workers


@pytest.fixture
def games(models):
    finished = []
    for seed in range(9):
        match, seats = PunishMatch(models[0].data, seed), (HumanPlayer("Ann"), models[0].opponents(None)[0])
        session = PlaySession(match, seats)
        session.begin()
        while session.is_on:
            session.choose(0, session.legal(0)[0])
            session.reveal()
        finished.append(Finished(match, seats, session.winner))
    return finished


def kept(database, games):
    """What the players of games are told."""
    told = []

    async def keep():
        workers = Workers()
        book = GameRecorder(GameDatabase(database, TINY, None), workers)
        for number, game in enumerate(games):
            book.add(game, lambda game_id, flaw, number=number: told.append((number, game_id, flaw)))
        await book.close()
        workers.close()

    asyncio.run(keep())
    return told


def test_every_game_is_kept_and_told(database, games):
    told = kept(database, games)
    assert sorted(number for number, _, _ in told) == list(range(9))
    assert sorted(read_results(database).game.tolist()) == sorted(game_id for _, game_id, _ in told)


def test_another_process_that_writes_is_waited_for(database, games, monkeypatch):
    monkeypatch.setattr(database_of_games, "BUSY_SECONDS", 0.05)
    kept(database, games[:1])
    with closing(sqlite3.connect(database, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(0.1, other.rollback).start()
        told = kept(database, games[1:3])
    assert all(flaw is None for _, _, flaw in told)
    assert len(read_results(database)) == 3


def test_a_game_that_cannot_be_kept_is_told(database, games, caplog):
    database.write_text("secret" * 1000)
    told = kept(database, games)
    assert {(game_id, flaw) for _, game_id, flaw in told} == {
        (None, "the game could not be saved; see the server's log")
    }
    assert "games.db: is not an SQLite database" in caplog.text

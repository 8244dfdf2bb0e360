"""Finished games as records: valid in a database."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scripted import ScriptedPlayer

from punish_fast.arena.players import PolicyPlayer
from punish_fast.play.punish.game_data import GameData
from punish_fast.play.punish.match import PunishMatch
from punish_fast.play.punish.records import Finished, Keeper
from punish_fast.play.session import HumanPlayer, PlaySession
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.database import open_to_read
from punish_fast.records.games import read_games
from punish_fast.records.schema import LAST_SECOND
from punish_fast.records.validation import check_games

RULES = PRESETS["tiny"]._replace(redeal="reshuffle")


@pytest.fixture(scope="module")
def table():
    return GameData(StateSpace(RULES))


def played(table, game):
    generator = np.random.default_rng(game)
    policy = np.ones(len(table.space.action)) / np.repeat(*[np.diff(table.space.state_ptr)] * 2)
    seats = ScriptedPlayer("Ann", lambda _, legal: int(generator.choice(legal))), PolicyPlayer("bot", policy, 0.5)
    match = PunishMatch(table, 1, game)
    session = PlaySession(match, seats)
    session.begin()
    while session.is_on:
        session.reveal()
    return match, (HumanPlayer("Ann"), seats[1]), session.winner


def keep(keeper, table, game):
    return keeper.keep_all([Finished(*played(table, game))])[0]


def stored(database):
    with open_to_read(database) as connection:
        return dict(read_games(connection))


def test_games_are_valid_records_with_both_players(table, tmp_path):
    keeper = Keeper(table.space, tmp_path / "games.db")
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


def test_a_game_keeps_the_second_in_which_it_ended(table, tmp_path, monkeypatch):
    """Games of the same players that ended in the same second, kept at another time."""
    monkeypatch.setattr(time, "time", lambda: 1_700_000_000.0)
    games = [Finished(*played(table, game)) for game in range(20)]
    monkeypatch.setattr(time, "time", lambda: 1_700_000_060.0)
    keeper = Keeper(table.space, tmp_path / "games.db")
    ids = [*keeper.keep_all(games[:10]), *keeper.keep_all(games[10:])]
    found = stored(tmp_path / "games.db")
    assert sorted(found) == sorted(set(ids))
    assert {game.second for game in found.values()} == {1_700_000_000}
    assert all(LAST_SECOND < game_id < 2**53 for game_id in ids)

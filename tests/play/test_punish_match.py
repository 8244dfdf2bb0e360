from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest
from houses import LASTING, house_rules
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from policies import mixed, uniform
from scripted import ScriptedPlayer

from punish_fast.arena.players import PolicyPlayer
from punish_fast.duel.graph import DuelError, GameGraph
from punish_fast.duel.public_states import PublicPolicy
from punish_fast.duel.simulator import Simulator
from punish_fast.equilibrium.public_equilibrium import likely_public_states
from punish_fast.play.game_data import GameData
from punish_fast.play.punish.match import Finished, PunishMatch
from punish_fast.play.session import HumanPlayer, PlaySession
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.database import open_to_read
from punish_fast.records.games import read_games
from punish_fast.records.schema import LAST_SECOND
from punish_fast.records.validation import check_games

MOST_BREATHS = 40


def played(table, policies, seed, game):
    """The rows and winner of a game at the table; None if it is very long."""
    seats = tuple(PolicyPlayer(name, policy) for name, policy in zip("ab", policies, strict=True))
    match = PunishMatch(table, seed, game)
    session = PlaySession(match, seats)
    session.begin()
    rows = []
    while session.is_on:
        if len(match.breaths) == MOST_BREATHS:
            return None
        legal = [(match._rows(seat).start, match.legal(seat)) for seat in (0, 1)]
        session.reveal()
        actions = match.breaths[-1].actions
        rows.append(tuple(first + of.index(action) for (first, of), action in zip(legal, actions, strict=True)))
    return rows, session.winner


def simulated(space, policies, seed, first_game, n_games, public=None):
    simulator = Simulator(GameGraph(space, public=public))
    trace = simulator.trace(*map(simulator.thresholds, policies), first_game, n_games, seed)
    return [
        ([tuple(rows) for rows in trace.rows[slice(*trace.ptr[k : k + 2])].tolist()], 1 - int(trace.games.won[k]))
        for k in range(n_games)
    ]


@pytest.mark.parametrize("information", ["memoryless", "memory"])
def test_agents_play_the_games_of_the_simulator(information):
    space = StateSpace(PRESETS["tiny"]._replace(redeal="reshuffle"), information)
    policies = mixed(space, 1), mixed(space, 2)
    table = GameData(space)
    for seed in (0, 7, 2**64 - 1):
        games = [played(table, policies, seed, game) for game in range(5, 45)]
        assert games == simulated(space, policies, seed, 5, 40)


@pytest.mark.parametrize("rules", [LASTING, PRESETS["tiny"]._replace(redeal="reshuffle")], ids=["lasting", "tiny"])
def test_players_with_public_states_play_the_games_of_the_simulator(rules):
    space = StateSpace(rules)
    public = likely_public_states(GameGraph(space), uniform(space), 1000)
    policies = [PublicPolicy(public, [mixed(space, seed + k) for k in range(len(public))]) for seed in (0, 1000)]
    table = GameData(space)
    games = [played(table, policies, 7, game) for game in range(60)]
    assert games == simulated(space, policies, 7, 0, 60, public)
    assert games != simulated(space, [policy[0] for policy in policies], 7, 0, 60)


@settings(max_examples=12)
@given(rules=house_rules(), information=st.sampled_from(["memoryless", "memory"]), seed=st.integers(0, 2**64 - 1))
def test_agents_play_the_games_of_the_simulator_under_house_rules(rules, information, seed):
    space = StateSpace(rules, information)
    policies = mixed(space, 1), mixed(space, 2)
    table = GameData(space)
    games = [played(table, policies, seed, game) for game in range(3)]
    if None not in games:
        assert games == simulated(space, policies, seed, 0, 3)


def test_a_game_that_never_ends_is_an_error(monkeypatch):
    monkeypatch.setattr("punish_fast.play.punish.match._MOST_BREATHS", 30)
    table = GameData(StateSpace(PRESETS["tiny"]._replace(damage=(0, 0, 0, 0, 0))))
    policy = mixed(table.space, 5)
    with pytest.raises(DuelError, match="may never end"):
        played(table, (policy, policy), 0, 0)


def recorded(table, game):
    generator = np.random.default_rng(game)
    person = ScriptedPlayer("Ann", lambda _, legal: int(generator.choice(legal)))
    bot = PolicyPlayer("bot", uniform(table.space), 0.5)
    match = PunishMatch(table, 1, game)
    session = PlaySession(match, (person, bot))
    session.begin()
    while session.is_on:
        session.reveal()
    return match, (HumanPlayer("Ann"), bot), session.winner


def stored(database):
    with open_to_read(database) as connection:
        return dict(read_games(connection))


def test_games_are_valid_records_with_both_players(table, tmp_path):
    ids = [Finished(*recorded(table, game)).keep(table.space, tmp_path / "games.db") for game in range(8)]
    games = stored(tmp_path / "games.db")
    assert sorted(games) == sorted(set(ids))
    assert check_games(table.space, list(games.values())) == [[]] * 8
    for number, game_id in enumerate(ids):
        match, seats, winner = recorded(table, number)
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
    games = [Finished(*recorded(table, game)) for game in range(20)]
    monkeypatch.setattr(time, "time", lambda: 1_700_000_060.0)
    ids = [game.keep(table.space, tmp_path / "games.db") for game in games]
    found = stored(tmp_path / "games.db")
    assert sorted(found) == sorted(set(ids))
    assert {game.second for game in found.values()} == {1_700_000_000}
    assert all(LAST_SECOND < game_id < 2**53 for game_id in ids)


_NO_CACHE = """
from numba.core.event import RecordingListener, install_listener
from punish_fast.arena.players import PolicyPlayer
from punish_fast.play.game_data import GameData
from punish_fast.play.punish.match import PunishMatch, play_ahead
from punish_fast.play.session import PlaySession
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import uniform_policy

data = GameData(StateSpace(true_rules(PRESETS["tiny"])))
play_ahead(data)
player = PolicyPlayer("random", uniform_policy(data.space))
with install_listener("numba:compile", RecordingListener()) as compiled:
    for seed in range(1, 21):
        session = PlaySession(PunishMatch(data, seed), (player, player))
        session.begin()
        for _ in range(40):
            if session.is_on:
                session.reveal()
print([event.data["dispatcher"].__name__ for _, event in compiled.buffer])
"""


@pytest.mark.slow
@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_no_kernel_is_compiled_during_a_game(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", _NO_CACHE], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"

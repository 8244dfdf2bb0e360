"""The game at the table is the simulator's game, and follows the slow model's rules."""

from __future__ import annotations

import pytest
from houses import house_rules
from hypothesis import given, settings
from hypothesis import strategies as st
from policies import mixed

from punish_fast.arena.players import PolicyPlayer
from punish_fast.duel.exact_evaluation import DuelError
from punish_fast.duel.graph import Graph
from punish_fast.duel.simulator import Simulator
from punish_fast.play.punish.game_data import GameData
from punish_fast.play.punish.match import PunishMatch
from punish_fast.play.session import PlaySession
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace

MOST_BREATHS = 40


def played(table, policies, seed, game):
    """The rows and winner of a game at the table; None if it is very long."""
    seats = tuple(PolicyPlayer(name, policy) for name, policy in zip("ab", policies, strict=True))
    match = PunishMatch(table, seed, game)
    session = PlaySession(match, seats)
    session.begin()
    while session.is_on:
        if len(match.breaths) == MOST_BREATHS:
            return None
        session.reveal()
    return [breath.rows for breath in match.breaths], session.winner


def simulated(space, policies, seed, first_game, n_games):
    simulator = Simulator(Graph(space))
    trace = simulator.trace(*map(simulator.thresholds, policies), first_game, n_games, seed)
    return [
        ([tuple(rows) for rows in trace.rows[slice(*trace.ptr[k : k + 2])].tolist()], 1 - int(trace.games.won[k]))
        for k in range(n_games)
    ]


@pytest.mark.parametrize("information", ["view", "memory"])
def test_agents_play_the_games_of_the_simulator(information):
    space = StateSpace(PRESETS["tiny"]._replace(redeal="reshuffle"), information)
    policies = mixed(space, 1), mixed(space, 2)
    table = GameData(space)
    for seed in (0, 7, 2**64 - 1):
        games = [played(table, policies, seed, game) for game in range(5, 45)]
        assert games == simulated(space, policies, seed, 5, 40)


@settings(max_examples=12)
@given(rules=house_rules(), information=st.sampled_from(["view", "memory"]), seed=st.integers(0, 2**64 - 1))
def test_agents_play_the_games_of_the_simulator_under_house_rules(rules, information, seed):
    space = StateSpace(rules, information)
    policies = mixed(space, 1), mixed(space, 2)
    table = GameData(space)
    games = [played(table, policies, seed, game) for game in range(3)]
    if None not in games:
        assert games == simulated(space, policies, seed, 0, 3)


@pytest.mark.full
def test_agents_play_the_games_of_the_simulator_in_the_full_game(tabletop):
    policies = mixed(tabletop, 1), mixed(tabletop, 2)
    table = GameData(tabletop)
    assert [played(table, policies, 3, game) for game in range(200)] == simulated(tabletop, policies, 3, 0, 200)


def test_a_game_that_never_ends_is_an_error(monkeypatch):
    monkeypatch.setattr("punish_fast.play.punish.match._MOST_BREATHS", 30)
    table = GameData(StateSpace(PRESETS["tiny"]._replace(damage=(0, 0, 0, 0, 0))))
    policy = mixed(table.space, 5)
    with pytest.raises(DuelError, match="may never end"):
        played(table, (policy, policy), 0, 0)

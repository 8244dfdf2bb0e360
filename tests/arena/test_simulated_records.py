from dataclasses import replace

import numpy as np
import pytest
from policies import mixed

from punish_fast.arena import simulated_records
from punish_fast.arena.players import Player, PolicyPlayer
from punish_fast.arena.simulated_records import check_recording, record_match, record_tournament
from punish_fast.arena.tournament import TournamentError, round_robin
from punish_fast.duel.evaluation import simulate
from punish_fast.duel.graph import DuelError
from punish_fast.mdp.arrays.policy import PolicyError
from punish_fast.records.database import open_to_read
from punish_fast.records.games import Selection
from punish_fast.records.summary import read_results
from punish_fast.records.validation import check_games


@pytest.fixture(scope="module")
def players(graph):
    return PolicyPlayer("Ann", mixed(graph.space, 1)), PolicyPlayer("Ben", mixed(graph.space, 2), 0.5)


def test_recorded_games_have_no_fault_and_are_the_counted_ones(graph, players):
    games = record_match(graph, players, 200, 3)
    assert check_games(graph.space, games) == [[]] * 200
    result = simulate(graph, players[0].policy, players[1].policy, 200, 3)
    assert sum(game.winner.name == "Ann" for game in games) == result.wins
    lengths = np.bincount([len(game.winner.states) for game in games])
    assert np.array_equal(lengths, result.lengths)
    for game in games:
        assert {(side.name, side.temperature, side.is_bot) for side in (game.winner, game.loser)} == {
            ("Ann", None, True),
            ("Ben", 0.5, True),
        }


def test_pairs_are_the_same_deals_with_the_seats_swapped(graph, players):
    games = record_match(graph, players, 100)

    def opening(game, name):
        return (game.winner if game.winner.name == name else game.loser).states[0]

    for one, other in zip(games[::2], games[1::2], strict=True):
        assert opening(one, "Ann") == opening(other, "Ben")
        assert opening(one, "Ben") == opening(other, "Ann")


def test_players_need_policies_and_games_form_pairs(graph, players):
    ann, ben = players
    with pytest.raises(PolicyError, match="do not add up"):
        record_match(graph, (ann, replace(ben, policy=ben.policy / 2)), 2)
    with pytest.raises(DuelError, match="is not an even number"):
        record_match(graph, players, 3)


def test_a_tournament_stores_exactly_the_games_it_counts(graph, tmp_path):
    opponents = [Player(name).in_game(graph.space) for name in ("random", "naive@0.5", "careful")]
    report = record_tournament(graph, opponents, 50, 3, tmp_path / "x.db")
    assert (report.games, report.imported, report.remarks) == (150, 150, [])
    results = read_results(tmp_path / "x.db", Selection())
    assert len(read_results(tmp_path / "x.db", Selection(humans_only=True))) == 0
    tournament = round_robin(graph, opponents, games=50, seed=3)
    for i, one in enumerate(opponents):
        for j, other in enumerate(opponents):
            wins = ((results.winner == one.name) & (results.loser == other.name)).sum()
            assert wins == (0 if i == j else pytest.approx(50 * tournament.win[i, j]))


def test_a_database_is_read_once_before_the_games(graph, tmp_path, monkeypatch):
    opponents = [Player(name).in_game(graph.space) for name in ("random", "careful")]
    path = tmp_path / "x.db"
    record_tournament(graph, opponents, 2, 1, path)
    opened = []
    monkeypatch.setattr(simulated_records, "open_to_read", lambda *read: opened.append(read) or open_to_read(*read))
    check_recording(["random", "careful"], 2, path)
    record_tournament(graph, opponents, 2, 2, path)
    assert opened == [(path, UserWarning)]


def test_too_many_games_are_refused(graph, tmp_path):
    opponents = [Player(name).in_game(graph.space) for name in ("random", "careful")]
    with pytest.raises(TournamentError, match="200,000 are too many to record; the maximum is 100,000"):
        record_tournament(graph, opponents, 200_000, 1, tmp_path / "x.db")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("names", "text"),
    [(["José", "Jose\u0301"], "two players are called 'Jos"), (["Ann", "x" * 61], "use names of 1 to 60")],
)
def test_names_that_no_database_can_tell_apart_are_refused(tmp_path, names, text):
    with pytest.raises(TournamentError, match=text):
        check_recording(names, 2, tmp_path / "x.db")

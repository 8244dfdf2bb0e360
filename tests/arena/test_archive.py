from __future__ import annotations

from pathlib import Path

import pytest

from punish_fast.arena.archive import archive
from punish_fast.arena.players import opponent
from punish_fast.arena.tournament import TournamentError, hold
from punish_fast.duel.graph import Graph
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.records.choices import Selection
from punish_fast.records.results import read_results


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph(StateSpace(PRESETS["tiny"]._replace(redeal="reshuffle")))


def test_the_games_that_were_counted_are_stored_without_a_fault(graph, tmp_path):
    opponents = [opponent(graph.space, name) for name in ("random", "naive@0.5", "careful")]
    report = archive(graph, opponents, 50, 3, tmp_path / "x.db")
    assert (report.games, report.imported, report.remarks) == (150, 150, [])
    results = read_results(tmp_path / "x.db", Selection())
    tournament = hold(graph, opponents, games=50, seed=3)
    for i, one in enumerate(opponents):
        for j, other in enumerate(opponents):
            wins = ((results.winner == one.name) & (results.loser == other.name)).sum()
            assert wins == (0 if i == j else pytest.approx(50 * tournament.win[i, j]))


def test_too_many_games_are_refused(graph, tmp_path):
    opponents = [opponent(graph.space, name) for name in ("random", "careful")]
    with pytest.raises(TournamentError, match="200,000 in all are too many to record, allowed are 100,000"):
        archive(graph, opponents, 200_000, 1, Path(tmp_path / "x.db"))
    assert not list(tmp_path.iterdir())

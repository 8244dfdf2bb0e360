import re

import numpy as np
import pytest

from punish_fast.arena.players import Player, PolicyPlayer
from punish_fast.arena.tournament import TournamentError, round_robin
from punish_fast.arena.tournament_plot import draw_tournament
from punish_fast.duel.evaluation import head_to_head

NAMES = ("random", "careful", "punisher")


@pytest.fixture(scope="module")
def opponents(graph) -> list[PolicyPlayer]:
    return [Player(name).in_game(graph.space) for name in NAMES]


@pytest.fixture(scope="module")
def exact(graph, opponents):
    return round_robin(graph, opponents)


def test_exact_results_are_those_of_duels(graph, opponents, exact):
    assert exact.agents == list(NAMES)
    assert exact.games is None
    assert not exact.standard_error.any()
    for i, own in enumerate(opponents):
        for j, enemy in enumerate(opponents):
            duel = head_to_head(graph, own.policy, enemy.policy)
            assert exact.win[i, j] == pytest.approx(duel.win_probability, abs=1e-10)
            assert exact.breaths[i, j] == pytest.approx(duel.length, abs=1e-9)
    assert np.array_equal(exact.win + exact.win.T, np.ones((3, 3)))


def test_players_are_names_or_objects(graph, exact):
    found = round_robin(graph, [NAMES[0], Player(NAMES[1]), Player(NAMES[2]).in_game(graph.space)])
    assert found.agents == list(NAMES)
    assert np.array_equal(found.win, exact.win)
    with pytest.raises(TypeError, match=r"^graph: StateSpace is not allowed"):
        round_robin(graph.space, NAMES)


def test_a_tournament_is_drawn_with_the_best_first(exact, tmp_path):
    pytest.importorskip("matplotlib")
    draw_tournament(exact, tmp_path / "arena.svg")
    texts = re.findall(r"<!-- (.*?) -->", (tmp_path / "arena.svg").read_text(encoding="utf-8"))
    names = [text for text in texts if text in NAMES]
    assert names == 2 * [standing.agent for standing in exact.ranking]
    assert f"{100 * exact.win[0, 1]:.1f}" in texts
    assert any(text.startswith(f"{names[0]} ranks first and wins ") for text in texts)


@pytest.mark.compiled
def test_games_agree_with_the_exact_results(graph, opponents, exact):
    sampled = round_robin(graph, opponents, games=20_000, seed=1)
    assert sampled.games == 20_000
    others = ~np.eye(3, dtype=bool)
    assert (np.abs(sampled.win - exact.win)[others] <= 4 * sampled.standard_error[others]).all()
    assert np.array_equal(sampled.standard_error, sampled.standard_error.T)
    assert sampled.breaths == pytest.approx(exact.breaths, rel=0.03)
    assert [s.agent for s in sampled.ranking] == [s.agent for s in exact.ranking]


def test_the_order_of_agents_does_not_matter(graph, opponents):
    one = round_robin(graph, opponents, games=200, seed=3)
    other = round_robin(graph, opponents[::-1], games=200, seed=3)
    assert np.array_equal(one.win, other.win[::-1, ::-1])
    assert np.array_equal(one.breaths, other.breaths[::-1, ::-1])


def test_few_pairs_that_agree_have_a_standard_error_and_margins(graph, opponents):
    found = [round_robin(graph, opponents[:2], games=4, seed=seed) for seed in range(12)]
    assert any(each.win[0, 1] == 0.5 for each in found)
    for each in found:
        one, other = each.ranking
        assert each.standard_error[0, 1] >= 0.25
        assert 0 < one.win_rate_margin < 0.5
        assert one.rating_margin == pytest.approx(other.rating_margin)
        assert 0 < one.rating_margin < 1000


def test_progress_counts_matches(graph, opponents):
    steps = []
    round_robin(graph, opponents, games=4, progress=lambda *step: steps.append(step))
    assert steps == [("arena pairs", k, 6) for k in range(1, 7)]


def test_odd_numbers_of_games_and_one_agent_are_no_tournament(graph, opponents):
    for games in (0, 2, 5, 1 << 41):
        with pytest.raises(TournamentError, match=f"games: {games} is not an even number from 4"):
            round_robin(graph, opponents, games=games)
    with pytest.raises(TournamentError, match="agents: a tournament needs at least 2"):
        round_robin(graph, opponents[:1])

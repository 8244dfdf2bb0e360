from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from policies import mixed

from bench import duels
from bench.duels import TEMPERATURES, main, study, text_of
from punish_fast.duel.exact_evaluation import head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.mdp.policy import greedy, softmax
from punish_fast.mdp.solver import solve
from punish_fast.punish.openings import openings
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.punish.strategy import uniform_policy
from punish_fast.punish.tensor import build

TINY = PRESETS["tiny"]
TRUE = TINY._replace(redeal="reshuffle")


def enemies_of(space):
    return {"naive": None, "table": mixed(space, 1)}


@pytest.fixture(scope="module")
def found():
    return study(TINY, enemies_of, None, lambda _line: None)


@pytest.fixture(scope="module")
def graph():
    return Graph(StateSpace(TRUE))


def agent(rules, name, discount):
    space = StateSpace(rules)
    return solve(build(space, enemies_of(space)[name]), discount)


def test_agents_meet_in_a_round_robin(found, graph):
    assert found.agents == ["random", "naive", "table"]
    for win in (found.greedy, *found.soft):
        assert np.add(win, np.transpose(win)) == pytest.approx(1.0, abs=1e-12)
    ptr, q = graph.space.state_ptr, agent(TINY, "naive", 0.95).q
    random = uniform_policy(graph.space)
    assert found.greedy[1][0] == pytest.approx(head_to_head(graph, greedy(ptr, q), random).win_probability, abs=1e-7)
    for k, temperature in enumerate(TEMPERATURES):
        soft = softmax(ptr, q, temperature)
        assert found.soft[k][1][0] == pytest.approx(head_to_head(graph, soft, random).win_probability, abs=1e-7)
        assert found.own[k][0] == pytest.approx(head_to_head(graph, soft, greedy(ptr, q)).win_probability, abs=1e-7)


def test_discount_and_redeal_are_compared(found, graph):
    ptr = graph.space.state_ptr
    published, undiscounted = (greedy(ptr, agent(TINY, "table", discount).q) for discount in (0.95, 1.0))
    true, enemy = greedy(ptr, agent(TRUE, "table", 1.0).q), mixed(graph.space, 1)

    def win(*pair):
        return pytest.approx(head_to_head(graph, *pair).win_probability, abs=1e-7)

    discount, redeal = found.discount[1], found.redeal[1]
    assert (discount.enemy, redeal.enemy) == ("table", "table")
    assert discount.duel == win(undiscounted, published)
    assert (discount.one, discount.other) == (win(undiscounted, enemy), win(published, enemy))
    assert redeal.duel == win(true, undiscounted)
    assert (redeal.one, redeal.other) == (win(true, enemy), win(undiscounted, enemy))


def test_the_one_player_model_is_compared_with_the_real_game(found, graph):
    assert [gap.enemy for gap in found.gaps] == ["random", "table", "naive"]
    solution, begin = agent(TRUE, "table", 1.0), openings(graph.space)
    gap = found.gaps[1]
    assert gap.model == pytest.approx((1 + begin.p @ solution.v[begin.row]) / 2)
    duel = head_to_head(graph, greedy(graph.space.state_ptr, solution.q), mixed(graph.space, 1))
    assert gap.duel == pytest.approx(duel.win_probability, abs=1e-7)


def test_a_study_prints_all_tables(found):
    text = text_of(found)
    assert text.count("| --- |") == len(TEMPERATURES) + 4
    assert f"{100 * found.greedy[1][0]:.1f}" in text
    assert "| naive |" in text


def test_duels_resume_from_the_match_log(tmp_path, found, monkeypatch):
    log = tmp_path / "log.json"
    assert study(TINY, enemies_of, log, lambda _line: None) == found
    monkeypatch.setattr(duels, "head_to_head", None)
    assert study(TINY, enemies_of, log, lambda _line: None) == found


def test_the_command_line_prints_and_writes_json(tmp_path, found, monkeypatch, capsys):
    monkeypatch.setattr(duels, "study", lambda *_args: found)
    assert main(["--json", str(tmp_path / "x.json")]) == 0
    assert capsys.readouterr().out == text_of(found) + "\n"
    assert json.loads((tmp_path / "x.json").read_text()) == asdict(found)


def test_duels_are_skipped_without_recorded_games(monkeypatch, capsys):
    for name in ("PUNISH_FAST_GAMES_DB", "PUNISH_FAST_SAVES"):
        monkeypatch.delenv(name, raising=False)
    assert main([]) == 0
    done = capsys.readouterr()
    assert done.out == ""
    assert done.err == (
        "skipped: needs recorded games: set PUNISH_FAST_GAMES_DB to the database "
        "and PUNISH_FAST_SAVES to the folder of weights\n"
    )

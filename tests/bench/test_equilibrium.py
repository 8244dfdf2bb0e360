from __future__ import annotations

import json

import pytest
from policies import mixed, uniform

from bench import equilibrium
from bench.equilibrium import Duel, available_agents, main, opponents, run_duels, study, text_of
from punish_fast.arena.heuristics import heuristic
from punish_fast.arena.players import BUILT_IN
from punish_fast.duel.exact_evaluation import head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.mdp.policy import greedy
from punish_fast.mdp.solver import solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.punish.tensor import build
from punish_fast.store.policies import save_policy

TINY = PRESETS["tiny"]._replace(redeal="reshuffle")


def learned(space, iterations=100):
    learning = Equilibrium(Graph(space))
    for _ in range(iterations):
        learning.iterate()
    return learning.average


def agents_of(view):
    """An agent solved as in the notebook, and a random table."""
    space = StateSpace(PRESETS["tiny"])
    return {"naive": greedy(space.state_ptr, solve(build(space), 0.95).q), "table": mixed(view, 1)}


@pytest.fixture(scope="module", params=["view", "memory"])
def file(request, tmp_path_factory):
    space = StateSpace(TINY, request.param)
    path = tmp_path_factory.mktemp("files") / f"{request.param}.h5"
    save_policy(path, space, learned(space))
    return path


def test_an_equilibrium_wins_every_duel(file):
    lines = []
    duels = study(file, agents_of, lines.append)
    assert [each.enemy for each in duels] == [*BUILT_IN, "notebook's naive", "notebook's table"]
    assert all(each.is_won and each.won + each.lost == pytest.approx(1) for each in duels)
    assert lines[0] == f"against random: wins {duels[0].won:.4%}"
    assert len(lines) == len(duels)


def test_duels_in_a_finer_information_model_have_the_same_results():
    view, memory = StateSpace(TINY), StateSpace(TINY, "memory")
    agents = agents_of(view)
    coarse, fine = Graph(view), Graph(memory)
    seen = run_duels(coarse, uniform(view), opponents(view, view, agents), str)
    remembered = run_duels(fine, uniform(memory), opponents(memory, view, agents), str)
    assert [each.won for each in seen] == pytest.approx([each.won for each in remembered], abs=1e-9)
    careful = head_to_head(coarse, uniform(view), heuristic(view, "careful"))
    assert seen[2].enemy == "careful"
    assert (seen[2].won, seen[2].breaths) == pytest.approx((careful.win_probability, careful.length), abs=1e-6)


def test_a_duel_is_won_beyond_the_error_bound():
    graph = Graph(StateSpace(TINY))
    policy = uniform(graph.space)
    assert not run_duels(graph, policy, [("itself", policy)], str)[0].is_won
    assert not Duel("x", 0.5001, 0.4999, 4.0, error_bound=1e-3).is_won
    assert Duel("x", 0.5001, 0.4999, 4.0, error_bound=1e-6).is_won


def test_duels_are_printed():
    text = text_of([Duel("a", 0.7, 0.3, 4.567, 0.0), Duel("b", 0.4, 0.6, 3.0, 0.0)])
    assert "| a | 70.00 | 30.00 | 4.57 | yes |" in text
    assert "| b | 40.00 | 60.00 | 3.00 | NO |" in text


def test_the_command_line_prints_and_writes_json(tmp_path, file, monkeypatch, capsys):
    monkeypatch.setattr(equilibrium, "available_agents", agents_of)
    assert main([str(file), "--json", str(tmp_path / "x.json")]) == 0
    out = capsys.readouterr().out
    record = json.loads((tmp_path / "x.json").read_text())
    assert [each["enemy"] for each in record][-1] == "notebook's table"
    assert out.count("| yes |") == len(record)


def test_the_exit_code_is_1_unless_every_duel_is_won(tmp_path, monkeypatch, capsys):
    space = StateSpace(TINY)
    save_policy(tmp_path / "careful.h5", space, heuristic(space, "careful"))
    monkeypatch.setattr(equilibrium, "available_agents", lambda _view: {})
    assert main([str(tmp_path / "careful.h5")]) == 1
    assert "| NO |" in capsys.readouterr().out
    assert main([str(tmp_path / "nothing.h5")]) == 2
    assert "nothing.h5" in capsys.readouterr().err


def test_notebook_agents_need_its_rules_and_its_data(monkeypatch, capsys):
    for name in ("PUNISH_FAST_GAMES_DB", "PUNISH_FAST_SAVES"):
        monkeypatch.delenv(name, raising=False)
    assert available_agents(StateSpace(TINY)) == {}
    assert "play only under its rules" in capsys.readouterr().err
    monkeypatch.setattr(equilibrium, "PRESETS", {"notebook": PRESETS["tiny"]})
    assert available_agents(StateSpace(TINY)) == {}
    assert "needs recorded games" in capsys.readouterr().err

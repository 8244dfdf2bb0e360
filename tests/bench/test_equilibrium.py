from __future__ import annotations

import json

import pytest
from policies import mixed, uniform

from bench import equilibrium
from bench.equilibrium import Meeting, agents_if_there, main, meet, opponents, study, text_of
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


def learnt(space, iterations=100):
    learning = Equilibrium(Graph(space))
    for _ in range(iterations):
        learning.iterate()
    return learning.average


def agents_of(view):
    """An agent solved as the notebook did, and a table of random numbers."""
    space = StateSpace(PRESETS["tiny"])
    return {"naive": greedy(space.state_ptr, solve(build(space), 0.95).q), "table": mixed(view, 1)}


@pytest.fixture(scope="module", params=["view", "memory"])
def file(request, tmp_path_factory):
    space = StateSpace(TINY, request.param)
    path = tmp_path_factory.mktemp("files") / f"{request.param}.h5"
    save_policy(path, space, learnt(space))
    return path


def test_an_equilibrium_beats_everybody(file):
    lines = []
    meetings = study(file, agents_of, lines.append)
    assert [each.enemy for each in meetings] == [*BUILT_IN, "notebook's naive", "notebook's table"]
    assert all(each.is_won and each.won + each.lost == pytest.approx(1) for each in meetings)
    assert lines[0] == f"against random: wins {meetings[0].won:.4%}"
    assert len(lines) == len(meetings)


def test_all_meet_in_the_states_of_the_finest():
    view, memory = StateSpace(TINY), StateSpace(TINY, "memory")
    agents = agents_of(view)
    coarse, fine = Graph(view), Graph(memory)
    seen = meet(coarse, uniform(view), opponents(view, view, agents), str)
    remembered = meet(fine, uniform(memory), opponents(memory, view, agents), str)
    assert [each.won for each in seen] == pytest.approx([each.won for each in remembered], abs=1e-9)
    careful = head_to_head(coarse, uniform(view), heuristic(view, "careful"))
    assert seen[2].enemy == "careful"
    assert (seen[2].won, seen[2].breaths) == pytest.approx((careful.win_probability, careful.length), abs=1e-6)


def test_who_is_not_better_beats_nobody():
    graph = Graph(StateSpace(TINY))
    policy = uniform(graph.space)
    assert not meet(graph, policy, [("itself", policy)], str)[0].is_won
    assert not Meeting("x", 0.5001, 0.4999, 4.0, error_bound=1e-3).is_won
    assert Meeting("x", 0.5001, 0.4999, 4.0, error_bound=1e-6).is_won


def test_meetings_are_told():
    text = text_of([Meeting("a", 0.7, 0.3, 4.567, 0.0), Meeting("b", 0.4, 0.6, 3.0, 0.0)])
    assert "| a | 70.00 | 30.00 | 4.57 | yes |" in text
    assert "| b | 40.00 | 60.00 | 3.00 | NO |" in text


def test_the_command_line_writes_all(tmp_path, file, monkeypatch, capsys):
    monkeypatch.setattr(equilibrium, "agents_if_there", agents_of)
    assert main([str(file), "--json", str(tmp_path / "x.json")]) == 0
    out = capsys.readouterr().out
    record = json.loads((tmp_path / "x.json").read_text())
    assert [each["enemy"] for each in record][-1] == "notebook's table"
    assert out.count("| yes |") == len(record)


def test_the_command_line_fails_if_somebody_is_not_beaten(tmp_path, monkeypatch, capsys):
    space = StateSpace(TINY)
    save_policy(tmp_path / "careful.h5", space, heuristic(space, "careful"))
    monkeypatch.setattr(equilibrium, "agents_if_there", lambda _view: {})
    assert main([str(tmp_path / "careful.h5")]) == 1
    assert "| NO |" in capsys.readouterr().out
    assert main([str(tmp_path / "nothing.h5")]) == 2
    assert "nothing.h5" in capsys.readouterr().err


def test_agents_of_other_rules_or_without_data_stay_away(monkeypatch, capsys):
    for name in ("PUNISH_FAST_GAMES_DB", "PUNISH_FAST_SAVES"):
        monkeypatch.delenv(name, raising=False)
    assert agents_if_there(StateSpace(TINY)) == {}
    assert "play by its rules alone" in capsys.readouterr().err
    monkeypatch.setattr(equilibrium, "PRESETS", {"notebook": PRESETS["tiny"]})
    assert agents_if_there(StateSpace(TINY)) == {}
    assert "needs recorded games" in capsys.readouterr().err

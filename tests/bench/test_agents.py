from __future__ import annotations

import os

import numpy as np
import pytest
from policies import mixed

from bench import agents
from bench.agents import DISCOUNT, DataError, enemy_name, notebook_agents, notebook_enemies, responses
from punish_fast.mdp.policy import greedy
from punish_fast.mdp.solver import solve
from punish_fast.punish.openings import openings
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.punish.tensor import build

TINY, TRUE = (StateSpace(PRESETS["tiny"]._replace(redeal=redeal)) for redeal in ("discard", "reshuffle"))


@pytest.mark.parametrize("kind", ["naive", "table"])
def test_responses_are_solved_in_three_ways(kind):
    def enemy(space):
        return None if kind == "naive" else mixed(space, 1)

    found = responses(TINY, TRUE, enemy(TINY))
    assert np.array_equal(found.published, solve(build(TINY, enemy(TINY)), DISCOUNT).q)
    assert np.array_equal(found.undiscounted, solve(build(TINY, enemy(TINY)), 1.0).q)
    true, begin = solve(build(TRUE, enemy(TRUE)), 1.0), openings(TRUE)
    assert np.array_equal(found.true, true.q)
    assert found.win_probability == pytest.approx((begin.p @ true.v[begin.row] + 1) / 2)


def test_notebook_agents_are_greedy_in_published_values(monkeypatch):
    enemies = {"naive": None, "table": mixed(TINY, 1)}
    monkeypatch.setattr(agents, "notebook_enemies", lambda _space: enemies)
    found = notebook_agents(TINY)
    assert list(found) == list(enemies)
    for name, enemy in enemies.items():
        q = solve(build(TINY, enemy), DISCOUNT).q
        assert np.array_equal(found[name], greedy(TINY.state_ptr, q))


def test_missing_games_or_weights_are_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("PUNISH_FAST_GAMES_DB", str(tmp_path / "no.db"))
    monkeypatch.setenv("PUNISH_FAST_SAVES", str(tmp_path))
    with pytest.raises(DataError, match="set PUNISH_FAST_GAMES_DB to the database"):
        notebook_enemies(TINY)


def test_the_naive_agent_is_solved_against_the_random_player():
    assert enemy_name("naive") == "random"
    assert enemy_name("table") == "table"


@pytest.mark.full
@pytest.mark.skipif(
    not (os.environ.get("PUNISH_FAST_GAMES_DB") and os.environ.get("PUNISH_FAST_SAVES")),
    reason="needs recorded games and published weights",
)
def test_the_notebook_had_five_enemies(notebook):
    enemies = notebook_enemies(notebook)
    assert list(enemies) == ["naive", "general PARLESS", "champion PARLESS", "general PAWNN", "champion PAWNN"]
    assert enemies["naive"] is None
    assert all(len(enemies[name]) == len(notebook.action) for name in list(enemies)[1:])

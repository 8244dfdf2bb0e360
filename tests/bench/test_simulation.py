from __future__ import annotations

import numpy as np
import pytest
from policies import mixed, uniform

from bench import simulation
from bench.simulation import PAIRS, _classes, agreement, main, policy
from punish_fast.duel.graph import Graph
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace


@pytest.fixture(scope="module")
def graph():
    return Graph(StateSpace(PRESETS["tiny"]._replace(redeal="reshuffle")))


def test_simulated_games_agree_with_the_exact_duel(graph):
    found = agreement(graph, mixed(graph.space, 1), mixed(graph.space, 2), 4000, 1)
    assert found.ok
    assert abs(found.exact - found.played) < 0.04
    assert found.freedom > 4
    assert found.seconds > 0


def test_games_against_another_enemy_disagree(graph, monkeypatch):
    own, enemy, other = (policy(graph.space, name) for name in ("random", "aggressive", "naive"))
    simulate = simulation.simulate
    monkeypatch.setattr(
        simulation, "simulate", lambda graph, own, _, *rest, **options: simulate(graph, own, other, *rest, **options)
    )
    assert not agreement(graph, own, enemy, 4000, 1).ok


def test_rare_lengths_form_one_class():
    lengths, law = np.array([60, 30, 0, 9, 1]), np.array([0.5, 0.3, 0.1, 0.06, 0.03, 0.01])
    found, p = _classes(lengths, law, 100)
    assert found.tolist() == [60, 40]
    assert p.tolist() == pytest.approx([0.5, 0.5])
    found, p = _classes(lengths, law, 400)
    assert found.tolist() == [60, 30, 0, 10]
    assert p.tolist() == pytest.approx([0.5, 0.3, 0.1, 0.1])
    # A class that is still too rare joins another.
    found, p = _classes(np.array([50, 48, 2]), np.array([0.5, 0.49, 0.01]), 100)
    assert found.tolist() == [50, 50]
    assert p.tolist() == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("name", sorted({name for pair in PAIRS for name in pair}))
def test_every_name_has_a_policy(graph, name):
    weight = policy(graph.space, name)
    assert (weight >= 0).all()
    assert np.add.reduceat(weight, graph.space.state_ptr[:-1]) == pytest.approx(1.0)
    assert np.array_equal(weight, policy(graph.space, name))


def test_tables_differ_and_random_is_uniform(graph):
    assert len(PAIRS) >= 10
    assert not np.array_equal(policy(graph.space, "table 1"), policy(graph.space, "table 2"))
    assert np.array_equal(policy(graph.space, "random"), uniform(graph.space))


def test_the_exit_code_tells_whether_all_agree(capsys, monkeypatch):
    arguments = ["--rules", "tiny", "--games", "500"]
    assert main(arguments) == 0
    done = capsys.readouterr()
    assert "500 games of each pair: all within" in done.out
    assert done.out.count("\n| ") == len(PAIRS) + 1
    monkeypatch.setattr(simulation, "LIMIT", -10.0)
    assert main(arguments) == 1
    assert "NOT all within" in capsys.readouterr().out


@pytest.mark.full
@pytest.mark.parametrize(("number", "pair"), list(enumerate(PAIRS))[::6])
def test_many_simulated_games_agree_with_exact_duels(tabletop_graph, number, pair):
    own, enemy = (policy(tabletop_graph.space, name) for name in pair)
    assert agreement(tabletop_graph, own, enemy, 200_000, number).ok


@pytest.fixture(scope="module")
def tabletop_graph(tabletop):
    return Graph(tabletop)

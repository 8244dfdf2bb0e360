"""Values of reaching terminals, with loops that may go on for ever."""

import numpy as np
import pytest
from hypothesis import given
from processes import endless_values, gambler, gambler_wins, random_processes

from punish_fast.mdp.methods.policy_iteration import absorption_values, reach
from punish_fast.mdp.model import from_rows


def test_a_loop_has_the_value_of_leaving_it():
    """Looping for ever looks as good as leaving; sweeps from above would not tell the two apart."""
    goal, pit = 2, 3
    mdp = from_rows([[(0, {1: 1.0}), (0, {goal: 0.3, pit: 0.7})], [(0, {0: 1.0})]], terminals=[0, 0])
    v, choice = reach(mdp, np.array([1.0, 0.0]))
    assert v == pytest.approx([0.3, 0.3], abs=1e-15)
    assert choice.tolist() == [1, 2]


@pytest.mark.parametrize(("way", "n", "p"), [("direct", 30, 0.5), ("swept", 30, 0.3), ("factorised", 400, 0.5)])
def test_gamblers_ruin_in_closed_form(monkeypatch, way, n, p):
    if way != "direct":
        monkeypatch.setattr("punish_fast.mdp.methods.policy_iteration._MOST_DIRECT", 0)
    if way == "swept":
        monkeypatch.setattr("scipy.sparse.linalg.splu", None)
    if way == "factorised":
        monkeypatch.setattr("punish_fast.mdp.methods.policy_iteration._MOST_SWEEPS", 100)
    mdp = from_rows(gambler(n, p), terminals=[0, 0])
    expected = [float(win) for win in gambler_wins(n, p)]
    assert absorption_values(mdp.to_scipy(), np.array([0.0, 1.0])) == pytest.approx(expected, rel=1e-11)


@given(random_processes())
def test_values_are_the_best_of_all_policies(sample):
    states, _, terminals = sample
    worth = dict(zip(range(len(states), len(states) + 2), (1.0, 0.25)[: len(terminals)], strict=False))
    paid = [[(sum(p * worth.get(t, 0.0) for t, p in row.items()), row) for _, row in rows] for rows in states]
    mdp = from_rows(states, terminals=terminals)
    found, choice = reach(mdp, np.array(list(worth.values())))
    assert found == pytest.approx([float(x) for x in endless_values(paid, terminals)], abs=1e-13)
    assert absorption_values(mdp.to_scipy()[choice], np.array(list(worth.values()))) == pytest.approx(found, abs=1e-14)

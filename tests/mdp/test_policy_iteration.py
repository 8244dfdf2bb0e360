"""Values of reaching terminals, with loops that may go on for ever."""

from __future__ import annotations

import numpy as np
import pytest

from punish_fast.mdp.methods.policy_iteration import absorption_values, reach
from punish_fast.mdp.model import from_rows


def test_a_loop_has_the_value_of_leaving_it():
    """Looping for ever looks as good as leaving; sweeps from above would not tell the two apart."""
    goal, pit = 2, 3
    mdp = from_rows([[(0, {1: 1.0}), (0, {goal: 0.3, pit: 0.7})], [(0, {0: 1.0})]], terminals=[0, 0])
    v, choice = reach(mdp, np.array([1.0, 0.0]))
    assert v == pytest.approx([0.3, 0.3], abs=1e-15)
    assert choice.tolist() == [1, 2]


@pytest.mark.parametrize("p", [0.5, 0.6, 0.3])
def test_gamblers_ruin_in_closed_form(p):
    """From ``k`` of ``n`` coins: ``(1 - r^k) / (1 - r^n)`` with ``r = (1 - p) / p``, or ``k / n``."""
    n = 30
    chain = np.zeros((n - 1, n + 1))
    for k in range(1, n):
        chain[k - 1, k if k < n - 1 else n - 1] = p
        chain[k - 1, k - 2 if k > 1 else n] = 1 - p
    coins, ratio = np.arange(1, n), (1 - p) / p
    expected = coins / n if p == 0.5 else (1 - ratio**coins) / (1 - ratio**n)
    assert absorption_values(chain, np.array([1.0, 0.0])) == pytest.approx(expected, rel=1e-12)


def random_process(seed, n_states=40, ends=0.2):
    """States with two rows of two successors each, some of them terminals."""
    generator = np.random.default_rng(seed)

    def row():
        p = generator.integers(1, 8) / 8
        columns = [
            int(n_states + generator.integers(2) if generator.random() < ends else generator.integers(n_states))
            for _ in range(2)
        ]
        return (0.0, {columns[0]: 1.0}) if columns[0] == columns[1] else (0.0, {columns[0]: p, columns[1]: 1 - p})

    return from_rows([[row(), row()] for _ in range(n_states)], terminals=[0, 0])


@pytest.mark.parametrize("seed", range(3))
def test_values_are_the_limit_of_sweeps_from_below(seed):
    mdp = random_process(seed)
    worth = np.array([1.0, 0.25])
    transitions = mdp.to_scipy()
    v = np.concatenate([np.zeros(mdp.n_states), worth])
    for _ in range(1000):
        v[: mdp.n_states] = np.maximum.reduceat(transitions @ v, mdp.state_ptr[:-1])
    found, choice = reach(mdp, worth)
    assert found == pytest.approx(v[: mdp.n_states], abs=1e-11)
    assert absorption_values(transitions[choice], worth) == pytest.approx(found, abs=1e-14)


def test_large_chains_have_the_same_values_without_factorisation(monkeypatch):
    mdp, worth = random_process(1, n_states=120, ends=0.1), np.array([1.0, 0.25])
    direct, _ = reach(mdp, worth)
    monkeypatch.setattr("punish_fast.mdp.methods.policy_iteration._MOST_DIRECT", 0)
    monkeypatch.setattr("scipy.sparse.linalg.splu", None)
    assert reach(mdp, worth)[0] == pytest.approx(direct, abs=1e-12)


def test_slow_chains_are_factorised(monkeypatch):
    n = 400
    chain = np.zeros((n, n + 2))
    for k in range(n):
        chain[k, k + 1 if k < n - 1 else n] = 0.5
        chain[k, k - 1 if k else n + 1] = 0.5
    monkeypatch.setattr("punish_fast.mdp.methods.policy_iteration._MOST_DIRECT", 0)
    monkeypatch.setattr("punish_fast.mdp.methods.policy_iteration._MOST_SWEEPS", 100)
    assert absorption_values(chain, np.array([1.0, 0.0])) == pytest.approx(np.arange(1, n + 1) / (n + 1), rel=1e-11)

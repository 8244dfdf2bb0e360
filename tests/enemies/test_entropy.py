from __future__ import annotations

import numpy as np
import pytest
from exact import random_table
from hypothesis import given
from hypothesis import strategies as st

from punish_fast.enemies.entropy import entropies, entropy
from punish_fast.mdp.policy import greedy
from punish_fast.punish.strategy import StrategyError, from_policy, naive


def test_entropies_by_hand():
    p = np.array([[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25], [0.5, 0.25, 0.25, 0.0]])
    assert entropy(p) == pytest.approx([0.0, np.log(2), np.log(4), 1.5 * np.log(2)], abs=1e-15)
    assert entropy(p)[0] == 0


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=11))
def test_entropy_is_between_nothing_and_that_of_uniform_play(weights):
    p = np.array([weights]) / sum(weights)
    (found,) = entropy(p)
    assert 0 <= found <= np.log(len(weights)) + 1e-12


def test_an_agent_that_plays_greedily_is_never_undecided(tiny, tiny_mdp):
    table = from_policy(tiny, greedy(tiny.state_ptr, tiny_mdp.reward))
    found = entropies(tiny, table)
    assert np.array_equal(found.n_covered, found.n_states)
    assert found.n_states.tolist() == tiny.states_by_breath
    assert not found.mean.any()


def test_uniform_play_is_as_undecided_as_can_be(tiny):
    lengths = np.diff(tiny.state_ptr)
    found = entropies(tiny, from_policy(tiny, np.repeat(1 / lengths, lengths)))
    assert found.mean == pytest.approx(found.uniform, rel=1e-12)
    assert found.mean[-1] == 0
    assert found.overall() == pytest.approx((np.log(lengths).mean(),) * 2, rel=1e-12)


@pytest.mark.parametrize("seed", [1, 2])
def test_means_are_those_of_single_states(tiny, seed):
    table = random_table(tiny, seed, covered=0.3)
    found = entropies(tiny, table)
    for layer in range(len(tiny.layer_ptr) - 1):
        inside = (tiny.layer_ptr[layer] <= table.state) & (table.state < tiny.layer_ptr[layer + 1])
        assert found.n_covered[layer] == inside.sum()
        assert found.mean[layer] == pytest.approx(entropy(table.p[inside]).mean(), abs=1e-12)
    assert found.overall()[0] == pytest.approx(entropy(table.p).mean(), rel=1e-12)


def test_nothing_covered_has_no_mean(tiny):
    found = entropies(tiny, naive())
    assert found.n_covered.sum() == 0
    assert np.isnan(found.mean).all()
    assert np.isnan(found.overall()).all()


def test_a_strategy_of_other_rules_is_refused(tiny):
    table = random_table(tiny, 1)
    other = type(tiny)(tiny.rules._replace(hp=3))
    with pytest.raises(StrategyError, match=f"{tiny.rules.digest}.*{other.rules.digest}"):
        entropies(other, table)

import numpy as np
import pytest
from exact import random_table
from hypothesis import given
from hypothesis import strategies as st
from policies import uniform

from punish_fast.enemies.entropy import entropies, entropy
from punish_fast.mdp.policy import greedy
from punish_fast.punish.strategy import policy_of_table


class Rows:
    """One state for each list of weights."""

    def __init__(self, weights):
        self.state_ptr = np.cumsum([0, *map(len, weights)])
        self.policy = np.concatenate([np.array(each) / sum(each) for each in weights])


def test_entropies_by_hand():
    rows = Rows([[1, 0, 0, 0], [1, 1], [1, 1, 1, 1], [2, 1, 1]])
    found = entropy(rows, rows.policy)
    assert found == pytest.approx([0.0, np.log(2), np.log(4), 1.5 * np.log(2)], abs=1e-15)
    assert found[0] == 0


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=11))
def test_entropy_is_at_most_that_of_uniform_play(weights):
    rows = Rows([weights])
    (found,) = entropy(rows, rows.policy)
    assert 0 <= found <= np.log(len(weights)) + 1e-12


def test_a_greedy_agent_has_no_entropy(tiny, tiny_mdp):
    found = entropies(tiny, greedy(tiny.state_ptr, tiny_mdp.reward))
    assert np.array_equal(found.n_covered, found.n_states)
    assert found.n_states.tolist() == tiny.states_by_breath
    assert not found.mean.any()


def test_means_are_those_of_single_states(tiny):
    state, p = random_table(tiny, 1, covered=0.3)
    covered = np.isin(np.arange(tiny.n_states), state)
    found = entropies(tiny, policy_of_table(tiny, state, p), covered)
    single = -(p * np.log(np.where(p > 0, p, 1))).sum(axis=1)
    for layer in range(len(tiny.layer_ptr) - 1):
        inside = (tiny.layer_ptr[layer] <= state) & (state < tiny.layer_ptr[layer + 1])
        assert found.n_covered[layer] == inside.sum()
        assert found.mean[layer] == pytest.approx(single[inside].mean(), abs=1e-12)
    assert found.overall()[0] == pytest.approx(single.mean(), rel=1e-12)


def test_nothing_covered_has_no_mean(tiny):
    found = entropies(tiny, uniform(tiny), np.zeros(tiny.n_states, dtype=bool))
    assert found.n_covered.sum() == 0
    assert np.isnan(found.mean).all()
    assert np.isnan(found.overall()).all()

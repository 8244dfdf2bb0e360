"""Processes of QuantEcon come back as they were."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config
from processes import random_processes
from scipy.sparse import coo_array, csr_array

from mdp.test_construction import assert_same, dense, rewards, tables
from punish_fast.mdp.model import MDP, ModelError, from_rows
from punish_fast.mdp.solver import solve


def pairs(states, is_sparse: bool) -> SimpleNamespace:
    """What `DiscreteDP` holds of state-action pairs."""
    mdp = from_rows(states)
    matrix = mdp.to_scipy()
    number = np.arange(mdp.n_states).repeat(np.diff(mdp.state_ptr))
    transitions = matrix if is_sparse else matrix.toarray()
    arrays = {"s_indices": number, "a_indices": mdp.action.astype(np.int64), "num_states": mdp.n_states}
    return SimpleNamespace(R=mdp.reward.copy(), Q=transitions, **arrays)


@given(random_processes().filter(lambda sample: not sample[2]), st.booleans())
def test_pairs_are_the_same_process_to_the_bit(sample, is_sparse):
    assert_same(MDP.from_quantecon(pairs(sample[0], is_sparse)), from_rows(sample[0]))


@given(tables())
def test_the_product_form_is_the_same_process_to_the_bit(states):
    transitions = dense(states).transpose(1, 0, 2)
    ddp = SimpleNamespace(R=rewards(states), Q=transitions, s_indices=None, a_indices=None, num_states=len(states))
    assert_same(MDP.from_quantecon(ddp), from_rows(states))


@pytest.mark.parametrize("is_sparse", [True, False])
def test_pairs_that_are_not_allowed_or_out_of_order_are_mended(is_sparse):
    states = [[(1.0, {0: 1.0}), (2.0, {1: 1.0}), (3.0, {0: 0.5, 1: 0.5})], [(4.0, {0: 1.0}), (5.0, {1: 1.0})]]
    ddp = pairs(states, is_sparse)
    order = [3, 2, 0, 4, 1]
    ddp = SimpleNamespace(
        R=ddp.R[order], Q=ddp.Q[order], s_indices=ddp.s_indices[order], a_indices=ddp.a_indices[order], num_states=2
    )
    assert_same(MDP.from_quantecon(ddp), from_rows(states))
    ddp.R[order.index(1)] = -np.inf
    mdp = MDP.from_quantecon(ddp)
    assert mdp.action.tolist() == [0, 2, 0, 1]
    assert mdp.reward.tolist() == [1.0, 3.0, 4.0, 5.0]
    ddp.R[:] = -np.inf
    with pytest.raises(ModelError, match=r"^state_ptr: must ascend, but entry 1 is 0 after 0"):
        MDP.from_quantecon(ddp)


def test_faults_of_pairs_are_named_and_sums_are_normalized_on_purpose():
    twice = coo_array(([1.5, -0.5, 1.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    ddp = SimpleNamespace(R=np.zeros(2), Q=twice, s_indices=np.array([0, 1]), a_indices=np.array([5, 7]), num_states=2)
    with pytest.raises(ModelError, match=r"^transitions: action 5 of state 0 has 1\.5 in column 0, allowed are prob"):
        MDP.from_quantecon(ddp)
    ddp.Q = csr_array([[3.0, 1.0], [0.0, 2.0]])
    assert MDP.from_quantecon(ddp, normalize=True).data.tolist() == [0.75, 0.25, 1.0]
    ddp.R[1] = np.nan
    with pytest.raises(ModelError, match=r"^R: action 7 of state 1 has the reward nan, allowed are finite numbers"):
        MDP.from_quantecon(ddp)


def test_what_is_no_such_process_is_refused():
    with pytest.raises(ModelError, match=r"^ddp: int is not allowed, it must be a DiscreteDP of QuantEcon$"):
        MDP.from_quantecon(3)


@pytest.mark.slow
@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="QuantEcon cannot be imported with NUMBA_DISABLE_JIT=1")
def test_processes_go_to_quantecon_and_back():
    discrete_dp = pytest.importorskip("quantecon").markov.DiscreteDP
    states = [[(1.0, {0: 0.5, 1: 0.5}), (0.5, {1: 1.0})], [(0.0, {0: 1.0})]]
    mdp = from_rows(states)
    assert_same(MDP.from_quantecon(mdp.to_quantecon(0.9)), mdp)
    reward = np.array([[5.0, 10.0], [-1.0, -np.inf]])
    transitions = np.array([[[0.5, 0.5], [0.0, 1.0]], [[0.0, 1.0], [0.5, 0.5]]])
    ddp = discrete_dp(reward, transitions, 0.95)
    for form in (ddp, ddp.to_sa_pair_form(), ddp.to_sa_pair_form(sparse=False)):
        found = MDP.from_quantecon(form)
        assert found.action.tolist() == [0, 1, 0]
        theirs = form.solve(method="policy_iteration").v
        assert np.abs(solve(found, form.beta).v - theirs).max() < 1e-8

"""Mistakes in lists of rows: each is named by state, row and value."""

from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config
from processes import random_processes
from scipy.sparse import coo_array, csr_array

from mdp.test_construction import assert_same, dense, rewards, tables
from punish_fast.mdp.arrays.row_sums import ModelError
from punish_fast.mdp.conversion.quantecon import to_quantecon
from punish_fast.mdp.model.mdp import MDP, from_rows, validate
from punish_fast.mdp.objectives.solver import solve

FINE = [(0.0, {1: 1.0})]
ROW = "^states: action 0 of state 1 is "


@pytest.mark.parametrize(
    ("states", "match"),
    [
        ([], r"^state_ptr: there are no states; at least one is needed$"),
        (5, r"^states: 5 is not a list$"),
        ([FINE, []], r"^states: state 1 has no rows; at least one is needed$"),
        ([FINE, ["ab"]], rf"{ROW}'ab' \(.*\); it must be a pair \(reward, \{{successor: probability\}}\)$"),
        ([FINE, [(1.0, {0: 1.0}, "label")]], rf"{ROW}\(1\.0, \{{0: 1\.0\}}, 'label'\) \(too many values"),
        ([FINE, [(float("inf"), {0: 1.0})]], rf"{ROW}.* \(the reward is not finite\); it must be a pair"),
        ([FINE, [("1", {0: 1.0})]], rf"{ROW}\('1', .* \(must be real number, not str\); it must"),
        ([FINE, [(10**400, {0: 1.0})]], rf"{ROW}\(10+ \.\.\. 0+, .* \(int too large to convert to float\)"),
        ([FINE, [(10**9000, {0: 1.0})]], rf"{ROW}tuple \(int too large to convert to float\)"),
        ([FINE, [(Decimal("sNaN"), {0: 1.0})]], rf"{ROW}\(Decimal\('sNaN'\), .* \(cannot convert signaling NaN"),
        ([FINE, [(0.0, {7: 1.0})]], rf"{ROW}\(0\.0, \{{7: 1\.0\}}\) \(unknown successor 7\); it must"),
        ([FINE, [(0.0, {"a": 1.0})]], rf"{ROW}.* \(unknown successor 'a'\); it must be a pair"),
        ([FINE, [(0.0, {10**400: 1.0})]], rf"{ROW}.* \(unknown successor 10+ \.\); it must"),
        ([FINE, [(0.0, {0: "1"})]], rf"{ROW}\(0\.0, \{{0: '1'\}}\) \(must be real number, not str\)"),
        ([FINE, [(0.0, {0: 0.5, 1: -0.5})]], r"^transitions: action 0 of state 1 has -0\.5 in column 1; it must"),
        ([FINE, [(0.0, {})]], r"^transitions: the probabilities of action 0 of state 1 add up to 0\.0, 1 below 1"),
    ],
)
def test_mistakes_are_named(states, match):
    with pytest.raises(ModelError, match=match) as error:
        from_rows(states)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"layers": 3}, r"^layers: 3 is not a list$"),
        ({"layers": [1]}, r"^layers: \[1\] is not allowed; sizes must add up to 2 states$"),
        ({"layers": [3, -1]}, r"^layers: \[3, -1\] is not allowed; sizes must add up to 2 states$"),
        ({"layers": [1.5, 0.5]}, r"^layers: entry 0 is 1\.5; it must be a whole number$"),
        ({"terminals": 3}, r"^terminals: has the shape \(\); it must have one dimension$"),
        ({"terminals": [0.0, np.nan]}, r"^terminal_reward: terminal 1 has nan; it must be a finite number$"),
    ],
)
def test_mistakes_of_layers_and_terminals_are_named(options, match):
    with pytest.raises(ModelError, match=match):
        from_rows([FINE, FINE], **options)


def test_numbers_of_any_type_are_taken():
    half = Fraction(1, 2)
    mdp = from_rows(
        ((row for row in [(np.float32(0.5), {np.int64(1): np.float64(1)})]), [[Decimal(1), {0.0: half, 2: True / 2}]]),
        layers=np.array([1, 1]),
        terminals=(np.int8(3),),
    )
    assert mdp.reward.tolist() == [0.5, 1.0]
    assert mdp.indices.tolist() == [1, 0, 2]
    assert mdp.data.tolist() == [1.0, 0.5, 0.5]
    assert mdp.layer_ptr.tolist() == [0, 1, 2]
    assert mdp.terminal_reward.tolist() == [3.0]


def test_zeros_are_left_out_and_sums_are_normalized_on_purpose():
    assert from_rows([[(0.0, {0: 1.0, 1: -0.0})], FINE]).indices.tolist() == [0, 1]
    assert from_rows([[(0.0, {0: 3, 1: 1})], FINE], normalize=True).data.tolist() == [0.75, 0.25, 1.0]


JUNK = st.sampled_from([None, True, "1", 1.5, -1, np.nan, 1j, (), [], {}, (0.0, {0: 1.0}), object(), 10**400])


@given(random_processes(), st.integers(0, 5), JUNK, st.randoms(use_true_random=False))
def test_only_model_errors_leave_it(sample, part, junk, random):
    """Any part of a process, replaced by something else."""
    states, layers, terminals = sample
    states = [[(reward, dict(successors)) for reward, successors in rows] for rows in states]
    state = random.randrange(len(states))
    row = random.randrange(len(states[state]))
    reward, successors = states[state][row]
    column = random.choice(list(successors))
    if part == 0:
        states[state] = junk
    elif part == 1:
        states[state][row] = junk
    elif part == 2:
        states[state][row] = (junk, successors)
    elif part == 3:
        states[state][row] = (reward, junk)
    elif part == 4:
        states[state][row] = (reward, successors | {column: junk})
    else:
        layers = junk
    try:
        mdp = from_rows(states, layers, terminals)
    except ModelError as error:
        assert "\n" not in str(error)
    else:
        validate(mdp)


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
    with pytest.raises(ModelError, match=r"^transitions: action 5 of state 0 has 1\.5 in column 0; it must be a prob"):
        MDP.from_quantecon(ddp)
    ddp.Q = csr_array([[3.0, 1.0], [0.0, 2.0]])
    assert MDP.from_quantecon(ddp, normalize=True).data.tolist() == [0.75, 0.25, 1.0]
    ddp.R[1] = np.nan
    with pytest.raises(ModelError, match=r"^reward: row 1 \(of state 1\) has nan; it must be a finite number$"):
        MDP.from_quantecon(ddp, normalize=True)


def test_what_is_no_such_process_is_refused():
    with pytest.raises(ModelError, match=r"^ddp: int is not allowed; it must be a QuantEcon DiscreteDP$"):
        MDP.from_quantecon(3)


@pytest.mark.slow
@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="QuantEcon cannot be imported with NUMBA_DISABLE_JIT=1")
def test_processes_go_to_quantecon_and_back():
    discrete_dp = pytest.importorskip("quantecon").markov.DiscreteDP
    states = [[(1.0, {0: 0.5, 1: 0.5}), (0.5, {1: 1.0})], [(0.0, {0: 1.0})]]
    mdp = from_rows(states)
    assert_same(MDP.from_quantecon(to_quantecon(mdp, 0.9)), mdp)
    reward = np.array([[5.0, 10.0], [-1.0, -np.inf]])
    transitions = np.array([[[0.5, 0.5], [0.0, 1.0]], [[0.0, 1.0], [0.5, 0.5]]])
    ddp = discrete_dp(reward, transitions, 0.95)
    for form in (ddp, ddp.to_sa_pair_form(), ddp.to_sa_pair_form(sparse=False)):
        found = MDP.from_quantecon(form)
        assert found.action.tolist() == [0, 1, 0]
        theirs = form.solve(method="policy_iteration").v
        assert np.abs(solve(found, form.beta).v - theirs).max() < 1e-8

import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config
from processes import compacted, empty_process

from punish_fast.mdp import SolveError, average_reward, finite_horizon, total_reward
from punish_fast.mdp.arrays.row_sums import ModelError
from punish_fast.mdp.conversion.quantecon import to_quantecon
from punish_fast.mdp.model.mdp import MDP, check_arrays, from_rows, validate
from punish_fast.mdp.objectives.solver import solve
from punish_fast.runtime.errors import ExtraError
from punish_fast.runtime.parallel import cumulated

pytestmark = pytest.mark.kernels


@pytest.fixture
def mdp() -> MDP:
    """Three layers of 2, 1 and 1 states in a cycle, with two terminals (columns 4 and 5)."""
    states = [
        [(0.0, {2: 0.5, 4: 0.5}), (1.0, {2: 1.0})],
        [(0.0, {2: 0.25, 4: 0.25, 5: 0.5})],
        [(-1.0, {3: 1.0})],
        [(0.5, {0: 0.5, 1: 0.5}), (0.0, {4: 1.0})],
    ]
    return from_rows(states, layers=[2, 1, 1], terminals=[1.0, -1.0])


def test_sizes_follow_from_the_arrays(mdp):
    assert (mdp.n_states, mdp.n_rows, mdp.nnz, mdp.n_layers, mdp.n_columns) == (4, 6, 10, 3, 6)
    assert mdp.longest_rows.tolist() == [3, 1, 2]
    assert mdp.longest_row == 3
    assert mdp.nbytes == 5 * 8 + 7 * 8 + 10 * 4 + 10 * 8 + 6 * 8 + 6


def test_layers_that_each_lead_to_the_next_are_a_cycle(mdp):
    assert mdp.is_cycle
    assert all(mdp.backups.is_independent(layer) for layer in range(3))
    for states, layers in (
        ([[(0.0, {1: 1.0})], [(0.0, {0: 1.0})]], [2]),
        ([[(0.0, {0: 1.0})], [(0.0, {0: 1.0})]], [1, 1]),  # the first leads to itself
        ([[(0.0, {1: 1.0})], [(0.0, {1: 1.0})]], [1, 1]),  # the last leads to itself
        ([[(0.0, {1: 1.0})], [(0.0, {0: 1.0})], [(0.0, {0: 1.0})]], [1, 1, 1]),  # the middle one leads back
    ):
        assert not from_rows(states, layers).is_cycle


def test_a_layer_is_independent_unless_its_states_lead_to_each_other():
    states = [[(0.0, {1: 1.0})], [(0.0, {2: 1.0})], [(0.0, {0: 0.5, 2: 0.5})]]
    assert not from_rows(states, layers=[2, 1]).backups.is_independent(0)
    assert not from_rows(states, layers=[2, 1]).backups.is_independent(1)
    assert from_rows(states, layers=[1, 1, 1]).backups.is_independent(0)


def test_scipy_matrix_shares_memory_and_holds_the_rows(mdp):
    matrix = mdp.to_scipy()
    assert matrix.shape == (mdp.n_rows, mdp.n_columns)
    assert np.shares_memory(matrix.data, mdp.data)
    assert np.shares_memory(matrix.indices, mdp.indices)
    assert matrix.toarray()[0].tolist() == [0, 0, 0.5, 0, 0.5, 0]
    assert matrix.toarray()[4].tolist() == [0.5, 0.5, 0, 0, 0, 0]


@pytest.fixture
def quantecon():
    if config.DISABLE_JIT:
        pytest.skip("QuantEcon cannot be imported with NUMBA_DISABLE_JIT=1")
    pytest.importorskip("quantecon")


@pytest.mark.usefixtures("quantecon")
def test_quantecon_gets_the_rows_and_one_for_each_terminal(mdp):
    ddp = to_quantecon(mdp, 0.9)
    assert (ddp.num_states, ddp.num_sa_pairs, ddp.beta) == (6, 8, 0.9)
    assert ddp.R.tolist() == [*mdp.reward.tolist(), 1.0, -1.0]
    assert ddp.Q.toarray()[:-2].tolist() == mdp.to_scipy().toarray().tolist()
    assert ddp.Q.toarray()[-2:].tolist() == [[0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]
    assert ddp.s_indices.tolist() == [0, 0, 1, 2, 3, 3, 4, 5]
    assert ddp.a_indices.tolist() == [0, 1, 0, 0, 0, 1, 0, 0]


def test_quantecon_is_optional(mdp, monkeypatch):
    monkeypatch.setitem(sys.modules, "quantecon", None)
    with pytest.raises(ExtraError, match=r"quantecon is not installed\. Install it with: pip install quantecon"):
        to_quantecon(mdp, 0.95)


@pytest.mark.parametrize("discount", [-0.1, 1.1, np.nan])
def test_quantecon_needs_a_discount_from_0_to_1(mdp, discount):
    with pytest.raises(ValueError, match=rf"^discount: {discount} is not allowed; it must be a number from 0 to 1$"):
        to_quantecon(mdp, discount)


def changed(array, index, value):
    copy = array.copy()
    copy[index] = value
    return copy


@pytest.mark.parametrize(
    "name", ["state_ptr", "indptr", "layer_ptr", "terminal_reward", "indices", "data", "reward", "action"]
)
def test_array_of_the_wrong_dtype_or_dimension_is_named(mdp, name):
    array = getattr(mdp, name)
    for wrong in (array.astype(np.float32), array[:, None]):
        with pytest.raises(ModelError, match=rf"^{name}: .*it must be {array.dtype} in one dimension"):
            validate(replace(mdp, **{name: wrong}))


@pytest.mark.parametrize("name", ["indices", "reward", "action"])
def test_array_of_the_wrong_length_is_named(mdp, name):
    with pytest.raises(ModelError, match=rf"^({name}|indptr): "):
        validate(replace(mdp, **{name: getattr(mdp, name)[:-1]}))


@pytest.mark.parametrize("name", ["state_ptr", "indptr", "layer_ptr"])
def test_a_pointer_with_a_wrong_begin_end_or_order_is_named(mdp, name):
    ptr = getattr(mdp, name)
    for wrong in (changed(ptr, 0, 1), changed(ptr, -1, ptr[-1] + 1)):
        with pytest.raises(ModelError, match=rf"^{name}: must begin with 0 and end with {ptr[-1]}"):
            validate(replace(mdp, **{name: wrong}))
    with pytest.raises(ModelError, match=rf"^{name}: must (ascend|not descend)"):
        validate(replace(mdp, **{name: changed(ptr, 1, ptr[2] + 1)}))


@pytest.mark.parametrize("layers", [[2, 0, 0], [1, 0, 1]])
def test_layer_may_be_empty(layers):
    mdp = from_rows([[(0.0, {2: 1.0})], [(0.0, {2: 1.0})]], layers, [1.0])
    assert mdp.longest_rows.tolist() == [min(1, size) for size in layers]
    assert [len(chunks) - 1 for chunks in mdp._chunks] == layers
    assert mdp.is_cycle
    assert all(mdp.backups.is_independent(layer) for layer in range(len(layers)))


@pytest.mark.parametrize("column", [-1, 6, 2**31 - 1])
def test_column_out_of_range_is_refused(mdp, column):
    with pytest.raises(
        ModelError, match=rf"^indices: row 1 \(of state 0\) leads to column {column}; columns are from 0 to 5$"
    ):
        validate(replace(mdp, indices=changed(mdp.indices, 2, column)))


@pytest.mark.parametrize("p", [-0.25, 1.5, np.nan, np.inf])
def test_probability_out_of_range_is_refused(mdp, p):
    for process in (mdp, compacted(mdp)):
        with pytest.raises(ModelError, match=rf"^data: row 0 \(of state 0\) has {p} in column 4; it must be a prob"):
            validate(replace(process, data=changed(process.data, 1, p)))


@pytest.mark.parametrize(
    ("p", "told"),
    [(0.0, "0.5, 0.5 below"), (0.5 - 1e-8, r"0\.9999999.*, 1e-08 below"), (0.5 + 2e-12, ".*, 2e-12 above")],
)
def test_row_that_does_not_add_up_to_one_is_refused(mdp, p, told):
    match = rf"^data: the probabilities of row 0 \(of state 0\) add up to {told} 1 \(limit: 1e-12\)$"
    for process in (mdp, compacted(mdp)):
        with pytest.raises(ModelError, match=match):
            validate(replace(process, data=changed(process.data, 0, p)))


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=8), min_size=1, max_size=5))
def test_largest_deviation_is_that_of_exact_sums(rows):
    mdp = from_rows([[(0.0, {0: 1.0})] for _ in rows], terminals=np.zeros(8))
    lengths = [len(row) for row in rows]
    data = np.concatenate(rows)
    mdp = replace(mdp, indptr=cumulated(np.array(lengths)), indices=np.zeros(len(data), dtype=np.int32), data=data)
    exact = max(abs(sum(map(Fraction, row)) - 1) for row in rows)
    for given_mdp in (mdp, compacted(mdp)):
        assert given_mdp.max_row_sum_error == pytest.approx(float(exact), rel=1e-15, abs=1e-30)
    assert replace(mdp, data=np.full(len(data), np.nan)).max_row_sum_error == np.inf


@pytest.mark.parametrize("name", ["reward", "terminal_reward"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_reward_that_is_not_finite_is_named(mdp, name, value):
    with pytest.raises(ModelError, match=rf"^{name}: (row 0 \(of state 0\)|terminal 0) has {value}; it must be a "):
        validate(replace(mdp, **{name: changed(getattr(mdp, name), 0, value)}))


def test_compact_process_stores_common_probabilities_once(mdp):
    compact = compacted(mdp)
    check_arrays(compact)
    assert compact.data.tolist() == [0.5, 0.5, 1.0, 0.25, 0.25, 0.5]
    assert compact.data_ptr.tolist() == [0, 2, 3, 2, 0, 2]
    assert (compact.n_states, compact.n_rows, compact.nnz) == (mdp.n_states, mdp.n_rows, mdp.nnz)
    assert compact.longest_rows.tolist() == mdp.longest_rows.tolist()
    assert compact.nbytes == mdp.nbytes - (10 - 6) * 8 + 6 * 8
    assert compact.is_cycle
    again = validate(compact.expanded())
    for name in ("state_ptr", "indptr", "indices", "data", "reward", "layer_ptr", "action"):
        assert np.array_equal(getattr(again, name), getattr(mdp, name))


def test_zero_entries_are_dropped(mdp):
    compact = compacted(mdp)
    compact.data[:2] = 0.0, 1.0
    assert compact.count_nonzero() == (8, 3)
    assert compact.expanded().indptr.tolist() == [0, 1, 2, 5, 6, 7, 8]
    assert compact.expanded().indices.tolist() == [4, 2, 2, 4, 5, 3, 1, 4]
    assert validate(compact.expanded()).count_nonzero() == (8, 3)


@pytest.mark.parametrize("data_ptr", [[-1, 2, 3, 2, 0, 2], [1, 2, 3, 2, 0, 2], [0, 2, 3, 2, 0, 6]])
def test_offsets_outside_the_data_are_refused(mdp, data_ptr):
    compact = replace(compacted(mdp), data_ptr=np.array(data_ptr))
    with pytest.raises(ModelError, match=r"^data_ptr: must be from 0 to indptr, and each row must end within 6 prob"):
        check_arrays(compact)
    with pytest.raises(ModelError, match=r"^data_ptr: "):
        solve(compact)


def test_too_many_rows_for_the_kernels_are_refused(mdp, monkeypatch):
    monkeypatch.setattr("punish_fast.mdp.model.validation._MOST_ROWS", mdp.n_rows)
    check_arrays(mdp)
    monkeypatch.setattr("punish_fast.mdp.model.validation._MOST_ROWS", mdp.n_rows - 1)
    with pytest.raises(ModelError, match=rf"indptr: {mdp.n_rows} rows; the maximum is {mdp.n_rows - 1}"):
        check_arrays(mdp)


def test_process_without_layers_is_refused():
    with pytest.raises(ModelError, match=r"^layer_ptr: there is no layer"):
        check_arrays(replace(empty_process(), layer_ptr=np.zeros(1, dtype=np.int64)))


def test_a_terminal_pays_for_ever_or_ends_with_a_value():
    mdp = from_rows([[(0, {1: 0.5, 2: 0.5})]], terminals=[0, 1], terminal_value=[3, 0])
    assert solve(mdp, 0.5).v.tolist() == [0.5 * (3 + 2) / 2]
    assert solve(mdp, 1.0).v.tolist() == [2.0]
    # The rewards of rows contain rewards of terminals, but not their values.
    assert solve(replace(mdp, rows_pay_ends=True), 1.0).v.tolist() == [1.5]
    assert average_reward(mdp).gain.tolist() == [0.5]
    assert finite_horizon(mdp, 2).v[:, 0].tolist() == [2.0, 1.5, 0.0]
    with pytest.raises(ModelError, match=r"^terminal_value: terminal 0 has the value 3 and the reward 1; one of them"):
        from_rows([[(0, {1: 1.0})]], terminals=[1], terminal_value=[3])
    with pytest.raises(ModelError, match=r"^terminal_value: has the length 2; it must be 1"):
        from_rows([[(0, {1: 1.0})]], terminals=[1], terminal_value=[3, 0])
    with pytest.raises(ModelError, match=r"^terminal_value: terminal 0 has inf; it must be a finite number$"):
        validate(replace(mdp, terminal_value=np.array([np.inf, 0.0])))
    with pytest.raises(SolveError, match=r"^terminal_value: terminal 0 ends the episode with the value 3; its entry"):
        finite_horizon(mdp, 2, terminal_value=np.array([0.0, 1.0, 1.0]))


def test_a_value_counts_in_the_total_until_a_goal_and_in_quantecon():
    goal = np.array([False, True, True])
    mdp = from_rows([[(2, {1: 0.5, 2: 0.5}), (1, {0: 0.5, 1: 0.5})]], terminal_value=[1, 5])
    assert total_reward(mdp, goal, maximize=False).v.tolist() == [3.0]
    assert total_reward(mdp, goal, maximize=False).choice.tolist() == [1]
    assert total_reward(mdp, goal, policy=np.array([1.0, 0.0])).v.tolist() == [5.0]
    pytest.importorskip("quantecon")
    found = to_quantecon(mdp, 0.9).solve(method="policy_iteration")
    assert found.v[0] == pytest.approx(solve(mdp, 0.9).v[0], rel=1e-12)

import re

import numpy as np
import pytest
from exact import random_policy
from houses import house_rules
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from policies import mixed

from punish_fast.mdp.model.limits import SolveError
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.objectives.solver import evaluate, solve
from punish_fast.punish.rules import Rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions import row_batches
from punish_fast.punish.transitions.matrix_free import MatrixFree
from punish_fast.punish.transitions.memory_plan import (
    COMPACT,
    MATRIX_FREE,
    MODES,
    TENSOR,
    MemoryPlan,
    choose_mode,
    memory_limit,
    mode_of,
    plan_memory,
)
from punish_fast.punish.transitions.row_batches import BlockRange, RowBatches, RowBuilder
from punish_fast.punish.transitions.tensor import build, build_compact


@pytest.fixture
def cut_small(monkeypatch):
    """Set the number of entries of a batch, from one block on."""

    def cut(n_entries: int) -> None:
        monkeypatch.setattr(row_batches, "_BATCH", n_entries)

    return cut


def assert_same_solution(made: MatrixFree, stored: MDP, **options: object) -> None:
    one, other = solve(made, **options), solve(stored, **options)
    assert one.digest == other.digest
    assert np.array_equal(one.q, other.q)
    assert np.array_equal(one.choice, other.choice)
    assert (one.sweeps, one.error_bound, one.residual) == (other.sweeps, other.error_bound, other.residual)


@given(house_rules(largest_hp=2, most_breaths=2), st.none() | st.integers(0, 99), st.sampled_from([300, 1 << 18]))
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_values_have_the_bits_of_the_tensor(cut_small, rules, seed, n_entries):
    cut_small(n_entries)
    space = StateSpace(rules)
    policy = None if seed is None else random_policy(space, seed)
    made, stored = MatrixFree(RowBatches(space, policy)), build_compact(space, policy)
    assert np.array_equal(made.reward, stored.reward)
    assert np.array_equal(made.longest_rows, stored.longest_rows)
    assert made.nnz == stored.nnz
    assert made.batches.n_probabilities == len(stored.data)
    first_entries = stored.indptr[stored.state_ptr[stored.layer_ptr]]
    assert [int(n.sum()) for n in made.batches.n_entries_of] == np.diff(first_entries).tolist()
    for sizes, ranges in zip(made.batches.n_entries_of, made.batches.ranges, strict=True):
        assert all(
            size <= n_entries or blocks.end - blocks.begin == 1 for size, blocks in zip(sizes, ranges, strict=True)
        )
        assert 12 * sizes.max(initial=0) <= made.batches.nbytes
    assert made.count_nonzero() == stored.count_nonzero() == build(space, policy).count_nonzero()
    assert_same_solution(made, stored)
    assert_same_solution(made, stored, method="jacobi", sweeps=7)
    weight = mixed(space, 1)
    assert np.array_equal(evaluate(made, weight), evaluate(stored, weight))


def test_games_without_a_discount_have_the_bits_of_the_tensor(tiny, cut_small):
    cut_small(300)
    for policy in (None, mixed(tiny, 2)):
        made, stored = MatrixFree(RowBatches(tiny, policy)), build_compact(tiny, policy)
        assert_same_solution(made, stored, objective="reach-probability", discount=1)


def test_it_is_refused_where_play_can_go_on_for_ever():
    # Nobody ever loses HP.
    rules = Rules(copies=(2, 2, 2, 0, 0), hand_size=1, reveal_size=1, hp=1, breaths=1, feints=0, damage=(0,) * 5)
    space = StateSpace(rules)
    solve(build_compact(space), discount=1)
    with pytest.raises(SolveError, match=f"from {space.n_states} states play might never end; without a tensor"):
        solve(MatrixFree(RowBatches(space)), discount=1)
    assert_same_solution(MatrixFree(RowBatches(space)), build_compact(space), discount=0.9)
    with pytest.raises(SolveError, match="method: policy-iteration needs stored transitions"):
        solve(MatrixFree(RowBatches(space)), discount=0.9, method="policy-iteration")


def test_it_names_its_sizes(tiny):
    made, stored = MatrixFree(RowBatches(tiny)), build_compact(tiny)
    names = ("n_states", "n_rows", "n_columns", "n_layers", "longest_row", "is_cycle")
    assert [getattr(made, name) for name in names] == [getattr(stored, name) for name in names]
    assert repr(made) == repr(stored).replace("MDP(", "MatrixFree(").replace(", compact", "")


@given(house_rules(), st.booleans(), st.data())
@settings(max_examples=15)
def test_rows_are_those_of_the_compact_tensor_in_any_order(rules, is_uniform, data):
    space = StateSpace(rules)
    policy = None if is_uniform else mixed(space, 3)
    builder, mdp = RowBuilder(space, policy), build_compact(space, policy)
    for _ in range(4):
        # A layer may have no states.
        layer = data.draw(st.sampled_from([k for k, layer in enumerate(space.layers) if len(layer.first) > 1]))
        n_blocks = len(space.layers[layer].first) - 1
        begin = data.draw(st.integers(0, n_blocks - 1))
        blocks = BlockRange(layer, begin, data.draw(st.integers(begin + 1, n_blocks)))
        states, rows, made = builder.make(blocks)
        assert (states, rows) == builder.places(blocks)
        assert slice(*mdp.state_ptr[[states.start, states.stop]]) == rows
        assert np.array_equal(made.reward, mdp.reward[rows])
        first, last = mdp.indptr[[rows.start, rows.stop]]
        assert np.array_equal(made.indptr, mdp.indptr[rows.start : rows.stop + 1] - first)
        assert np.array_equal(made.indices, mdp.indices[first:last])
        for row, length in enumerate(np.diff(made.indptr)):
            own, stored = made.data_ptr[row], mdp.data_ptr[rows.start + row]
            assert np.array_equal(made.data[own : own + length], mdp.data[stored : stored + length])


PLANS = [MemoryPlan(TENSOR, 3_000_000_000, 2.0), MemoryPlan(COMPACT, 2_000_000_000, 2.0)]
PLANS.append(MemoryPlan(MATRIX_FREE, 40_000_000, 20.0))


def test_the_first_mode_that_fits_is_chosen():
    assert choose_mode(PLANS, MODES, 3e9) == TENSOR
    assert choose_mode(PLANS, MODES, 2.9e9) == COMPACT
    assert choose_mode(PLANS, (COMPACT, MATRIX_FREE), 4e7) == MATRIX_FREE


def test_what_cannot_fit_is_refused_with_what_would():
    told = "tensor would take 3 GB; the limit is 2.5 GB; solve --no-tensor (compact) would take 2 GB"
    with pytest.raises(MemoryError, match=rf"^{re.escape(told)}$"):
        choose_mode(PLANS, (TENSOR,), 2.5e9)
    with pytest.raises(MemoryError, match=r"^matrix-free would take 40 MB; the limit is 39 MB$"):
        choose_mode(PLANS, (COMPACT, MATRIX_FREE), 39e6)


def test_transitions_take_what_their_arrays_do(tiny):
    plans = {plan.mode: plan for plan in plan_memory(RowBatches(tiny))}
    tensor, compact = build(tiny), build_compact(tiny)
    # What both hold besides transitions cancels out.
    between = plans[TENSOR].n_bytes - plans[COMPACT].n_bytes
    assert between == pytest.approx(tensor.nbytes - compact.nbytes, abs=64)
    least = tiny.nbytes + tiny.state_ptr.nbytes + tiny.code.nbytes + 2 * compact.reward.nbytes + compact.action.nbytes
    assert plans[MATRIX_FREE].n_bytes > least
    # Stored transitions are made once, and each of ten sweeps over them takes 12 % of that time.
    assert plans[MATRIX_FREE].seconds / plans[COMPACT].seconds == pytest.approx(11 / 2.2)
    assert plans[TENSOR].seconds == plans[COMPACT].seconds > 0


def test_a_policy_takes_memory_and_drops_entries_from_a_copy(tiny):
    with_policy = RowBatches(tiny, mixed(tiny, 1))
    for one, other in zip(plan_memory(RowBatches(tiny)), plan_memory(with_policy), strict=True):
        assert other.n_bytes >= one.n_bytes + 16 * len(tiny.action)


def test_the_limit_is_the_machine_unless_one_is_given(monkeypatch):
    assert memory_limit(5) == 5
    monkeypatch.setattr("punish_fast.punish.transitions.memory_plan.total_memory", lambda: 7)
    assert memory_limit(None) == 7


def test_a_process_tells_its_mode(tiny):
    assert mode_of(build(tiny)) == TENSOR
    assert mode_of(build_compact(tiny)) == COMPACT
    assert mode_of(MatrixFree(RowBatches(tiny))) == MATRIX_FREE

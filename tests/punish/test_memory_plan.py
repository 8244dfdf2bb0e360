import pytest

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
from punish_fast.punish.transitions.row_batches import RowBatches
from punish_fast.punish.transitions.tensor import build, build_compact

PLANS = [MemoryPlan(TENSOR, 3_000_000_000, 2.0), MemoryPlan(COMPACT, 2_000_000_000, 2.0)]
PLANS.append(MemoryPlan(MATRIX_FREE, 40_000_000, 20.0))


def test_the_first_mode_that_fits_is_chosen():
    assert choose_mode(PLANS, MODES, 3e9) == TENSOR
    assert choose_mode(PLANS, MODES, 2.9e9) == COMPACT
    assert choose_mode(PLANS, (COMPACT, MATRIX_FREE), 4e7) == MATRIX_FREE


def test_what_cannot_fit_is_refused_with_what_would():
    told = "tensor would take 3 GB; the limit is 2.5 GB; without a tensor in the file, compact would take 2 GB"
    with pytest.raises(MemoryError, match=rf"^{told}$"):
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
    assert all(plan.seconds > 0 for plan in plans.values())
    assert plans[MATRIX_FREE].seconds > plans[COMPACT].seconds


def test_a_policy_takes_memory_and_drops_entries_from_a_copy(tiny):
    batches = RowBatches(tiny)
    for one, other in zip(plan_memory(batches), plan_memory(batches, has_policy=True), strict=True):
        assert other.n_bytes >= one.n_bytes + 16 * len(tiny.action)


def test_the_limit_is_the_machine_unless_one_is_given(monkeypatch):
    assert memory_limit(5) == 5
    monkeypatch.setattr("punish_fast.punish.transitions.memory_plan.total_memory", lambda: 7)
    assert memory_limit(None) == 7
    monkeypatch.setattr("punish_fast.punish.transitions.memory_plan.total_memory", lambda: None)
    assert memory_limit(None) == float("inf")


def test_a_process_tells_its_mode(tiny):
    assert mode_of(build(tiny)) == TENSOR
    assert mode_of(build_compact(tiny)) == COMPACT
    assert mode_of(MatrixFree(RowBatches(tiny))) == MATRIX_FREE

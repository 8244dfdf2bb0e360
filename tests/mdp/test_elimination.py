"""Linear equations of chains that last very long."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import endless_states, exact_values, slow_processes
from scipy.sparse import csr_array, random_array

from punish_fast.mdp import elimination
from punish_fast.mdp.elimination import Elimination, components
from punish_fast.mdp.model import from_rows


@given(slow_processes())
def test_sums_without_signs_keep_nearly_all_digits_however_long_chains_last(sample):
    states, _, terminals = sample
    chain = [[(1.0, successors)] for ((_, successors), *_) in states]
    if endless_states(chain):
        return
    x = Elimination(from_rows(chain, terminals=terminals).to_scipy()).solve(np.ones(len(chain)))
    for found, exact in zip(x.tolist(), exact_values(chain, [0.0] * len(terminals), 1.0), strict=True):
        assert abs(Fraction(found) / exact - 1) < 1e-13


def walk(n, p):
    """From state to state, up with probability ``p``, down with the rest, until it leaves at either end."""
    chain = np.zeros((n, n + 2))
    for k in range(n):
        chain[k, k + 1 if k < n - 1 else n] = p
        chain[k, k - 1 if k else n + 1] += 1 - p
    return csr_array(chain)


@pytest.mark.parametrize("most_dense", [2000, 2])
def test_a_walk_lasts_as_long_as_the_formula_has_it(most_dense, monkeypatch):
    """From ``k`` of ``n`` coins ``k (n - k)`` steps [Feller 1968, XIV.3]."""
    monkeypatch.setattr(elimination, "_MOST_DENSE", most_dense)
    k = np.arange(1, 41)
    assert Elimination(walk(40, 0.5)).solve(np.ones(40)) == pytest.approx(k * (41 - k), rel=1e-12)


@pytest.mark.parametrize("most_dense", [2000, 2])
def test_a_chain_that_never_ends_has_no_finite_solution(most_dense, monkeypatch):
    monkeypatch.setattr(elimination, "_MOST_DENSE", most_dense)
    ring = csr_array(np.hstack([np.roll(np.eye(4), 1, axis=1), np.zeros((4, 1))]))
    assert not np.isfinite(Elimination(ring).solve(np.ones(4))).all()


@given(st.integers(1, 60), st.sampled_from([0.01, 0.03, 0.1]), st.integers(0, 2**32 - 1))
def test_components_lead_to_lower_ones_alone(n, density, seed):
    graph = csr_array(random_array((n, n), density=density, rng=np.random.default_rng(seed)))
    label = components(graph)
    from_state, to_state = graph.nonzero()
    assert (label[to_state] <= label[from_state]).all()


def test_entries_stored_twice_change_no_component():
    """SciPy alone would search this graph for ever."""
    graph = csr_array((np.ones(3), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    assert components(graph).tolist() == [0, 0]
    assert graph.nnz == 3


@given(st.integers(1, 40), st.sampled_from([0.02, 0.05, 0.1]), st.integers(0, 2**32 - 1))
def test_chains_of_many_components_are_solved_as_by_a_dense_matrix(n, density, seed):
    generator = np.random.default_rng(seed)
    inside = random_array((n, n), density=density, rng=generator).toarray()
    chain = np.hstack([inside, generator.random((n, 1)) + 0.1])
    chain /= chain.sum(axis=1, keepdims=True)
    r = generator.normal(size=n)
    expected = np.linalg.solve(np.eye(n) - chain[:, :n], r)
    assert Elimination(csr_array(chain)).solve(r) == pytest.approx(expected, rel=1e-10, abs=1e-12)

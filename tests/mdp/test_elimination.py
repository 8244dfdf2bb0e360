"""Linear equations of chains that last very long."""

import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import endless_states, exact_values, slow_processes
from scipy.sparse import csr_array, random_array

from punish_fast.mdp.chain import elimination
from punish_fast.mdp.chain.decimals import decimals
from punish_fast.mdp.chain.elimination import Elimination, operations, patience
from punish_fast.mdp.graph.end_components import components
from punish_fast.mdp.model.limits import SolverOptions
from punish_fast.mdp.model.mdp import MDP, from_rows

pytestmark = pytest.mark.kernels


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


@pytest.fixture(params=[0, 2, 64], ids=["dense", "border", "sparse"])
def matrix(request, monkeypatch):
    """Leave all states, states with more than two neighbors, or none to a dense matrix."""
    monkeypatch.setattr(elimination, "_HUB_FACTOR", 0.0)
    monkeypatch.setattr(elimination, "_LEAST_HUB", request.param)


@pytest.mark.usefixtures("matrix")
def test_a_walk_lasts_as_long_as_the_formula_has_it():
    """From ``k`` of ``n`` coins ``k (n - k)`` steps [Feller 1968, XIV.3]."""
    k = np.arange(1, 41)
    assert Elimination(walk(40, 0.5)).solve(np.ones(40)) == pytest.approx(k * (41 - k), rel=1e-12)


@pytest.mark.usefixtures("matrix")
@pytest.mark.parametrize("before", [walk(40, 0.9), csr_array(np.eye(40, 42, 2))])
def test_the_order_of_another_chain_changes_no_solution(before):
    chain = walk(40, 0.3)
    found = Elimination(chain, Elimination(before)).solve(np.ones(40))
    assert found.tolist() == Elimination(chain).solve(np.ones(40)).tolist()


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


@pytest.mark.usefixtures("matrix")
@pytest.mark.parametrize(("n", "density"), [(40, 0.02), (40, 0.1), (200, 0.01), (200, 0.5)])
def test_chains_of_many_components_are_solved_as_by_a_dense_matrix(n, density):
    generator = np.random.default_rng(n)
    inside = random_array((n, n), density=density, rng=generator).toarray()
    inside[:, 0] += 0.1 * (generator.random(n) < 0.9)
    chain = np.hstack([inside, generator.random((n, 1)) + 0.1])
    chain /= chain.sum(axis=1, keepdims=True)
    r = generator.normal(size=n)
    expected = np.linalg.solve(np.eye(n) - chain[:, :n], r)
    assert Elimination(csr_array(chain)).solve(r) == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_an_elimination_stops_at_the_deadline():
    elimination = Elimination(walk(40, 0.5), limits=SolverOptions(1.0, deadline=time.monotonic()))
    assert not elimination.is_affordable
    assert np.isnan(elimination.solve(np.ones(40))).all()
    assert all(x.is_nan() for x in elimination.solve(decimals(np.ones(40))))


def hub(n):
    """A cycle of ``n`` states, in all of which play may return to the first, or end."""
    k = np.arange(n)
    rows, to = np.concatenate([k, k, k]), np.concatenate([(k + 1) % n, 0 * k, 0 * k + n])
    return csr_array((np.repeat([0.5, 0.5 - 2.0**-30, 2.0**-30], n), (rows, to)), shape=(n, n + 1))


def pairs(n):
    """Stages of two states that lead to each other, and to the next stage or the end."""
    k = np.arange(2 * n)
    rows, to = np.concatenate([k, k]), np.concatenate([k ^ 1, np.minimum(2 * (k // 2 + 1), 2 * n)])
    return csr_array((np.repeat([1 - 2.0**-20, 2.0**-20], 2 * n), (rows, to)), shape=(2 * n, 2 * n + 1))


@pytest.mark.parametrize(
    ("chain", "steps"), [(hub(20_000), 2.0**30), (pairs(10_000), 10_000 * 2.0**20)], ids=["hub", "pairs"]
)
def test_hubs_and_many_components_of_two_states_have_sparse_factors(chain, steps):
    elimination = Elimination(chain)
    assert elimination.solve(np.ones(chain.shape[0]))[0] == pytest.approx(steps, rel=1e-12)
    assert elimination.nnz < 4 * chain.nnz


def test_factors_that_are_too_large_are_refused():
    chain = csr_array(random_array((20_000, 20_000), density=2e-4, rng=np.random.default_rng(0)))
    elimination = Elimination(chain)
    assert not elimination.is_affordable
    assert np.isnan(elimination.solve(np.ones(20_000))).all()


@pytest.mark.parametrize(
    ("chain", "sweeps"),
    [(hub(20_000), 50), (pairs(10_000), 50), (np.full((1000, 1000), 1e-3), 1000), (np.eye(1), 50)],
    ids=["hub", "pairs", "dense", "one state"],
)
def test_patience_is_for_chains_that_are_hard_to_eliminate(chain, sweeps):
    n = chain.shape[0]
    mdp = MDP.from_scipy(csr_array(chain), np.zeros(n), np.arange(n + 1), np.zeros(chain.shape[1] - n))
    assert patience(mdp) == sweeps
    assert operations(mdp) < np.inf

from __future__ import annotations

import numpy as np
import pytest
from processes import sparse_process

from punish_fast.mdp.bounds.improvement import Improvement
from punish_fast.mdp.methods import topological_order
from punish_fast.mdp.methods.choice import Automatic, StepLimits, iterate, solve_part
from punish_fast.mdp.methods.topological_order import Topological, components_of
from punish_fast.mdp.methods.value_iteration import Log
from punish_fast.mdp.model import MDP, from_rows
from punish_fast.mdp.solver import solve

pytestmark = pytest.mark.compiled


def chain_of(mdp: MDP, n_copies: int) -> MDP:
    """Copies of a process; the last successor of every row is the same state of the next copy, or a terminal."""
    n, copies = mdp.n_states, np.arange(n_copies)
    indices = np.tile(mdp.indices, n_copies) + np.repeat(copies * n, mdp.n_entries)
    last = np.tile(np.arange(mdp.n_entries) == np.repeat(mdp.indptr[1:] - 1, np.diff(mdp.indptr)), n_copies)
    indices[last] = np.minimum(indices[last] + n, n * n_copies)

    def repeated(ptr: np.ndarray) -> np.ndarray:
        return np.append(np.tile(ptr[:-1], n_copies) + np.repeat(copies * ptr[-1], len(ptr) - 1), n_copies * ptr[-1])

    return MDP(
        state_ptr=repeated(mdp.state_ptr),
        indptr=repeated(mdp.indptr),
        indices=indices.astype(np.int32),
        data=np.tile(mdp.data, n_copies),
        reward=np.tile(mdp.reward, n_copies),
        terminal_reward=np.zeros(1),
        layer_ptr=np.array([0, n * n_copies]),
        action=np.tile(mdp.action, n_copies),
    )


@pytest.mark.parametrize("large", [10, 10_000])
def test_components_are_solved_once(monkeypatch, large):
    monkeypatch.setattr(topological_order, "_LARGE", large)
    mdp = chain_of(sparse_process(60), 12)
    point = Improvement(mdp, 0.95, 1e-9)
    point.improve()
    Topological(mdp, solve_part(0.95)).advance(point)
    point.improve()
    assert point.error <= 1e-9
    assert np.abs(point.v[:-1] - solve(mdp, 0.95, "layered").v).max() <= 2e-9


def test_a_process_without_cycles_takes_one_backup_of_each_state():
    n = 1000
    rows = [[(float(k % 7), {k + 1: 0.5, k + 2: 0.5})] for k in range(n)]
    mdp = from_rows(rows, terminals=[0.0, 0.0])
    assert components_of(mdp).max() == n - 1
    point = Improvement(mdp, 0.99, 1e-9)
    point.improve()
    before = point.work
    Topological(mdp, solve_part(0.99)).advance(point)
    assert point.work - before == mdp.n_entries
    point.improve()
    assert point.error <= 1e-9


def test_auto_finds_components_where_sweeps_are_slow():
    mdp = chain_of(sparse_process(60, reach=2), 30)
    automatic = Automatic(mdp)
    iterate(Improvement(mdp, 0.9999, 1e-7), automatic, Log(), StepLimits(1000))
    assert automatic.used.get("topological") == 1

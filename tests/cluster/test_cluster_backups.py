from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from houses import house_rules
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from policies import mixed

from punish_fast.cluster import cluster_backups
from punish_fast.cluster.cluster_backups import ClusterBackups
from punish_fast.cluster.connection import ClusterError
from punish_fast.mdp.solver import evaluate, solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions import row_batches
from punish_fast.punish.transitions.matrix_free import MatrixFree
from punish_fast.punish.transitions.row_batches import RowBatches


@pytest.fixture(autouse=True)
def cut_small(monkeypatch):
    """Batches of a few rows, and a task for each."""
    monkeypatch.setattr(row_batches, "_BATCH", 300)
    monkeypatch.setattr(cluster_backups, "_LEAST_WORK", 0.01)


def both(client, batches):
    """The game with the workers of the cluster, and with the threads of this process."""
    return MatrixFree(batches, backups=ClusterBackups(client, batches)), MatrixFree(batches)


def assert_same(client, batches, **options):
    made, own = (solve(process, **options) for process in both(client, batches))
    assert made.fingerprint == own.fingerprint
    assert np.array_equal(made.q, own.q)
    assert np.array_equal(made.choice, own.choice)
    assert (made.sweeps, made.error_bound, made.log.residual) == (own.sweeps, own.error_bound, own.log.residual)
    assert (made.log.rmse, made.log.choice_changes) == (own.log.rmse, own.log.choice_changes)


@pytest.mark.slow
@given(house_rules(), st.booleans())
@settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_cluster_gives_the_bits_of_one_process(client, rules, is_uniform):
    space = StateSpace(rules)
    batches = RowBatches(space, None if is_uniform else mixed(space, 4))
    made, own = both(client, batches)
    assert np.array_equal(made.reward, own.reward)
    assert made.nonzeros() == own.nonzeros()
    weight = mixed(space, 1)
    assert np.array_equal(evaluate(made, weight), evaluate(own, weight))
    assert_same(client, batches)


@pytest.mark.slow
def test_every_method_gives_the_bits_of_one_process(client):
    batches = RowBatches(StateSpace(PRESETS["tiny"]))
    assert_same(client, batches, method="jacobi", sweeps=4)
    assert_same(client, batches, objective="win-probability")
    assert_same(client, batches, discount=1)


def test_arrays_go_to_workers_as_data(client, tiny, monkeypatch):
    # Dask warns of tasks that are large, and a warning is an error here.
    dask = pytest.importorskip("dask")
    monkeypatch.setattr(row_batches, "_BATCH", 1 << 18)
    batches = RowBatches(tiny)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "3kB"}):
        assert_same(client, batches, method="jacobi", sweeps=2)


@pytest.mark.parametrize(("least", "most", "n_tasks"), [(1e-6, 1e9, 8), (1e12, 1e9, 4), (1e12, 1e-9, 1000)])
def test_tasks_cover_a_layer_once(client, tiny, monkeypatch, least, most, n_tasks):
    batches = RowBatches(tiny)
    backups = ClusterBackups(client, batches)
    assert backups.overhead.task > 0
    monkeypatch.setattr(cluster_backups, "_LEAST_WORK", least)
    monkeypatch.setattr(cluster_backups, "_MOST_SECONDS", most)
    for layer, (first, end) in enumerate(pairwise(tiny.layer_ptr)):
        tasks = backups._tasks(layer)
        assert len(tasks) == min(n_tasks, len(batches.ranges[layer])) or len(tasks) < n_tasks <= 8
        assert [task.number for task in tasks] == list(range(len(tasks)))
        assert (tasks[0].states.start, tasks[-1].states.stop) == (first, end)
        assert all(a.states.stop == b.states.start for a, b in pairwise(tasks))
        assert sum(task.n_entries for task in tasks) == batches.n_entries_of[layer].sum()


@pytest.mark.slow
def test_a_layer_whose_values_are_lost_is_finished(client, tiny, monkeypatch):
    batches = RowBatches(tiny)
    expected = solve(MatrixFree(batches)).fingerprint
    submit, calls = client.submit, []

    def lose_one(*args, **options):
        calls.append(args)
        if len(calls) % 40 == 7:
            raise TimeoutError
        return submit(*args, **options)

    monkeypatch.setattr(client, "submit", lose_one)
    assert solve(both(client, batches)[0]).fingerprint == expected
    assert len(calls) > 40


def test_workers_that_are_lost_again_and_again_are_told(client, tiny, monkeypatch):
    def lose(*_args, **_options):
        raise TimeoutError

    batches = RowBatches(tiny)
    backups = ClusterBackups(client, batches)
    monkeypatch.setattr(client, "submit", lose)
    with pytest.raises(ClusterError, match="workers were lost 5 times in a row"):
        MatrixFree(batches, backups=backups)

import pickle
from itertools import pairwise

import numpy as np
import pytest
from houses import house_rules
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from policies import mixed

from punish_fast.mdp.model.limits import SolveError
from punish_fast.mdp.objectives.solver import evaluate, solve
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions import cluster_blocks, row_batches
from punish_fast.punish.transitions.cluster_blocks import ClusterBlocks
from punish_fast.punish.transitions.matrix_free import MatrixFree
from punish_fast.punish.transitions.row_batches import RowBatches


@pytest.fixture(autouse=True)
def cut_small(monkeypatch):
    """Batches of a few rows."""
    monkeypatch.setattr(row_batches, "_BATCH", 300)


@pytest.fixture(scope="module")
def tiny():
    return StateSpace(PRESETS["tiny"]._replace(redeal="reshuffle"))


def both(client, batches):
    """The game with the workers of the cluster, and with the threads of this process."""
    return MatrixFree(batches, executor=ClusterBlocks(client, batches)), MatrixFree(batches)


def solved(process, **options):
    """The solution, or the message that refuses a game that might never end."""
    try:
        return solve(process, **options)
    except SolveError as error:
        return str(error)


def assert_same(client, batches, **options):
    made, own = (solved(process, **options) for process in both(client, batches))
    if isinstance(own, str):
        assert made == own
        return
    assert made.digest == own.digest
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
    assert made.count_nonzero() == own.count_nonzero()
    weight = mixed(space, 1)
    assert np.array_equal(evaluate(made, weight), evaluate(own, weight))
    for options in ({}, {"method": "jacobi", "sweeps": 4}, {"objective": "reach-probability"}, {"discount": 1}):
        assert_same(client, batches, **options)


def test_arrays_go_to_workers_as_data(client, tiny, monkeypatch):
    # Dask warns of tasks that are large, and a warning is an error here.
    dask = pytest.importorskip("dask")
    monkeypatch.setattr(row_batches, "_BATCH", 1 << 18)
    batches = RowBatches(tiny)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "3kB"}):
        assert_same(client, batches, method="jacobi", sweeps=2)


@pytest.mark.parametrize(("most", "n_tasks"), [(1e9, 8), (1e-9, 1000)])
def test_tasks_cover_a_layer_once(client, tiny, monkeypatch, most, n_tasks):
    batches = RowBatches(tiny)
    blocks = ClusterBlocks(client, batches)
    monkeypatch.setattr(cluster_blocks, "_MOST_SECONDS", most)
    for layer, (first, end) in enumerate(pairwise(tiny.layer_ptr)):
        tasks = blocks._tasks(layer)
        assert len(tasks) == min(n_tasks, len(batches.ranges[layer])) or len(tasks) < n_tasks <= 8
        assert [blocks for task in tasks for blocks in task] == batches.ranges[layer]
        places = [cluster_blocks._places(batches.builder, task)[0] for task in tasks]
        assert (places[0].start, places[-1].stop) == (first, end)
        assert all(a.stop == b.start for a, b in pairwise(places))


def test_a_process_keeps_its_last_game_and_values(tiny):
    kept, game = cluster_blocks._Kept(), (tiny.rules, "")
    following = cluster_blocks.LayerValues(3, np.arange(2.0), np.array([1.0, -1.0]))
    builder = kept.builder(game, None)
    assert kept.builder(pickle.loads(pickle.dumps(game)), None) is builder
    assert kept.builder((tiny.rules, "another"), None) is not builder
    v = kept.columns(tiny.n_states, following)
    assert kept.columns(tiny.n_states, following) is v
    assert kept.columns(tiny.n_states, following._replace(v=following.v + 1))[3:5].tolist() == [1, 2]


def test_finished_tasks_of_each_layer_are_reported(client, tiny):
    batches, told = RowBatches(tiny), []
    MatrixFree(batches, executor=ClusterBlocks(client, batches, lambda *step: told.append(step)))
    layers = [layer for layer, _, _ in told]
    assert layers == sorted(layers)
    for layer in range(len(tiny.layers)):
        n = layers.count(layer)
        assert [step for step in told if step[0] == layer] == [(layer, done, n) for done in range(1, n + 1)]

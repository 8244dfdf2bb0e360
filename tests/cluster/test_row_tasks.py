from __future__ import annotations

import pickle

import numpy as np
import pytest

from punish_fast.cluster import row_tasks
from punish_fast.cluster.row_tasks import LayerValues, RowArrays, RowTask, SharedGame
from punish_fast.mdp.process import NonzeroCount
from punish_fast.punish.transitions.row_builder import BlockRange, RowBuilder, RowMaker
from punish_fast.punish.transitions.tensor import build

DISCOUNT = 0.9


@pytest.fixture
def task(tiny):
    """Two batches in the middle of the first layer."""
    batches = (BlockRange(0, 1, 3), BlockRange(0, 3, 4))
    places = [RowMaker(RowBuilder(tiny)).places(blocks) for blocks in batches]
    states, rows = (slice(places[0][k].start, places[1][k].stop) for k in (0, 1))
    length = np.diff(build(tiny).indptr)[rows]
    return RowTask(0, SharedGame(tiny.rules, ""), batches, states, rows, int(length.sum()))


@pytest.fixture
def following(tiny):
    first, end = tiny.layer_ptr[1:3].tolist()
    generator = np.random.default_rng(1)
    return LayerValues(first, generator.normal(size=end - first), np.array([1.0, -1.0]))


def expected_q(space, following, rows):
    mdp, v = build(space), np.full(space.n_states + 2, np.nan)
    v[following.first : following.first + len(following.v)] = following.v
    v[-2:] = following.terminals
    return [
        mdp.reward[row] + DISCOUNT * (mdp.data[a:b] * v[mdp.indices[a:b]]).sum()
        for row in range(rows.start, rows.stop)
        for a, b in [mdp.indptr[row : row + 2]]
    ]


def test_rewards_and_counts_are_those_of_the_tensor(tiny, task):
    found = row_tasks.find_rewards(task, None)
    mdp = build(tiny)
    assert np.array_equal(found.arrays["reward"], mdp.reward[task.rows])
    assert sum(count.total for count in found.parts) == task.n_entries
    assert all(isinstance(count, NonzeroCount) for count in found.parts)
    assert found.seconds > 0


def test_sweeps_and_closing_take_the_best_rows(tiny, task, following):
    q = np.array(expected_q(tiny, following, task.rows))
    starts = tiny.state_ptr[task.states] - task.rows.start
    best = np.maximum.reduceat(q, starts)
    found = row_tasks.sweep(task, None, RowArrays(DISCOUNT), following)
    assert found.arrays["v"] == pytest.approx(best, abs=1e-13)
    arrays = RowArrays(DISCOUNT, q=np.zeros(len(q)), choice=tiny.state_ptr[task.states])
    closed = row_tasks.close(task, None, arrays, following).arrays
    assert np.array_equal(closed["v"], found.arrays["v"])
    assert closed["q"] == pytest.approx(q, abs=1e-13)
    assert closed["q"][closed["choice"] - task.rows.start] == pytest.approx(best)


def test_other_rewards_and_weights_come_with_the_task(tiny, task, following):
    mdp = build(tiny)
    q = np.array(expected_q(tiny, following, task.rows)) - mdp.reward[task.rows] + 5.0
    starts = tiny.state_ptr[task.states] - task.rows.start
    weight = np.zeros(mdp.n_rows)
    weight[tiny.state_ptr[task.states]] = 1.0
    arrays = RowArrays(DISCOUNT, reward=np.full(len(q), 5.0))
    assert row_tasks.evaluate(task, None, arrays, following, weight).arrays["v"] == pytest.approx(q[starts], abs=1e-13)


def test_a_process_keeps_its_last_game_and_values(tiny, task, following):
    kept = row_tasks._kept
    maker = kept.maker(task.game, None)
    row_tasks.sweep(task, None, RowArrays(DISCOUNT), following)
    assert kept.maker(pickle.loads(pickle.dumps(task.game)), None) is maker
    assert kept.maker(task.game._replace(enemy="another"), None) is not maker
    v = kept.columns(tiny.n_states, following)
    assert kept.columns(tiny.n_states, following) is v
    other = kept.columns(tiny.n_states, following._replace(v=following.v + 1))
    assert np.array_equal(other[following.first :][: len(following.v)], following.v + 1)

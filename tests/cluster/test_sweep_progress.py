from __future__ import annotations

import pytest

from punish_fast.cluster.sweep_progress import SweepProgress


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("punish_fast.cluster.sweep_progress.time.perf_counter", lambda: now[0])
    return now


def test_tasks_of_each_sweep_are_counted_and_its_time_is_told(clock):
    told = []
    progress = SweepProgress([30, 10, 20], lambda *step: told.append(step))
    for _ in range(2):
        for layer, n_entries in ((2, 10), (1, 5), (0, 15)):
            progress.begin_layer(layer, 2)
            for _ in range(2):
                clock[0] += n_entries
                progress.end_task(n_entries)
    # A third of the entries is in the first layer, so six tasks are expected, in proportion.
    told = [(done, total, round(left, 9)) for done, total, left in told]
    assert told[:6] == [(1, 6, 50.0), (2, 6, 40.0), (3, 8, 35.0), (4, 8, 30.0), (5, 6, 15.0), (6, 6, 0.0)]
    assert told[6:] == told[:6]


def test_a_layer_that_comes_again_begins_a_sweep(clock):
    told = []
    progress = SweepProgress([10, 10], lambda *step: told.append(step))
    for layer in (1, 0, 0, 1):
        progress.begin_layer(layer, 1)
        clock[0] += 1.0
        progress.end_task(10)
    assert told == [(1, 2, 1.0), (2, 2, 0.0)] * 2


def test_layers_without_states_have_no_tasks(clock):
    told = []
    progress = SweepProgress([0, 10], lambda *step: told.append(step))
    progress.begin_layer(0, 0)
    progress.begin_layer(1, 1)
    clock[0] += 1.0
    progress.end_task(10)
    assert told == [(1, 1, 0.0)]
    SweepProgress([5]).begin_layer(0, 1)

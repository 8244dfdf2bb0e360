from __future__ import annotations

import numpy as np
import pytest

from bench import clusters
from punish_fast.mdp.value_iteration import Layered


@pytest.fixture(autouse=True)
def _needs_dask():
    pytest.importorskip("distributed")


def test_workers_and_tasks_are_measured(capsys):
    assert clusters.main(["tiny", "--runs", "1"]) == 0
    out = capsys.readouterr().out
    for name in ("1 thread", "2 threads", "1 worker", "2 workers", *map(str, clusters._TASKS)):
        assert f"| {name} |" in out


def test_different_values_are_no_measurement(monkeypatch):
    values = iter(np.arange(100.0))

    def sweep(iteration):
        iteration.v[0] = next(values)

    monkeypatch.setattr(Layered, "sweep", sweep)
    batches = clusters.RowBatches(clusters.StateSpace(clusters.load_rules("tiny")))
    with pytest.raises(clusters.DifferentValuesError, match="other values"):
        clusters.measure_workers(batches, 1)

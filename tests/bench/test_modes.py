from __future__ import annotations

import numpy as np
import pytest

from bench import modes
from punish_fast.mdp.value_iteration import Layered


def test_every_mode_is_measured_with_the_same_values(capsys):
    assert modes.main(["tiny", "--runs", "1"]) == 0
    out = capsys.readouterr().out
    for mode in ("tensor", "compact", "matrix-free"):
        assert f"| tiny | {mode} |" in out
    for part in ("count", "fill", "back up"):
        assert f"| tiny | {part} |" in out


def test_a_mode_that_does_not_fit_is_left_out(monkeypatch):
    plans = {
        plan.mode: plan.n_bytes
        for plan in modes.plan_memory(modes.RowBatches(modes.StateSpace(modes.load_rules("tiny"))))
    }
    monkeypatch.setattr(modes, "memory_limit", lambda _: plans["tensor"] - 1)
    assert "tensor" not in [row[1] for row in modes.measure_modes("tiny", 1)]


def test_different_values_are_no_measurement(monkeypatch):
    values = iter(np.arange(100.0))

    def sweep(iteration):
        iteration.v[0] = next(values)

    monkeypatch.setattr(Layered, "sweep", sweep)
    with pytest.raises(modes.DifferentValuesError, match="tiny: the modes end with different values"):
        modes.measure_modes("tiny", 1)

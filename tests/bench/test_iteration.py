from __future__ import annotations

import pytest

from bench.benchmark import Options
from bench.iteration import WHOLE, measurements_of, run
from bench.pass_traffic import FAR, NEAR, READ

PASSES = ["spread 1", "spread 2", "deal", "regret 2", "regret 1", "nodes", "learn", "answer"]


def test_tiny_is_measured(lines):
    report = run(Options(runs=2, quick=True, say=lines.append))
    assert [measurement.name for measurement in report.measurements] == [READ, *PASSES, WHOLE]
    assert all(len(measurement.seconds) == 2 for measurement in report.measurements)
    assert report.rules == "tiny"
    assert report.facts["successors"] == 7208
    assert sum(value for name, value in report.facts.items() if name.endswith("%")) == pytest.approx(100)
    assert lines[-1] == "iteration: run 2 of 2"


def test_an_iteration_is_the_sum_of_its_passes():
    seconds = {READ: [1.0, 0.5, 0.25]}
    seconds |= {FAR + name: [2.0, 4.0, 3.0] for name in PASSES} | {NEAR + name: [1.0, 1.0, 2.0] for name in PASSES}
    moved = {READ: 10**9} | dict.fromkeys(PASSES, 10**9)
    found = {"seconds": seconds, "bytes": moved, "successors_by_breath": [3_000_000, 6_000_000]}
    facts = {measurement.name: measurement.facts for measurement in measurements_of(found)}
    assert facts[READ]["GB/s"] == pytest.approx(2.0)
    assert facts["spread 2"] == pytest.approx({"at best": 0.5, "ratio": 6.0, "near": 1.0, "successors/us": 2.0})
    assert "successors/us" not in facts["learn"]
    whole = measurements_of(found)[-1]
    assert whole.seconds == (16.0, 32.0, 24.0)
    assert whole.facts["at best"] == pytest.approx(4.0)
    assert whole.facts["near"] == pytest.approx(8.0)
    assert whole.facts["successors/us"] == pytest.approx(27 / 24)

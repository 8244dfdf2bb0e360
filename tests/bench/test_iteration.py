from __future__ import annotations

import pytest

from bench.benchmark import Options
from bench.iteration import BUILDING, FULL, MEAN, PART, measurements_of, run
from bench.pass_traffic import FAR, NEAR, READ, REBUILD, RESTRICTED

PASSES = ["spread 1", "spread 2", "deal", "regret 2", "regret 1", "nodes", "learn", "response"]


def test_tiny_is_measured(lines):
    report = run(Options(runs=2, quick=True, say=lines.append))
    assert [measurement.name for measurement in report.measurements] == [READ, *PASSES, FULL]
    assert all(len(measurement.seconds) == 2 for measurement in report.measurements)
    assert report.rules == "tiny"
    assert report.facts["successors"] == 7208
    assert sum(value for name, value in report.facts.items() if name.endswith("%")) == pytest.approx(100)
    assert lines[-1] == "iteration: run 2 of 2"


def test_an_iteration_is_the_sum_of_its_passes():
    seconds = {READ: [1.0, 0.5, 0.25]}
    seconds |= {FAR + name: [2.0, 4.0, 3.0] for name in PASSES} | {NEAR + name: [1.0, 1.0, 2.0] for name in PASSES}
    moved = {READ: 10**9} | dict.fromkeys(PASSES, 10**9)
    found = {"seconds": seconds, "bytes": moved, "successors_by_breath": [3_000_000, 6_000_000], "restricted": None}
    facts = {measurement.name: measurement.facts for measurement in measurements_of(found)}
    assert facts[READ]["GB/s"] == pytest.approx(2.0)
    assert facts["spread 2"] == pytest.approx({"at best": 0.5, "ratio": 6.0, "near": 1.0, "successors/us": 2.0})
    assert "successors/us" not in facts["learn"]
    whole = measurements_of(found)[-1]
    assert whole.seconds == (16.0, 32.0, 24.0)
    assert whole.facts["at best"] == pytest.approx(4.0)
    assert whole.facts["near"] == pytest.approx(8.0)
    assert whole.facts["successors/us"] == pytest.approx(27 / 24)


def test_the_mean_counts_fifteen_restricted_iterations_for_each_full_one():
    played = [name for name in PASSES if name not in ("spread 2", "deal")]
    seconds = {READ: [1.0]} | {kind + name: [2.0] for kind in (FAR, NEAR) for name in PASSES}
    seconds |= {RESTRICTED + name: [0.5] for name in played} | {RESTRICTED + name: [4.0] for name in REBUILD}
    moved = dict.fromkeys(PASSES, 10**8)
    game = {"bytes": moved, "successors_by_breath": [100_000, 200_000], "full_states": 1}
    found = {"seconds": seconds, "bytes": moved | {READ: 10**9}, "successors_by_breath": [1, 2], "restricted": game}
    part, building, mean = measurements_of(found)[-3:]
    assert (part.name, building.name, mean.name) == (PART, BUILDING, MEAN)
    assert part.seconds == (3.0,)
    # The first spread, both regrets, and the response.
    assert part.facts == pytest.approx({"at best": 0.6, "ratio": 5.0, "successors/us": 0.7 / 3})
    assert building.seconds == (12.0,)
    assert mean.seconds == pytest.approx([(16.0 + 12.0 + 15 * 3.0) / 16])

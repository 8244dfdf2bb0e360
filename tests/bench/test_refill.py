from __future__ import annotations

import pytest

from bench.benchmark import Measurement, Options, new_report
from bench.refill import BUILD, MOST_SECONDS, REFILL, RESOLVE, SOLVE, add_targets, run


def test_a_quick_run_measures_refill_and_build(lines):
    report = run(Options(runs=3, threads=1, quick=True, say=lines.append))
    assert [measurement.name for measurement in report.measurements] == [REFILL, RESOLVE, BUILD, SOLVE]
    assert all(len(measurement.seconds) == 3 for measurement in report.measurements)
    assert report.ok
    assert report.targets == []
    assert report.find(REFILL).facts["tensor MB"] > 0


def test_the_target_is_half_a_second_for_a_new_enemy():
    report = new_report("refill", Options(), "notebook")
    seconds = {REFILL: 0.1, RESOLVE: 0.3, BUILD: 0.4, SOLVE: 0.4}
    report.measurements = [Measurement(name, (duration,)) for name, duration in seconds.items()]
    add_targets(report)
    assert [target.value for target in report.targets] == pytest.approx([0.1, 0.4])
    assert report.targets[1].bound == MOST_SECONDS
    assert list(report.facts.values()) == pytest.approx([4, 2])

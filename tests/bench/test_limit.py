from __future__ import annotations

import pytest

from bench.benchmark import Options
from bench.limit import LIMITS, ORDER, measurements_of, run


def test_tiny_is_measured_and_no_file_is_left(own_temporaries, lines):
    report = run(Options(runs=2, quick=True, rules="tiny", say=lines.append))
    assert [measurement.name for measurement in report.measurements] == list(ORDER)
    assert {m.name: m.facts["of"] for m in report.measurements if "of" in m.facts} == LIMITS
    assert report.facts["nonzeros"] == 4111
    assert len(report.find("read").seconds) == 2 * len(report.find("tensor").seconds) * 5 / 2
    assert lines[-1] == "limit: run 2 of 2"
    assert list(own_temporaries.iterdir()) == []


def test_a_share_is_the_time_at_full_bandwidth_over_the_time_it_took():
    seconds = {name: [1.0] for name in ORDER} | {"read": [0.5, 0.25, 0.75], "layered sweep": [2.0]}
    found = {"seconds": seconds, "bytes": dict.fromkeys(ORDER, 10**9)}
    facts = {measurement.name: measurement.facts for measurement in measurements_of(found)}
    assert facts["read"]["GB/s"] == pytest.approx(2.0)
    assert facts["layered sweep"]["at best"] == pytest.approx(0.5)
    assert facts["layered sweep"]["share"] == pytest.approx(0.25)
    assert "share" not in facts["read"]

from __future__ import annotations

import json
import math

import pytest

from bench.benchmark import (
    REGISTER,
    Check,
    Measurement,
    Options,
    ReportError,
    Target,
    from_mapping,
    new_report,
    run_benchmark,
)


def make_report():
    report = new_report("peers", Options(runs=2, threads=1), "tiny")
    report.measurements.append(Measurement("a", (1.0, 3.0, 2.0), {"peak MB": 7, "of": "read"}))
    report.checks.append(Check("a and b", 1e-12, 1e-9))
    report.aim("b / a", 2.0, at_least=1.5)
    report.problems.append("c is not installed")
    report.facts["states"] = 3
    report.provenance["commit"] = "unknown"
    return report


def test_the_duration_is_the_median():
    assert Measurement("a", (5.0, 1.0, 2.0)).median == 2


@pytest.mark.parametrize(
    ("value", "bound", "at_least", "ok"),
    [
        (2.0, 2.0, True, True),
        (1.9, 2.0, True, False),
        (2.0, 2.0, False, True),
        (2.1, 2.0, False, False),
        (math.nan, 2.0, True, False),
        (math.nan, 2.0, False, False),
    ],
)
def test_a_target_is_reached_or_missed(value, bound, at_least, ok):
    assert Target("", value, bound, at_least).ok is ok


@pytest.mark.parametrize(("difference", "ok"), [(0.0, True), (1e-9, True), (1.1e-9, False), (math.nan, False)])
def test_results_agree_up_to_the_limit(difference, ok):
    assert Check("", difference, 1e-9).ok is ok


def test_a_report_is_ok_if_all_results_agree():
    report = make_report()
    assert report.ok
    report.checks.append(Check("c", math.nan, 1.0))
    assert not report.ok


def test_a_missed_target_does_not_fail_the_report():
    report = make_report()
    report.aim("c", 1.0, at_most=0.5)
    assert not report.targets[-1].ok
    assert report.ok


def test_quick_runs_have_no_targets():
    report = new_report("peers", Options(quick=True), "tiny")
    report.aim("b / a", 2.0, at_least=1.5)
    assert report.targets == []


def test_reports_are_found_by_name():
    assert make_report().find("a").seconds == (1.0, 3.0, 2.0)
    assert make_report().find("b") is None


def test_a_report_survives_json():
    report = make_report()
    assert from_mapping(json.loads(json.dumps(report.to_mapping()))) == report


def test_nan_and_infinity_become_null_in_json():
    report = make_report()
    report.checks.append(Check("c", math.nan, 1.0))
    again = from_mapping(json.loads(json.dumps(report.to_mapping(), allow_nan=False)))
    assert math.isnan(again.checks[-1].difference)
    assert not again.ok


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"runs": "2"}, "runs: '2' is not of type int"),
        ({"measurements": [{"name": "a"}]}, "is wrong"),
        ({"measurements": [{"name": "a", "seconds": [], "facts": {}}]}, "no durations"),
        ({"targets": [{"value": 1.0}]}, "is wrong"),
        ({"surplus": 1}, "a report has the fields"),
    ],
)
def test_an_invalid_report_is_refused(change, text):
    with pytest.raises(ReportError, match=text):
        from_mapping(make_report().to_mapping() | change)


def test_a_list_is_not_a_report():
    with pytest.raises(ReportError, match="a report has the fields"):
        from_mapping([])


def test_every_benchmark_can_be_loaded():
    from importlib import import_module

    assert all(callable(import_module(module).run) for module in REGISTER.values())


def test_an_unknown_benchmark_is_an_error():
    with pytest.raises(KeyError):
        run_benchmark("nonsense", Options())

from __future__ import annotations

import pytest

from bench.benchmark import REGISTER, Check, Measurement, Options, new_report
from bench.results import RESULTS, ResultsError, append, belongs, newest, read


def make_report(name="peers", seconds=1.0, **options):
    report = new_report(name, Options(**options), "tiny")
    report.measurements.append(Measurement("a", (seconds,)))
    return report


def test_reports_are_appended_and_read_back(tmp_path):
    path = tmp_path / "results.jsonl"
    first, second = make_report(), make_report("limit", 2.0)
    append([first], path)
    append([second], path)
    assert read(path) == [first, second]
    assert path.read_text(encoding="utf-8").count("\n") == 2


def test_without_a_file_there_are_no_reports_and_no_reports_make_no_file(tmp_path):
    path = tmp_path / "results.jsonl"
    assert read(path) == []
    append([make_report(quick=True)], path)
    assert not path.exists()


def test_quick_wrong_and_empty_reports_are_not_kept():
    wrong = make_report()
    wrong.checks.append(Check("a and b", 1.0, 1e-9))
    empty = new_report("peers", Options(), "tiny")
    assert belongs(make_report())
    assert not any(map(belongs, (wrong, empty, make_report(quick=True))))


def test_the_newest_report_of_each_benchmark_is_used():
    reports = [make_report("limit", 1.0), make_report("peers", 2.0), make_report("limit", 3.0)]
    assert [report.measurements[0].seconds[0] for report in newest(reports)] == [2.0, 3.0]


def test_a_bad_line_is_named(tmp_path):
    path = tmp_path / "results.jsonl"
    append([make_report()], path)
    with path.open("a", encoding="utf-8") as file:
        file.write("{}\n")
    with pytest.raises(ResultsError, match=r"results.jsonl, line 2: a report has the fields"):
        read(path)
    path.write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(ResultsError, match="line 1"):
        read(path)


def test_the_committed_results_are_full_runs_that_agree():
    reports = read()
    assert RESULTS.is_file()
    assert all(map(belongs, reports))
    assert {report.benchmark for report in reports} == set(REGISTER)
    assert all({"date", "commit", "machine", "versions"} <= set(report.provenance) for report in reports)

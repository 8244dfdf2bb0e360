from __future__ import annotations

import pytest

from bench.benchmark import Check, Measurement, Options, new_report
from bench.tables import aligned, count, fact, markdown, seconds, table_of, text_of


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.014134, "0.0141"), (1.0, "1.00"), (12.345, "12.3"), (99.9, "99.9"), (123.456, "123"), (7860.4, "7,860")],
)
def test_durations_have_three_digits(number, text):
    assert seconds(number) == text


@pytest.mark.parametrize(
    ("value", "text"), [("read", "read"), (17_032_324, "17,032,324"), (0.7, "0.700"), (6e-10, "6.0e-10"), (0.0, "0.00")]
)
def test_facts_are_formatted_by_type(value, text):
    assert fact(value) == text


def test_one_is_singular():
    assert (count(1, "run"), count(2, "run")) == ("1 run", "2 runs")


def test_a_table_has_a_column_for_each_fact():
    measurements = [Measurement("a", (1.0, 2.0, 4.0), {"x": 1}), Measurement("b", (1.0,), {"y": "z"})]
    assert table_of(measurements) == [
        ["", "seconds", "min", "max", "x", "y"],
        ["a", "2.00", "1.00", "4.00", "1", ""],
        ["b", "1.00", "1.00", "1.00", "", "z"],
    ]


def test_the_same_table_for_terminals_and_markdown():
    table = [["", "n"], ["long", "1"], ["b", "100"]]
    assert aligned(table) == ["        n", "long    1", "b     100"]
    assert markdown(table) == ["|  | n |", "| --- | ---: |", "| long | 1 |", "| b | 100 |"]


def test_a_report_prints_all_its_parts():
    report = new_report("peers", Options(runs=3, threads=2), "tiny")
    report.measurements.append(Measurement("ours", (1.0,)))
    report.checks += [Check("a and b", 1e-3, 1e-9), Check("a and c", 1e-12, 1e-9)]
    report.problems.append("d: is not installed")
    report.aim("b / a", 30.0, at_least=40)
    report.aim("c / a", 3.0, at_most=4)
    text = text_of(report)
    for part in (
        "peers (rules tiny, 3 runs, 2 threads)",
        "a and b: results differ by 1.0e-03, allowed is 1.0e-09: WRONG",
        "a and c: results differ by 1.0e-12, allowed is 1.0e-09: ok",
        "not measured: d: is not installed",
    ):
        assert part in text
    assert [line.split() for line in text.splitlines()[-2:]] == [
        ["b", "/", "a", "30.0", ">=", "40", "missed"],
        ["c", "/", "a", "3.00", "<=", "4", "ok"],
    ]


def test_a_report_without_measurements_says_so():
    assert "nothing was measured" in text_of(new_report("peers", Options(quick=True), "tiny"))

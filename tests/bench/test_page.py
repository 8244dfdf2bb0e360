from __future__ import annotations

import pytest

from bench.benchmark import REGISTER, Measurement, Options, new_report
from bench.page import COLUMNS, INTRODUCTION, PAGE, TITLES, page_of, update
from bench.results import append, newest, read


def make_report(name, commit="abc"):
    report = new_report(name, Options(threads=2), "notebook")
    facts = dict.fromkeys(COLUMNS[name], 1)
    report.measurements.append(Measurement("the thing", (0.5, 0.25, 1.0), {**facts, "hidden": 2}))
    report.aim("this / that", 50.0, at_least=40)
    machine = {"cpu": "Abacus", "cores": 2}
    report.provenance = {"date": "2030-01-02T", "commit": commit, "machine": machine, "versions": {"numpy": "2"}}
    return report


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page_of(newest(read()))


def test_every_benchmark_has_a_title_and_columns():
    assert set(TITLES) == set(COLUMNS) == set(REGISTER)


@pytest.mark.parametrize("name", REGISTER)
def test_a_page_has_medians_verdicts_and_provenance(name):
    page = page_of([make_report(name)])
    assert "| the thing | 0.500 |" in page
    assert "hidden" not in page
    assert "- this / that: 50.0 (target >= 40, reached)" in page
    assert "Medians of 5 runs on 2030-01-02 at commit abc: Abacus, 2 cores; numpy 2." in page


def test_benchmarks_are_grouped_by_provenance():
    page = page_of([make_report("peers"), make_report("limit"), make_report("startup", "def")])
    assert "- peers, limit: Medians of 5 runs on 2030-01-02 at commit abc" in page
    assert "- startup: Medians of 5 runs on 2030-01-02 at commit def" in page


def test_the_whole_page_is_written_and_only_when_it_changes(tmp_path):
    page, results = tmp_path / "benchmarks.md", tmp_path / "results.jsonl"
    page.write_text("edited by hand\n", encoding="utf-8")
    append([make_report("peers")], results)
    assert update(page, results)
    text = page.read_text(encoding="utf-8")
    assert text.startswith(INTRODUCTION)
    assert "the thing" in text
    assert "by hand" not in text
    assert not update(page, results)

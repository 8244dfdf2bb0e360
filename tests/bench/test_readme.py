from __future__ import annotations

import pytest

from bench.benchmark import REGISTER, Measurement, Options, new_report
from bench.readme import BEGIN, COLUMNS, END, README, TITLES, ReadmeError, replaced, section_of, update
from bench.results import append, newest, read


def make_report(name, commit="abc"):
    report = new_report(name, Options(threads=2), "notebook")
    facts = dict.fromkeys(COLUMNS[name], 1)
    report.measurements.append(Measurement("the thing", (0.5, 0.25, 1.0), {**facts, "hidden": 2}))
    report.promise("this / that", 50.0, at_least=40)
    machine = {"cpu": "Abacus", "cores": 2}
    report.provenance = {"date": "2030-01-02T", "commit": commit, "machine": machine, "versions": {"numpy": "2"}}
    return report


def test_the_readme_is_in_step_with_the_results():
    text = README.read_text(encoding="utf-8")
    assert replaced(text, section_of(newest(read()))) == text


def test_every_benchmark_has_a_title_and_columns():
    assert set(TITLES) == set(COLUMNS) == set(REGISTER)


@pytest.mark.parametrize("name", REGISTER)
def test_a_section_tells_medians_verdicts_and_circumstances(name):
    section = section_of([make_report(name)])
    assert "| the thing | 0.500 |" in section
    assert "hidden" not in section
    assert "- this / that: 50.0 (target >= 40, reached)" in section
    assert "Medians of 5 runs on 2030-01-02 at commit abc: Abacus, 2 cores; numpy 2." in section


def test_different_circumstances_are_told_apart():
    section = section_of([make_report("peers"), make_report("limit"), make_report("startup", "def")])
    assert "- peers, limit: Medians of 5 runs on 2030-01-02 at commit abc" in section
    assert "- startup: Medians of 5 runs on 2030-01-02 at commit def" in section


def test_only_what_is_between_the_comments_changes():
    text = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    new = replaced(text, "new")
    assert new == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
    assert replaced(new, "new") == new


@pytest.mark.parametrize("text", ["", BEGIN, END])
def test_a_missing_comment_is_named(text):
    with pytest.raises(ReadmeError, match="is missing"):
        replaced(text, "new")


def test_update_changes_what_is_out_of_step(tmp_path):
    readme, results = tmp_path / "README.md", tmp_path / "results.jsonl"
    readme.write_text(f"{BEGIN}\n{END}\n", encoding="utf-8")
    append([make_report("peers")], results)
    assert update(readme, results)
    assert "the thing" in readme.read_text(encoding="utf-8")
    assert not update(readme, results)

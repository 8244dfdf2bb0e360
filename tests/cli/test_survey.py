from __future__ import annotations

import csv
import re

import pytest

from punish_fast.arena.survey import studies

GRID = 'base = "tiny"\n[grid]\nhp = [1, 2]\n'
ENDLESS = 'base = "tiny"\n[grid]\nhp = [1]\ndamage = [[0, 0, 0, 0, 0]]\n'


@pytest.fixture(autouse=True)
def _grid(folder):
    (folder / "survey.toml").write_text(GRID, encoding="utf-8")


def test_a_survey_is_printed_kept_and_resumed(run, folder, monkeypatch):
    done = run("survey", "survey.toml", "--equilibrium")
    assert done.code == 0, done.err
    assert "\none more card in the opening hand (points), agent\n" in done.out
    assert "\none more card in the opening hand (points), equilibrium\n" in done.out
    assert "2 points, 2 still to be studied; results in survey-results.jsonl" in done.err
    assert done.then == "punish-fast survey survey.toml --equilibrium --plot survey.png"
    assert all(words in done.out for words in ("breaths per", "exploitability", "(points)", "first redeal", "(%)"))
    assert (folder / "survey-results.jsonl").read_text(encoding="utf-8").count("\n") == 4
    monkeypatch.setattr(studies, "study_agent", None)
    assert run("survey", "survey.toml", "--csv", "t.csv").then.endswith(" survey.toml --csv t.csv --equilibrium")
    again = run("survey", "survey.toml", "--json", "--csv", "t.csv").report
    assert (again["studied"], again["cluster"], again["iterations"]) == (0, None, None)
    assert [point["changes"] for point in again["points"]] == [{"hp": 1}, {}]
    with (folder / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["length"]) for row in rows] == [point["agent"]["length"] for point in again["points"]]


def test_a_point_without_a_result_ends_with_1(run, folder):
    (folder / "survey.toml").write_text(ENDLESS, encoding="utf-8")
    done = run("survey", "survey.toml", "-q")
    assert done.code == 1
    assert "error: 1 of 1 point could not be studied\n" in done.err
    assert "duel: not converged" in done.out
    # That is known now, and still a failure.
    assert run("survey", "survey.toml", "-q").code == 1


def test_an_interrupt_says_what_is_kept(run, monkeypatch):
    study, calls = studies.study_agent, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return study(*arguments)

    monkeypatch.setattr(studies, "study_agent", interrupted)
    done = run("survey", "survey.toml")
    assert done.code == 130
    assert "survey-results.jsonl contains the results of all finished jobs; repeat the command to resume" in done.err
    assert run("survey", "survey.toml", "--json").report["studied"] == 1


def test_an_equilibrium_is_told_once_for_all_points_of_a_game(run, folder):
    (folder / "survey.toml").write_text('base = "tiny"\nenemies = ["random", "careful"]\n[grid]\nhp = [1]\n')
    out = run("survey", "survey.toml", "-q", "--equilibrium").out
    before, after = out.split("\nequilibrium\n", 1)
    assert before.count("hp=1 enemy=careful") > 1
    assert "enemy" not in after
    assert len(re.findall(r"^ *hp=1\b", after, re.MULTILINE)) == 4


@pytest.mark.parametrize(
    ("grid", "options", "text"),
    [
        ("hp = 3", (), "survey.toml: unknown key 'hp'; the keys are base"),
        (GRID, ("--cluster", "here"), "--cluster: 'here' is not allowed"),
        ('enemies = ["nobody"]', (), "survey.toml: 'nobody': no such file"),
    ],
)
def test_what_is_wrong_is_told_before_any_work(run, folder, grid, options, text):
    (folder / "survey.toml").write_text(grid, encoding="utf-8")
    run("survey", "survey.toml", "-q", *options).refused(text)

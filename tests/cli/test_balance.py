from __future__ import annotations

import re
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest

from cli.conftest import run_apart
from punish_fast.arena.survey import balance as study
from punish_fast.arena.survey.results_file import Outcome

TINY = ("balance", "--base", "tiny")


def test_a_change_is_put_beside_the_standard_rules(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    done = run(*TINY, "--set", "damage.strike=3", "--restore", "--time", "100", "-q")
    assert done.code == 0, done.err
    assert done.out.split("\n\n")[-1].startswith("Not balanced: one more strike in hand is worth +")
    assert "With damage.strike=3 instead of 2, one more " in " ".join(done.out.split())
    said = " ".join(done.out.split())
    assert re.search(r"\* With .* None of the changes tried restores the balance\. [\d]+ changes tried, ", said)
    assert " further changes screened. Not tried (the most promising first): none." in said
    assert said.endswith(" None of the changes tried restores the balance.")
    assert max(map(len, done.out.splitlines())) <= 80


def test_the_next_command_has_the_time_that_was_advised(run, monkeypatch):
    whole = study.balance

    def early(*arguments, n=4, **options):
        found = whole(*arguments, **options)
        changed = found.changed.result | {"iterations": n, "length": None, "exploitability": None, "needed": 41.0}
        return replace(found, changed=Outcome(changed))

    monkeypatch.setattr(study, "balance", early)
    done = run(*TINY, "--set", "damage.strike=3", "--threads", "1")
    assert done.then == ("punish-fast balance --set damage.strike=3 --base tiny --threads 1 --restore --time 170")
    assert re.search(r"breaths per game +2\.\d+ +- +-\n", done.out)
    assert "-: not measured before the time limit" in done.out
    assert "exploitability  not measured: time limit" in done.out
    assert not re.search(r"^ *reason", done.out, re.MULTILINE)
    monkeypatch.setattr(study, "balance", partial(early, n=1))
    done = run(*TINY, "--set", "damage.strike=3", "--plot", "b.svg")
    assert "try --time 50." in done.out.split("Undecided: ")[1]
    assert re.search(r"^ *balanced +undecided$", done.out, re.MULTILINE)
    assert done.then == "punish-fast balance --set damage.strike=3 --base tiny --plot b.svg --time 50"


def test_rules_come_from_a_file(run, folder):
    fields = "copies = [1, 2, 1, 2, 1]\nhand_size = 2\nreveal_size = 1\nhp = 2\nbreaths = 2\nhealing = 0\n"
    (folder / "house.toml").write_text(fields, encoding="utf-8")
    report = run(*TINY, "house.toml", "--set", "hp=1", "--json").report
    assert report["change"] == "hp=1 instead of 2, healing=0 instead of 1"
    assert run("balance", "--base", "house.toml", "--set", "hp=1", "--json").report["base"]["rules"] == "house"


def test_opening_hands_have_values_under_a_file_of_rules(run, folder):
    (folder / "house.toml").write_text('base = "tiny"\ndamage = { strike = 3 }\n', encoding="utf-8")
    done = run("openings", "--rules", "house.toml", "--json")
    assert (done.report["file"], sum(done.report["hands"][0]["hand"].values())) == ("naive", 2)
    run("openings", "veteran", "--rules", "house.toml").refused(
        "veteran: plays only under the standard rules, not house"
    )


def test_all_changes_are_applied_before_the_rules_are_checked(run):
    for changes in (("copies.strike=1", "copies.dodge=2"), ("copies.dodge=2", "copies.strike=1")):
        options = [word for change in changes for word in ("--set", change)]
        assert run(*TINY, *options, "-q", "--json").report["change"] == (
            "copies.dodge=2 instead of 1, copies.strike=1 instead of 2"
        )


def test_a_game_that_cannot_be_studied_is_a_failure(run, monkeypatch):
    good, bad = SimpleNamespace(reason=None), SimpleNamespace(reason="duel: not converged", is_final=True)
    for found, which in (
        (SimpleNamespace(standard=good, changed=bad), "changed"),
        (SimpleNamespace(standard=bad, changed=good), "base"),
    ):
        monkeypatch.setattr(study, "balance", lambda *_args, found=found, **_options: found)
        done = run(*TINY, "--set", "hp=1")
        done.refused(f"the game under the {which} rules could not be studied: duel: not converged", code=1)


def test_a_verdict_needs_only_the_changed_rules(run, monkeypatch):
    whole = study.balance

    def late(*arguments, **options):
        return replace(whole(*arguments, **options), standard=Outcome(None, "the time limit has passed", False))

    monkeypatch.setattr(study, "balance", late)
    report = run(*TINY, "--set", "damage.strike=3", "-q", "--json").report
    assert (report["base"]["reason"], report["changed"]["balanced"]) == ("the time limit has passed", False)
    done = run(*TINY, "--set", "damage.strike=3", "-q")
    assert (done.code, done.out.split("\n\n")[-1][:13]) == (0, "Not balanced:")
    assert re.search(r"breaths per game +- +\d\.\d\d +-\n", done.out)
    assert "warning: the game under the base rules could not be studied: the time limit has passed" in done.err


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("more", [(), ("--restore",)])
@pytest.mark.usefixtures("folder")
def test_the_time_limit_holds_on_a_busy_machine(more):
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    began = time.monotonic()
    try:
        done = run_apart("balance", "--set", "damage.strike=3", "--time", "40", *more)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    assert time.monotonic() - began <= 1.25 * 40 + 10
    if done.code == 0:
        assert re.match("Not balanced: |Undecided: ", done.out.split("\n\n")[-1])
    else:
        done.refused("could not be studied: the time limit of 40 s has passed", code=1)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--base", "tabltop"), "--base: 'tabltop' is neither a preset"),
        ((), "no rule is changed; name other rules, or change a field with --set"),
        (("--set", "hp=11"), "--set: hp is 11; it must be a whole number from 1 to 9"),
        (("--set", "damage=[0,1,0,2,3]", "--set", "damage.strike=4"), "--set: damage.strike is set twice"),
        (("--set", "hp=1", "--set", '"hp"=2'), "--set: a field is set twice in 'hp=1, \"hp\"=2'"),
        (("--set", "redeal=discard"), "--set: redeal cannot be changed"),
        (("--set", "hp=1", "--plot", "x.eps"), "it must be .png, .svg or .pdf"),
    ],
)
def test_what_is_wrong_is_told_before_any_work(run, options, text):
    run(*TINY, *options).refused(text)

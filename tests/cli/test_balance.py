"""``balance``: what it says, keeps and refuses."""

from __future__ import annotations

import pytest

TINY = ("balance", "--base", "tiny")


def test_a_change_is_put_beside_the_standard_rules(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    done = run(*TINY, "--set", "damage.strike=3", "--iterations", "2", "-q")
    assert done.code == 0, done.err
    first = done.out.split("\n\n")[0].replace("\n", " ")
    assert first.startswith("With damage.strike=3 instead of 2, one more ")
    assert "equilibrium play after 2 iterations" in done.out.replace("\n", " ")
    assert max(map(len, done.out.splitlines())) <= 80


def test_results_are_shared_with_other_changes(run, folder):
    for change, n_files in (("damage.strike=3", 2), ("hp=1", 3)):
        report = run(*TINY, "--set", change, "--no-equilibrium", "--results", "kept", "--json").report
        assert len(list((folder / "kept").iterdir())) == n_files
        assert report["play"] == "naive against itself"
    assert report["change"] == "hp=1 instead of 2"


def test_kept_results_need_no_cluster(run, monkeypatch):
    pytest.importorskip("distributed")
    question = (*TINY, "--set", "hp=1", "--no-equilibrium", "--results", "kept", "--json")
    first = run(*question).report
    monkeypatch.setenv("PUNISH_FAST_CLUSTER", "tcp://127.0.0.1:9")
    again = run(*question).report
    assert (again["cluster"], again["measures"]) == (None, first["measures"])


def test_rules_come_from_a_file(run, folder):
    fields = "copies = [1, 2, 1, 2, 1]\nhand_size = 2\nreveal_size = 1\nhp = 2\nbreaths = 2\nhealing = 0\n"
    (folder / "house.toml").write_text(fields, encoding="utf-8")
    report = run(*TINY, "house.toml", "--set", "hp=1", "--no-equilibrium", "--json").report
    assert report["change"] == "hp=1 instead of 2, healing=0 instead of 1"


def test_a_game_that_never_ends_is_a_failure(run):
    done = run(*TINY, "--set", "damage=[0, 0, 0, 0, 0]", "--no-equilibrium", "-q")
    done.refused("the game of the changed rules could not be studied: duel: not converged", code=1)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ((), "nothing is changed; name other rules, or change a field by --set"),
        (("--set", "hp=2"), "nothing is changed"),
        (("--set", "hp=11"), "--set: hp is 11, allowed are whole numbers from 1 to 9"),
        (("--set", "hp=1", "--set", "hp = 2"), "--set: hp is set twice, allowed is each field once"),
        (("--set", "damage=[0,1,0,2,3]", "--set", "damage.strike=4"), "--set: damage.strike is set twice"),
        (("--set", "strike"), "--set: 'strike' is no change"),
        (("--set", "redeal=discard"), "--set: redeal is not allowed"),
        (("none.toml",), "'none.toml' is neither a preset"),
        (("--set", "hp=1", "--no-equilibrium", "--iterations", "2"), "exclude each other"),
        (("--set", "hp=1", "--cluster", "here"), "--cluster: 'here' is not allowed"),
        (("--set", "hp=1", "--plot", "x.pdf"), "allowed are .png and .svg"),
    ],
)
def test_what_is_wrong_is_told_before_any_work(run, options, text):
    run(*TINY, *options).refused(text)

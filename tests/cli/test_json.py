"""``--json``: the keys of every verb are documented, and no number is one that other programs would round."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from cli.commands import EXAMPLES, all_verbs, make_files

DOCS = Path(__file__).parents[2] / "docs"
# Objects whose keys are names of agents, cards, stages, rules, players or datasets, or options of a method.
BY_NAME = {
    *(
        "agents",
        "rules",
        "exploiters",
        "fields",
        "shapes",
        "seconds",
        "cards",
        "enemy_holds_one",
        "in_hand",
        "plays",
        "changes",
        "revealed",
    ),
    *(
        "kept",
        "hand",
        "discard",
        "methods",
        "models",
        "variant",
        "packages",
        "checks",
        "origin",
        "position",
        "enemy",
        "rounds",
    ),
    *("rejected_by_kind", "warnings_by_kind", "counts", "shares", "possible", "when_possible", "given_up", "training"),
}
NEEDS = {"enemy pawnn": "jax", "records plot": "matplotlib", "serve": "fastapi"}


def test_every_verb_has_an_example():
    assert all_verbs().keys() == EXAMPLES.keys()


@pytest.fixture(scope="module")
def made(_files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    make_files(_files, tmp_path_factory, folder)
    return folder


def keys_of(report: Any) -> set[str]:
    """The keys of an object and of those in it, but for names of things."""
    if isinstance(report, list):
        return set().union(*map(keys_of, report)) if report else set()
    if not isinstance(report, dict):
        return set()
    inner = [keys_of(value) for key, value in report.items() if key not in BY_NAME]
    return set(report).union(*inner)


def numbers_of(report: Any) -> list[float]:
    if isinstance(report, dict):
        report = list(report.values())
    if isinstance(report, list):
        return [number for value in report for number in numbers_of(value)]
    return [report] if isinstance(report, int | float) else []


# Warmup runs small commands of every other verb.
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "warmup")) for name in EXAMPLES]
)
def test_the_keys_of_a_verb_are_documented(run, say, made, monkeypatch, name):
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"needs {NEEDS[name]}")
    monkeypatch.chdir(made)
    say(*["1"] * 200)
    report = run(*name.split(), *EXAMPLES[name], "--json", "-q").report
    pages = [page.read_text(encoding="utf-8") for page in DOCS.glob("*.md")]
    shown = [page for page in pages if f"punish-fast {name.split()[0]}" in page]
    documented = set(re.findall(r"`(\w+)`", "".join([*shown, (DOCS / "json.md").read_text(encoding="utf-8")])))
    assert keys_of(report) - documented == set()
    assert [number for number in numbers_of(report) if abs(number) > 2**53] == []

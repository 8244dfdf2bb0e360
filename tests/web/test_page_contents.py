"""What the files of the page hold: what a strict content security policy and a package without a build step ask."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np

import punish_fast
from punish_fast.duel.breath import CARD
from punish_fast.play.explain.guide import clash_reason
from punish_fast.punish.card_looks import CARD_LOOKS
from punish_fast.punish.clash import clash_effects
from punish_fast.punish.rules import CARDS, PRESETS, RESOLVED

FOLDER = Path(punish_fast.__file__).parent / "web" / "page"
FILES = sorted(path.name for path in FOLDER.iterdir())
SCRIPTS = [name for name in FILES if name.endswith(".js")]
# The one address that is a name, not a place.
NAMESPACE = "http://www.w3.org/2000/svg"


def text_of(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def test_the_page_has_no_script_or_style_of_its_own():
    tags = re.findall(r"<(\w+)([^>]*)>", text_of("index.html"))
    assert all(" src=" in attributes for tag, attributes in tags if tag == "script")
    assert "style" not in [tag for tag, _ in tags]
    assert not [attributes for _, attributes in tags if re.search(r"\s(style|on\w+)=", attributes)]


def test_every_file_that_is_asked_for_is_there_and_every_file_is_asked_for():
    asked = set(re.findall(r'(?:src|href)="(?:page/)?([^"#][^"]*)"', text_of("index.html")))
    for name in SCRIPTS:
        asked |= set(re.findall(r'from "\./([^"]+)"', text_of(name)))
    assert asked | {"index.html"} == set(FILES)


def test_no_file_names_another_host():
    for name in FILES:
        text = text_of(name).replace(NAMESPACE, "")
        assert re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s\"'`]*", text) == [], name


def test_no_script_makes_markup_or_code_of_text():
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setAttribute\(\"style"
    for name in SCRIPTS:
        assert re.findall(forbidden, text_of(name)) == [], name


def test_cards_have_the_colors_of_the_plots():
    css = text_of("cards.css")
    for card, look in zip(CARDS, CARD_LOOKS, strict=True):
        assert f"--{card}: {look.color};" in css


def test_every_file_is_answered_with_its_type(client):
    kind = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
    for name in FILES:
        path = "/" if name == "index.html" else f"/page/{name}"
        answer = client.get(path)
        assert answer.content == (FOLDER / name).read_bytes(), name
        assert answer.headers["content-type"].startswith(kind.get(Path(name).suffix, "")), name
        again = client.get(path, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b""), name


def test_the_measure_of_the_lesson_follows_the_rules():
    rules, taken = PRESETS["tabletop"], clash_effects(PRESETS["tabletop"]).taken
    (text,) = re.findall(r"const STEPS = (\[\n.*?\n\]);", text_of("learn.js"), re.DOTALL)
    steps = json.loads(text)
    must_rest = False
    for step, after in pairwise(steps[:-1]):
        state = {key: step[key] for key in ("breath", "hp", "hand", "discard", "cards", "deck")}
        if "play" in step:
            own, enemy, *drawn = step["play"]
            assert (enemy == "rest") == must_rest
            must_rest = enemy == "punish"
            cards = [RESOLVED.index(card) - 1 for card in (*drawn, own, enemy)]
            clash = cards[0], cards[-1]
            assert step["reason"] == clash_reason(rules, *(card % 6 for card in clash))
            state["hp"] = [hp - int(taken[pair]) for hp, pair in zip(step["hp"], (clash, clash[::-1]), strict=True)]
            state["hand"] = (np.array(step["hand"]) - CARD[cards[-2]]).tolist()
            state["discard"] = (np.array(step["discard"]) + CARD[cards].sum(axis=0)).tolist()
            state |= {"cards": step["cards"] - (enemy != "rest"), "deck": step["deck"] - len(drawn)}
            state["breath"] = min(step["breath"] + 1, rules.breaths)
        assert state.items() <= after.items()
    last, new = steps[-2:]
    assert [step["breath"] for step in steps if "play" in step] == [1, 2, 3, 4]
    assert new["hp"] == [min(hp + rules.healing, rules.hp) for hp in last["hp"]]
    for step in (steps[0], new):
        sizes = sum(step["hand"]), sum(step["discard"]), step["cards"], step["deck"]
        assert sizes == (rules.hand_size, rules.reveal_size, rules.hand_size, rules.deck_size)
    # Cards in hand are kept, and the cards that nobody has played are in the other hand or in the deck.
    assert all(np.array(new["hand"]) >= last["hand"])
    for step in steps:
        unseen = np.array(rules.copies) - step["hand"] - step["discard"]
        assert (unseen.min() >= 0, unseen.sum()) == (True, step["cards"] + step["deck"])

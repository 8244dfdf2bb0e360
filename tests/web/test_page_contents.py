"""What the files of the page hold: what a strict content security policy and a package without a build step ask."""

from __future__ import annotations

import re
from pathlib import Path

import punish_fast
from punish_fast.punish.card_looks import CARD_LOOKS
from punish_fast.punish.rules import CARDS

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


def test_cards_have_the_colours_of_the_plots():
    css = text_of("cards.css")
    for card, look in zip(CARDS, CARD_LOOKS, strict=True):
        assert f"--{card}: {look.colour};" in css


def test_every_file_is_answered_with_its_type(client):
    kind = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
    for name in FILES:
        path = "/" if name == "index.html" else f"/page/{name}"
        answer = client.get(path)
        assert answer.content == (FOLDER / name).read_bytes(), name
        assert answer.headers["content-type"].startswith(kind.get(Path(name).suffix, "")), name
        again = client.get(path, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b""), name

"""The page: its files are answered by name, and only once."""

from __future__ import annotations

import re
from pathlib import Path

from punish_fast.web import app

FOLDER = Path(app.__file__).parent / "page"
FILES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file())


def test_every_file_is_answered_with_its_type(client):
    kind = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
    for name in FILES:
        answer = client.get(f"/page/{name}")
        assert answer.content == (FOLDER / name).read_bytes(), name
        assert answer.headers["content-type"].startswith(kind.get(Path(name).suffix, "")), name
        again = client.get(f"/page/{name}", headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b""), name


def test_the_page_loads_only_what_is_there(client):
    texts = {name: (FOLDER / name).read_text(encoding="utf-8") for name in FILES if not name.endswith((".png", ".svg"))}
    named = re.findall(r'(?:src|href)="(page/[^"]*)"', client.get("/").text)
    assert named
    for name, text in texts.items():
        named += [f"page/{file}" for file in re.findall(r'from "\./([^"]+)"', text)]
        assert not re.search(r"https?://(?!www\.w3\.org)", text), name
    assert {path for path in named if client.get(path).status_code != 200} == set()


def test_no_script_or_style_is_inline():
    text = (FOLDER / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|\sstyle=", text)

"""The page of all routes names every route, and loads nothing from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path


def test_every_route_is_on_the_page(client):
    page, description = client.get("/docs").text, client.get("/openapi.json").json()
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            assert f"<code>{method.upper()} {path}</code>" in page
            assert all(f"<code>{each['name']}</code>" in page for each in operation.get("parameters", ()))
    assert "<code>n_events</code>" in page


def test_every_route_is_documented(client):
    text = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        assert all(f"`{method.upper()} {path}`" in text for method in operations), path


def test_the_page_is_plain(client):
    page = client.get("/docs").text
    assert "<script" not in page
    links = re.findall('(?:href|src)="([^"]*)"', page)
    assert {client.get(f"/{link}").status_code for link in links} == {200}


def test_every_route_is_described(client):
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        for operation in operations.values():
            assert operation["description"].endswith("."), path
            assert {"404", "422", "429"} <= set(operation["responses"])

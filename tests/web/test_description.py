"""The OpenAPI description and docs/serving.md name every route."""

from __future__ import annotations

from pathlib import Path


def test_every_route_is_documented(client):
    text = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        assert all(f"`{method.upper()} {path}`" in text for method in operations), path


def test_every_route_is_described(client):
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        for operation in operations.values():
            assert operation["description"].endswith("."), path
            assert {"404", "422", "429"} <= set(operation["responses"])

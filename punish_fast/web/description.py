"""A plain page of all routes, made from the OpenAPI description."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.responses import HTMLResponse

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Routes of punish-fast</title>
<link rel="stylesheet" href="page/base.css">
</head>
<body>
<main>
<h1>Routes</h1>
<p>Answers and bodies are JSON. <a href="openapi.json">The same as OpenAPI</a>, for programs.
<a href="./">To the game</a></p>
"""


def description_routes(app: FastAPI) -> APIRouter:
    """The route ``/docs``."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/docs")
    async def docs() -> HTMLResponse:
        return HTMLResponse("".join(_page(app.openapi())))

    return routes


def _page(description: dict[str, Any]) -> Iterator[str]:
    yield _HEAD
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            yield f"<h2><code>{method.upper()} {escape(path)}</code></h2>\n<p>{escape(operation['description'])}</p>\n"
            fields = [*map(_parameter, operation.get("parameters", ())), *_body(description, operation)]
            if fields:
                yield "<ul>\n" + "".join(f"<li>{field}</li>\n" for field in fields) + "</ul>\n"
    yield "</main>\n</body>\n</html>\n"


def _parameter(parameter: dict[str, Any]) -> str:
    need = "" if parameter.get("required") else ", may be left out"
    return _field(parameter["name"], f"{parameter['in']}{need}", parameter)


def _field(name: str, where: str, its: dict[str, Any]) -> str:
    return f"<code>{escape(name)}</code> ({where}) {escape(its.get('description', ''))}"


def _body(description: dict[str, Any], operation: dict[str, Any]) -> Iterator[str]:
    """The fields of a body that is an object."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    schema = description.get("components", {}).get("schemas", {}).get(name, {})
    for field, its in schema.get("properties", {}).items():
        need = "" if field in schema.get("required", ()) else ", may be left out"
        yield _field(field, f"body{need}", its)

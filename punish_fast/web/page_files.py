"""The page: its files, read once when the server starts."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Header, HTTPException, Response

_FOLDER = Path(__file__).parent / "page"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
}


def page_routes() -> APIRouter:
    """Return the routes ``/`` and ``/page/...``. Names are looked up in a dictionary, never in the file system."""
    files = {
        path.relative_to(_FOLDER).as_posix(): (path.read_bytes(), _TYPES[path.suffix])
        for path in sorted(_FOLDER.rglob("*"))
        if path.suffix in _TYPES
    }
    tags = {name: f'"{blake2b(content, digest_size=8).hexdigest()}"' for name, (content, _) in files.items()}
    routes = APIRouter(include_in_schema=False)

    def answer(name: str, known: str | None) -> Response:
        if name not in files:
            raise HTTPException(404, "page: has no such file")
        headers = {"ETag": tags[name], "Cache-Control": "no-cache"}
        if known == tags[name]:
            return Response(status_code=304, headers=headers)
        content, kind = files[name]
        return Response(content, headers=headers, media_type=kind)

    @routes.get("/")
    async def index(if_none_match: Annotated[str | None, Header()] = None) -> Response:
        return answer("index.html", if_none_match)

    @routes.get("/page/{name:path}")
    async def file(name: str, if_none_match: Annotated[str | None, Header()] = None) -> Response:
        return answer(name, if_none_match)

    return routes

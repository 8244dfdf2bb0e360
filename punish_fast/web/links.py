"""Links that open a recorded game or a position on the page, with tags for a preview in messages and on other sites.

The page's own addresses differ only in their fragment, which browsers do not send. The tags follow the Open Graph
protocol (ogp.me). They need absolute addresses. Their host is checked by `guard`, so requests cannot choose another.
"""

from collections.abc import Collection
from functools import partial
from html import escape
from urllib.parse import urlsplit

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse

from punish_fast.arena.built_in_players import person_of
from punish_fast.play.punish.presentation import PunishPresentation
from punish_fast.punish.card_looks import draw_cards
from punish_fast.punish.codes import drawn_rows, from_decimal, layout_of
from punish_fast.web.game_database import GameDatabase, can_draw, drawn
from punish_fast.web.games import GameId
from punish_fast.web.limits import costs
from punish_fast.web.player_registry import StateCode
from punish_fast.web.workers import Workers

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
{tags}
<meta http-equiv="refresh" content="0; url={target}">
</head>
<body><p><a href="{target}">{title}</a></p></body>
</html>
"""


def link_routes(database: GameDatabase, names: Collection[str], workers: Workers) -> APIRouter:
    """Return the routes under ``/links`` and ``/positions``.

    Args:
        database: Database of recorded games. Positions follow its rules.
        names: Host names under which a proxy serves the page.
        workers: Worker threads.
    """
    routes = APIRouter(tags=["links"])
    layout, presentation = layout_of(database.rules), PunishPresentation(database.rules)

    @routes.get("/positions/{code}.svg", response_class=Response)
    async def drawing(code: StateCode) -> Response:
        """Return a drawing of a position of Punish as SVG."""
        return Response(from_decimal(layout, int(code)).to_svg(), media_type="image/svg+xml")

    @routes.get("/positions/{code}.png", response_class=Response, dependencies=[costs(19)])
    async def picture(code: StateCode) -> Response:
        """Return a drawing of a position of Punish as PNG, if the server can draw plots."""
        rows = drawn_rows(from_decimal(layout, int(code)))
        if not can_draw():
            raise HTTPException(404, "positions: matplotlib is not installed; use .svg, or: pip install matplotlib")
        content = await workers.run("drawer", lambda: drawn("position.png", partial(draw_cards, rows)))
        return Response(content, media_type="image/png")

    @routes.get("/links/positions/{code}", response_class=Response)
    async def position_link(code: StateCode, request: Request) -> Response:
        """Return a document that opens a position on the page as a question, with tags for a preview."""
        words = presentation.state(from_decimal(layout, int(code)))["words"]
        return _document(request, names, "Punish: what do you play?", words, code, f"position/{code}")

    @routes.get("/links/games/{game}", response_class=Response)
    async def game_link(game: GameId, request: Request) -> Response:
        """Return a document that opens a recorded game on the page, with tags for a preview."""
        found = await workers.run("reader", lambda: database.game(game))
        winner, loser = (person_of(side.name, side.is_bot) for side in (found.winner, found.loser))
        words = "All choices of the game, with the best choice and the win probability in each position."
        # The last position of the winner.
        last = next((f"{state:018d}" for state in found.winner.states[-1:]), None)
        return _document(request, names, f"{winner} beat {loser} at Punish", words, last, f"review/{game}")

    return routes


def _document(
    request: Request, names: Collection[str], title: str, words: str, code: str | None, fragment: str
) -> HTMLResponse:
    """Return a document that opens the page at a fragment. Its preview shows the position ``code``, if there is one."""
    base = _base_of(request, names)
    tags = {"og:type": "website", "og:url": f"{base}{request.scope['path']}"}
    tags |= {"og:site_name": "Punish", "og:title": title, "og:description": words}
    if code is not None and can_draw():
        tags |= {"og:image": f"{base}/positions/{code}.png", "og:image:alt": words}
        tags |= {"og:image:width": "1200", "og:image:height": "630", "twitter:card": "summary_large_image"}
    shown = "\n".join(f'<meta property="{name}" content="{escape(text)}">' for name, text in tags.items())
    # A proxy may serve the page under a prefix, so the address must be relative.
    return HTMLResponse(_PAGE.format(title=escape(title), tags=shown, target=f"../../#/{fragment}"))


def _base_of(request: Request, names: Collection[str]) -> str:
    """Return scheme and host of absolute addresses: the request's host, or a name of the proxy if it is not one."""
    host = request.headers["host"]
    if names and urlsplit(f"//{host}").hostname not in names:
        host = min(names)
        host = f"[{host}]" if ":" in host else host
    return f"{request.scope['scheme']}://{host}"

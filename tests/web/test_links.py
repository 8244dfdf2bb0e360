"""Links with previews, and pictures of positions."""

from __future__ import annotations

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient
from playing import some_games
from serving import BASE, TINY, config_of

from punish_fast.punish.states.space import StateSpace
from punish_fast.records.importing import import_logs
from punish_fast.records.logs import write_log
from punish_fast.web.app import create_app

CODE = "100011200220000010"
(GAME,) = some_games(1, seed=3, names=("Ann", "<Ben>"), rules=TINY)
FOLLOWED = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("links")
    (folder / "log.json").write_text(write_log([GAME]), encoding="utf-8")
    import_logs(StateSpace(TINY), [folder / "log.json"], folder / "games.db")
    config = config_of("naive", database=folder / "games.db", proxied=frozenset({"games.example.org"}))
    # Links need no agent, so none is opened.
    return TestClient(create_app(config), base_url=BASE)


def tags_of(answer):
    """The tags of a preview and the address that is opened."""
    assert answer.status_code == 200, answer.text
    found = dict(re.findall('<meta property="([a-z:]+)" content="([^"<>]*)">', answer.text))
    return {name: unescape(text) for name, text in found.items()}, re.search('url=([^"]+)">', answer.text)[1]


def test_a_link_of_a_game_names_the_players_and_opens_the_review(client):
    tags, opened = tags_of(client.get(f"/links/games/{GAME.id}"))
    winner, loser = GAME.winner, GAME.loser
    assert tags["og:title"] == f"{winner.name} beat {loser.name} at Punish"
    assert tags["og:description"].startswith("All choices of the game")
    assert opened == f"../../#/review/{GAME.id}"
    # The picture shows what the winner saw in the last breath.
    path = f"/positions/{winner.states[-1]:018d}.png"
    assert tags["og:image"] == f"http://games.example.org{path}"
    assert client.get(path).content.startswith(b"\x89PNG")


def test_a_link_of_a_position_describes_it(client):
    tags, opened = tags_of(client.get(f"/links/positions/{CODE}"))
    assert tags["og:description"].startswith("Breath 1 of 2: you have 2 hearts")
    assert opened == f"../../#/position/{CODE}"
    assert client.get("/links/positions/100099200220000010").status_code == 422


@pytest.mark.parametrize(
    ("host", "base"),
    [
        ("127.0.0.1:8000", "http://games.example.org"),
        ("games.example.org:8443", "http://games.example.org:8443"),
        ("[::1]:8000", "http://games.example.org"),
    ],
)
def test_addresses_have_an_allowed_name(client, host, base):
    tags, _ = tags_of(client.get(f"/links/positions/{CODE}", headers={"host": host}))
    assert tags["og:url"] == f"{base}/links/positions/{CODE}"
    assert tags["og:image"] == f"{base}/positions/{CODE}.png"


def test_without_a_proxy_addresses_have_the_host_of_the_request():
    client = TestClient(create_app(config_of("naive")), base_url=BASE)
    assert tags_of(client.get(f"/links/positions/{CODE}"))[0]["og:url"] == f"{BASE}/links/positions/{CODE}"
    assert client.get(f"/links/positions/{CODE}", headers={"host": "evil.example"}).status_code == 421


def test_other_sites_may_link_to_links_but_not_read_other_routes(client):
    assert client.get(f"/links/games/{GAME.id}", headers=FOLLOWED).status_code == 200
    for path in (f"/games/{GAME.id}", f"/positions/{CODE}.svg", f"/positions/{CODE}.png", "/linksx"):
        assert client.get(path, headers=FOLLOWED).status_code == 403, path
    assert client.get(f"/links/games/{GAME.id}", headers=FOLLOWED | {"sec-fetch-mode": "cors"}).status_code == 403


def test_an_unknown_game_leads_a_browser_to_the_page(client):
    answer = client.get("/links/games/7", headers={"accept": "text/html"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "../../#/nowhere")
    assert client.get("/links/games/7").json() == {"detail": "game 7 is not in the database"}


def test_without_matplotlib_there_are_only_drawings(client, monkeypatch):
    monkeypatch.setattr("punish_fast.web.game_database.find_spec", lambda _: None)
    tags, _ = tags_of(client.get(f"/links/positions/{CODE}"))
    assert not any(name.startswith(("og:image", "twitter:")) for name in tags)
    assert "matplotlib is not installed" in client.get(f"/positions/{CODE}.png").json()["detail"]
    assert client.get(f"/positions/{CODE}.svg").text.count(">strike</text>") == 2


def test_positions_are_drawn(client):
    answer = client.get("/positions/100011200220000010.svg")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    assert answer.text.count(">strike</text>") == 2
    for code, reason in (("100099200220000010", "state code 100099200220000010: "), ("7", "code: ")):
        answer = client.get(f"/positions/{code}.svg")
        assert answer.status_code == 422
        assert answer.json()["detail"].startswith(reason)

"""Who may ask: this server's own page, and what no page sent."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from fastapi import HTTPException
from fastapi.testclient import TestClient
from serving import BASE, TINY

from punish_fast.web import app, limits
from punish_fast.web.app import ServerConfig, create_app
from punish_fast.web.guard import HostError, host_name
from punish_fast.web.limits import Client, Limits, Meter


def test_addresses_and_localhost_are_answered_and_rebound_names_are_not(client):
    for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "a@127.0.0.1", "[::1"):
        answer = client.get("/models", headers={"Host": host})
        assert (answer.status_code, answer.json()["detail"].split(":")[0]) == (421, "host"), host
        assert "punish-fast serve --allow-host NAME" in answer.json()["detail"]
    for host in ("localhost", "localhost:9", "127.0.0.1", "[::1]:8000", "192.168.0.7:80"):
        assert client.get("/models", headers={"Host": host}).status_code == 200, host


# A host, an origin, and whether this is a page of the server.
ORIGINS = [
    ("127.0.0.1:8000", "http://127.0.0.1:8000", True),
    # A default port is the same with and without its number (RFC 6454).
    ("127.0.0.1:80", "http://127.0.0.1", True),
    ("127.0.0.1", "http://127.0.0.1:80", True),
    ("localhost:443", "https://LOCALHOST", True),
    ("localhost:443", "http://localhost", False),
    # A name of the server, which is no proxy's.
    ("punish.example", "http://punish.example", True),
    ("punish.example", "http://evil.example", False),
    # Proxies that pass the host on, without their port, or their own name for the server.
    ("games.example", "https://games.example", True),
    ("games.example", "https://games.example:8443", True),
    ("127.0.0.1:8000", "https://games.example", True),
    ("xn--spielbcher-feb.example", "https://xn--spielbcher-feb.example", True),
    ("localhost.:8000", "http://localhost.:8000", True),
    ("127.0.0.1:8000", "https://evil.example", False),
    ("127.0.0.1:8000", "https://games.example.evil.example", False),
    ("127.0.0.1:8000", "ftp://games.example", False),
    ("127.0.0.1:8000", "https://games.example/", False),
    ("127.0.0.1:8000", "games.example", False),
    ("127.0.0.1:8000", "http://127.0.0.1:8001", False),
]


def test_names_of_the_server_and_of_a_proxy_are_origins_of_this_server(models):
    proxied = frozenset(map(host_name, ("Games.Example.:8443", "spielb\u00fccher.example")))
    config = ServerConfig(
        models, rules=TINY, hosts=frozenset({"punish.example"}), proxied=proxied, limits=Limits(rate=None)
    )
    with TestClient(create_app(config), base_url=BASE) as client:
        for host, origin, is_ours in ORIGINS:
            answer = client.get("/models", headers={"Host": host, "Origin": origin})
            assert answer.status_code == (200 if is_ours else 403), (host, origin)
            assert is_ours or "--allow-host" in answer.json()["detail"]
    for name in ("", " ", "a b", "https://games.example", "games.example/", "*.example", "a,b", "a..b"):
        with pytest.raises(HostError, match="is not a host name"):
            host_name(name)


def test_head_is_answered_like_get_and_no_path_reaches_the_file_system(client):
    paths = ("/page/../app.py", "/page/..%2fapp.py", "/page//etc/passwd", "/page/%2e%2e/%2e%2e/play/words.py", "/x")
    assert {client.get(path).status_code for path in paths} == {404}
    for path, status in (("/", 200), ("/page/icon.svg", 200), ("/models", 200), ("/nothing", 404), ("/tables", 405)):
        head, whole = client.head(path), client.get(path)
        assert (head.status_code, head.content) == (status, b"")
        assert head.headers["content-length"] == whole.headers["content-length"]


def test_browsers_are_sent_from_unknown_paths_to_the_page_and_programs_are_not(client):
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    for path, location in (("/nonsense", "./#/nowhere"), ("/a/b", "../#/nowhere"), ("/a/b/", "../../#/nowhere")):
        answer = client.get(path, headers=browser, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, location), path
        assert client.get(path).json() == {"detail": "Not Found"}
    answer = client.get(f"/models/{'0' * 32}/meta", headers=browser)
    assert (answer.status_code, list(answer.json())) == (404, ["detail"])


LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


def test_a_foreign_page_is_not_answered(client, naive):
    for headers in (
        {"Origin": "null"},
        {"Origin": f"{BASE}.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        LINK,
    ):
        assert client.get("/models", headers=headers).status_code == 403, headers
        assert client.post("/tables", headers=headers, json={"opponent": naive}).status_code == 403, headers
    own = {"Origin": BASE, "Sec-Fetch-Site": "same-origin"}
    assert client.post("/tables", json={"opponent": naive}, headers=own).status_code == 201
    # A link on another page opens the page.
    assert client.get("/", headers=LINK).status_code == 200
    assert client.get("/", headers=LINK | {"Sec-Fetch-Dest": "iframe"}).status_code == 403
    # A form can send these.
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        body = f'{{"opponent": "{naive}"}}'
        assert client.post("/tables", content=body, headers={"Content-Type": kind}).status_code == 415, kind


def test_every_answer_forbids_what_a_page_does_not_need(client):
    for path in ("/", "/models", "/nothing", "/tables/x", "/openapi.json", "/page/../app.py"):
        headers = client.get(path).headers
        policy = dict(each.split(" ", 1) for each in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["frame-ancestors"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == "'self'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == ("no-cache" if path == "/" else "no-store")
        assert "access-control-allow-origin" not in headers


def test_an_ambiguous_head_is_refused(client):
    kind = ("Content-Type", "application/json")
    for name, value in (kind, ("Origin", BASE), ("Authorization", "Bearer a"), ("Host", "localhost")):
        answer = client.post("/tables", content="{}", headers=[kind, (name, value), (name, value)])
        assert (answer.status_code, answer.json()["detail"]) == (400, f"{name.lower()}: is given twice")
    both = {"Content-Type": "application/json", "Content-Length": "2", "Transfer-Encoding": "chunked"}
    assert client.post("/tables", content="{}", headers=both).status_code == 400


def test_a_huge_body_is_refused_with_and_without_its_length(client):
    body = b'{"opponent": "' + b"a" * 20_000 + b'"}'
    headers = {"Content-Type": "application/json"}
    assert client.post("/tables", content=body, headers=headers).status_code == 413
    chunks = (body[k : k + 1000] for k in range(0, len(body), 1000))
    assert client.post("/tables", content=chunks, headers=headers).status_code == 413
    for excess, status in ((0, 422), (1, 413)):
        full = b" " * (Limits().body + excess)
        assert client.post("/tables", content=full, headers=headers).status_code == status
        assert client.post("/tables", content=iter([full]), headers=headers).status_code == status


def test_too_many_requests_wait(models):
    config = ServerConfig(models, rules=TINY, limits=Limits(rate=0.001, burst=5))
    with TestClient(create_app(config), base_url=BASE) as client:
        # The session begins with the page.
        client.get("/")
        asked = [client.get("/models") for _ in range(7)]
        assert [answer.status_code for answer in asked] == [200] * 4 + [429] * 3
        assert asked[-1].headers["retry-after"] == "1"
        assert "wait a second" in asked[-1].json()["detail"]


def test_what_takes_longer_counts_more(models):
    config = ServerConfig(models, rules=TINY, limits=Limits(rate=0.001, burst=46))
    with TestClient(create_app(config), base_url=BASE) as client:
        client.get("/")
        # No agent has this digest, which is found out later.
        asked = [client.get("/practice", params={"model": "0" * 32}).status_code for _ in range(4)]
        assert asked == [404, 404, 429, 429]
        # A refused request costs something, too.
        assert [client.get("/models").status_code for _ in range(7)] == [200] * 3 + [429] * 4


def test_a_client_may_go_on_as_time_goes_by():
    now = 0.0
    meter = Meter(Limits(rate=2.0, burst=4), lambda: now)

    def granted(n, cost=1.0, session="a"):
        """How many of some requests are granted."""
        n_granted = 0
        for _ in range(n):
            with suppress(HTTPException):
                meter.charge(Client("192.0.2.1", session), cost)
                n_granted += 1
        return n_granted

    assert granted(6) == 4
    now = 1.5
    assert granted(6) == 3
    # Nobody saves up more than a burst, which covers any cost once.
    now = 100.0
    assert granted(6) == 4
    now = 200.0
    assert (granted(1, 50.0), granted(1, 0.5)) == (1, 0)
    # An address has ten times as much as a client.
    now = 300.0
    assert [granted(6, session=str(number)) for number in range(12)] == [4] * 10 + [0] * 2
    now = 300.5
    assert [granted(6, session=str(number)) for number in range(20, 24)] == [4, 4, 2, 0]


def test_only_the_latest_clients_are_remembered(monkeypatch):
    monkeypatch.setattr(limits, "_MOST_REMEMBERED", 3)
    meter = Meter(Limits(rate=1.0, burst=1), lambda: 0.0)
    clients = [Client("192.0.2.1", str(number)) for number in range(4)]
    for client in clients:
        meter.charge(client, 1.0)
    meter.charge(clients[0], 1.0)
    with pytest.raises(HTTPException):
        meter.charge(clients[-1], 1.0)


def test_files_of_the_page_cost_almost_nothing(models):
    config = ServerConfig(models, rules=TINY, limits=Limits(rate=0.001, burst=5))
    with TestClient(create_app(config), base_url=BASE) as client:
        files = sorted(Path(app.__file__).parent.glob("page/*.js"))
        assert {client.get(path).status_code for path in ("/", *(f"/page/{path.name}" for path in files))} == {200}
        assert len(files) > 15
        assert client.get("/models").status_code == 200


def test_a_greedy_session_is_refused_and_no_other(models):
    app = create_app(ServerConfig(models, rules=TINY, limits=Limits(rate=0.001, burst=5)))
    with TestClient(app, base_url=BASE) as greedy:
        others = [TestClient(app, base_url=BASE) for _ in range(3)]
        for other in others:
            assert other.get("/").headers["set-cookie"].startswith("punish-fast=")
        assert 429 in [greedy.get("/models").status_code for _ in range(9)]
        assert [other.get("/models").status_code for other in others] == [200] * 3
        # New sessions do not help beyond the limit of the address.
        asked = []
        for number in range(60):
            greedy.cookies.clear()
            cookie = {"Cookie": f"punish-fast={number:032}"}
            asked.append(greedy.get("/models", headers=cookie).status_code)
        assert 30 < asked.count(200) < 50
        assert asked[-1] == 429


def test_the_log_of_a_failure_stays_on_the_server(models, monkeypatch, caplog):
    def fail(*_):
        raise RuntimeError("secret")

    monkeypatch.setattr("punish_fast.web.player_registry.PlayerRegistry.entries", fail)
    with TestClient(create_app(ServerConfig(models, rules=TINY)), base_url=BASE) as client:
        answer = client.get("/models")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "secret" in caplog.text

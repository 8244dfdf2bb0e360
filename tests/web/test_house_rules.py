"""The balance of house rules, in a process of its own, and opponents under them."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psutil
import pytest
from fastapi.testclient import TestClient
from serving import BASE, TINY, choose, config_of, entries_of, first, open_table

from punish_fast.play.punish.punish_player import PunishPlayer
from punish_fast.punish.rules import PRESETS
from punish_fast.web import house_rules, player_registry
from punish_fast.web.app import ServerConfig, create_app
from punish_fast.web.workers import Workers

STRIKE = {"copies": "1,2,1,2,1", "damage": "0,1,0,3,3"}
RUSH = STRIKE | {"damage": "0,2,0,2,3"}
# A command that notes its process, and then waits until it is told to end.
SLOW = """
import json, os, pathlib, sys, time, tomllib
folder = pathlib.Path({folder!r})
folder.joinpath(str(os.getpid())).touch()
rules, base = (tomllib.loads(pathlib.Path(sys.argv[k]).read_text()) for k in (1, 3))
while not folder.joinpath("end").exists():
    time.sleep(0.01)
if folder.joinpath("fail").exists():
    sys.exit("error: it is not possible")
print(json.dumps({{"damage": rules["damage"], "before": base["damage"], "options": sys.argv[4:]}}))
"""


@pytest.fixture
def server() -> Iterator[TestClient]:
    with TestClient(create_app(config_of("naive")), base_url=BASE) as client:
        yield client


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the slow command."""
    monkeypatch.setattr(house_rules, "_COMMAND", (sys.executable, "-c", SLOW.format(folder=str(tmp_path))))
    return tmp_path


def until(found: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if result := found():
            return result
        time.sleep(0.02)
    raise AssertionError("nothing happened")


def processes(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir() if path.name.isdecimal()]


def test_one_balance_is_computed_at_a_time(server, folder):
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(server.get, "/balance", params=STRIKE | {"seconds": 20})
        until(lambda: processes(folder))
        refused = server.get("/balance", params=RUSH)
        assert (refused.status_code, refused.json()["detail"][:8]) == (429, "balance:")
        (folder / "end").touch()
        found = asked.result().json()
    assert (found["damage"], found["before"]) == ([0, 1, 0, 3, 3], list(TINY.damage))
    assert found["options"] == ["--time", "20", "--json", "-q"]
    assert server.get("/balance", params=RUSH).json()["damage"] == [0, 2, 0, 2, 3]
    (folder / "fail").touch()
    failed = server.get("/balance", params=RUSH)
    assert (failed.status_code, failed.json()["detail"]) == (409, "it is not possible")


def test_a_balance_is_killed_in_its_time(server, folder, monkeypatch):
    monkeypatch.setattr(house_rules, "_OVERTIME", 0.0)
    monkeypatch.setattr(house_rules, "_GRACE", 1.0)
    answer = server.get("/balance", params=STRIKE)
    assert (answer.status_code, answer.json()["detail"][:31]) == (409, "balance: the time was too short")
    assert not any(map(psutil.pid_exists, processes(folder)))


def test_a_balance_is_killed_when_the_server_stops(server, folder):
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(server.get, "/balance", params=STRIKE)
        until(lambda: processes(folder))
        server.app.state.stop()
        answer = asked.result()
    assert (answer.status_code, answer.json()["detail"][:22]) == (409, "balance: the study was")
    assert not any(map(psutil.pid_exists, processes(folder)))


def test_a_balance_is_killed_when_its_client_leaves(folder):
    async def leave():
        config = config_of("naive")
        scope = {"type": "http", "method": "GET", "path": "/balance", "headers": [(b"host", b"localhost")]}
        scope |= {"query_string": urlencode(STRIKE).encode(), "client": ("127.0.0.1", 1), "server": ("localhost", 1)}
        messages = iter([{"type": "http.request", "body": b""}])

        async def receive():
            if (message := next(messages, None)) is not None:
                return message
            while not processes(folder):
                await asyncio.sleep(0.02)
            return {"type": "http.disconnect"}

        async def send(_message):
            pass

        await create_app(config)(scope, receive, send)

    with suppress(asyncio.CancelledError):
        asyncio.run(leave())
    assert not any(map(psutil.pid_exists, processes(folder)))


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (STRIKE | {"copies": "7,2,1,2,1"}, "should match pattern"),
        (STRIKE | {"copies": "0,0,0,1,1"}, "2 cards in total"),
        (STRIKE | {"damage": "1,2,3"}, "should match pattern"),
        (RUSH, "use fewer cards"),
    ],
)
@pytest.mark.parametrize("route", ["/balance", "/house-rules"])
def test_impossible_rules_are_refused(server, monkeypatch, route, wanted, words):
    monkeypatch.setattr(house_rules, "_MOST_STATES", 10)
    answer = server.get(route, params=wanted)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]


def test_rules_of_the_server_are_compared_with_the_standard_rules(server, folder):
    standard = PRESETS["tabletop"]
    (folder / "end").touch()
    same = {"copies": ",".join(map(str, TINY.copies)), "damage": ",".join(map(str, TINY.damage))}
    found = server.get("/balance", params=same).json()
    assert (found["damage"], found["before"]) == (list(TINY.damage), list(standard.damage))
    same = {"copies": ",".join(map(str, standard.copies)), "damage": ",".join(map(str, standard.damage))}
    with TestClient(create_app(ServerConfig([], rules=standard)), base_url=BASE) as usual:
        answer = usual.get("/balance", params=same)
    assert (answer.status_code, answer.json()["detail"][:33]) == (422, "rules: these are the standard rul")


def test_an_opponent_under_house_rules_is_played_and_closed_once_nobody_plays(server, monkeypatch):
    monkeypatch.setattr(player_registry, "_MOST_HOUSE_RULES", 1)
    opened = server.get("/house-rules", params=STRIKE)
    assert opened.status_code == 200
    assert opened.json() == server.get("/house-rules", params=STRIKE).json() == entries_of(server)[-1]
    table = open_table(server, opened.json()["digest"])
    assert (table["rules"]["damage"], table["keeps"]) == ([0, 1, 0, 3, 3], False)
    assert choose(server, table, first(table["legal"])).status_code == 200
    refused = server.get("/house-rules", params=RUSH)
    assert (refused.status_code, refused.json()["detail"][:12]) == (429, "house rules:")
    assert server.delete(f"/tables/{table['table']}").status_code == 204
    other = server.get("/house-rules", params=RUSH).json()["digest"]
    assert [entry["digest"] for entry in entries_of(server)][1:] == [other]
    assert server.get(f"/models/{opened.json()['digest']}/meta").status_code == 404


def test_opponents_are_opened_one_after_another(server, monkeypatch):
    monkeypatch.setattr(player_registry, "_MOST_HOUSE_RULES", 1)
    prepare = PunishPlayer.open

    def slow(player: PunishPlayer) -> None:
        time.sleep(0.3)
        prepare(player)

    monkeypatch.setattr(PunishPlayer, "open", slow)
    with ThreadPoolExecutor() as threads:
        answers = threads.map(lambda rules: server.get("/house-rules", params=rules), (STRIKE, RUSH))
        assert [answer.status_code for answer in answers] == [200, 200]
    assert [entry["is_house"] for entry in entries_of(server)] == [False, True]


def test_an_opponent_can_be_opened_while_coaches_are_prepared(monkeypatch):
    registry = player_registry.PlayerRegistry([PunishPlayer("naive", TINY)], Workers())
    monkeypatch.setattr(PunishPlayer, "coach", lambda player, _: registry.by_digest.update(other=player))
    asyncio.run(registry.open())
    assert len(registry.by_digest) == 2


@pytest.mark.slow
@pytest.mark.compiled
def test_the_command_itself_answers(server):
    found = server.get("/balance", params=STRIKE).json()
    assert found["changed"]["balanced"] is False
    assert [each["group"] for each in found["limits"]] == ["in_hand", "plays", "plays"]

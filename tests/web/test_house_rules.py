"""The balance of house rules, in a process of its own, and opponents under them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from serving import BASE, TINY, choose, config_of, entries_of, first, open_table

from punish_fast.web import house_rules, player_registry
from punish_fast.web.app import create_app

STRIKE = {"copies": list(TINY.copies), "damage": [0, 1, 0, 3, 3]}
RUSH = STRIKE | {"damage": [0, 2, 0, 2, 3]}
# A command that notes its process, and then waits until it is told to end.
SLOW = """
import json, os, pathlib, sys, time, tomllib
folder = pathlib.Path({folder!r})
folder.joinpath(str(os.getpid())).touch()
rules, base = (tomllib.loads(pathlib.Path(sys.argv[k]).read_text()) for k in (1, 3))
print("balance: (so far not balanced)", file=sys.stderr, flush=True)
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


def ask(client: TestClient, rules: dict[str, Any]) -> dict[str, Any]:
    answer = client.post("/balance", json=rules)
    assert answer.status_code == 200, answer.text
    return answer.json()


def processes(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir() if path.name.isdecimal()]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_balance_has_progress_and_then_a_result_that_is_stored(server, folder):
    assert ask(server, STRIKE)["result"] is None
    until(lambda: "so far not balanced" in ask(server, STRIKE)["progress"])
    (folder / "end").touch()
    found = until(lambda: ask(server, STRIKE)["result"])
    assert (found["damage"], found["before"]) == (STRIKE["damage"], list(TINY.damage))
    assert found["options"] == ["--time", "60", "--json"]
    assert ask(server, STRIKE)["result"] == found
    assert len(processes(folder)) == 1


def test_one_balance_is_computed_at_a_time_while_its_client_asks(server, folder, monkeypatch):
    ask(server, STRIKE)
    (pid,) = until(lambda: processes(folder))
    answer = server.post("/balance", json=RUSH)
    assert (answer.status_code, answer.json()["detail"][:8]) == (429, "balance:")
    assert is_alive(pid)
    monkeypatch.setattr(house_rules, "_PATIENCE", 0.0)
    until(lambda: not is_alive(pid))
    monkeypatch.undo()
    assert server.post("/balance", json=RUSH).status_code == 200


@pytest.mark.parametrize("words", ["the time was too short", "it is not possible"])
def test_a_balance_is_killed_in_its_time_and_failures_are_explained(server, folder, monkeypatch, words):
    if "possible" in words:
        (folder / "fail").touch()
        (folder / "end").touch()
    else:
        monkeypatch.setattr(house_rules, "_KILLED", 0.5)
    error = until(lambda: ask(server, STRIKE)["error"])
    assert error.startswith(words)
    assert not any(map(is_alive, processes(folder)))


def test_no_process_is_left_when_the_server_ends(folder):
    with TestClient(create_app(config_of("naive")), base_url=BASE) as client:
        ask(client, STRIKE)
        (pid,) = until(lambda: processes(folder))
    until(lambda: not is_alive(pid))


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (STRIKE | {"damage": list(TINY.damage)}, "these are the rules of this server"),
        (STRIKE | {"copies": [7, 2, 1, 2, 1]}, "less than or equal to 6"),
        (STRIKE | {"copies": [0, 0, 0, 1, 1]}, "2 cards in total"),
        (STRIKE | {"damage": [1, 2, 3]}, "at least 5 items"),
        (RUSH, "use fewer cards"),
    ],
)
@pytest.mark.parametrize("route", ["/balance", "/house-rules"])
def test_impossible_rules_are_refused(server, monkeypatch, route, wanted, words):
    monkeypatch.setattr(house_rules, "_MOST_STATES", 10)
    answer = server.post(route, json=wanted)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]


def test_an_opponent_under_house_rules_is_played_and_closed_once_nobody_plays(server, monkeypatch):
    monkeypatch.setattr(player_registry, "_MOST_HOUSE_RULES", 1)
    opened = server.post("/house-rules", json=STRIKE)
    assert opened.status_code == 201
    assert opened.json() == server.post("/house-rules", json=STRIKE).json() == entries_of(server)[-1]
    table = open_table(server, opened.json()["digest"])
    assert (table["rules"]["damage"], table["keeps"]) == (STRIKE["damage"], False)
    assert choose(server, table, first(table["legal"])).status_code == 200
    refused = server.post("/house-rules", json=RUSH)
    assert (refused.status_code, refused.json()["detail"][:12]) == (429, "house rules:")
    assert server.delete(f"/tables/{table['table']}").status_code == 204
    other = server.post("/house-rules", json=RUSH).json()["digest"]
    assert [entry["digest"] for entry in entries_of(server)][1:] == [other]
    assert server.get(f"/models/{opened.json()['digest']}/meta").status_code == 404


@pytest.mark.slow
@pytest.mark.compiled
def test_the_command_itself_answers(server):
    found = until(lambda: ask(server, STRIKE)["result"])
    assert found["changed"]["balanced"] is False
    assert [each["group"] for each in found["limits"]] == ["in_hand", "plays", "plays"]

"""A server within the tests, and games played over HTTP."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from fastapi.testclient import TestClient

from punish_fast.play.punish.punish_player import PunishPlayer
from punish_fast.play.session import ServedPlayer
from punish_fast.punish.rules import PRESETS, Rules, true_rules
from punish_fast.web.app import ServerConfig
from punish_fast.web.limits import Limits

TINY = true_rules(PRESETS["tiny"])
BASE = "http://127.0.0.1:8000"
Answer = dict[str, Any]


def models_of(*names: str, rules: Rules = TINY) -> list[PunishPlayer]:
    return [PunishPlayer(name, rules) for name in names]


def config_of(*names: str, others: Sequence[ServedPlayer] = (), **more: Any) -> ServerConfig:
    """A config of the tiny game, and of ``others`` of other games, that bears any number of requests."""
    return ServerConfig([*models_of(*names), *others], rules=TINY, **{"limits": Limits(rate=None), **more})


def entries_of(client: TestClient) -> list[Answer]:
    """What ``/models`` lists once all agents are open."""
    # Kernels may have to be compiled first.
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        entries: list[Answer] = client.get("/models").json()
        if all(entry["digest"] or entry["flaw"] for entry in entries):
            return entries
        time.sleep(0.01)
    raise AssertionError("the agents did not open")


def open_table(client: TestClient, opponent: str, **more: Any) -> Answer:
    answer = client.post("/tables", json={"opponent": opponent, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def choose(client: TestClient, table: Answer, action: int) -> Any:
    body = {"action": action, "n_events": table["n_events"]}
    return client.post(f"/tables/{table['table']}/choice", json=body)


def first(legal: list[Answer]) -> int:
    return legal[0]["action"]


def play_out(
    client: TestClient, table: Answer, pick: Callable[[list[Answer]], int] = first
) -> tuple[Answer, list[Answer]]:
    events = list(table["events"])
    while table["is_on"]:
        answer = choose(client, table, pick(table["legal"]))
        assert answer.status_code == 200, answer.text
        table = answer.json()
        events += table["events"]
    return table, events

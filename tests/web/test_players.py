from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from serving import BASE, TINY, entries_of, models_of

from punish_fast.punish.codes import decimals_of
from punish_fast.web.app import ServerConfig, create_app


def test_the_values_of_a_state_are_those_of_the_agent(client, naive, models):
    space, solution = models[0].space, models[0].solution
    for row in range(0, space.n_states, 97):
        state = int(decimals_of(space, [row])[0])
        rows = slice(*space.state_ptr[row : row + 2].tolist())
        found = client.get(f"/models/{naive}/q/{state}").json()
        assert (found["state"], found["v"]) == (str(state), solution.v[row])
        assert [entry["q"] for entry in found["actions"]] == solution.q[rows].tolist()
        assert [entry["action"] for entry in found["actions"]] == space.action[rows].tolist()
        assert sum(entry["probability"] for entry in found["actions"]) == pytest.approx(1)


def test_players_share_the_codes_of_their_states_and_load_no_optimizer(models):
    assert models[0].data.decimals is models[1].data.decimals
    code = "import sys, punish_fast.play.punish.punish_player; print('scipy.optimize' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_what_is_no_state_is_refused(client, naive):
    for state in ("111111111111111111", "000000000000000000", "1", "x" * 18, "9" * 19):
        for route in ("q", "why"):
            assert client.get(f"/models/{naive}/{route}/{state}").status_code == 422, (route, state)


@pytest.mark.parametrize("name", ["naive", "random"])
def test_a_state_is_explained(client, name, models):
    entry = next(entry for entry in entries_of(client) if entry["name"] == name)
    state = int(decimals_of(models[0].space, [0])[0])
    report = client.get(f"/models/{entry['digest']}/why/{state}").json()
    (player,) = [player for player in models if player.name == name]
    assert report == json.loads(json.dumps(player.why(state)))
    assert report["state"] == report["view"]["state"] == str(state)
    assert report["against"] == {"naive": "Nina", "random": "Robin"}[name]
    assert sum(action["policy"] for action in report["actions"]) == pytest.approx(1)


def test_the_meta_data_have_the_rules(client, naive):
    meta = client.get(f"/models/{naive}/meta").json()
    assert (meta["digest"], meta["name"], meta["fields"]["hp"]) == (naive, "naive", TINY.hp)
    assert client.get(f"/models/{'0' * 32}/meta").status_code == 404
    assert models_of("naive")[0].digest == naive
    assert len({entry["digest"] for entry in entries_of(client)}) == 2


def test_an_agent_that_is_damaged_is_listed_with_its_flaw(models, monkeypatch):
    broken = models_of("naive")[0]

    def open_player(model):
        if model is broken:
            raise ValueError("naive: is damaged")

    monkeypatch.setattr(type(broken), "open", open_player)
    with TestClient(create_app(ServerConfig([broken, models[1]], rules=TINY)), base_url=BASE) as client:
        first, second = entries_of(client)
    assert (first["digest"], first["flaw"]) == (None, "naive: is damaged")
    assert (second["digest"], second["flaw"]) == (models[1].digest, None)


def test_every_route_is_documented(client):
    text = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        for method, operation in operations.items():
            assert f"`{method.upper()} {path}`" in text
            assert operation["description"].endswith("."), path
            assert {"404", "422", "429"} <= set(operation["responses"])

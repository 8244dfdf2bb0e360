"""Games over HTTP."""

from __future__ import annotations

import json
import time

import pytest
from fastapi.testclient import TestClient
from serving import BASE, TINY, choose, entries_of, open_table, play_out

from punish_fast.play.punish_match import PunishMatch
from punish_fast.play.seats import Person
from punish_fast.play.session import PlaySession
from punish_fast.records.database import open_to_read
from punish_fast.records.games import read_games
from punish_fast.web.app import Hall, create_app


def test_a_game_is_played_to_its_end(client, naive):
    table, events = play_out(client, open_table(client, naive))
    assert table["winner"] in (0, 1)
    assert (events[-1]["kind"], events[-1]["winner"]) == ("end", table["winner"])
    assert [event["n"] for event in events] == list(range(table["n_events"]))
    assert (table["legal"], table["view"]["state"]) == ([], None)
    assert client.get(f"/tables/{table['table']}").json()["events"] == events


@pytest.mark.parametrize("seed", range(5))
def test_a_seeded_game_is_that_of_a_session(client, naive, models, seed):
    table, events = play_out(client, open_table(client, naive, seed=str(seed)))
    session = PlaySession(PunishMatch(models[0].table, seed), (Person("you"), models[0].agent(None)))
    session.begin()
    while session.is_on:
        session.choose(0, session.legal(0)[0])
        session.reveal()
    face = models[0].face
    told = [{"n": n, **face.event(event, 0, ("you", "naive"))} for n, event in enumerate(session.events)]
    assert events == json.loads(json.dumps(told))
    assert table["winner"] == session.winner


def test_a_move_is_made_once(client, naive):
    table = open_table(client, naive)
    action = table["legal"][0]["action"]
    assert choose(client, table, action).status_code == 200
    again = choose(client, table, action)
    assert again.status_code == 409


def test_an_illegal_move_changes_nothing(client, naive):
    table = open_table(client, naive)
    legal = {move["action"] for move in table["legal"]}
    illegal = next(action for action in (*range(10, 52), 90) if action not in legal)
    answer = choose(client, table, illegal)
    assert (answer.status_code, answer.json()["detail"].split(":")[0]) == (422, f"action {illegal}")
    assert client.get(f"/tables/{table['table']}").json() == table


def test_a_table_is_cleared(client, naive):
    table = open_table(client, naive)
    path = f"/tables/{table['table']}"
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == client.delete(path).status_code == 404


def test_a_finished_game_is_kept(client, naive, database):
    table, _ = play_out(client, open_table(client, naive, name="Ann"))
    deadline = time.monotonic() + 30
    while (table := client.get(f"/tables/{table['table']}").json())["kept"] is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    with open_to_read(database) as connection:
        games = dict(read_games(connection))
    assert list(games) == [table["kept"]]
    assert games[table["kept"]].winner.name == table["names"][table["winner"]]


def test_a_game_that_ends_as_the_server_does_is_kept(models, database):
    with TestClient(create_app(Hall(models, database, TINY)), base_url=BASE) as client:
        play_out(client, open_table(client, entries_of(client)[0]["hash"]))
    with open_to_read(database) as connection:
        assert len(dict(read_games(connection))) == 1


@pytest.mark.parametrize("name", ["naive", "veteran@0.1", "", "a" * 41, "a\nb"])
def test_nobody_plays_under_the_name_of_a_bot_or_one_that_no_log_holds(client, naive, name):
    assert client.post("/tables", json={"opponent": naive, "name": name}).status_code == 422


def test_the_coach_knows_every_move(client, naive):
    table = open_table(client, naive)
    advice = client.get(f"/tables/{table['table']}/coach").json()
    assert {entry["action"] for entry in advice["chances"]} == {move["action"] for move in table["legal"]}
    wins = [entry["win"] for entry in advice["chances"]]
    assert wins == sorted(wins, reverse=True)
    assert sum(entry["probability"] for entry in advice["expected"]) == pytest.approx(1)

"""Two people at a table: what each may do, and all that each receives."""

from __future__ import annotations

import itertools
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi import HTTPException
from serving import choose, open_table

from punish_fast.web import open_sessions
from punish_fast.web.limits import Client, Limits
from punish_fast.web.open_sessions import OpenSession, OpenSessions


def invite(client, naive, name="Ann", **more):
    answer = client.post("/tables", json={"opponent": naive, "friend": True, "name": name, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def accept(client, host, name="Ben"):
    return client.post(f"/tables/invitations/{host['friend']['invitation']}", json={"name": name})


def look(client, table, **query):
    return client.get(f"/tables/{table['table']}", params=query)


def test_two_people_play_a_game_which_is_kept_for_both(client, naive):
    host = invite(client, naive)
    assert (host["view"], host["legal"], host["events"], host["names"]) == (None, [], [], ["Ann", "your friend"])
    friend = accept(client, host).json()
    host = look(client, host).json()
    while host["is_on"]:
        first, second = host["legal"][0]["action"], friend["legal"][-1]["action"]
        mine = choose(client, host, first).json()
        assert (mine["legal"], mine["events"], mine["friend"]["chosen"]["action"]) == ([], [], first)
        # A choice is made once, can be taken back, and shows only that it is made.
        assert choose(client, host, first).status_code == 422
        waiting = look(client, friend).json()["friend"]
        assert (waiting["has_chosen"], waiting["chosen"]) == (True, None)
        taken = client.delete(f"/tables/{host['table']}/choice")
        assert (taken.json()["legal"], taken.json()["friend"]["chosen"]) == (host["legal"], None)
        assert client.delete(f"/tables/{host['table']}/choice").status_code == 409
        assert choose(client, host, first).status_code == 200
        friend = choose(client, friend, second).json()
        assert choose(client, host, first).status_code == 409
        host = look(client, host, since=host["n_events"]).json()
        played = next(event for event in host["events"] if event["kind"] == "reveal")["plays"]
        assert [play["action"] for play in played] == [first, second]
    assert host["events"][-1]["words"] != friend["events"][-1]["words"]
    deadline = time.monotonic() + 30
    while (host := look(client, host).json())["kept"] is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert look(client, friend).json()["kept"] == host["kept"]
    game = client.get(f"/games/{host['kept']}").json()
    sides = {side["name"]: side["is_bot"] for side in (game["winner"], game["loser"])}
    assert sides == {"Ann": False, "Ben": False}
    # Another game begins at the same table once both want it.
    again = [client.post(f"/tables/{table['table']}/again", json={}).json() for table in (host, friend)]
    assert [(each["friend"]["game"], each["is_on"], each["n_events"]) for each in again] == [
        (1, False, host["n_events"]),
        (2, True, 1),
    ]
    assert client.delete(f"/tables/{host['table']}").status_code == 204
    left = look(client, friend).json()
    assert (left["is_on"], left["friend"]["ended"][:15]) == (False, "Ann has left. T")
    assert (look(client, host).status_code, left["kept"]) == (404, None)


def received_by_the_host(client, naive, monkeypatch, seed, friends_choice):
    """All bytes that the host receives up to the friend's choice, with the same secrets in every game."""
    numbers, names = iter((seed, 1)), (f"{n:032d}" for n in itertools.count())
    with monkeypatch.context() as patch:
        patch.setattr(open_sessions.secrets, "randbits", lambda _: next(numbers))
        patch.setattr(open_sessions.secrets, "token_urlsafe", lambda _: next(names))
        patch.setattr(OpenSession, "left", 60.0)
        host = invite(client, naive)
        friend = accept(client, host).json()
        texts = [client.get(f"/tables/{host['table']}").text]
        host = look(client, host).json()
        answer = choose(client, friend, friend["legal"][friends_choice]["action"])
        assert answer.status_code == 200
        texts += [client.get(f"/tables/{host['table']}{query}").text for query in ("", "/guide", "/coach", "/hint")]
        texts += [client.delete(f"/tables/{host['table']}").text, look(client, host).text]
        client.delete(f"/tables/{friend['table']}")
    return texts, host, friend


def test_nothing_hidden_is_sent(client, naive, monkeypatch):
    """In games that differ only in what is hidden from the host, the host receives the same bytes."""
    games = {}
    for seed in range(16):
        texts, host, friend = received_by_the_host(client, naive, monkeypatch, seed, seed % 2)
        known = (tuple(host["view"]["hand"]), tuple(host["view"]["discard"]))
        games.setdefault(known, []).append((texts, friend["view"]["hand"]))
    assert any(len({tuple(hand) for _, hand in same}) > 1 for same in games.values())
    for same in games.values():
        assert all(texts == same[0][0] for texts, _ in same)


def test_a_person_sees_the_same_of_a_friend_as_of_an_agent(client, naive):
    table = open_table(client, naive)
    host = invite(client, naive)
    accept(client, host)
    host = look(client, host).json()
    assert host.keys() == table.keys()
    assert (host["view"].keys(), host["events"][0].keys()) == (table["view"].keys(), table["events"][0].keys())
    assert (host["seed"], host["opponent"]) == (None, None)


def test_a_table_has_two_seats(client, naive):
    host = invite(client, naive)
    path = f"/tables/invitations/{host['friend']['invitation']}"
    shown = client.get(path).json()
    assert (shown.keys(), shown["host"], shown["game"]) == ({"host", "game", "rules", "clock"}, "Ann", "punish")
    for name in ("you", "Ann", "\u0410nn", "naive"):
        answer = accept(client, host, name)
        assert (answer.status_code, answer.json()["detail"][:6]) == (422, "name: "), name
    assert choose(client, host, 10).json()["detail"] == "table: the game has not begun"
    assert accept(client, host).status_code == 201
    for answer in (client.get(path), accept(client, host, "Cay")):
        assert (answer.status_code, answer.json()["detail"]) == (
            409,
            "invitation: both seats of this table are taken; ask for a link of your own",
        )
    assert look(client, {"table": host["friend"]["invitation"]}).status_code == 404
    for wrong in ({"name": "you"}, {"seed": "1"}, {"temperature": 0.1}, {"clock": 5}, {"clock": 601}):
        answer = client.post("/tables", json={"opponent": naive, "friend": True, "name": "Ann", **wrong})
        assert answer.status_code == 422, wrong


def test_a_request_waits_for_the_friend(client, naive):
    host = invite(client, naive)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(look, client, host, version=host["friend"]["version"])
        time.sleep(0.05)
        assert not waiting.done()
        accept(client, host)
        assert waiting.result(20).json()["names"] == ["Ann", "Ben"]


def test_a_game_that_is_left_ends_for_both_and_is_cleared(models):
    now = 0.0
    tables = OpenSessions(Limits(tables=20), lambda: now)
    ann, ben = (Client(address, "") for address in ("192.0.2.1", "192.0.2.2"))
    host = tables.open(models[0], "Ann", None, None, client=ann, clock=600.0)
    now = 3000.0
    friend = tables.join(tables.invited(host.table.invitation), "Ben", ben)
    host.session.choose(0, host.session.legal(0)[0])
    now += 599.0
    assert tables.find_on(friend.id).shown(0)["friend"]["left"] == 1.0
    now += 1.0
    shown = [tables.find(seat.id).shown(0) for seat in (host, friend)]
    ended = "Ben did not move in 600 seconds. The game is over and is not recorded."
    assert [(each["is_on"], each["winner"], each["friend"]["ended"]) for each in shown] == 2 * [(False, None, ended)]
    # A finished game makes room for another of either person.
    for client in (ann, ben):
        for _ in range(10):
            tables.open(models[0], "Ann", None, None, client=client)
    with pytest.raises(HTTPException, match="unknown, or cleared"):
        tables.find(host.id)
    assert len(tables) == 20

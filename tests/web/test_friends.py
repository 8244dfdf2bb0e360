"""Two people at a table: what each may do, and all that each receives."""

from __future__ import annotations

import itertools
import json
import secrets
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi import HTTPException
from serving import choose, open_table

from punish_fast.web.limits import Client, Limits
from punish_fast.web.open_sessions import OpenSessions
from punish_fast.web.table import OpenSession


def invite(client, naive, status=201, **more):
    answer = client.post("/tables", json={"opponent": naive, "friend": True, "name": "Ann", **more})
    assert answer.status_code == status, answer.text
    return answer.json()


def accept(client, host, name="Ben"):
    return client.post(f"/tables/invitations/{host['friend']['invitation']}", json={"name": name})


def look(client, table, path="", **query):
    return client.get(f"/tables/{table['table']}{path}", params=query)


def test_two_people_play_a_game_which_is_kept_for_both(client, naive):
    alone, host = open_table(client, naive), invite(client, naive)
    assert (host["view"], host["legal"], host["events"], host["names"]) == (None, [], [], ["Ann", "your friend"])
    friend = accept(client, host).json()
    host = look(client, host).json()
    # A person sees of a friend what a person sees of an agent.
    assert host.keys() == alone.keys()
    assert (host["view"].keys(), host["events"][0].keys()) == (alone["view"].keys(), alone["events"][0].keys())
    while host["is_on"]:
        first, second = host["legal"][0]["action"], friend["legal"][-1]["action"]
        mine = choose(client, host, first).json()
        assert (mine["legal"], mine["events"], mine["friend"]["chosen"]["action"]) == ([], [], first)
        # A choice is made once, can be taken back, and shows only that it is made.
        assert choose(client, host, first).status_code == 422
        waiting = look(client, friend).json()["friend"]
        assert (waiting["has_chosen"], waiting["chosen"]) == (True, None)
        taken = client.delete(f"/tables/{host['table']}/choice").json()
        assert (taken["legal"], taken["friend"]["chosen"], taken["seed"]) == (host["legal"], None, None)
        assert client.delete(f"/tables/{host['table']}/choice").status_code == 409
        assert choose(client, host, first).status_code == 200
        friend = choose(client, friend, second).json()
        assert choose(client, host, first).status_code == 409
        host = look(client, host, since=host["n_events"]).json()
        plays = next(event for event in host["events"] if event["kind"] == "reveal")["plays"]
        assert [play["action"] for play in plays] == [first, second]
    deadline = time.monotonic() + 30
    while (host := look(client, host).json())["kept"] is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert look(client, friend).json()["kept"] == host["kept"]
    game = client.get(f"/games/{host['kept']}").json()
    assert {game[side]["name"]: game[side]["is_bot"] for side in ("winner", "loser")} == {"Ann": False, "Ben": False}
    # Another game begins at the same table once both want it.
    again = [client.post(f"/tables/{table['table']}/again", json={}).json() for table in (host, friend)]
    assert [(each["is_on"], each["n_events"]) for each in again] == [(False, host["n_events"]), (True, 1)]
    assert (again[1]["kept"], again[1]["friend"]["previous"]) == (None, host["kept"])
    # Each user sees the score from the own side.
    scores = [look(client, table).json()["friend"]["score"] for table in (host, friend)]
    assert scores[0] == scores[1][::-1] == [int(host["winner"] == host["seat"]), int(host["winner"] != host["seat"])]
    assert client.delete(f"/tables/{host['table']}").status_code == 204
    left = look(client, friend).json()
    assert (left["friend"]["ended"], left["is_on"], left["kept"]) == (
        "Ann has left. The game is over and is not recorded.",
        False,
        None,
    )


def received_by_the_host(client, naive, monkeypatch, seed):
    """All that the host receives until both have chosen, with the same secret names in every game."""
    numbers, names = iter((seed, 1)), (f"{n:032d}" for n in itertools.count())
    with monkeypatch.context() as patch:
        patch.setattr(secrets, "randbits", lambda _: next(numbers))
        patch.setattr(secrets, "token_urlsafe", lambda _: next(names))
        patch.setattr(OpenSession, "left", 60.0)
        answers = [client.post("/tables", json={"opponent": naive, "friend": True, "name": "Ann"})]
        friend = accept(client, answers[0].json()).json()
        answers += [look(client, answers[0].json())]
        host, choice = answers[-1].json(), friend["legal"][seed % 2]["action"]
        assert choose(client, friend, choice).status_code == 200
        answers += [look(client, host, path) for path in ("", "/guide", "/coach", "/hint", "/costliest")]
        for table in (host, friend):
            answers += [client.delete(f"/tables/{table['table']}"), look(client, host)]
    known = (*host["view"]["hand"], *host["view"]["discard"])
    return known, [(answer.status_code, answer.content) for answer in answers], (friend["view"]["hand"], choice)


def test_nothing_hidden_is_sent(client, naive, monkeypatch):
    """In games that differ in the friend's hand, choice, deck and seed, the host receives the same bytes."""
    games = [received_by_the_host(client, naive, monkeypatch, seed) for seed in range(16)]
    pairs = [(one, two) for one, two in itertools.combinations(games, 2) if one[0] == two[0]]
    assert any(one[2][0] != two[2][0] and one[2][1] != two[2][1] for one, two in pairs)
    assert all(one[1] == two[1] for one, two in pairs)


def whole_game(client, naive, monkeypatch, seed, others, *, hosts):
    """Return, for each breath, what a person knows, what is received once the other has chosen, and what is hidden.

    The person is the host or the guest, who plays the first legal action.
    """
    numbers, names = iter((seed, 1)), (f"{n:032d}" for n in itertools.count())
    with monkeypatch.context() as patch:
        patch.setattr(secrets, "randbits", lambda _: next(numbers))
        patch.setattr(secrets, "token_urlsafe", lambda _: next(names))
        patch.setattr(OpenSession, "left", 60.0)
        host = invite(client, naive)
        friend = accept(client, host).json()
        host = look(client, host).json()
        if not hosts:
            host, friend = friend, host
        answers, revealed = [], []
        for breath in itertools.count():
            known = json.dumps([host["view"], revealed])
            chosen = friend["legal"][(others >> breath) % 2 % len(friend["legal"])]["action"]
            assert choose(client, friend, chosen).status_code == 200
            hidden = friend["view"]["hand"], chosen
            answers.append((known, look(client, host).content, hidden))
            host = choose(client, host, host["legal"][0]["action"]).json()
            revealed += host["events"]
            if not host["is_on"]:
                break
            assert host["uncovered"] is None
            friend = look(client, friend).json()
        for table in (host, friend):
            client.delete(f"/tables/{table['table']}")
    return answers


@pytest.mark.parametrize("hosts", [True, False], ids=["host", "guest"])
def test_nothing_hidden_is_sent_in_a_whole_game(client, naive, monkeypatch, hosts):
    """A person with the same view and revealed events receives the same bytes, whatever the other holds or picks."""
    games = [
        whole_game(client, naive, monkeypatch, seed, others, hosts=hosts) for seed in range(16) for others in range(4)
    ]
    found: dict[str, set[bytes]] = {}
    hidden: dict[str, set[str]] = {}
    for known, received, secret in itertools.chain(*games):
        found.setdefault(known, set()).add(received)
        hidden.setdefault(known, set()).add(str(secret))
    assert {len(each) for each in found.values()} == {1}
    # Later breaths are compared, too, and the friend's hand or pick differs there.
    assert sum(len(each) > 1 and '"reveal"' in known for known, each in hidden.items()) > 3


def spectators_game(client, naive, monkeypatch, seed, picks):
    """Return, for each breath, what both players know, all that a spectator receives until both have chosen, and what
    is hidden. The host and the guest pick legal actions by the bits of ``picks``."""
    numbers, names = iter((seed, 1)), (f"{n:032d}" for n in itertools.count())
    received, breath = [], 0
    with monkeypatch.context() as patch:
        patch.setattr(secrets, "randbits", lambda _: next(numbers))
        patch.setattr(secrets, "token_urlsafe", lambda _: next(names))
        host = invite(client, naive)
        watched = {"table": f"watch/{host['friend']['watch']}"}
        assert look(client, watched).json()["view"] is None
        seats = [host, accept(client, host).json()]
        while True:
            seats = [look(client, seat).json() for seat in seats]
            before = look(client, watched).content
            assert json.loads(before)["is_on"] is seats[0]["is_on"]
            if not seats[0]["is_on"]:
                break
            chosen = [
                seat["legal"][(picks >> (2 * breath + k)) % 2 % len(seat["legal"])] for k, seat in enumerate(seats)
            ]
            seen = {before}
            for k in (0, 1):
                assert choose(client, seats[k], chosen[k]["action"]).status_code == 200
                seen.add(look(client, watched).content)
                assert client.delete(f"/tables/{seats[k]['table']}/choice").status_code == 200
                seen.add(look(client, watched).content)
            known = json.dumps([event | {"hand": None, "words": None} for event in seats[0]["events"]])
            received.append((known, seen, str([(seat["view"]["hand"], chosen) for seat in seats])))
            for seat, move in zip(seats, chosen, strict=True):
                choose(client, seat, move["action"])
            breath += 1
        # Neither hands nor decks are shown after the game.
        assert not {"hand", "unseen", "state", "uncovered", "legal", "seed"} & set(before.decode().split('"'))
        for seat in seats:
            client.delete(f"/tables/{seat['table']}")
    return received


def test_spectators_receive_only_what_both_players_know(client, naive, monkeypatch):
    """A spectator receives the same bytes after the same revealed events, whatever is held, picked or taken back."""
    found: dict[str, set[bytes]] = {}
    hidden: dict[str, set[str]] = {}
    for seed, picks in itertools.product(range(6), (0b0000, 0b0100, 0b1100)):
        for known, seen, secret in spectators_game(client, naive, monkeypatch, seed, picks):
            found.setdefault(known, set()).update(seen)
            hidden.setdefault(known, set()).add(secret)
    assert {len(each) for each in found.values()} == {1}
    # Later breaths are compared, too, and hands or picks differ there.
    assert sum(len(each) > 1 and '"reveal"' in known for known, each in hidden.items()) > 3


def test_a_spectator_follows_rematches_and_cannot_sit_down(client, naive):
    host = invite(client, naive)
    name = host["friend"]["watch"]
    assert client.post(f"/tables/invitations/{name}", json={"name": "Eve"}).status_code == 404
    assert look(client, {"table": name}).status_code == 404
    assert look(client, {"table": f"watch/{host['table']}"}).status_code == 404
    friend = accept(client, host).json()
    for seat in (host, friend):
        assert look(client, seat).json()["friend"]["watch"] == name
    host = look(client, host).json()
    while host["is_on"]:
        choose(client, host, host["legal"][0]["action"])
        choose(client, friend, friend["legal"][0]["action"])
        host, friend = look(client, host).json(), look(client, friend).json()
    for table in (host, friend):
        client.post(f"/tables/{table['table']}/again", json={})
    shown = look(client, {"table": f"watch/{name}"}).json()
    assert (shown["number"], sum(shown["score"]), shown["names"], shown["is_on"]) == (2, 1, ["Ann", "Ben"], True)
    assert look(client, {"table": f"watch/{name}"}, since=1).json()["events"] == []


def test_a_table_has_two_seats_and_a_request_waits_for_the_friend(client, naive):
    host = invite(client, naive)
    path = f"/tables/invitations/{host['friend']['invitation']}"
    assert client.get(path).json() | {"rules": None} == {"host": "Ann", "game": "punish", "rules": None, "clock": 600}
    for name in ("you", "Ann", "\u0410nn", "naive"):
        answer = accept(client, host, name)
        assert (answer.status_code, answer.json()["detail"][:6]) == (422, "name: "), name
    assert accept(client, host, "ann").json()["detail"].startswith("name: ann is already used at this table; ")
    assert choose(client, host, 10).json()["detail"] == "table: the game has not begun"
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(look, client, host, version=host["friend"]["version"])
        time.sleep(0.05)
        assert not waiting.done()
        accept(client, host)
        assert waiting.result(20).json()["names"] == ["Ann", "Ben"]
    for answer in (client.get(path), accept(client, host, "Cay")):
        assert (answer.status_code, answer.json()["detail"][:55]) == (
            409,
            "invitation: both seats of this table are taken; ask for",
        )
    assert look(client, {"table": host["friend"]["invitation"]}).status_code == 404
    for wrong in ({"name": "you"}, {"seed": "1"}, {"clock": 5}, {"clock": 601}):
        invite(client, naive, 422, **wrong)


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
    ended = "Ben did not move in time. The game is over and is not recorded."
    assert [(each["is_on"], each["winner"], each["friend"]["ended"]) for each in shown] == 2 * [(False, None, ended)]
    # A finished game makes room for another of either person.
    for client in (ann, ben):
        for _ in range(10):
            tables.open(models[0], "Ann", None, None, client=client)
    with pytest.raises(HTTPException, match="This game is lost"):
        tables.find(host.id)
    assert len(tables) == 20

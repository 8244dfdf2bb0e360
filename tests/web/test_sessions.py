from __future__ import annotations

import re
import time

import numpy as np
import pytest
from fastapi import HTTPException
from fastapi.testclient import TestClient
from serving import BASE, TINY, choose, config_of, entries_of, open_table, play_out

from punish_fast.duel.graph import GameGraph
from punish_fast.duel.simulator import Simulator
from punish_fast.play.punish.punish_player import PunishPlayer
from punish_fast.records.database import open_to_read
from punish_fast.records.games import read_games
from punish_fast.web.app import ServerConfig, create_app
from punish_fast.web.limits import Client, Limits
from punish_fast.web.open_sessions import OpenSessions


def test_a_game_is_played_to_its_end_and_its_table_cleared(client, naive):
    table, events = play_out(client, open_table(client, naive))
    assert table["winner"] in (0, 1)
    assert (events[-1]["kind"], events[-1]["winner"]) == ("end", table["winner"])
    assert [event["n"] for event in events] == list(range(table["n_events"]))
    assert (table["legal"], table["view"]["state"]) == ([], None)
    path = f"/tables/{table['table']}"
    assert client.get(path).json()["events"] == events
    assert client.get(f"{path}/coach").status_code == client.get(f"{path}/guide").status_code == 409
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == client.delete(path).status_code == 404


def test_sentences_count_hearts(client, naive):
    table = open_table(client, naive, seed="2")
    path = f"/tables/{table['table']}"
    answers = [client.get(f"{path}/{what}").text for what in ("coach", "guide")]
    answers += [client.get(f"/models/{naive}/why/{table['view']['state']}").text]
    over, events = play_out(client, table)
    words = " ".join([*answers, over["view"]["words"], *(event["words"] for event in events)])
    assert "HP" not in words
    assert {"1 heart", "2 hearts", "no hearts"} <= set(re.findall(r"\w+ hearts?", words))


def test_the_end_uncovers_all_cards_and_names_the_worst_choice(client, naive):
    table = open_table(client, naive, seed="2")
    path = f"/tables/{table['table']}"
    assert table["uncovered"] is None
    answer = client.get(f"{path}/costliest")
    assert (answer.status_code, answer.json()["detail"]) == (409, "table: the game is not over")
    states = []
    while table["is_on"]:
        states.append(table["view"]["state"])
        table = choose(client, table, table["legal"][-1]["action"]).json()
        assert (table["uncovered"] is None) == table["is_on"]
    view, cards = table["view"], table["uncovered"]
    assert (sum(cards["hand"]), sum(cards["deck"])) == (view["enemy"]["cards"], view["deck"])
    assert np.add(cards["hand"], cards["deck"]).tolist() == view["unseen"]
    found = client.get(f"{path}/costliest").json()
    assert (found["judge"], found["model"]) == ("Nina", naive)
    worst = found["choice"]
    assert worst["state"] == worst["view"]["state"] == states[worst["number"] - 1]
    wins = client.get(f"/models/{naive}/why/{worst['state']}").json()["actions"]
    played = next(each["value"] for each in wins if each["action"] == worst["action"])
    assert next(each["value"] for each in wins if each["action"] == worst["best_action"]) == wins[0]["value"]
    assert worst["loss"] == pytest.approx(max(each["value"] for each in wins) - played)


def test_a_game_is_replayed_from_any_breath_with_the_same_cards(client, naive):
    on = open_table(client, naive)
    path = f"/tables/{on['table']}/replay"
    refused = client.post(path, json={"breath": 1})
    assert (refused.status_code, refused.json()["detail"].partition(":")[0]) == (409, "table")
    views, table = [], on
    while table["is_on"]:
        views.append(table["view"])
        table = choose(client, table, table["legal"][0]["action"]).json()
    for breath, view in enumerate(views, 1):
        again = client.post(path, json={"breath": breath})
        assert again.status_code == 201, again.text
        again = again.json()
        assert (again["view"], again["is_on"], again["keeps"], again["names"]) == (view, True, False, on["names"])
        assert [event["kind"] for event in again["events"]].count("reveal") == breath - 1
        over, _ = play_out(client, again)
        assert (over["winner"] in (0, 1), over["kept"]) == (True, None)
    assert client.post(path, json={"breath": len(views) + 1}).status_code == 422
    assert client.post(path, json={"breath": 0}).status_code == 422


def test_a_seeded_game_is_that_of_the_simulator(client, naive, models):
    space = models[0].space
    first = np.zeros(len(space.action))
    first[space.state_ptr[:-1]] = 1
    simulator = Simulator(GameGraph(space))
    for seed in range(3):
        _, events = play_out(client, open_table(client, naive, seed=str(seed)))
        trace = simulator.trace(*map(simulator.thresholds, (first, models[0].strategy)), 0, 1, seed)
        played = [[play["action"] for play in event["plays"]] for event in events if event["kind"] == "reveal"]
        assert played == [space.action[rows].tolist() for rows in trace.rows]
        assert (events[-1]["winner"] == 0) == bool(trace.games.won[0])
    # A random seed is told at the end.
    table = open_table(client, naive)
    assert table["seed"] is None
    table, events = play_out(client, table)
    again, same = play_out(client, open_table(client, naive, seed=table["seed"]))
    assert (same, again["seed"]) == (events, table["seed"])


def test_the_rules_that_matter_are_told_while_the_game_is_on(client, naive):
    table = open_table(client, naive)
    told = client.get(f"/tables/{table['table']}/guide").json()["paragraphs"]
    assert told[0].startswith("You and Nina pick a card at the same time")
    held = [card for card, n in zip(table["rules"]["cards"], table["view"]["hand"], strict=True) if n]
    effects = dict(zip(table["rules"]["cards"], table["rules"]["effects"], strict=True))
    assert [line for line in told if line.startswith(tuple(f"{card}:" for card in held))] == [
        f"{card}: {effects[card]}." for card in held
    ]


def test_an_illegal_move_changes_nothing_and_a_move_is_made_once(client, naive):
    table = open_table(client, naive)
    legal = {move["action"] for move in table["legal"]}
    illegal = next(action for action in (*range(10, 52), 90) if action not in legal)
    answer = choose(client, table, illegal)
    assert (answer.status_code, answer.json()["detail"].split(":")[0]) == (422, f"action {illegal}")
    assert client.get(f"/tables/{table['table']}").json() == table
    action = min(legal)
    assert [choose(client, table, action).status_code for _ in range(2)] == [200, 409]


def test_finished_games_are_kept(models, database, naive):
    with TestClient(create_app(ServerConfig(models, database, TINY)), base_url=BASE) as client:
        entries_of(client)
        table, _ = play_out(client, open_table(client, naive, name="Ann"))
        deadline = time.monotonic() + 30
        while (table := client.get(f"/tables/{table['table']}").json())["kept"] is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        # This one ends as the server does.
        play_out(client, open_table(client, naive))
    with open_to_read(database) as connection:
        games = dict(read_games(connection))
    assert len(games) == 2
    assert games[table["kept"]].winner.name == ["Ann", "naive"][table["winner"]]


def test_names_seeds_and_temperatures_are_checked(client, naive):
    def opened(**options):
        answer = client.post("/tables", json={"opponent": naive, **options})
        return answer.status_code, answer.json()

    for name in ("Clara", "nina@0.1", "Veteran", "na\u0456ve", "\uff4eaive", "naive ", "", " ", "a" * 61, "a\nb"):
        status, answer = opened(name=name)
        assert (status, answer["detail"][:6]) == (422, "name: "), name
    assert opened(name=" Ann\u00a0Lee")[1]["names"] == ["Ann Lee", "Nina"]
    assert opened(name="a" * 60)[0] == 201
    for seed in ("18446744073709551616", "-1", "x", "1.5", ""):
        assert opened(seed=seed)[0] == 422, seed
    table = opened(temperature=0.1)[1]
    assert (table["temperature"], table["names"]) == (0.1, ["you", "Nina@0.1"])
    status, answer = opened(temperature=0.3)
    assert (status, "allowed:" in answer["detail"]) == (409, True)


def test_the_coach_knows_every_move(client, naive):
    table = open_table(client, naive)
    advice = client.get(f"/tables/{table['table']}/coach").json()
    assert {entry["action"] for entry in advice["chances"]} == {move["action"] for move in table["legal"]}
    assert all("decides" in entry["why"] for entry in advice["chances"])
    wins = [entry["win"] for entry in advice["chances"]]
    assert wins == sorted(wins, reverse=True)
    assert sum(entry["probability"] for entry in advice["expected"]) == pytest.approx(1)
    # Against another opponent, the same judge advises unless the opponent's strategy is wanted.
    random = next(entry["digest"] for entry in entries_of(client) if entry["name"] == "random")
    path = f"/tables/{open_table(client, random)['table']}/coach"
    asked = [client.get(path, params={"as_opponent": wanted}).json() for wanted in (False, True)]
    assert [each["judge"] for each in asked] == ["Nina", "Robin"]
    assert asked[0]["expected"] != asked[1]["expected"]


def test_a_chosen_seed_repeats_deals_alone_and_the_game_is_practice(client):
    random = next(entry["digest"] for entry in entries_of(client) if entry["name"] == "random")
    games = [play_out(client, open_table(client, random, name="Cay", seed="1")) for _ in range(10)]
    deals, plays = zip(*((events[0], events[1]["plays"][1]) for _, events in games), strict=True)
    assert all(deal == deals[0] for deal in deals)
    assert any(play != plays[0] for play in plays)
    assert all((table["keeps"], table["kept"], table["flaw"]) == (False, None, None) for table, _ in games)
    assert "Cay" not in [entry["name"] for entry in client.get("/players").json()]
    assert open_table(client, random)["keeps"]


# A client with a cookie.
ANN = Client("192.0.2.1", "a")


def finish(seat):
    while seat.session.is_on:
        seat.session.choose(0, seat.session.legal(0)[0])
        seat.session.reveal()


def test_tables_that_nobody_uses_are_cleared(models):
    now = 0.0
    tables = OpenSessions(Limits(tables=2), lambda: now)
    first, second = (tables.open(models[0], "Ann", None, seed, client=ANN) for seed in (1, 2))
    now = 3000.0
    assert tables.find(first.id) is first
    now = 4000.0
    with pytest.raises(HTTPException, match="This game is lost, because the server was restarted, or nobody moved"):
        tables.find(second.id)
    # Its place is free.
    third = tables.open(models[0], "Ann", None, 3, client=ANN)
    assert tables.find(first.id) is first
    with pytest.raises(HTTPException, match="2 games you play now"):
        tables.open(models[0], "Ann", None, 4, client=ANN)
    finish(third)
    # Finished games are cleared sooner.
    now = 5000.0
    assert tables.find(first.id) is first
    with pytest.raises(HTTPException):
        tables.find(third.id)


def test_finished_games_and_then_quiet_ones_make_room(models):
    now = 0.0
    tables = OpenSessions(Limits(tables=3), lambda: now)
    ids = []
    for number in range(9):
        table = tables.open(models[0], "Ann", None, number, client=ANN)
        finish(table)
        ids.append(table.id)
    assert len(tables) == 3
    assert [tables.find(each).id for each in ids[-3:]] == ids[-3:]
    quiet = [tables.open(models[0], "Ann", None, number, client=ANN) for number in range(3)]
    now = 601.0
    assert tables.find(quiet[0].id) is quiet[0]
    for number in range(2):
        tables.open(models[0], "Ann", None, number, client=ANN)
    assert tables.find(quiet[0].id) is quiet[0]
    with pytest.raises(HTTPException, match="you play now"):
        tables.open(models[0], "Ann", None, 1, client=ANN)


def test_neither_a_client_nor_an_address_takes_all_tables(models):
    limits = Limits(tables=60)
    tables = OpenSessions(limits)

    def open_all(address, sessions):
        n = 0
        for session in range(sessions):
            for _ in range(limits.tables):
                try:
                    tables.open(models[0], "Ann", None, None, client=Client(address, str(session)))
                except HTTPException as error:
                    assert error.status_code == 429
                    break
                n += 1
        return n

    assert open_all("192.0.2.1", 1) == limits.client_tables == 10
    # Each other session takes the place of the session with the most games, but of no other address.
    assert open_all("192.0.2.2", 1) == 10
    assert open_all("192.0.2.1", 50) >= 49
    assert len(tables) == limits.address_tables + 10 == 40


def test_a_game_of_the_client_with_the_most_games_makes_room_within_an_address(models):
    now = 0.0
    tables = OpenSessions(Limits(tables=40), lambda: now)

    def opened(n, session=""):
        clients = [Client("192.0.2.1", session, str(k)) for k in range(n)]
        return [tables.open(models[0], "Ann", None, None, client=client) for client in clients]

    def missing(seats):
        return [k for k, seat in enumerate(seats) if seat.id not in tables._seats]

    # Programs without cookies share 10 games, on however many connections, and none of them is refused.
    shared = opened(10)
    shared[0].table.chosen = now
    newer = opened(3)
    assert (missing(shared), missing(newer), len(tables)) == ([1, 2, 3], [], 10)
    others = opened(9, "x") + opened(1, "y")
    assert len(tables) == 20
    # A game with a choice more than a minute ago is as old as it is.
    now = 61.0
    opened(1, "z")
    assert (missing(shared), missing(newer), missing(others)) == ([0, 1, 2, 3], [], [])
    # The games of the client with the most games have recent choices, and still one of them goes.
    for seat in [*shared[4:], *newer]:
        seat.table.chosen = now
    opened(2, "z")
    assert (missing(shared), missing(others)) == ([0, 1, 2, 3, 4], [0])


def test_a_full_server_has_room_for_a_client_whose_address_has_a_greedy_client(models):
    tables = OpenSessions(Limits(tables=40))
    greedy, pupil = Client("192.0.2.1", "a"), Client("192.0.2.1", "b")
    for client in [greedy] * 10 + [Client(f"192.0.2.{k}", str(j)) for k in (2, 3, 4) for j in range(10)]:
        tables.open(models[0], "Ann", None, None, client=client)
    mine = [tables.open(models[0], "Ann", None, None, client=pupil) for _ in range(5)]
    assert [tables.find(seat.id) for seat in mine] == mine
    assert len(tables) == 40
    with pytest.raises(HTTPException, match="are played here now"):
        tables.open(models[0], "Ann", None, None, client=pupil)


def test_a_full_server_has_room_for_another_address(models):
    tables = OpenSessions(Limits(tables=40))

    def opened(address, n, sessions=1):
        clients = [Client(address, str(session)) for session in range(sessions)]
        return [tables.open(models[0], "Ann", None, None, client=clients[k % sessions]) for k in range(n)]

    two = [opened(address, 20, sessions=2) for address in ("192.0.2.1", "192.0.2.2")]
    mine = opened("192.0.2.3", 10)
    assert [table.id for table in mine] == [tables.find(table.id).id for table in mine]
    for theirs in two:
        # The tables that were used last stay.
        assert [tables.find(table.id) for table in theirs[-15:]] == theirs[-15:]
    assert len(tables) == 40
    small = OpenSessions(Limits(tables=4))
    for address in ("192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.2"):
        small.open(models[0], "Ann", None, None, client=Client(address, ""))
    with pytest.raises(HTTPException, match="are played here now"):
        small.open(models[0], "Ann", None, None, client=Client("192.0.2.2", ""))
    few = OpenSessions(Limits(tables=40))
    for k in range(40):
        few.open(models[0], "Ann", None, None, client=Client(f"192.0.2.{k}", ""))
    with pytest.raises(HTTPException, match="are played here now"):
        few.open(models[0], "Ann", None, None, client=Client("192.0.2.40", ""))


def test_a_judge_that_is_not_served_is_no_link(naive):
    """Games under other rules than those of the server are judged by a player that ``/models`` does not list."""
    models = [PunishPlayer("naive", TINY), PunishPlayer("random", TINY._replace(hp=1))]
    with TestClient(create_app(ServerConfig(models, None, TINY, limits=Limits(rate=None))), base_url=BASE) as client:
        for entry, model in zip(entries_of(client), (naive, None), strict=True):
            over, _ = play_out(client, open_table(client, entry["digest"]))
            found = client.get(f"/tables/{over['table']}/costliest").json()
            assert (found["judge"], found["model"]) == ("Nina", model)


def test_a_player_that_solves_measures_again_is_the_strongest_level():
    with TestClient(create_app(config_of("naive@resolve", "naive")), base_url=BASE) as client:
        expert, naive = entries_of(client)
        assert (expert["person"], expert["level"], expert["coaches"], expert["values"]) == (
            "Nina@resolve",
            "expert",
            False,
            False,
        )
        assert expert["digest"] != naive["digest"]
        table, _ = play_out(client, open_table(client, expert["digest"], seed="5"))
        assert not table["is_on"]
        assert client.get(f"/models/{expert['digest']}/q/{10**17}").status_code == 409
    player = PunishPlayer("naive@resolve", TINY)
    match = player.match(5)
    match.begin()
    assert player.hasty_action(match.view(0).state) in match.legal(0)
    assert not player.prepare(match.view(0).state, time.monotonic() + 0.1)

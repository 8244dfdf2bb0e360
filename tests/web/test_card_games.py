"""Card games over HTTP: who may know what."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from serving import BASE, choose, config_of, entries_of, open_table, play_out

from punish_fast.games.gwent.game import Gwent
from punish_fast.games.incan_gold.game import IncanGold
from punish_fast.play.games.player import GamePlayer, level_players
from punish_fast.web.app import create_app

GAMES = (IncanGold(), Gwent())
# Every card has another number, so that each can be told from all others.
DECK = " ".join(map(str, range(1, 14)))


@pytest.fixture(scope="module")
def boards() -> list[GamePlayer]:
    return [model for game in GAMES for model in level_players(game, None)]


@pytest.fixture(scope="module")
def client(boards, tmp_path_factory) -> Iterator[TestClient]:
    config = config_of("random", game_players=boards, database=tmp_path_factory.mktemp("cards") / "games.db")
    with TestClient(create_app(config), base_url=BASE) as client:
        entries_of(client)
        yield client


def hash_of(client, name):
    return next(entry["hash"] for entry in entries_of(client) if entry["name"] == name)


def test_one_person_plays_incan_gold_against_two_agents(client, monkeypatch):
    # Agents seldom break their rule, by random numbers of their own.
    monkeypatch.setattr(secrets, "randbits", lambda _: 1)
    opponent = hash_of(client, "rule-of-thumb-incan-gold")
    table = open_table(client, opponent, game="incan-gold", seed="3")
    assert table["names"] == ["you", "rule-of-thumb 1", "rule-of-thumb 2"]
    assert [move["name"] for move in table["legal"]] == ["leave", "stay"]
    assert [event["kind"] for event in table["events"]] == ["round", "card"]
    after = choose(client, table, 0).json()
    answers = [event for event in after["events"] if event["kind"] == "move"][:3]
    assert [(event["seat"], event["words"]) for event in answers] == [
        (0, "You leave."),
        (1, "rule-of-thumb 1 stays."),
        (2, "rule-of-thumb 2 stays."),
    ]
    ended, events = play_out(client, after)
    assert (ended["keeps"], ended["seed"], events[-1]["kind"]) == (False, "3", "end")
    assert [event["about"] for event in events if event["kind"] == "round"] == [2, 3, 4, 5]


def test_nobody_is_told_the_cards_of_the_other(client):
    opponent = hash_of(client, "random-gwent")
    table = open_table(client, opponent, game="gwent", seed="2")
    answers = [table]
    while table["is_on"]:
        assert client.get(f"/tables/{table['table']}").json()["view"] == table["view"]
        table = choose(client, table, table["legal"][-1]["action"]).json()
        answers.append(table)
    events = [event for answer in answers for event in answer["events"]]
    draws = [
        [each["words"] for each in events if (each["kind"], each.get("seat")) == ("draw", seat)] for seat in (0, 1)
    ]
    assert all(re.fullmatch(r"You draw( \d+)+\.", words) for words in draws[0])
    assert draws[1]
    assert all(re.fullmatch(r"random-gwent draws \d+ cards?\.", words) for words in draws[1])
    # All that is known of the other's hand is its size.
    boards = [answer["view"]["board"] for answer in answers]
    keys = {"round", "hand", "n_cards", "n_pile", "totals", "wins", "out", "unplayed", "own"}
    assert all(set(board) == keys and len(board["hand"]) == board["n_cards"][0] for board in boards)


def test_what_card_games_do_not_have_is_refused_in_one_line(client):
    for game, rest in (("incan-gold", "rule-of-thumb-incan-gold"), ("gwent", "random-gwent")):
        opponent = hash_of(client, rest)
        answer = client.post("/tables", json={"opponent": opponent, "second": True})
        detail = f"second: must be false, because in {game} nobody chooses who begins"
        assert (answer.status_code, answer.json()["detail"]) == (422, detail)
        table = open_table(client, opponent)
        answer = client.get(f"/tables/{table['table']}/hint")
        detail = f"{rest}: does not offer hint in {game}"
        assert (answer.status_code, answer.json()["detail"]) == (409, detail)
        meta = client.get(f"/models/{opponent}/meta").json()
        assert (meta["hints"], meta["states"]) == (False, None)
        assert json.loads(json.dumps(meta)) == meta

"""Games of cards over HTTP: who may know what."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from serving import BASE, choose, entries_of, hall_of, open_table, play_out

from punish_fast.games.gwent import Gwent
from punish_fast.games.incan_gold import IncanGold
from punish_fast.play.board_model import BoardModel, level_models
from punish_fast.play.card_match import CardMatch
from punish_fast.web.app import create_app

GAMES = (IncanGold(), Gwent())


@pytest.fixture(scope="module")
def boards() -> list[BoardModel]:
    return [model for game in GAMES for model in level_models(game, None)]


@pytest.fixture
def client(boards, tmp_path) -> Iterator[TestClient]:
    hall = hall_of("random", boards=boards, database=tmp_path / "games.db")
    with TestClient(create_app(hall), base_url=BASE) as client:
        entries_of(client)
        yield client


def hash_of(client, name):
    return next(entry["hash"] for entry in entries_of(client) if entry["name"] == name)


def test_one_person_plays_incan_gold_against_two_agents(client):
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


def test_gwent_is_played_to_the_end(client):
    table = open_table(client, hash_of(client, "random-gwent"), game="gwent", seed="5")
    assert table["names"] == ["you", "random-gwent"]
    assert len(table["view"]["board"]["hand"]) == 10
    _, events = play_out(client, table, lambda legal: legal[-1]["action"])
    assert events[-1]["kind"] == "end"
    draws = [event["words"] for event in events if event["kind"] == "draw" and event["seat"] == 1]
    assert draws[0] == "random-gwent draws 10 cards."
    assert all("action" not in event for event in events)


def test_answers_of_the_server_do_not_depend_on_the_hand_of_the_other(client, monkeypatch):
    """The same deal but for the order in which the other draws: until the other plays, nothing may differ."""
    shown, swaps = [], iter([False, True])
    dealt = CardMatch.begin

    def begin(match):
        events = dealt(match)
        assert match.to_move == (0,)
        if next(swaps):
            (own, hand), (pile, rest) = match._state.hands, match._state.piles
            match._state = match._state._replace(hands=(own, rest[:10]), piles=(pile, tuple(sorted(hand + rest[10:]))))
        return events

    monkeypatch.setattr(CardMatch, "begin", begin)
    for _ in range(2):
        table = open_table(client, hash_of(client, "random-gwent"), game="gwent", seed="2")
        seen = client.get(f"/tables/{table['table']}").json()
        shown.append([{**each, "table": None} for each in (table, seen)])
    assert shown[0] == shown[1]


def test_what_games_of_cards_do_not_have_is_refused_in_one_line(client):
    for game, rest in (("incan-gold", "rule-of-thumb-incan-gold"), ("gwent", "random-gwent")):
        opponent = hash_of(client, rest)
        answer = client.post("/tables", json={"opponent": opponent, "second": True})
        detail = f"second: at {game} chance or nobody begins, allowed is false"
        assert (answer.status_code, answer.json()["detail"]) == (422, detail)
        table = open_table(client, opponent)
        answer = client.get(f"/tables/{table['table']}/hint")
        detail = f"table: there is no perfect play of {game}, and so no hint"
        assert (answer.status_code, answer.json()["detail"]) == (409, detail)
        meta = client.get(f"/models/{opponent}/meta").json()
        assert (meta["hints"], meta["states"]) == (False, None)
        assert json.loads(json.dumps(meta)) == meta

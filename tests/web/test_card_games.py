"""Card games over HTTP: who may know what."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from serving import BASE, choose, config_of, entries_of, open_table, play_out

from punish_fast.games.gwent.game import Gwent, GwentVariant
from punish_fast.games.incan_gold.game import IncanGold
from punish_fast.play.games.match import GameMatch
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


class Duel:
    """Two tables of the same public history, at which the other holds different cards.

    The other plays the cards that it holds at both tables, two in each of the first two rounds.
    """

    game = Gwent(GwentVariant(f"{DECK} / {DECK}", hand_size=6, draws=2, min_cards=13))
    common = (5, 6, 7, 8)
    # Below and above, so that the slots of these differ, too.
    secret = ((1, 2), (12, 13))

    def __init__(self):
        self.matches = []
        self.model = GamePlayer("common", "plays cards of both tables", self.game, None, lambda: self.choices, "1")

    def deal(self, monkeypatch):
        """Let the other hold what it is to hold, from now on."""
        dealt = GameMatch.begin

        def begin(match):
            events = dealt(match)
            hand = tuple(sorted((*self.common, *self.secret[len(self.matches)])))
            pile = tuple(card for card in range(1, 14) if card not in hand)
            state = match._state
            match._state = state._replace(hands=(state.hands[0], hand), piles=(state.piles[0], pile))
            self.matches.append(match)
            return events

        monkeypatch.setattr(GameMatch, "begin", begin)

    def choices(self, state):
        hand = state.hands[1]
        left = [card for card in hand if card in self.common]
        # Two are left after round 1, none after round 2.
        wanted = left[0] if len(left) > max(4 - 2 * state.round, 0) else None
        cards = [None, *hand]
        return [cards[action] == wanted for action in self.game.actions(state)]


def test_no_answer_of_a_game_depends_on_the_hand_of_the_other(monkeypatch, tmp_path):
    duel = Duel()
    config = config_of("random", game_players=[duel.model], database=tmp_path / "games.db")
    with TestClient(create_app(config), base_url=BASE) as client:
        opponent = hash_of(client, "common")
        duel.deal(monkeypatch)
        tables = [open_table(client, opponent, game="gwent", seed="2") for _ in duel.secret]
        hands, events = [], []
        while True:
            seen = [client.get(f"/tables/{table['table']}").json() for table in tables]
            for shown in (tables, seen):
                one, two = ({**each, "table": None} for each in shown)
                assert one == two
            states = [match._state for match in duel.matches]
            assert states[0].hands[1] != states[1].hands[1]
            hands.append([set(state.hands[1]) for state in states])
            events += tables[0]["events"]
            if not tables[0]["is_on"]:
                break
            # Pass in round 1, and play all cards in the others.
            action = tables[0]["legal"][0 if states[0].round == 1 else -1]["action"]
            tables = [choose(client, table, action).json() for table in tables]
    assert [event["about"] for event in events if event["kind"] == "round"] == [1, 2, 3]
    draws = [event["words"] for event in events if event["kind"] == "draw" and event["seat"] == 1]
    assert draws == ["common draws 6 cards.", "common draws 2 cards.", "common draws 2 cards."]
    # Cards that came later differ, too.
    held = [set().union(*each) for each in zip(*hands, strict=True)]
    drawn = [cards - {*duel.common, *first} for cards, first in zip(held, duel.secret, strict=True)]
    assert len(drawn[0]) == len(drawn[1]) == 4
    assert drawn[0] != drawn[1]


def test_what_card_games_do_not_have_is_refused_in_one_line(client):
    for game, rest in (("incan-gold", "rule-of-thumb-incan-gold"), ("gwent", "random-gwent")):
        opponent = hash_of(client, rest)
        answer = client.post("/tables", json={"opponent": opponent, "second": True})
        detail = f"second: at {game} chance or nobody begins, allowed is false"
        assert (answer.status_code, answer.json()["detail"]) == (422, detail)
        table = open_table(client, opponent)
        answer = client.get(f"/tables/{table['table']}/hint")
        detail = f"{rest}: plays {game}, without hint"
        assert (answer.status_code, answer.json()["detail"]) == (409, detail)
        meta = client.get(f"/models/{opponent}/meta").json()
        assert (meta["hints"], meta["states"]) == (False, None)
        assert json.loads(json.dumps(meta)) == meta

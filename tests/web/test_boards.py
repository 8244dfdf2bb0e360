from __future__ import annotations

import json
import re
import secrets
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from fastapi.testclient import TestClient
from serving import BASE, choose, config_of, entries_of, open_table, play_out

from punish_fast.games.connect4.game import Connect4
from punish_fast.games.contract import MoveValue
from punish_fast.games.enumeration.retrograde import RetrogradeOracle
from punish_fast.games.gwent.game import Gwent
from punish_fast.games.incan_gold.game import IncanGold
from punish_fast.games.registry import perfect_play
from punish_fast.games.tapnswap import TapnSwap
from punish_fast.games.tictactoe import TicTacToe
from punish_fast.play.games.game_player import GamePlayer, level_players
from punish_fast.play.games.policies import levels_of, policy_at
from punish_fast.play.session import ServedPlayer
from punish_fast.web import sessions
from punish_fast.web.app import create_app

GAMES = (TapnSwap(), TicTacToe(), Connect4(), IncanGold(), Gwent())
ALTERNATING = ("tapnswap", "tictactoe", "connect4")


@pytest.fixture(scope="module")
def boards() -> list[GamePlayer]:
    return [player for game in GAMES for player in level_players(game, perfect_play(game))]


@pytest.fixture(scope="module")
def client(boards, tmp_path_factory) -> Iterator[TestClient]:
    config = config_of("random", others=boards, database=tmp_path_factory.mktemp("boards") / "games.db")
    with TestClient(create_app(config), base_url=BASE) as client:
        entries_of(client)
        yield client


def digest_of(client, name):
    return next(entry["digest"] for entry in entries_of(client) if entry["name"] == name)


def test_agents_of_all_games_are_listed_with_the_same_keys(client):
    entries = entries_of(client)
    others = [(f"{level}-{game.name}", game.name) for game in GAMES for level in levels_of(game)]
    assert [(entry["name"], entry["game"]) for entry in entries] == [("random", "punish"), *others]
    assert len({entry["digest"] for entry in entries}) == len(entries)
    assert [entry["hints"] for entry in entries] == [entry["game"] in ALTERNATING for entry in entries]
    assert len({frozenset(entry) for entry in entries}) == 1


def test_the_rules_are_told(client):
    opponent = digest_of(client, "perfect-tapnswap")
    meta = client.get(f"/models/{opponent}/meta").json()
    assert (meta["name"], meta["fields"]["variant"]["limit"]) == ("perfect-tapnswap", 5)
    assert meta["states"] > 100
    table = open_table(client, opponent)
    paragraphs = client.get(f"/tables/{table['table']}/guide").json()["paragraphs"]
    assert "\n".join(paragraphs) == table["rules"]["words"]


def test_a_perfect_player_wins_when_it_moves_second(client):
    table = open_table(client, digest_of(client, "perfect-tapnswap"), game="tapnswap")
    assert table["names"] == ["you", "Petra"]
    assert table["rules"]["name"] == "TapnSwap, limit 5"
    assert table["view"]["board"] == {"own": [1, 1], "other": [1, 1], "limit": 5}
    assert [move["name"] for move in table["legal"]] == ["tap 1 on 1", "swap to 0-2"]
    table, events = play_out(client, table)
    assert table["winner"] == 1
    assert (table["kept"], table["keeps"]) == (None, False)
    moves = [event for event in events if event["kind"] == "move"]
    assert [move["seat"] for move in moves] == [k % 2 for k in range(len(moves))]
    assert events[-1] == {"n": len(moves), "kind": "end", "words": "Petra wins!", "winner": 1}


def test_a_choice_made_at_an_older_state_of_the_table_is_refused(client):
    table = open_table(client, digest_of(client, "perfect-tictactoe"))
    choose(client, table, 0)
    late = choose(client, table, 5)
    assert late.status_code == 409
    assert late.json()["detail"] == "n_events: 0, but 2 events have happened; reload the table"


def test_a_move_is_undone_with_the_reply_unless_cards_were_shown(client):
    def undo(table):
        return client.post(f"/tables/{table['table']}/undo", json={"n_events": table["n_events"]})

    start = open_table(client, digest_of(client, "perfect-tictactoe"))
    table = choose(client, start, 0).json()
    assert undo(start).status_code == 409
    assert undo(table).json() == start
    assert undo(start).json()["detail"] == "there is no move to undo"
    # The end is undone, too.
    over, events = play_out(client, start)
    again = undo(over).json()
    assert (over["is_on"], again["is_on"], again["winner"]) == (False, True, None)
    assert again["events"] == events[: again["n_events"]]
    for name, reason in (
        ("random", "a breath that was revealed cannot be undone"),
        ("random-gwent", "moves cannot be undone in a game with hidden information"),
    ):
        table = open_table(client, digest_of(client, name))
        answer = undo(choose(client, table, table["legal"][-1]["action"]).json())
        assert (answer.status_code, answer.json()["detail"]) == (409, reason)


def test_a_hint_tells_the_outcome_of_each_move(client):
    table = open_table(client, digest_of(client, "perfect-tictactoe"))
    for square in (0, 5):
        table = choose(client, table, square).json()
    hint = client.get(f"/tables/{table['table']}/hint").json()
    assert hint["n_events"] == table["n_events"] == 4
    assert [(move["action"], move["name"]) for move in hint["moves"]] == [
        (move["action"], move["name"]) for move in table["legal"]
    ]
    outcomes = {move["name"]: (move["outcome"], move["plies"], move["best"]) for move in hint["moves"]}
    assert outcomes.pop("bottom left") == ("draw", None, True)
    assert set(outcomes.values()) == {("loss", 2, False)}


class SlowOracle(RetrogradeOracle):
    """Perfect play that takes its time."""

    is_quick = False


def test_others_are_answered_while_an_agent_thinks():
    oracle, may_answer, is_asked = SlowOracle(TicTacToe()), Event(), Event()
    perfect = policy_at(oracle.game, oracle, "perfect")

    def choices(state):
        if state != oracle.game.initial():
            is_asked.set()
            assert may_answer.wait(30)
        return perfect(state)

    config = config_of("random", others=[GamePlayer("slow", "thinks", oracle.game, oracle, lambda: choices, "slow")])
    with TestClient(create_app(config), base_url=BASE) as client, ThreadPoolExecutor(1) as pool:
        entries_of(client)
        table = open_table(client, digest_of(client, "slow"))
        answer = pool.submit(choose, client, table, 0)
        assert is_asked.wait(30)
        try:
            seen = client.get(f"/tables/{table['table']}").json()
            assert (seen["view"]["to_move"], seen["legal"]) == (1, [])
            hint = client.get(f"/tables/{table['table']}/hint")
            assert (hint.status_code, hint.json()["detail"]) == (409, "table: it is not your turn")
            assert choose(client, seen, 1).status_code == 422
        finally:
            may_answer.set()
        assert [event["name"] for event in answer.result().json()["events"]] == ["top left", "center"]


class DeepOracle(SlowOracle):
    """Perfect play that never knows what to do after the middle was taken, and stops to think once it is told to."""

    def __init__(self, game):
        super().__init__(game)
        self.is_told = Event()

    def prepare(self, state, until):
        return not (state.own | state.other) & 16 or self._wait(until)

    def known_values(self, state, until):
        if self.prepare(state, until):
            return super().known_values(state, until)
        # Nothing but that the first move loses.
        actions = self.game.actions(state)
        return [MoveValue(actions[0], -1, None, False), *[None] * (len(actions) - 1)], False

    def _wait(self, until):
        self.is_told.wait(max(until - time.monotonic(), 0.0))
        return False


@pytest.fixture
def oracle():
    return DeepOracle(TicTacToe())


@pytest.fixture
def deep(oracle):
    config = config_of("random", others=level_players(oracle.game, oracle))
    with TestClient(create_app(config), base_url=BASE) as client:
        entries_of(client)
        yield client


def test_short_searches_do_not_wait_for_long_ones(deep, oracle, monkeypatch):
    monkeypatch.setattr(ServedPlayer, "move_seconds", 60.0)
    opponent = digest_of(deep, "perfect-tictactoe")
    *games, other = [open_table(deep, opponent) for _ in range(4)]
    with ThreadPoolExecutor(3) as pool:
        long = [pool.submit(choose, deep, table, 4) for table in games]
        try:
            while deep.get(f"/tables/{games[-1]['table']}").json()["view"]["to_move"] == 0:
                time.sleep(0.01)
            assert choose(deep, other, 0).status_code == 200
            assert not any(each.done() for each in long)
        finally:
            oracle.is_told.set()
        # Whoever waits too long gets a move all the same, by what is known: the first one loses.
        assert all(each.result().json()["events"][-1]["action"] > 0 for each in long)


def test_a_hint_that_is_cut_short_says_so(deep, monkeypatch):
    monkeypatch.setattr(ServedPlayer, "move_seconds", 0.2)
    monkeypatch.setattr(sessions, "_HINT_SECONDS", 1.0)
    table = open_table(deep, digest_of(deep, "perfect-tictactoe"))
    path = f"/tables/{table['table']}/hint"
    assert deep.get(path).json()["exact"]
    # The agent gives up its search, too.
    assert len(choose(deep, table, 4).json()["events"]) == 2
    with ThreadPoolExecutor(8) as pool:
        answers = [each.result().json() for each in [pool.submit(deep.get, path) for _ in range(8)]]
    assert not any(answer["exact"] or any(move["best"] for move in answer["moves"]) for answer in answers)
    outcomes = {(move["outcome"], move["plies"]) for answer in answers for move in answer["moves"]}
    # The last ones had no turn, and know nothing.
    assert outcomes == {("loss", None), (None, None)}


@pytest.mark.parametrize("opponent", ["perfect-tapnswap", "perfect-connect4"])
def test_the_agent_may_begin(client, opponent):
    table = open_table(client, digest_of(client, opponent), second=True, name="Ann")
    assert (table["seat"], table["names"]) == (1, ["Ann", "Petra"])
    (event,) = table["events"]
    assert (event["seat"], event["words"].startswith("Petra: ")) == (0, True)
    assert (table["view"]["to_move"], table["n_events"]) == (1, 1)
    assert client.get(f"/tables/{table['table']}/hint").json()["moves"]
    assert client.get(f"/tables/{table['table']}/guide").json()["paragraphs"]
    table = choose(client, table, table["legal"][0]["action"]).json()
    assert [event["seat"] for event in table["events"]] == [1, 0]
    if opponent == "perfect-connect4":
        assert (table["view"]["board"]["own"], table["view"]["board"]["cells"].count(1)) == (2, 2)


def test_what_another_game_does_not_have_is_refused_in_one_line(client):
    opponent = digest_of(client, "perfect-tapnswap")
    random = digest_of(client, "random")
    for body, status, text in (
        ({"opponent": opponent, "game": "punish"}, 422, "perfect-tapnswap plays tapnswap"),
        ({"opponent": opponent, "temperature": 0.5}, 409, "does not play at 0.5"),
        ({"opponent": opponent, "name": "perfect-tapnswap"}, 422, "the name of a bot"),
        ({"opponent": random, "second": True}, 422, "second: must be false, because in punish both players move"),
    ):
        answer = client.post("/tables", json=body)
        assert (answer.status_code, text in answer.json()["detail"]) == (status, True), body
    over, _ = play_out(client, open_table(client, digest_of(client, "random-tictactoe"), seed="3"))
    assert client.get(f"/tables/{over['table']}/hint").status_code == 409
    answer = client.get(f"/tables/{open_table(client, random)['table']}/hint")
    assert (answer.status_code, answer.json()["detail"]) == (409, "random: does not offer hint in punish")
    table = open_table(client, opponent)
    for path in (
        f"/tables/{table['table']}/coach",
        f"/models/{opponent}/q/101010200220000001",
        f"/models/{opponent}/why/101010200220000001",
        f"/practice?model={opponent}",
    ):
        answer = client.get(path)
        assert answer.status_code == 409, path
        assert "tapnswap" in answer.json()["detail"]


def test_one_person_plays_incan_gold_against_two_agents(client, monkeypatch):
    # Agents seldom break their rule, by random numbers of their own.
    monkeypatch.setattr(secrets, "randbits", lambda _: 1)
    opponent = digest_of(client, "rule-of-thumb-incan-gold")
    table = open_table(client, opponent, game="incan-gold", seed="3")
    assert table["names"] == ["you", "Thea 1", "Thea 2"]
    assert [move["name"] for move in table["legal"]] == ["leave", "stay"]
    assert [event["kind"] for event in table["events"]] == ["round", "card"]
    after = choose(client, table, 0).json()
    answers = [event for event in after["events"] if event["kind"] == "move"][:3]
    assert [(event["seat"], event["words"]) for event in answers] == [
        (0, "You leave."),
        (1, "Thea 1 stays."),
        (2, "Thea 2 stays."),
    ]
    ended, events = play_out(client, after)
    assert (ended["keeps"], ended["seed"], events[-1]["kind"]) == (False, "3", "end")
    assert [event["about"] for event in events if event["kind"] == "round"] == [2, 3, 4, 5]


def test_nobody_is_told_the_cards_of_the_other(client):
    opponent = digest_of(client, "random-gwent")
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
    assert all(re.fullmatch(r"Robin draws \d+ cards?\.", words) for words in draws[1])
    # All that is known of the other's hand is its size.
    boards = [answer["view"]["board"] for answer in answers]
    keys = {"round", "hand", "n_cards", "n_pile", "totals", "wins", "out", "unplayed", "own"}
    assert all(set(board) == keys and len(board["hand"]) == board["n_cards"][0] for board in boards)
    # At the end, the other hand is turned over.
    assert not any(answer["uncovered"] for answer in answers[:-1])
    hand, board = table["uncovered"]["hand"], boards[-1]
    assert len(hand) == board["n_cards"][1]
    assert not Counter(hand) - Counter(board["unplayed"][1])


def test_what_card_games_do_not_have_is_refused_in_one_line(client):
    for game, rest in (("incan-gold", "rule-of-thumb-incan-gold"), ("gwent", "random-gwent")):
        opponent = digest_of(client, rest)
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

"""Other games over HTTP."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from fastapi.testclient import TestClient
from serving import BASE, choose, config_of, entries_of, open_table, play_out

from punish_fast.games.connect4.game import Connect4
from punish_fast.games.contract import MoveValue
from punish_fast.games.registry import oracle_of
from punish_fast.games.solve.retrograde import RetrogradeOracle
from punish_fast.games.tapnswap import TapnSwap
from punish_fast.games.tictactoe import TicTacToe
from punish_fast.play.games.player import GamePlayer, level_players
from punish_fast.play.games.policies import levels_of, policy_at
from punish_fast.web import sessions as tables
from punish_fast.web.app import create_app

GAMES = (TapnSwap(), TicTacToe(), Connect4())


@pytest.fixture(scope="module")
def boards() -> list[GamePlayer]:
    return [model for game in GAMES for model in level_players(game, oracle_of(game))]


@pytest.fixture(scope="module")
def client(boards, tmp_path_factory) -> Iterator[TestClient]:
    config = config_of("random", game_players=boards, database=tmp_path_factory.mktemp("boards") / "games.db")
    with TestClient(create_app(config), base_url=BASE) as client:
        entries_of(client)
        yield client


def hash_of(client, name):
    return next(entry["hash"] for entry in entries_of(client) if entry["name"] == name)


def test_agents_of_all_games_are_listed_with_the_same_keys(client):
    entries = entries_of(client)
    others = [(f"{level}-{game.name}", game.name) for game in GAMES for level in levels_of(game)]
    assert [(entry["name"], entry["game"]) for entry in entries] == [("random", "punish"), *others]
    assert len({entry["hash"] for entry in entries}) == len(entries)
    assert [entry["hints"] for entry in entries] == [False] + [True] * len(others)
    assert len({frozenset(entry) for entry in entries}) == 1


def test_the_rules_are_told(client):
    opponent = hash_of(client, "perfect-tapnswap")
    meta = client.get(f"/models/{opponent}/meta").json()
    assert (meta["name"], meta["fields"]["variant"]["limit"]) == ("perfect-tapnswap", 5)
    assert meta["states"] > 100
    table = open_table(client, opponent)
    paragraphs = client.get(f"/tables/{table['table']}/guide").json()["paragraphs"]
    assert "\n".join(paragraphs) == table["rules"]["words"]


def test_a_perfect_player_wins_when_it_moves_second(client):
    table = open_table(client, hash_of(client, "perfect-tapnswap"), game="tapnswap")
    assert table["names"] == ["you", "perfect-tapnswap"]
    assert table["rules"]["name"] == "TapnSwap, limit 5"
    assert table["view"]["board"] == {"own": [1, 1], "other": [1, 1], "limit": 5}
    assert [move["name"] for move in table["legal"]] == ["tap 1 on 1", "swap to 0-2"]
    table, events = play_out(client, table)
    assert table["winner"] == 1
    assert (table["kept"], table["keeps"]) == (None, False)
    moves = [event for event in events if event["kind"] == "move"]
    assert [move["seat"] for move in moves] == [k % 2 for k in range(len(moves))]
    assert events[-1] == {"n": len(moves), "kind": "end", "words": "perfect-tapnswap wins!", "winner": 1}


def test_a_hint_tells_the_outcome_of_each_move(client):
    table = open_table(client, hash_of(client, "perfect-tictactoe"))
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

    config = config_of(
        "random", game_players=[GamePlayer("slow", "thinks", oracle.game, oracle, lambda: choices, "slow")]
    )
    with TestClient(create_app(config), base_url=BASE) as client, ThreadPoolExecutor(1) as pool:
        entries_of(client)
        table = open_table(client, hash_of(client, "slow"))
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
        assert [event["name"] for event in answer.result().json()["events"]] == ["top left", "centre"]


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
    config = config_of("random", game_players=level_players(oracle.game, oracle))
    with TestClient(create_app(config), base_url=BASE) as client:
        entries_of(client)
        yield client


def test_short_searches_do_not_wait_for_long_ones(deep, oracle, monkeypatch):
    monkeypatch.setattr(tables, "_MOVE_SECONDS", 60.0)
    opponent = hash_of(deep, "perfect-tictactoe")
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


def test_a_search_that_waits_too_long_is_given_up(deep, monkeypatch):
    monkeypatch.setattr(tables, "_MOVE_SECONDS", 0.2)
    games = [open_table(deep, hash_of(deep, "perfect-tictactoe")) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda table: choose(deep, table, 4), games))
    assert all(len(answer.json()["events"]) == 2 for answer in answers)


def test_a_hint_that_is_cut_short_says_so(deep, monkeypatch):
    monkeypatch.setattr(tables, "_MOVE_SECONDS", 0.2)
    monkeypatch.setattr(tables, "_HINT_SECONDS", 1.0)
    table = open_table(deep, hash_of(deep, "random-tictactoe"))
    path = f"/tables/{table['table']}/hint"
    assert deep.get(path).json()["exact"]
    choose(deep, table, 4)
    with ThreadPoolExecutor(8) as pool:
        answers = [each.result().json() for each in [pool.submit(deep.get, path) for _ in range(8)]]
    assert not any(answer["exact"] or any(move["best"] for move in answer["moves"]) for answer in answers)
    outcomes = {(move["outcome"], move["plies"]) for answer in answers for move in answer["moves"]}
    # The last ones had no turn, and know nothing.
    assert outcomes == {("loss", None), (None, None)}


@pytest.mark.parametrize("opponent", ["perfect-tapnswap", "perfect-connect4"])
def test_the_agent_may_begin(client, opponent):
    table = open_table(client, hash_of(client, opponent), second=True, name="Ann")
    assert (table["seat"], table["names"]) == (1, ["Ann", opponent])
    (event,) = table["events"]
    assert (event["seat"], event["words"].startswith(f"{opponent}: ")) == (0, True)
    assert (table["view"]["to_move"], table["n_events"]) == (1, 1)
    assert client.get(f"/tables/{table['table']}/hint").json()["moves"]
    table = choose(client, table, table["legal"][0]["action"]).json()
    assert [event["seat"] for event in table["events"]] == [1, 0]
    assert table["events"][0]["words"].startswith("you: ")
    if opponent == "perfect-connect4":
        assert table["view"]["board"]["own"] == 2
        assert table["view"]["board"]["cells"].count(1) == 2


def test_nobody_begins_where_both_move_at_once(client):
    answer = client.post("/tables", json={"opponent": hash_of(client, "random"), "second": True})
    assert (answer.status_code, answer.json()["detail"]) == (
        422,
        "second: must be false, because in punish both players move simultaneously",
    )


def test_hints_are_for_other_games_that_are_not_over(client):
    table = open_table(client, hash_of(client, "random"))
    answer = client.get(f"/tables/{table['table']}/hint")
    assert (answer.status_code, answer.json()["detail"]) == (409, "random: does not offer hint in punish")
    table, _ = play_out(client, open_table(client, hash_of(client, "random-tictactoe"), seed="3"))
    assert client.get(f"/tables/{table['table']}/hint").status_code == 409


def test_what_another_game_does_not_have_is_refused_in_one_line(client):
    opponent = hash_of(client, "perfect-tapnswap")
    for body, status, text in (
        ({"opponent": opponent, "game": "punish"}, 422, "perfect-tapnswap plays tapnswap"),
        ({"opponent": opponent, "temperature": 0.5}, 409, "does not play at 0.5"),
        ({"opponent": opponent, "name": "perfect-tapnswap"}, 422, "the name of a bot"),
    ):
        answer = client.post("/tables", json=body)
        assert answer.status_code == status
        assert text in answer.json()["detail"]
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

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from fastapi.testclient import TestClient
from playing import some_games
from serving import BASE, TINY, entries_of

from punish_fast.play.punish import puzzles
from punish_fast.play.punish.punish_player import PunishPlayer
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.games import anonymize_player, delete_player
from punish_fast.records.importing import import_logs
from punish_fast.records.logs import write_log
from punish_fast.records.plots import PLOTS
from punish_fast.records.summary import read_results, summarize
from punish_fast.web.app import ServerConfig, create_app
from punish_fast.web.guard import Limits

TOKEN = "t" * 20
AUTHORISED = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
GAMES = some_games(24, seed=1, names=("Ann", "Ben", "Cay"), rules=TINY)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A database with games."""
    folder = tmp_path_factory.mktemp("games")
    log = folder / "log.json"
    log.write_text(write_log(GAMES), encoding="utf-8")
    import_logs(StateSpace(TINY), [log], folder / "games.db")
    return folder / "games.db"


def client_of(models, database, token):
    config = ServerConfig(models, database, TINY, token=token, limits=Limits(rate=None))
    return TestClient(create_app(config), base_url=BASE)


@pytest.fixture(scope="module")
def client(models, filled):
    with client_of(models, filled, None) as client:
        entries_of(client)
        yield client


@pytest.fixture
def writing(models, database):
    """A client of a server that takes games, and has none."""
    with client_of(models, database, TOKEN) as client:
        entries_of(client)
        yield client


def test_without_games_nothing_is_listed(writing, naive):
    assert writing.get("/games").json() == writing.get("/players").json() == []
    report = writing.get("/dashboard").json()
    assert (report["games"], report["players"], report["plots"]) == (0, [], [])
    for path in ("/games/1", f"/games/1/review?model={naive}", "/plots/nonsense.svg"):
        assert writing.get(path).status_code == 404
    # Practice is then on simulated positions.
    asked = {"model": naive, "n": 4, "seed": 1}
    practice = writing.get("/practice", params=asked).json()
    assert practice == writing.get("/practice", params=asked).json()
    assert [position["game"] for position in practice["positions"]] == [None] * 4


def test_games_are_listed_from_the_latest_on(client):
    listed = client.get("/games", params={"limit": 200}).json()
    found = {entry["game"]: (entry["winner"], entry["loser"]) for entry in listed}
    assert [entry["game"] for entry in listed] == sorted(found, reverse=True)
    assert len(found) == len(GAMES)
    pages, before = [], None
    while page := client.get("/games", params={"limit": 5} | ({"before": before} if before else {})).json():
        pages, before = pages + page, page[-1]["game"]
    assert pages == listed
    mine = client.get("/games", params={"player": "Ann"}).json()
    assert mine == [entry for entry in listed if "Ann" in (entry["winner"], entry["loser"])]
    assert client.get("/games", params={"player": " Ann\u00a0"}).json() == mine
    unknown = client.get("/games", params={"player": "nobody"})
    assert unknown.status_code == 409
    assert "there is no player 'nobody'; players: " in unknown.json()["detail"]


def test_numbers_in_a_query_have_limits(client, naive):
    for query in ("games?limit=0", "games?limit=201", "practice?n=0", "practice?n=51", f"practice?seed={2**32}"):
        answer = client.get(f"/{query}&model={naive}")
        assert answer.status_code == 422, query
        assert answer.json()["detail"].startswith(query.partition("?")[2].partition("=")[0])


def test_a_game_is_judged_as_the_library_judges_it(client, naive, models):
    listed = client.get("/games").json()
    recorded = {game.id: game for game in GAMES}
    for entry in listed[:5]:
        path = f"/games/{entry['game']}"
        report = client.get(f"{path}/review", params={"model": naive}).json()
        wanted = models[0].review(recorded[entry["game"]])
        assert report.items() >= json.loads(json.dumps(wanted)).items()
        assert report["players"][0]["name"] == entry["winner"]
        game = client.get(path).json()
        played = int(recorded[entry["game"]].second)
        assert (report["game"], report["agent"], report["enemy"]) == (entry["game"], "naive", "Nina")
        assert report["played"] == game["played"] == entry["played"] == played
        assert game["winner"]["name"] == entry["winner"]
        side = recorded[entry["game"]].winner
        choices = zip(side.number, side.states, side.actions, strict=True)
        assert [(each["number"], each["state"], each["action"]) for each in game["winner"]["choices"]] == [
            (int(number) + 1, str(state), int(action)) for number, state, action in choices
        ]


def test_a_strategy_judges_by_the_best_choices_against_it(client):
    random = next(entry["digest"] for entry in entries_of(client) if entry["name"] == "random")
    game = client.get("/games").json()[0]["game"]
    report = client.get(f"/games/{game}/review", params={"model": random}).json()
    assert report["enemy"] == "Robin"
    wins = [choice["win_probability"] for side in report["players"] for choice in side["choices"]]
    assert all(0 <= win <= 1 for win in wins)


def test_the_dashboard_is_the_summary(client, filled):
    report = client.get("/dashboard").json()
    assert {entry["name"]: entry["title"] for entry in report.pop("plots")} == {
        name: title for name, (title, _) in PLOTS.items()
    }
    for entry in report["players"]:
        assert entry.pop("person") == entry["name"]
    assert report == json.loads(json.dumps(summarize(read_results(filled), StateSpace(TINY))))
    players = client.get("/players").json()
    assert {entry["name"] for entry in players} == {"Ann", "Ben", "Cay"}
    counted = [(entry["name"], entry["wins"], entry["games"]) for entry in report["players"]]
    assert [(entry["name"], entry["won"], entry["games"]) for entry in players] == counted


def test_people_see_names_of_built_in_players(models, tmp_path):
    games = [
        replace(
            game,
            **{
                who: replace(side, is_bot=side.name != "Ann")
                for who, side in (("winner", game.winner), ("loser", game.loser))
            },
        )
        for game in some_games(6, seed=2, names=("Ann", "veteran", "naive@0.1"), rules=TINY)
    ]
    (tmp_path / "log.json").write_text(write_log(games), encoding="utf-8")
    import_logs(StateSpace(TINY), [tmp_path / "log.json"], tmp_path / "games.db")
    shown = {"Ann": "Ann", "veteran": "Viktor", "naive@0.1": "Nina@0.1"}
    with client_of(models, tmp_path / "games.db", None) as client:
        model = entries_of(client)[0]["digest"]
        for entry in client.get("/games").json():
            assert [entry["winner_is_bot"], entry["loser_is_bot"]] == [
                entry[who] != "Ann" for who in ("winner", "loser")
            ]
            assert entry["persons"] == [shown[entry["winner"]], shown[entry["loser"]]]
            report = client.get(f"/games/{entry['game']}").json()
            assert [report[who]["person"] for who in ("winner", "loser")] == entry["persons"]
            report = client.get(f"/games/{entry['game']}/review", params={"model": model}).json()
            assert [side["person"] for side in report["players"]] == entry["persons"]
        for players in (client.get("/players").json(), client.get("/dashboard").json()["players"]):
            assert {entry["name"]: entry["person"] for entry in players} == shown
        report = client.get("/improve", params={"model": model, "player": "Ann"}).json()
        assert {each["person"] for each in report["opponents"]} == {"Viktor", "Nina@0.1"}
        plot = client.get("/plots/win-rates.svg").text
        assert ("Viktor" in plot, "veteran" in plot) == (True, False)


def test_plots_are_drawn(client):
    answer = client.get("/plots/win-rates.svg")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    assert b"<svg" in answer.content


def test_what_is_no_log_or_comes_without_leave_or_token_changes_nothing(client, filled, writing, database):
    before = filled.read_bytes()
    assert client.post("/games", content=write_log(GAMES), headers=AUTHORISED).status_code == 403
    assert filled.read_bytes() == before
    for authorization in ("", "Bearer", "Bearer x", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer ü"):
        headers = AUTHORISED | {"Authorization": authorization.encode("latin-1")}
        assert writing.post("/games", content=write_log(GAMES), headers=headers).status_code == 401, authorization
    for content in (b"", b"{", b"[1]", b"[" * 10_000, b"\xff", b'[{"GameID": 1}]', b"null", b"7"):
        answer = writing.post("/games", content=content, headers=AUTHORISED)
        assert 400 <= answer.status_code < 500, content
        assert str(database) not in answer.text
    assert not database.exists()
    database.write_text("secret" * 1000)
    for path in ("/games", "/players", "/dashboard", "/games/1"):
        answer = writing.get(path)
        assert (answer.status_code, str(database) in answer.text, "secret" in answer.text) == (409, False, False), path


def test_posted_games_are_imported_once(writing, database, tmp_path):
    (tmp_path / "log.json").write_text(write_log(GAMES), encoding="utf-8")
    wanted = import_logs(StateSpace(TINY), [tmp_path / "log.json"], tmp_path / "other.db").as_mapping()
    report = writing.post("/games", content=write_log(GAMES), headers=AUTHORISED).json()
    assert report == {key: value for key, value in wanted.items() if key != "files"}
    assert report["cut_off"] == 0
    cut = writing.post("/games", content=write_log(GAMES)[:-9], headers=AUTHORISED).json()
    assert (cut["known"], cut["cut_off"]) == (len(GAMES) - 1, 1)
    before = database.read_bytes()
    again = writing.post("/games", content=write_log(GAMES), headers=AUTHORISED).json()
    assert (again["imported"], again["known"]) == (0, len(GAMES))
    assert database.read_bytes() == before


def test_improvement_is_reported_on_all_games_of_a_person(client, naive):
    report = client.get("/improve", params={"model": naive, "player": "Ann"}).json()
    n_games = sum("Ann" in (game.winner.name, game.loser.name) for game in GAMES)
    assert (report["player"], report["reference"], report["games"]) == ("Ann", "naive", n_games)
    assert [position["player"] for position in report["positions"]] == ["Ann"] * 5
    practiced = [(habit, each) for habit in report["habits"] for each in habit["positions"]]
    assert practiced
    for habit, position in practiced:
        played = next(each["name"] for each in position["actions"] if each["action"] == position["played"])
        assert (position["player"], played.split()[0]) == ("Ann", habit["play"])
        if habit["situation"].startswith("breath "):
            assert position["view"]["breath"] == int(habit["situation"].split()[1])
    asked = client.get("/practice", params={"model": naive, "player": "Ben"}).json()["positions"]
    assert {position["player"] for position in asked} == {"Ben"}
    assert report["puzzles"] == {"answers": 0, "rating": None, "rating_margin": None}
    # All games were played on the same day.
    (week,) = report["weeks"]
    assert (week["week"], week["choices"]) == ("2020-09-07", report["choices"])
    assert week["loss"] == pytest.approx(report["loss"] * n_games / report["choices"])
    unknown = client.get("/improve", params={"model": naive, "player": "Zoe"})
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "player: no games of Zoe")


def test_the_first_answer_of_a_day_counts_for_a_rating(models, database, monkeypatch):
    day = datetime.now(UTC).date().isoformat()
    with client_of(models, database, None) as client:
        entries_of(client)
        asked = client.get("/practice", params={"n": 1, "seed": 1}).json()
        (question,) = asked["positions"]
        monkeypatch.setattr(PunishPlayer, "puzzle", lambda *_: {"day": day, "number": 1, **asked})
        monkeypatch.setattr(puzzles, "ratings", lambda: {int(question["state"]): 200})
        monkeypatch.setattr(puzzles, "FEWEST_RATED", 1)
        right, wrong = (pick(question["actions"], key=lambda each: each["value"])["action"] for pick in (max, min))

        def answer(status=200, **more):
            answered = client.post("/puzzle", json={"name": "Ann", "day": day, "action": right, **more})
            assert answered.status_code == status, answered.text
            return answered.json()

        assert client.get("/puzzle", params={"player": "Ann"}).json()["rating"]["answers"] == 0
        for changes, status in (({"day": "2026-01-01"}, 409), ({"action": 7}, 409), ({"name": "naive"}, 422)):
            answer(status, **changes)
        assert not database.exists()
        first = answer()
        assert (first["answers"], first["rating"] > 0) == (1, True)
        # Only the first answer counts, and only for the player of this name.
        assert answer(action=wrong) == first == client.get("/puzzle", params={"player": " Ann"}).json()["rating"]
        assert answer(name="Ben", action=wrong)["rating"] < 0
        # The database is not read again for each request.
        with monkeypatch.context() as patch:
            patch.setattr("punish_fast.web.game_database.puzzle_answers", None)
            assert client.get("/puzzle", params={"player": "Ann"}).json()["rating"] == first
        assert client.get("/players").json() == []
        assert anonymize_player(database, "Ann") == "player-1"
        assert client.get("/puzzle", params={"player": "player-1"}).json()["rating"] == first
        assert delete_player(database, "player-1") == (0, 0)
        assert client.get("/puzzle", params={"player": "player-1"}).json()["rating"]["answers"] == 0


def test_a_hand_is_answered_for_one_or_for_all_discard_piles(client, naive):
    found = client.get("/hands/rs").json()
    assert (found["judge"], found["model"], found["state"]) == ("Nina", naive, None)
    assert sum(play["probability"] for play in found["plays"]) == pytest.approx(1)
    exact = client.get("/hands/rs", params={"discard": "p"}).json()
    assert exact["plays"][0].keys() == found["plays"][0].keys()
    wins = {
        each["action"]: each["value"] for each in client.get(f"/models/{naive}/why/{exact['state']}").json()["actions"]
    }
    assert {play["action"]: play["win_probability"] for play in exact["plays"]} == pytest.approx(wins)
    later = client.get("/hands/s", params={"hp": "2-2", "exhausted": "enemy"}).json()
    assert later["words"].startswith("Breath 2 of 2: you have 2 hearts and hold strike")
    assert later["words"].endswith("1 card; it must rest.")
    for path, word in (
        ("rsx", "cards"),
        ("ppp", "hand: 3 cards"),
        ("rs?discard=gd", "discard"),
        ("rs?hp=3", "hp"),
        ("rs?hp=2-1", "no game reaches"),
        ("rs?hearts=1", "hearts: "),
    ):
        refused = client.get(f"/hands/{path}")
        assert refused.status_code == 422
        assert word in refused.json()["detail"]


def test_practice_asks_about_what_somebody_lost_most_by(client, naive):
    positions = client.get("/practice", params={"model": naive, "n": 5}).json()["positions"]
    assert len(positions) == 5
    for position in positions:
        values = {action["action"]: action["value"] for action in position["actions"]}
        assert values[position["best"]] == max(values.values())
        assert values[position["best"]] - values[position["played"]] == pytest.approx(position["loss"])
        game = client.get(f"/games/{position['game']}").json()
        choices = [each for who in ("winner", "loser") for each in game[who]["choices"]]
        assert (position["state"], position["played"]) in {(each["state"], each["action"]) for each in choices}

"""Recorded games over HTTP: lists, reviews, statistics, plots, and posts with a token."""

from __future__ import annotations

import json

import pytest
from fastapi.testclient import TestClient
from playing import some_games
from serving import BASE, TINY, entries_of

from punish_fast.play.explain.review import Judge, review
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.importing import import_logs
from punish_fast.records.logs import write_log
from punish_fast.records.plots import PLOTS as ALL_PLOTS
from punish_fast.records.summary import read_results, summarise
from punish_fast.web.app import ServerConfig, create_app
from punish_fast.web.game_database import PLOTS
from punish_fast.web.guard import Limits

TOKEN = "t" * 20
AUTHORISED = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
GAMES = some_games(24, seed=1, names=("Ann", "Ben", "Cay"), rules=TINY)


@pytest.fixture
def filled(database):
    """A database with games."""
    log = database.with_suffix(".json")
    log.write_text(write_log(GAMES), encoding="utf-8")
    import_logs(StateSpace(TINY), [log], database)
    return database


@pytest.fixture
def writing(models, database):
    config = ServerConfig(models, database, TINY, token=TOKEN, limits=Limits(rate=None))
    with TestClient(create_app(config), base_url=BASE) as client:
        entries_of(client)
        yield client


@pytest.mark.parametrize("path", ["/games", "/players"])
def test_without_games_lists_are_empty(client, path):
    assert client.get(path).json() == []


def test_without_games_the_dashboard_has_none(client):
    report = client.get("/dashboard").json()
    assert (report["games"], report["players"], report["plots"]) == (0, [], [])


@pytest.mark.usefixtures("filled")
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
    assert client.get("/games", params={"player": "nobody"}).json() == []


@pytest.mark.usefixtures("filled")
def test_a_game_is_judged_as_the_library_judges_it(client, naive, models):
    listed = client.get("/games").json()
    recorded = {game.id: game for game in GAMES}
    for entry in listed[:5]:
        path = f"/games/{entry['game']}"
        report = client.get(f"{path}/review", params={"model": naive}).json()
        wanted = review(Judge(models[0].space, models[0].solution, "naive"), recorded[entry["game"]])
        for side, told in zip(wanted, report["players"], strict=True):
            assert (told["name"], told["won"], told["loss"]) == (side.name, side.won, side.loss)
            assert [choice["win_probability"] for choice in told["choices"]] == [each.win for each in side.choices]
            assert all(choice["words"] for choice in told["choices"])
        game = client.get(path).json()
        assert game["winner"]["name"] == entry["winner"]
        assert len(game["winner"]["choices"]) == len(recorded[entry["game"]].winner.states)


@pytest.mark.usefixtures("filled")
def test_a_strategy_judges_by_the_best_choices_against_it(client):
    random = next(entry["hash"] for entry in entries_of(client) if entry["name"] == "random")
    game = client.get("/games").json()[0]["game"]
    report = client.get(f"/games/{game}/review", params={"model": random}).json()
    assert report["enemy"] == "random"
    wins = [choice["win_probability"] for side in report["players"] for choice in side["choices"]]
    assert all(0 <= win <= 1 for win in wins)


@pytest.mark.parametrize("path", ["/games/1", "/games/1/review?model={naive}"])
def test_a_game_that_is_not_there_is_not_found(client, naive, path):
    assert client.get(path.format(naive=naive)).status_code == 404


def test_the_dashboard_is_the_summary(client, filled):
    report = client.get("/dashboard").json()
    assert {entry["name"] for entry in report.pop("plots")} == set(PLOTS) == set(ALL_PLOTS)
    assert report == json.loads(json.dumps(summarise(read_results(filled), StateSpace(TINY))))
    players = client.get("/players").json()
    assert {entry["name"] for entry in players} == {"Ann", "Ben", "Cay"}


@pytest.mark.usefixtures("filled")
def test_plots_are_drawn(client):
    answer = client.get("/plots/win-rates.svg")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    assert b"<svg" in answer.content
    assert client.get("/plots/nonsense.svg").status_code == 404


def test_nobody_posts_without_leave(client, database):
    answer = client.post("/games", content=write_log(GAMES), headers=AUTHORISED)
    assert answer.status_code == 403
    assert not database.exists()


@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer x", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer ü"])
def test_nobody_posts_without_the_token(writing, database, authorization):
    headers = AUTHORISED | {"Authorization": authorization.encode("latin-1")}
    assert writing.post("/games", content=write_log(GAMES), headers=headers).status_code == 401
    assert not database.exists()


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


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"[" * 10_000, b"\xff", b'[{"GameID": 1}]', b"null", b"7"])
def test_what_is_no_log_changes_nothing(writing, database, content):
    answer = writing.post("/games", content=content, headers=AUTHORISED)
    assert 400 <= answer.status_code < 500
    assert str(database) not in answer.text
    assert not database.exists()


def test_a_file_that_is_no_database_is_not_named(models, database):
    database.write_text("secret" * 1000)
    with TestClient(create_app(ServerConfig(models, database, TINY)), base_url=BASE) as client:
        for path in ("/games", "/players", "/dashboard", "/games/1"):
            answer = client.get(path)
            assert answer.status_code == 409
            assert str(database) not in answer.text
            assert "secret" not in answer.text


def test_practice_without_records_is_on_simulated_positions(client, naive):
    practice = client.get("/practice", params={"model": naive, "n": 4, "seed": 1}).json()
    assert practice == client.get("/practice", params={"model": naive, "n": 4, "seed": 1}).json()
    assert len(practice["positions"]) == 4
    assert {position["game"] for position in practice["positions"]} == {None}


@pytest.mark.usefixtures("filled")
def test_practice_asks_about_what_somebody_lost_most_by(client, naive):
    positions = client.get("/practice", params={"model": naive, "n": 5}).json()["positions"]
    assert len(positions) == 5
    for position in positions:
        values = {action["action"]: action["value"] for action in position["actions"]}
        assert all(0 <= value <= 1 for value in values.values())
        assert values[position["best"]] == max(values.values())
        assert values[position["best"]] - values[position["played"]] == pytest.approx(position["loss"])
        game = client.get(f"/games/{position['game']}").json()
        choices = [each for who in ("winner", "loser") for each in game[who]["choices"]]
        assert (position["state"], position["played"]) in {(each["state"], each["action"]) for each in choices}

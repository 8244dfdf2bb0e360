from __future__ import annotations

import json
import re
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from playing import FIRST_ID, RULES, some_games, with_side
from records.conftest import dump, real_db, run_sql

from punish_fast.play.explain.review import judge_of, read_game, review
from punish_fast.punish.rules import CARDS, PRESETS
from punish_fast.records import database
from punish_fast.records.logs import write_log
from punish_fast.store.reader import load

__all__ = ["real_db"]

RULES_FILE = ("--rules", "house.toml")
PLOTS = ("durations", "contributions", "win-rates", "games-win-rate", "over-time", "matchups")


@pytest.fixture
def house(folder):
    """The current folder with a log, a database and, as a file, the rules of its games."""
    copies = ", ".join(f"{card} = {n}" for card, n in zip(CARDS, RULES.copies, strict=True))
    sizes = "\n".join(f"{field} = {getattr(RULES, field)}" for field in ("hand_size", "reveal_size", "hp", "breaths"))
    (folder / "house.toml").write_text(f'copies = {{ {copies} }}\n{sizes}\nredeal = "reshuffle"\n')
    games = some_games(25)
    (folder / "saves.json").write_text(write_log(games))
    wrong = with_side(games[0], actions=(91, *games[0].winner.actions[1:]))
    (folder / "wrong.json").write_text(write_log([wrong, *games[1:3]]))
    return folder


IMPORT = ("records", "import", "saves.json", "--db", "x.db", "--rules", "house.toml")


@pytest.fixture
def db(house, run):
    run(*IMPORT)
    return house / "x.db"


def test_an_import_says_what_it_did(run, house):
    done = run(*IMPORT)
    assert (done.code, done.err) == (0, "")
    assert re.search(r"^imported +25$", done.out, re.MULTILINE)
    before = (house / "x.db").read_bytes()
    assert re.search(r"^known +25$", run(*IMPORT).out, re.MULTILINE)
    assert (house / "x.db").read_bytes() == before


@pytest.mark.usefixtures("house")
def test_an_import_lists_what_it_did_not(run):
    done = run(*IMPORT, "wrong.json")
    assert done.code == 1
    assert re.fullmatch(
        r"error: 1 game rejected, the first because: breath 1 of .*: action 91 .* is illegal .*\n", done.err
    )
    assert re.search(r"^rejected by kind +illegal action 1$", done.out, re.MULTILINE)
    (remark,) = json.loads(run(*IMPORT, "wrong.json", "--json").out)["remarks"]
    assert (remark["verdict"], remark["kind"], remark["game"]) == ("rejected", "illegal action", FIRST_ID)
    assert remark["file"] == "wrong.json"


def test_a_database_is_merged_by_the_same_checks(run, db):
    before = run("records", "summary", "--db", "x.db", "--rules", "house.toml", "--json").report
    db.rename("friend.db")
    run("records", "import", "friend.db", "--db", "friend.db", "--rules", "house.toml").refused("will not be replaced")
    merge = ("records", "import", "friend.db", "--db", "x.db", "--rules", "house.toml", "--json")
    report = run(*merge).report
    assert (report["imported"], report["rejected"], report["files"][0]["layout"]) == (25, 0, "database")
    assert (run(*merge).report["imported"], run(*merge).report["known"]) == (0, 25)
    after = run("records", "summary", "--db", "x.db", "--rules", "house.toml", "--json").report
    assert after | {"database": 0} == before | {"database": 0}
    assert run("records", "import", "friend.db", "--db", "new.db").code == 1


def test_games_before_the_end_of_a_log_that_is_cut_off_are_imported(run, house):
    text = (house / "saves.json").read_text()
    (house / "saves.json").write_text(text[: len(text) // 2])
    done = run(*IMPORT)
    assert done.code == 1
    assert re.search(r"^error: saves.json is cut off in entry \d+ \(line \d+\)", done.err)
    with closing(sqlite3.connect(house / "x.db")) as connection:
        (n_games,) = connection.execute("SELECT count(*) FROM games").fetchone()
    assert 10 <= n_games <= 13


def test_a_summary_in_words_and_in_json(run, db):
    report = run("records", "summary", "--db", db, "--rules", "house.toml", "--json").report
    assert report["games"] == 25
    assert set(report["correlation"]) == {"linear", "rank"}
    assert (report["starting_states_in_all"], report["states_in_all"]) == (46, 560)
    text = run("records", "summary", "--db", db, "--rules", "house.toml").out
    assert re.search(rf"^openings +{report['starting_states']} of 46 possible$", text, re.MULTILINE)
    # The ends, which are never recorded, do not count.
    assert re.search(rf"^states +{report['distinct_states']} of 558 possible$", text, re.MULTILINE)
    for player in report["players"]:
        assert re.search(rf"^  {player['name']} +(yes|no) +{player['wins']} +{player['losses']} ", text, re.MULTILINE)
    command = ("records", "summary", "--rules", "house.toml", "--json", "--db")
    chosen = run(*command, db, "--player", "Ann").report
    assert chosen["games"] == next(p["games"] for p in chosen["players"] if p["name"] == "Ann")
    (db.parent / "empty.db").touch()
    nothing = run(*command, "empty.db").report
    assert (nothing["games"], nothing["correlation"]["rank"]) == (0, None)


@pytest.mark.slow
def test_plots_are_written(run, db):
    assert run("records", "plot", "durations", "--db", db, "-o", "d.svg", "--json").report["files"] == ["d.svg"]
    done = run("records", "plot", "--db", db, "-o", "all")
    assert done.code == 0
    assert sorted(path.name for path in (db.parent / "all").iterdir()) == sorted(f"{plot}.png" for plot in PLOTS)


def test_what_cannot_be_counted_or_drawn_is_refused(run, db, monkeypatch):
    run("records", "summary", "--db", db).refused("rules: only", "exist under these rules")
    run("records", "plot", "pie", "--db", db).refused("pie", "durations")
    run("records", "plot", "durations", "--db", db, "-o", "x.eps").refused("x.eps", ".png")
    run("records", "plot", "--db", db, "-o", "x.png").refused("x.png", "folder")
    (db.parent / "empty.db").touch()
    run("records", "plot", "--db", "empty.db").refused("nothing to draw")
    run("records", "plot", "over-time", "--db", db, "--player", "Zoe").refused("Zoe", "Ann")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    run("records", "plot", "durations", "--db", db).refused("Install it with: pip install matplotlib")


def test_a_player_is_handed_out(run, db):
    text = run("records", "player", "Ann", "--db", db, "--export").out
    entries = json.loads(text)
    assert {"Ann"} == set.intersection(*({entry["UserName"], entry["EnemyName"]} for entry in entries))
    run("records", "player", "Ann", "--db", db, "--export", "-o", "other.db").refused("must end in .json")
    done = run("records", "player", "Ann", "--db", db, "--export", "-o", "ann.json", "--json")
    assert done.report["games"] == len({entry["GameID"] for entry in entries})
    again = run("records", "import", "ann.json", "--db", db, "--rules", "house.toml", "--json").report
    assert (again["known"], again["imported"]) == (done.report["games"], 0)


def test_a_player_is_anonymized_and_deleted(run, db):
    done = run("records", "player", "Ann", "--db", db, "--anonymize", "--json")
    alias = done.report["alias"]
    assert b"Ann" not in db.read_bytes()
    assert run("records", "player", "Ben", "--db", db, "--delete", "--yes").code == 0
    players = run("records", "summary", "--db", db, "--rules", "house.toml", "--json").report["players"]
    names = {player["name"] for player in players}
    assert (alias in names, "Ben" in names) == (True, False)


def test_deletion_wants_a_yes_and_nothing_destructive_comes_from_the_environment(run, db, monkeypatch):
    before = db.read_bytes()
    for name in ("DELETE", "ANONYMIZE", "YES"):
        monkeypatch.setenv(f"PUNISH_FAST_{name}", "1")
    run("records", "player", "Ann", "--db", db).refused("nothing to do")
    run("records", "player", "Ann", "--db", db, "--delete").refused("--delete permanently removes Ann and", "--yes")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda *_args, **_options: False)
    run("records", "player", "Ann", "--db", db, "--delete").refused("nothing was deleted", code=1)
    assert db.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        ([], ["nothing to do", "--export"]),
        (["--export", "--delete"], ["--export and --delete"]),
        (["--delete", "-o", "x"], ["--output cannot be combined with"]),
        (["--export", "--json"], ["--json", "--output"]),
    ],
)
def test_wrong_ways_to_serve_a_player_are_refused(run, db, options, texts):
    before = db.read_bytes()
    run("records", "player", "Ann", "--db", db, *options).refused(*texts)
    for option in ("--export", "--anonymize", "--delete"):
        run("records", "player", "\x1b[2J", "--db", db, option).refused("there is no player", "Ann")
    assert db.read_bytes() == before


def test_a_locked_database_fails_in_one_line(run, db, house, monkeypatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    (house / "more.json").write_text(write_log(some_games(40)))
    before = dump(db)
    with closing(sqlite3.connect(db, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        by_rules = ("import more.json --rules house.toml", "summary --rules house.toml")
        for command in (*by_rules, "player Ann --delete --yes"):
            run("records", *command.split(), "--db", db).refused("x.db", "locked", code=1)
    assert dump(db) == before


def test_games_are_listed_from_the_latest_on(run, db):
    report = run("records", "list", "--db", "x.db", "--json").report
    with closing(sqlite3.connect(db)) as connection:
        ids = [game for (game,) in connection.execute("SELECT game_id FROM games ORDER BY game_id DESC LIMIT 20")]
    assert (len(ids), report["database"]) == (20, "x.db")
    assert [game["game"] for game in report["games"]] == ids
    text = run("records", "list", "--db", "x.db", "--player", "Ann", "-n", "3").out
    rows = [line.split() for line in text.splitlines()[1:]]
    assert rows[0] == ["game", "played", "winner", "loser", "breaths"]
    assert (len(rows), all("Ann" in row[3:5] for row in rows[1:])) == (4, True)
    for number, day, time, *_ in rows[1:]:
        assert datetime.fromisoformat(f"{day}T{time}+00:00").timestamp() // 60 == int(number) // 60


REVIEW = ("records", "review", str(FIRST_ID), "--db", "x.db", "--agent", "agent.h5")


@pytest.fixture
def reviewing(run, house):
    """The current folder, with recorded games and an agent of their rules."""
    run(*IMPORT)
    run("solve", "--rules", "house.toml", "-o", "agent.h5", "-q")
    return house


@pytest.mark.usefixtures("reviewing")
def test_both_players_are_judged(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    # The winner has more HP in two of the four breaths.
    number = FIRST_ID + 360
    command = (*REVIEW[:2], str(number), *REVIEW[3:])
    report = run(*command, "--json").report
    sides = review(judge_of(load("agent.h5")), read_game(Path("x.db"), number))
    assert report["players"] == [side.report() for side in sides]
    text = run(*command).out
    lines = [" ".join(line.split()) for line in text.splitlines()]
    for player in report["players"]:
        for choice in player["choices"]:
            hp, best = "{}-{}".format(*choice["hp"]), choice["best"] if choice["best"] != choice["name"] else ""
            when, win = f"{choice['measure']} {choice['breath']}", f"{choice['win_probability']:.1%}"
            row = f"{when} {hp} {choice['hand']} {choice['name']} {best} {win}"
            assert " ".join(f"{row} {100 * choice['loss']:.1f}".split()) in lines
        assert (
            f"{player['name']} lost {100 * player['loss']:.1f} points of win probability in all, judged against random."
            in text
        )
        for worst in player["worst"]:
            choice = next(choice for choice in player["choices"] if choice["number"] == worst["number"])
            when = f"In measure {choice['measure']}, breath {choice['breath']},"
            assert worst["words"] == choice["words"]
            assert worst["words"].startswith(f"{when} {choice['best']} would have won {choice['win_probability']:.1%}")
            assert worst["words"] in text


@pytest.mark.usefixtures("reviewing")
def test_advice_is_for_the_loser_or_for_the_winner_against_a_bot(run, monkeypatch):
    game = read_game(Path("x.db"), FIRST_ID)
    assert run(*REVIEW).then == f"punish-fast improve --player {game.loser.name} --db x.db --against agent.h5"
    lost_by_bot = replace(game, loser=replace(game.loser, is_bot=True))
    monkeypatch.setattr("punish_fast.play.explain.review.read_game", lambda *_: lost_by_bot)
    assert run(*REVIEW).then == f"punish-fast improve --player {game.winner.name} --db x.db --against agent.h5"


@pytest.mark.usefixtures("reviewing")
def test_any_player_judges(run):
    run("solve", "--rules", "house.toml", "--discount", "0.9", "-o", "discounted.h5", "-q")
    run("equilibrium", "--rules", "house.toml", "--iterations", "2", "-o", "strategy.h5", "-q")
    done = run(*REVIEW[:-1], "discounted.h5", "--json")
    assert "discounted.h5: win probabilities under the true redeal were computed from its policy" in done.err
    best, found = run(*REVIEW, "--json").report, done.report
    assert (found["agent"], found["enemy"]) == ("discounted.h5", "random")
    for mine, theirs in zip(found["players"][0]["choices"], best["players"][0]["choices"], strict=True):
        assert mine["win_probability"] <= theirs["win_probability"] + 1e-8
        assert mine["loss"] >= 0
    found = run(*REVIEW[:-1], "strategy.h5", "--json").report
    assert (found["agent"], found["enemy"]) == (None, "strategy")


@pytest.mark.slow
def test_without_a_judge_the_best_choices_are_solved_for(run, folder):
    (folder / "saves.json").write_text(write_log(some_games(1, rules=PRESETS["tabletop"])))
    run("records", "import", "saves.json", "--db", "x.db")
    found = run(*REVIEW[:-2], "--json").report
    assert (found["agent"], found["enemy"]) == (None, "veteran")
    assert all(choice["loss"] is None or choice["loss"] >= -1e-9 for choice in found["players"][0]["choices"])
    assert "; judged by the best choices against Viktor\n" in run(*REVIEW[:-2]).out


INVALID = "UPDATE breaths SET state = 'x' WHERE game_id = 1600000900"


@pytest.mark.parametrize(
    "command",
    [
        *(("list",), ("summary", *RULES_FILE), ("plot", "durations", "-o", "x.svg"), ("player", "Ann", "--export")),
        *(("player", "Ann", "--delete", "--yes"), ("player", "Ann", "--anonymize")),
    ],
)
def test_a_database_with_an_invalid_row_is_read_and_erased_with_exit_code_1(run, db, command):
    run_sql(db, INVALID)
    done = run("records", *command, "--db", "x.db", "-q")
    done.failed_with(
        "x.db: table breaths has an invalid row: game_id 1600000900", "state 'x'", "records repair removes"
    )
    assert done.out.count("\n") > 1
    assert "1600000900" not in done.out


@pytest.mark.filterwarnings("default:x.db")
def test_a_database_with_an_invalid_row_takes_new_games_and_is_repaired(run, db):
    run_sql(db, INVALID)
    arena = ("arena", "random", "careful", *RULES_FILE, "--games", "4", "--seed", "1", "--db", "x.db", "-q")
    done = run(*arena)
    (told,) = (line for line in done.err.splitlines() if not line.startswith("compiling kernels"))
    assert (done.code, told[:75]) == (0, "warning: x.db: table breaths has an invalid row: game_id 1600000900, is_win")
    assert run("records", "import", "saves.json", "--db", "x.db", *RULES_FILE, "-q").code == 0
    report = run("records", "repair", "--db", "x.db", "--json").report
    assert report["database"] == "x.db"
    assert (report["copy"], report["games"], len(report["invalid"])) == ("x-before-repair.db", [1600000900], 1)
    assert len(run("records", "list", "--db", "x.db", "--json").report["games"]) == 20
    assert run("records", "summary", "--db", "x.db", *RULES_FILE, "--json").report["games"] == 29
    assert re.search("^games +0$", run("records", "repair", "--db", "x.db").out, re.MULTILINE)
    run("records", "repair", "--db", "none.db").refused("none.db: no such file")


def test_games_are_selected_by_time_and_between_people(run, db):
    run_sql(db, "UPDATE players SET is_bot = 1 WHERE username = 'Cay'")
    games = run("records", "list", "--db", "x.db", "-n", "99", "--json").report["games"]
    times = sorted(game["played"] for game in games)
    for verb in (("list", "-n", "99"), ("summary", *RULES_FILE)):
        command = ("records", *verb, "--db", "x.db", "--json")
        n = {"list": len, "summary": int}[verb[0]]
        assert n(run(*command, "--since", str(times[3]), "--until", str(times[9])).report["games"]) == 7
        people = n(run(*command, "--people").report["games"])
        assert people == sum(not (game["winner_is_bot"] or game["loser_is_bot"]) for game in games)
    assert run("records", "list", "--db", "x.db", "--since", "2020-09-14", "--json").report["games"] == []
    run("records", "list", "--db", "x.db", "--since", "noon").refused("'noon' is neither a Unix time nor a date")


def test_the_published_selection_of_the_notebook(run, real_db):
    command = ("records", "summary", "--db", real_db, "--people", "--until", "1668358800", "--rules", "notebook")
    for arguments in (command, command[:5]):
        report = run(*arguments, "--json").report
        assert (report["games"], report["breaths"]) == (667, 5070)


def test_files_that_are_not_databases_and_names_with_a_dash_are_named(run, db, house):
    """The name of a file can be the name of an option's field."""
    for name in ("notes.txt", "database"):
        (house / name).write_text("notes, not games\n" * 99)
        for command in (("list",), ("import", "saves.json")):
            run("records", *command, "--db", name).refused(f"{name}: is not an SQLite database of recorded games")
    run("records", "player", "-Ann", "--db", db, "--export").refused(
        "-A: unknown option; write -- before a name that begins with a dash"
    )
    run_sql(db, "UPDATE players SET username = '-Ann' WHERE username = 'Ann'")
    assert run("records", "player", "--db", db, "--export", "--", "-Ann").code == 0
    assert run("records", "list", "--db", db, "--player", "-Ann").code == 0


def test_what_cannot_be_reviewed_is_refused(run, reviewing):
    run("records", "review", "7", *REVIEW[3:]).refused("x.db: has no game 7; punish-fast records list")
    run("solve", "--rules", "house.toml", "--discount", "0.9", "--enemy", "agent.h5", "-o", "counter.h5", "-q")
    (reviewing / "agent.h5").rename(reviewing / "old.h5")
    run(*REVIEW[:-1], "counter.h5").failed_with("the enemy agent.h5: no such file, so the win probabilities")
    rules = (reviewing / "house.toml").read_text().replace("hp = 2", "hp = 1")
    (reviewing / "frail.toml").write_text(rules)
    run("solve", "--rules", "frail.toml", "-o", "other.h5", "-q")
    run(*REVIEW[:-1], "other.h5").refused("is not a position under the rules ", "; other rules need --rules")


@pytest.mark.usefixtures("reviewing")
def test_without_an_id_the_latest_game_is_judged(run):
    arguments = ("--db", "x.db", "--agent", "agent.h5", "--json")
    latest = run("records", "review", *arguments).report
    assert latest["game"] > FIRST_ID
    assert run("records", "review", str(latest["game"]), *arguments).report == latest
    run("records", "review", str(latest["game"] + 1), *arguments).refused(f"has no game {latest['game'] + 1};")

import bz2
import gzip
import json
import lzma
import os
import re
import unicodedata
from dataclasses import replace

import pytest
from playing import LAYOUTS, some_games, written

from punish_fast.records.database import RecordsError, open_file
from punish_fast.records.logs import log_of, write_log

BREATH = {
    "State": "101010200220000001",
    "Choice": 2,
    "Feint": False,
    "Result": -1,
    "TurnsFromEnd": 0,
    "GameID": 1600000000,
    "UserName": "Ann",
    "EnemyName": "Ben",
}
OTHER = BREATH | {"State": "110100200220000001", "Choice": 1, "Result": -2, "UserName": "Ben", "EnemyName": "Ann"}
GAME = {
    "play_timestamp": 1600000000,
    "winner": {"username": "Ann", "states": [101010200220000001], "actions": [20], "bot_parameters": None},
    "loser": {
        "username": "bot",
        "states": [110100200220000001],
        "actions": [10],
        "bot_parameters": {"temperature": 0.5},
    },
}


def read_log(path):
    with open_file(path) as file:
        return log_of(file.read(), path)


def parse(entries):
    log = log_of(entries if isinstance(entries, bytes) else json.dumps(entries).encode(), "x.json")
    return log.layout, log.games, log.refused


@pytest.mark.parametrize("layout", LAYOUTS)
def test_games_survive_being_written_and_read(tmp_path, layout):
    games = some_games(20)
    path = tmp_path / "x.json"
    path.write_text(written(games, layout))
    log = read_log(path)
    assert (log.layout, log.refused) == (layout, ())
    known = [replace(g, winner=replace(g.winner, is_bot=None), loser=replace(g.loser, is_bot=None)) for g in log.games]
    assert known == games
    assert written(log.games, layout) == path.read_text()


def test_layouts_are_told_apart_and_tables_too():
    layout, (game,), _ = parse([BREATH, OTHER])
    assert (layout, game.winner.name, game.loser.actions, game.winner.is_bot) == ("breaths", "Ann", (10,), None)
    layout, (game,), _ = parse([GAME])
    assert (layout, game.id, game.winner.is_bot) == ("games", 1600000000, False)
    assert (game.loser.is_bot, game.loser.temperature) == (True, 0.5)
    assert parse(GAME) == parse([GAME])
    assert parse([]) == ("breaths", (), ())
    assert parse(b"\xef\xbb\xbf[]") == ("breaths", (), ())
    others = [
        entry | {"UserName": entry["UserName"] + "2", "EnemyName": entry["EnemyName"] + "2"}
        for entry in (BREATH, OTHER)
    ]
    _, games, _ = parse([BREATH, others[0], OTHER, others[1]])
    assert [(game.id, game.winner.name) for game in games] == [(1600000000, "Ann"), (1600000000, "Ann2")]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        *(
            (gzip.compress(b"[]", mtime=0), "a gzip file"),
            (bz2.compress(b"[]"), "a bzip2 file"),
            (b"PK\3\4...", "a zip file"),
        ),
        *((lzma.compress(b"[]"), "an xz file"), (b"\xef\xbb\xbf \n<!DOCTYPE HTML><p>", "a web page")),
        *((b"<HTML lang=en>", "a web page"), (b"\x89HDF\r\n\x1a\n", "an HDF5 file")),
    ],
)
def test_files_of_other_kinds_are_named(content, kind):
    with pytest.raises(RecordsError, match=f"^x.json: is {kind}, not a log; a log is an unpacked JSON file$"):
        log_of(content, "x.json")


def test_entries_may_be_in_any_order_repeated_or_missing():
    game = next(game for game in some_games(20) if len(game.winner.number) == 3)
    entries = json.loads(write_log([game]))
    assert parse(entries[::-1] + entries) == ("breaths", (game,), ())
    kept = [entry for entry in entries if entry["TurnsFromEnd"] != 1]
    _, (parsed,), _ = parse(kept)
    assert parsed.winner.number == (0, 2)
    assert json.loads(write_log([parsed])) == kept


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([BREATH, OTHER | {"Result": -1}], "both players are recorded as winners"),
        ([BREATH | {"EnemyName": "Ann"}], "both players have the same name"),
        ([BREATH | {"EnemyName": "Ann "}], "both players have the same name"),
        ([BREATH | {"Played": 5}, OTHER | {"Played": 6}], "its breaths have different times of play"),
        ([BREATH, OTHER, BREATH | {"Choice": 4}], "two different breaths are 0 turns from the end"),
        ([BREATH | {"TurnsFromEnd": 1}, OTHER | {"TurnsFromEnd": 1}], "the last breath is missing"),
        ([GAME | {"loser": GAME["winner"]}], "both players have the same name"),
        (
            [{"play_timestamp": 1, **{k: GAME[k] | {"states": [], "actions": []} for k in ("winner", "loser")}}],
            "no breath is recorded",
        ),
    ],
)
def test_games_that_contradict_themselves_are_left_out(entries, reason):
    _, games, (refused,) = parse(entries)
    assert games == ()
    assert refused.reason == reason


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "is empty"),
        (b"[{", "is cut off in entry 1 (line 1)"),
        (b"\xff\xff[]", "is not UTF-8 at byte 0, line 1"),
        (b"[\n\xff]", "is not UTF-8 at byte 2, line 2"),
        (b"[1", "entry 1 is 1"),
        (b"State,Choice\n1,2\n", "is not JSON: Expecting value at line 1, column 1"),
        (b"[]\n {}", "is not JSON: text after the list at line 2, column 2"),
        (b"[NaN]", "contains NaN"),
        (b"[" + b"9" * 5000 + b"]", "contains a number that is too large"),
        (b"[" * 100_000, "nested too deeply"),
        (b'[{"State": "1", "State": "1"}]', "has the key 'State' twice"),
        (b"[{}]", "entry 1 has no State"),
    ],
)
def test_files_that_are_no_logs_are_refused_in_one_line(tmp_path, content, text):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(RecordsError) as caught:
        read_log(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300 + len(str(path))


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("State", [1.5, 10**18, -1, None, "", "x" * 18, "1" * 19, "-10101020022000000", "\uff11" * 18, ["1"]]),
        ("Choice", ["2", 2.5, True, None, -1, 10, 10**30]),
        ("Feint", [0, 1, "false", None]),
        ("Result", [0, 1, -3, "-1", -1.5, False, None]),
        ("TurnsFromEnd", [-1, 0.5, "0", 10**7, 10**400, None]),
        ("GameID", [-1, 1.5, "1600000000", 10**12, 2**63, 2**64, None, True]),
        ("UserName", ["", " ", "\u3164", "\u0301", None, 5, "x" * 61, "a\nb", "\x1b[2J", "\ud800", "\x00"]),
        ("EnemyName", ["", [], {}]),
    ],
)
def test_wrong_values_of_a_breath_are_named(field, values):
    missing = {key: value for key, value in OTHER.items() if key != field}
    others = [(OTHER | {field: value}, f"entry 2: {field} is ") for value in values]
    for other, text in [*others, (missing, f"entry 2 has no {field}"), (OTHER | {"Luck": 1}, "entry 2 has an unknown")]:
        _, games, refused = parse([BREATH, other])
        assert games == ()
        assert text in refused[0].reason
        assert len(refused[0].reason) < 250
        # An entry with a wrong id may be of any game, and the game of the other entry lacks a view.
        assert [each.kind for each in refused] in (["malformed"], ["incomplete"], ["malformed", "incomplete"])


def test_wrong_values_of_a_game_are_named():
    for change, text in (
        ({"states": 5}, "states is 5"),
        ({"states": ["1010102002200000010"]}, "states is '10"),
        ({"states": [10**18]}, "states is 10"),
        ({"actions": [20, 20]}, "1 states and 2 actions"),
        ({"actions": [256]}, "actions is 256"),
        ({"username": None}, "username is None"),
        ({"bot_parameters": 0.5}, "bot_parameters is 0.5"),
        ({"bot_parameters": {"temperature": -1}}, "temperature is -1"),
        ({"bot_parameters": {"heat": 1}}, "bot_parameters has no temperature"),
    ):
        _, games, (refused,) = parse([GAME | {"winner": GAME["winner"] | change}, GAME])
        assert len(games) == 1
        assert refused.reason.startswith("entry 1: winner")
        assert text in refused.reason


def test_places_that_cannot_be_read_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "none", tmp_path / "pipe", tmp_path / ("x" * 5000), tmp_path / "a\0b"):
        with pytest.raises(RecordsError):
            read_log(path)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_bots_stay_bots_whatever_their_settings(layout):
    first = some_games(1)[0]
    for temperature in (None, 0.0, 0.5):
        robot = replace(first.winner, name="Robot", is_bot=True, temperature=temperature)
        person = replace(first.loser, is_bot=False)
        _, (game,), _ = parse(written([replace(first, winner=robot, loser=person)], layout).encode())
        assert (game.winner.is_bot, bool(game.loser.is_bot)) == (True, False)
        assert game.winner.temperature == (temperature if layout == "games" else None)
        played = replace(first, id=2**50, winner=robot, loser=person, played=first.id)
        _, (game,), _ = parse(written([played], layout).encode())
        assert (game.winner.is_bot, game.loser.is_bot) == (True, False)


def test_a_mark_of_bots_is_true_or_false():
    assert parse([BREATH | {"IsBot": True}, OTHER | {"IsBot": False}])[1][0].winner.is_bot
    for value in (0, 1, "true", None):
        (refused,) = parse([BREATH, OTHER | {"IsBot": value}])[2]
        assert re.fullmatch(r"entry 2: IsBot is .*; it must be true or false", refused.reason)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_logs_are_read_in_the_forms_that_programs_write(layout):
    games = tuple(some_games(3))
    text = written(games, layout).replace("\n", "\r\n")
    for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-32"):
        assert parse(text.encode(encoding))[1] == parse(text.encode())[1]
    lines = "\n".join(map(json.dumps, json.loads(text)))
    assert parse(lines.encode()) == parse(text.encode())


def test_exact_numbers_are_taken_in_any_notation():
    exact = GAME["winner"]["states"][0]
    expected = parse([GAME])
    for state in (exact, f'"{exact}"', f"{exact}.0", f"{exact}e0", "1.01010200220000001e17", "1010102002200000010e-1"):
        assert parse(json.dumps([GAME]).replace(str(exact), str(state), 1).encode()) == expected
    floats = {key: float(value) for key, value in BREATH.items() if type(value) is int}
    assert parse([BREATH | floats | {"State": exact}, OTHER]) == parse([BREATH, OTHER])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_games_before_the_end_of_a_log_that_is_cut_off_are_whole(layout):
    """At any place, only games are read of which nothing is missing."""
    games = some_games(3)
    content = written(games, layout).encode()
    found = [0]
    for end in range(content.index(b"\n"), len(content) - 2, 7):
        log = log_of(content[:end], "x.json")
        assert log.flaw.startswith("is cut off in entry ")
        assert log.games == parse(content)[1][: len(log.games)]
        assert len(log.games) >= found[-1]
        found.append(len(log.games))
    assert set(found) >= {0, 1, 2}


def test_the_place_at_which_reading_stops_is_named():
    for end, flaw in (
        (",\n{", "is cut off in entry 2 (line 2)"),
        ("\n{}]", "is not JSON: Expecting ',' or ']' at line 2, column 1"),
        ("]\n {}", "is not JSON: text after the list at line 2, column 2"),
    ):
        assert log_of(f"[{json.dumps(BREATH)}{end}".encode(), "x.json").flaw == flaw


@pytest.mark.parametrize("layout", LAYOUTS)
def test_games_beside_a_damaged_one_are_read(layout):
    """Games with an invalid value, a name that is given twice, a constant and a missing comma are left out."""
    games = some_games(5)
    entries = json.loads(written(games, layout))
    texts = [json.dumps(entry) for entry in entries]
    second = next(k for k, entry in enumerate(entries) if str(games[1].id) in json.dumps(entry))
    for damage in (("{", '{"x": 1, "x": 2, '), ("{", '{"x": NaN, '), (": ", " ", 1), (str(games[1].id), "-1")):
        damaged = [text.replace(*damage) if k == second else text for k, text in enumerate(texts)]
        log = log_of(f"[{','.join(damaged)}]".encode(), "x.json")
        assert [game.id for game in log.games] == [games[k].id for k in (0, 2, 3, 4)]
        assert f"entry {second + 1}" in log.refused[0].reason
        assert (log.flaw, len(log.refused)) == ("", 1)


def test_a_game_of_one_view_is_taken_beside_an_invalid_object_of_another_game():
    """It is refused if the object may be of this game."""
    one = [BREATH | {"UserName": "Cay", "GameID": 1600000001}]
    assert len(parse(one)[1]) == 1
    for damage, is_taken in (
        ({"Choice": 77}, True),
        ({"Played": -1, "GameID": 2**50}, True),
        ({"GameID": None}, False),
        ({"GameID": 1600000000000}, False),
        ({"EnemyName": ""}, False),
    ):
        _, games, refused = parse([BREATH | damage, *one, OTHER])
        assert [game.id for game in games if game.winner.name == "Cay"] == [1600000001] * is_taken
        assert "entry 1" in refused[0].reason


def test_seconds_are_not_milliseconds():
    for entry, field in ((GAME, "play_timestamp"), (BREATH, "GameID")):
        text = f"entry 1: {field} is 1600000000000, in milliseconds instead of seconds"
        with pytest.raises(RecordsError, match=text):
            parse([entry | {field: 1600000000000}])
        assert parse([entry | {field: 1600000000000}, entry])[2][0].reason == text


def test_spellings_of_a_name_are_one_player():
    for spelling in ("José", unicodedata.normalize("NFD", "José"), " Jos\u200bé\u00a0"):
        _, (game,), _ = parse([GAME | {"winner": GAME["winner"] | {"username": spelling}}])
        assert game.winner.name == "José"

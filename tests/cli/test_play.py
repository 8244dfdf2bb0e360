from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import select
import shlex
import signal
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import COMMAND, clean_environment
from punish_fast.arena.players import Player
from punish_fast.cli.frame import report as reporting
from punish_fast.cli.frame.report import UsageError
from punish_fast.cli.playing.table import asks_on, seed_of, table_stream, wants_more
from punish_fast.cli.records.selection import games_database, played_database
from punish_fast.duel.graph import GameGraph
from punish_fast.duel.simulator import Simulator
from punish_fast.play.punish.match import Finished
from punish_fast.punish.codes import action_name
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import uniform_policy
from punish_fast.records import database
from punish_fast.records.database import open_to_read
from punish_fast.records.games import read_games
from punish_fast.store.policies import save_policy

RULES = PRESETS["tiny"]._replace(redeal="reshuffle")
TINY = ("play", "--rules", "tiny", "--db", "games.db")
# What a prompt ends with.
_PROMPTS = ("(? for help):", "takes it back:", "(Y/n)", "looking away.", "next question:")
_PATIENCE = 60.0


def run_in_terminal(
    arguments: Iterable[str], answers: Iterable[str], ahead: str = "", **variables: str
) -> tuple[int, str]:
    """The exit code of a command and all that it draws; after the last answer it is interrupted.

    ``ahead`` is typed before the command has begun.
    """
    child, terminal = pty.fork()
    if child == 0:
        environment = clean_environment(TERM="xterm-256color", COLUMNS="80", LINES="40") | variables
        os.execve(COMMAND[0], [*COMMAND, *arguments], environment)
    drawn, left = b"", list(answers)
    os.write(terminal, ahead.encode())
    deadline = time.monotonic() + _PATIENCE
    # Reading fails when the command has ended.
    with contextlib.suppress(OSError):
        while time.monotonic() < deadline and (drawn := drawn + _read(terminal, drawn)):
            last = drawn.rpartition(b"\n")[2].decode(errors="replace").rstrip()
            if last.endswith(_PROMPTS):
                os.write(terminal, f"{left.pop(0)}\n".encode() if left else b"\x03")
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), drawn.decode()


def _read(terminal: int, drawn: bytes) -> bytes:
    """What is drawn until the command pauses."""
    assert select.select([terminal], [], [], _PATIENCE)[0], f"nothing follows {drawn[-200:]!r}"
    more = os.read(terminal, 65536)
    while select.select([terminal], [], [], 0.1)[0]:
        more += os.read(terminal, 65536)
    assert more or drawn
    return more


def plain(drawn: str) -> str:
    """Text as it stands at the end: without colors, and of lines that were drawn again the last state."""
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", drawn)
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


def first_moves(seed):
    """The actions of both seats in a simulated game, where the first seat always plays its first legal action."""
    space = StateSpace(RULES)
    first = np.zeros(len(space.action))
    first[space.state_ptr[:-1]] = 1
    simulator = Simulator(GameGraph(space))
    players = [simulator.thresholds(policy) for policy in (first, Player("naive").policy(space))]
    trace = simulator.trace(*players, 0, 1, seed)
    moves = [[action_name(int(action)) for action in space.action[rows]] for rows in trace.rows]
    return moves, bool(trace.games.won[0])


def typed(actions):
    """What a person types for their actions."""
    return [own.replace("feint with", "f") for own, _ in actions]


def stored(path="games.db"):
    with open_to_read(Path(path)) as connection:
        return list(read_games(connection))


def test_a_game_through_a_pipe_is_the_simulators(run, say):
    actions, won = first_moves(0)
    say(*typed(actions))
    report = run(*TINY, "naive", "--seed", "0", "--json").report
    assert report["players"] == ["you", "naive"]
    assert report["seed"] == "0"
    (game,) = report["games"]
    assert [breath["actions"] for breath in game["breaths"]] == actions
    assert game["winner"] == ("you" if won else "naive")
    assert game["worst"] is None or game["worst"].startswith("In measure ")
    assert [game_id for game_id, _ in stored()] == [game["game"]]


def sides(database):
    """What both players knew and did in the one game of a database."""
    ((_, game),) = stored(database)
    return {side.name: (side.states, side.actions) for side in (game.winner, game.loser)}, game.winner.name


def test_a_seed_is_one_game_in_a_terminal_through_a_pipe_and_in_the_simulator(run, say, folder):
    actions, won = first_moves(1)
    # Every move is taken back once in the terminal.
    answers = [line for move in typed(actions) for line in (move, "u", move, "")]
    played = ("play", "naive", "--rules", "tiny", "--seed", "1", "--db")
    code, drawn = run_in_terminal([*played, "terminal.db"], [*answers, "n"], ahead=f"{answers[0]}\n\n")
    assert code == 0, plain(drawn)
    assert plain(drawn).count("takes it back: u") == len(actions)
    # The end uncovers the other hand and the deck, and names the worst choice and a command.
    end = plain(drawn).partition(" wins!" if "Nina wins!" in plain(drawn) else "You win!")[2]
    assert re.search(r"Nina's hand .*\n +deck .*\n +(In measure|No choice)", end)
    assert "\nNext: punish-fast records review --db terminal.db --rules tiny\n" in end
    assert {line.split()[0] for line in plain(drawn).splitlines() if " HP  " in line} == {"you", "Nina"}
    say(*typed(actions))
    assert run(*played, "pipe.db").code == 0
    found, winner = sides(folder / "terminal.db")
    assert sides(folder / "pipe.db") == (found, winner)
    told = [[action_name(action) for action in found[name][1]] for name in ("you", "naive")]
    assert list(map(list, zip(*told, strict=True))) == actions
    assert winner == ("you" if won else "naive")


@pytest.mark.slow
def test_two_people_do_not_see_each_others_hands(folder):  # noqa: ARG001
    move = first_moves(1)[0][0][0]
    names = ("--name", "Ann", "--name", "Ben")
    code, drawn = run_in_terminal([*TINY, "--hotseat", "--seed", "1", *names], ["", move, ""])
    assert code == 130
    turns = drawn.split("\x1b[2J")
    assert len(turns) == 2
    assert "Ann, your move" in plain(turns[0])
    assert "Ben: press Enter when the other player is looking away" in plain(turns[1])


def test_two_people_play_to_the_end_at_one_screen(run, say):
    # One of these is legal in every position.
    say(*"grdsp" * 40)
    report = run(*TINY, "--hotseat", "--name", "Ann", "--name", "Ben", "--seed", "1", "--json").report
    assert report["players"] == ["Ann", "Ben"]
    ((_, game),) = stored()
    assert {game.winner.name, game.loser.name} == {"Ann", "Ben"}
    assert report["games"][0]["winner"] == game.winner.name


def test_two_agents_can_be_watched(run):
    done = run(*TINY, "--watch", "naive", "careful", "--seed", "3")
    assert done.code == 0, done.err
    assert "Nina plays Clara." in done.out
    assert re.search(r"(Nina|Clara) wins!\n$", done.out)
    assert len(stored()) == 1


def test_an_agent_can_be_watched_against_itself(run):
    done = run(*TINY, "--watch", "random", "random", "--seed", "3", "--json")
    assert done.report["players"] == ["random 1", "random 2"]
    assert "Robin 1 plays Robin 2." in done.err
    ((_, game),) = stored()
    assert {game.winner.name, game.loser.name} == {"random 1", "random 2"}


def test_help_and_coach_answer_at_the_table(run, say):
    say("?", "c", "x", "q")
    done = run(*TINY, "naive", "--seed", "3")
    assert done.code == 0
    assert "A player with no HP left loses" in done.out.replace("\n  ", " ")
    assert "Win probabilities if" in done.out
    assert "Expect: " in done.out
    assert "'x' is not a move." in done.out
    assert done.out.endswith("You left the game; unfinished games are not saved.\n")


@pytest.mark.parametrize("gives_up", [False, True])
def test_a_game_waits_for_a_process_that_writes(run, say, folder, monkeypatch, gives_up):
    """The third try finds the database free, or an interrupt arrives during the third try."""
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.01)
    actions, _ = first_moves(2)
    say(*typed(actions))
    tries = []
    keep = Finished.keep

    def tried(game, *arguments):
        tries.append(game.ended)
        if len(tries) == 3:
            signal.raise_signal(signal.SIGINT) if gives_up else other.rollback()
        return keep(game, *arguments)

    monkeypatch.setattr(Finished, "keep", tried)
    with closing(sqlite3.connect(folder / "games.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        done = run(*TINY, "naive", "--seed", "2")
    assert done.code == (130 if gives_up else 0)
    assert done.err.count("games.db is locked by another process; waiting to save your game") == 1
    assert (len(stored()), len(tries), len(set(tries))) == (not gives_up, 3, 1)


def test_games_are_kept_in_the_data_folder_which_is_told_once(run, say, folder, monkeypatch):
    actions, _ = first_moves(2)
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    told = []
    for _ in range(2):
        say(*typed(actions))
        told.append(run("play", "naive", "--rules", "tiny", "--seed", "2"))
    assert [done.code for done in told] == [0, 0]
    assert ["your games are saved on this machine" in done.err for done in told] == [True, False]
    assert len(stored(folder / "data" / "punish-fast" / "games-tiny-reshuffle.db")) == 2


def test_a_game_that_cannot_be_saved_has_no_id(run, say, monkeypatch):
    monkeypatch.setattr("punish_fast.cli.playing.play.games_database", lambda *_: None)
    say(*typed(first_moves(2)[0]))
    report = run("play", "naive", "--rules", "tiny", "--seed", "2", "--json").report
    assert (report["database"], [game["game"] for game in report["games"]]) == (None, [None])


def test_a_database_can_have_the_name_of_the_user(run, say):
    say(*typed(first_moves(2)[0]))
    assert run("play", "naive", "--rules", "tiny", "--seed", "2", "--db", "Ann", "--name", "Ann").code == 0
    assert len(stored("Ann")) == 1


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        (["naive", "random"], ["2 agents named instead of one", "such as --watch veteran naive"]),
        (["--watch", "naive"], ["1 agent named instead of two"]),
        (["--watch", "naive", "random", "--coach"], ["--watch cannot be combined with"]),
        (["veteran"], ["veteran: plays only under the standard rules"]),
        (["--name", "viktor"], ["--name: 'viktor' looks like Viktor, the name of a bot"]),
        (["--name", "Naive "], ["--name: 'Naive' looks like naive, the name of a bot"]),
        (["--name", "a", "--name", "b"], ["--name: one name must be given"]),
        (["--hotseat", "--name", "a", "--name", "a "], ["--name: two different names must be given"]),
    ],
)
def test_wrong_options_are_refused_in_one_line(run, folder, options, texts):
    run(*TINY, *options).refused(*texts)
    assert list(folder.iterdir()) == []


def test_the_coach_and_the_end_of_the_game_have_one_judge_which_can_be_named(run, say, folder):
    space = StateSpace(PRESETS["tiny"], "memory")
    save_policy(folder / "memory.h5", space, uniform_policy(space))
    shown = {}
    for against, words, judge in (
        ([], "if memory plays like Nina", "Nina"),
        (["--against", "random"], "if memory plays like Robin", "Robin"),
    ):
        say("c", *"grdsp" * 40)
        done = run("play", "memory.h5", *against, "--coach", "--seed", "3", "--db", "games.db", "--json")
        drawn = " ".join(done.err.split())
        assert words in drawn
        assert f"Judged by the best choices against {judge}." in drawn
        shown[judge] = drawn.partition("you play optimally: ")[2].partition(" Expect")[0]
    assert shown["Nina"] != shown["Robin"]
    # No command can judge these games: only the file has their rules, and it is not memoryless.
    say(*"grdsp" * 40)
    assert run("play", "memory.h5", "--db", "games.db").suggestion == ""


def test_what_a_pipe_answers_is_shown(say):
    say("rush\x1b", "")
    drawn = io.StringIO()
    ask = asks_on(drawn)
    assert ask("Your move: ") == "rush\x1b\n"
    assert ask("Again? ") == "\n"
    with pytest.raises(EOFError):
        ask("More? ")
    assert drawn.getvalue() == "Your move: rush\\x1b\nAgain? \nMore? \n"


def test_a_terminal_shows_its_own_answers(say, monkeypatch):
    say("rush")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    drawn = io.StringIO()
    assert asks_on(drawn)("Your move: ") == "rush\n"
    assert drawn.getvalue() == "Your move: "


@pytest.mark.parametrize(("answers", "more"), [("\n", True), ("maybe\ny\n", True), ("N\n", False), ("", False)])
def test_enter_begins_another_game(say, answers, more):
    say(*answers.splitlines())
    assert wants_more(asks_on(io.StringIO())) is more


def test_seeds_are_kept_or_short():
    assert [seed_of(seed) for seed in (0, 7, 2**64 - 1)] == [0, 7, 2**64 - 1]
    found = {seed_of(None) for _ in range(20)}
    assert len(found) > 1
    assert all(0 <= seed < 1_000_000 for seed in found)


@pytest.mark.parametrize("as_json", [False, True])
def test_a_line_of_progress_is_gone_before_anything_is_drawn(capsys, monkeypatch, as_json):
    monkeypatch.setattr(reporting, "_width", 3)
    print("cards", file=table_stream(as_json))
    print("more cards", file=table_stream(as_json))
    drawn = capsys.readouterr()
    assert drawn.err.startswith("\r   \r")
    assert (drawn.err.count("\r"), (drawn.err if as_json else drawn.out).count("cards")) == (2, 2)


def test_records_are_looked_for_where_play_keeps_them(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert played_database(Path("games.db"), PRESETS["tiny"]) == Path("games.db")
    database = games_database(None, PRESETS["tabletop"])
    with pytest.raises(UsageError, match="no games are saved yet under the rules tabletop; finish a game"):
        played_database(None, PRESETS["notebook"])
    database.touch()
    assert played_database(None, PRESETS["notebook"]) == database


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("opponent", "source"),
    [
        (["naive"], ["--rules", "mini.toml"]),
        (["naive"], ["--rules", "mini.toml", "--db", "my.db"]),
        (["strategy.h5"], []),
        (["strategy.h5"], ["--db", "my.db"]),
    ],
)
def test_every_suggested_command_runs_after_a_game_under_house_rules(run, say, monkeypatch, opponent, source):
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    Path("mini.toml").write_text("base = 'tiny'\ndamage.strike = 3\n", encoding="utf-8")
    anything = [*"grdsp"] * 40

    def follow(*commands):
        for name in commands:
            say(*anything)
            done.append(run(*shlex.split(done[-1].then)[1:]))
            assert done[-1].code == 0, done[-1].err
            assert done[-1].arguments[: len(name.split())] == tuple(name.split())

    done = []
    for seed in range(4):
        say(*anything)
        against = ["--against", "random"] if "--db" in source else []
        done.append(run("play", *opponent, *against, *source, "--seed", str(seed)))
    follow("records review", "improve", "practice", "improve")
    if opponent == ["naive"]:
        done.append(run("records", "list", *source))
        follow("records review")
        done.append(run("records", "plot", "win-rates", *source))
        follow("records summary", "records list", "records review")
    say(*anything)
    done.append(run("practice", *opponent, *source[:2], "-n", "1"))
    follow("play")

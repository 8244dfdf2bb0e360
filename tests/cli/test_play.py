"""``punish-fast play``: through a pipe and in a terminal, the same game as in the simulator."""

from __future__ import annotations

import re
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from numba import config

from cli.conftest import clean_environment, run_apart
from cli.terminal import plain, run_in_terminal
from punish_fast.arena.players import Player
from punish_fast.duel.graph import Graph
from punish_fast.duel.simulator import Simulator
from punish_fast.play.punish.records import Keeper
from punish_fast.punish.codes import action_name
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.records import database
from punish_fast.records.database import open_to_read
from punish_fast.records.games import read_games

RULES = PRESETS["tiny"]._replace(redeal="reshuffle")
TINY = ("play", "--rules", "tiny", "--db", "games.db")


def first_moves(seed, opponent="naive"):
    """The actions of both seats in a simulated game, where the first seat always plays its first legal action."""
    space = StateSpace(RULES)
    first = np.zeros(len(space.action))
    first[space.state_ptr[:-1]] = 1
    simulator = Simulator(Graph(space))
    players = [simulator.thresholds(policy) for policy in (first, Player(opponent).policy(space))]
    trace = simulator.trace(*players, 0, 1, seed)
    return [[action_name(int(action)) for action in space.action[rows]] for rows in trace.rows], bool(
        trace.games.won[0]
    )


def typed(actions):
    """What a person types for their actions."""
    return [own.replace("feint with", "f") for own, _ in actions]


def stored(path="games.db"):
    with open_to_read(Path(path)) as connection:
        return list(read_games(connection))


@pytest.mark.parametrize("seed", range(2))
def test_a_game_through_a_pipe_is_the_simulators(run, say, seed):
    actions, won = first_moves(seed)
    say(*typed(actions))
    report = run(*TINY, "naive", "--seed", str(seed), "--json").report
    assert report["players"] == ["you", "naive"]
    assert report["seed"] == str(seed)
    (game,) = report["games"]
    assert [breath["actions"] for breath in game["breaths"]] == actions
    assert game["winner"] == ("you" if won else "naive")
    assert [game_id for game_id, _ in stored()] == [game["game"]]


def sides(database):
    """What both players knew and did in the one game of a database."""
    ((_, game),) = stored(database)
    return {side.name: (side.states, side.actions) for side in (game.winner, game.loser)}, game.winner.name


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_seed_is_one_game_in_a_terminal_through_a_pipe_and_in_the_simulator(run, say, folder, seed):
    actions, won = first_moves(seed)
    answers = [line for move in typed(actions) for line in (move, "")]
    played = ("play", "naive", "--rules", "tiny", "--seed", str(seed), "--db")
    code, drawn = run_in_terminal([*played, "terminal.db"], [*answers, "n"])
    assert code == 0, plain(drawn)
    say(*typed(actions))
    assert run(*played, "pipe.db").code == 0
    found, winner = sides(folder / "terminal.db")
    assert sides(folder / "pipe.db") == (found, winner)
    told = [[action_name(action) for action in found[name][1]] for name in ("you", "naive")]
    assert list(map(list, zip(*told, strict=True))) == actions
    assert winner == ("you" if won else "naive")


@pytest.mark.slow
def test_a_move_is_taken_back_and_an_interrupt_loses_no_finished_game(folder):
    actions, _ = first_moves(3)
    moves = [line for move in typed(actions) for line in (move, "u", move, "")]
    code, drawn = run_in_terminal([*TINY, "naive", "--seed", "3"], [*moves, "y"])
    assert code == 130
    text = plain(drawn)
    assert text.count("takes it back: u") == len(actions)
    assert "interrupted" in text
    assert len(stored(folder / "games.db")) == 1


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


def test_two_agents_can_be_watched(run):
    done = run(*TINY, "--watch", "naive", "careful", "--seed", "3")
    assert done.code == 0, done.err
    assert "naive plays careful." in done.out
    assert re.search(r"(naive|careful) wins!\n$", done.out)
    assert len(stored()) == 1


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
    keep_all = Keeper.keep_all

    def tried(keeper, games):
        tries.append(games[0].ended)
        if len(tries) == 3:
            signal.raise_signal(signal.SIGINT) if gives_up else other.rollback()
        return keep_all(keeper, games)

    monkeypatch.setattr(Keeper, "keep_all", tried)
    with closing(sqlite3.connect(folder / "games.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        done = run(*TINY, "naive", "--seed", "2")
    assert done.code == (130 if gives_up else 0)
    assert done.err.count("games.db is locked by another process; waiting to save your game") == 1
    assert (len(stored()), len(tries), len(set(tries))) == (not gives_up, 3, 1)


@pytest.mark.slow
def test_games_are_kept_in_the_data_folder_which_is_told_once(folder):
    actions, _ = first_moves(2)
    text = "".join(f"{move}\n" for move in typed(actions))
    environment = clean_environment(XDG_DATA_HOME=str(folder / "data"))
    told = [run_apart("play", "naive", "--rules", "tiny", "--seed", "2", input=text, env=environment) for _ in range(2)]
    assert [done.code for done in told] == [0, 0]
    assert ["your games are saved in" in done.err for done in told] == [True, False]
    assert len(stored(folder / "data" / "punish-fast" / "games-tiny-reshuffle.db")) == 2


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        (["nobody"], ["'nobody': no such file; the built-in players are random"]),
        (["naive", "random"], ["2 agents named instead of one"]),
        (["--watch", "naive"], ["1 agent named instead of two"]),
        (["--watch", "naive", "random", "--coach"], ["--watch cannot be combined with"]),
        (["veteran"], ["veteran: plays only under the standard rules"]),
        (["--name", "Naive "], ["--name: 'Naive' looks like naive, the name of a bot"]),
        (["--name", "a", "--name", "b"], ["--name: one name must be given"]),
        (["--hotseat", "--name", "a", "--name", "a "], ["--name: two different names must be given"]),
    ],
)
def test_wrong_options_are_refused_in_one_line(run, folder, options, texts):
    run(*TINY, *options).refused(*texts)
    assert list(folder.iterdir()) == []


@pytest.mark.full
@pytest.mark.skipif(config.DISABLE_JIT, reason="takes minutes")
def test_the_veteran_sits_at_the_table_without_any_argument(run, say):
    say("q")
    done = run("play", "--seed", "1", "--db", "games.db")
    assert done.code == 0
    assert "Your opponent is the veteran." in done.out
    assert "wins 54.5% of games." in done.out.replace("\n  ", " ")

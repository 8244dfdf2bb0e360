from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import Request, urlopen

import pytest

from cli.conftest import COMMAND, clean_environment
from punish_fast.games import registry
from punish_fast.records.database import open_to_read
from punish_fast.records.games import read_games

TINY = ("serve", "--rules", "tiny", "--port", "0", "--db", "games.db")


@contextmanager
def served(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """A server in a process of its own, and what it says."""
    command = [*COMMAND, *TINY, *arguments, "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment()
    ) as process:
        try:
            assert process.stdout is not None
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()


# Built-in agents that are always served, but for the veteran.
BUILT_INS = ["naive", "careful", "aggressive"]


def answer(report: dict[str, Any], path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = Request(report["address"] + path, data, {"Content-Type": "application/json"})
    with urlopen(request, timeout=60) as response:
        return json.load(response)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)]
)
def test_a_server_ends_when_it_is_told_to(folder, number, code):
    with served() as (process, report):
        expected = {"agents": BUILT_INS, "database": "games.db", "writes": False, "token": None}
        expected |= {"network_address": None}
        assert report == expected | {name: report[name] for name in ("address", "other_games")}
        while not (opponent := answer(report, "/models")[0]["digest"]):
            time.sleep(0.05)
        table = answer(report, "/tables", {"opponent": opponent})
        while table["is_on"]:
            move = {"action": table["legal"][0]["action"], "n_events": table["n_events"]}
            table = answer(report, f"/tables/{table['table']}/choice", move)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, "")
    assert err.endswith("stopped; all finished games are saved\n")
    with open_to_read(folder / "games.db") as connection:
        assert len(list(read_games(connection))) == 1


@pytest.fixture
def one_game(monkeypatch):
    """TapnSwap as the only other game."""
    monkeypatch.setattr(registry, "GAMES", {"tapnswap": registry.GAMES["tapnswap"]})


@pytest.mark.usefixtures("one_game")
def test_a_check_opens_everything_and_ends(run):
    done = run(*TINY, "random", "--check", "--allow-writes")
    assert (done.code, done.err) == (0, "")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert lines[0].startswith("address http://127.0.0.1:")
    assert "agents random, naive, careful, aggressive" in lines
    assert "tapnswap random-tapnswap, casual-tapnswap, trained-tapnswap, perfect-tapnswap" in lines
    assert {"database games.db", "clients can post games yes"} <= set(lines)
    assert any(re.fullmatch(r"token [\w-]{32}", line) for line in lines)


@pytest.mark.usefixtures("one_game")
def test_a_token_comes_from_a_variable_and_is_not_printed(run, monkeypatch):
    writes = (*TINY, "--check", "--json", "--allow-writes")
    assert len(run(*writes).report["token"]) == 32
    monkeypatch.setenv("PUNISH_FAST_TOKEN", "b" * 20)
    report = run(*writes).report
    assert (report["writes"], report["token"]) == (True, None)
    for token in ("short", "b" * 1025, "ä" * 20):
        monkeypatch.setenv("PUNISH_FAST_TOKEN", token)
        run(*writes).refused("PUNISH_FAST_TOKEN: is not a valid token; use 16 to 1024 printable ASCII characters")


@pytest.mark.usefixtures("one_game")
@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["--host", "192.0.2.1"], ["--host: cannot listen on 192.0.2.1, port 0"]),
        (["--allow-host", "https://games.example"], ["--allow-host: 'https://games.example' is not a host name"]),
        (["--proxy", "games.example"], ["--proxy: 'games.example' does not appear to be"]),
        (["--db", "token"], ["token: is not an SQLite database"]),
    ],
)
def test_wrong_options_are_refused(run, folder, arguments, texts):
    (folder / "token").write_text("short", encoding="ascii")
    run(*TINY, "--check", *arguments).refused(*texts)


@pytest.mark.usefixtures("one_game")
def test_a_port_that_is_taken_is_refused(run):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        run(*TINY, "--check", "--port", str(port)).refused(
            f"--port: cannot listen on port {port} of 127.0.0.1 (Address already in use)"
        )


def test_agents_of_other_games_are_served_from_their_files(run):
    run("games", "train", "tictactoe", "--games", "100", "--output", "noughts.h5", "--quiet")
    report = run(*TINY, "noughts.h5", "random", "--check", "--json").report
    assert report["agents"] == ["random", *BUILT_INS]
    agents = {each["game"]: each["agents"] for each in report["other_games"]}
    assert set(agents) == set(registry.GAMES)
    assert agents["tictactoe"][:2] == ["noughts", "random-tictactoe"]
    assert "perfect-connect4" in agents["connect4"]
    assert agents["incan-gold"][:2] == ["random-incan-gold", "rule-of-thumb-incan-gold"]
    run(*TINY, "no.h5", "--check").refused("no.h5")
    run(*TINY, "noughts.h5", "noughts.h5", "--check").refused("noughts.h5: is named twice")

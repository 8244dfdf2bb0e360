"""Load on the server of the web page: ``python -m bench.serving``.

It starts the server in a process of its own, opens a thousand tables at once, each with a connection of its
own, and plays all games to their ends. Every message is compared with what a session in this process says to the same
choices under the same seed, which the last message contains. Every message before a reveal is searched for the enemy's
hand. All games must be in the database afterwards. Then look-ups of states are counted, and how long they wait while
the server solves a game.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench.benchmark import say
from bench.child import environment
from bench.tables import markdown
from punish_fast.play.model import Model
from punish_fast.play.punish_match import PunishMatch
from punish_fast.play.seats import Person
from punish_fast.play.session import PlaySession
from punish_fast.punish.codes import decimals_of
from punish_fast.punish.rules import load_rules
from punish_fast.records.results import read_results
from punish_fast.web.app import Hall, create_app
from punish_fast.web.limits import Limits
from punish_fast.web.server import address_of, listen
from punish_fast.web.server import serve as answer

LEAST_LOOK_UPS = 2000
MOST_WAIT = 1.0
_OPPONENT = "naive"
_CONNECTIONS = 16
_OPEN_FILES = 8192
# Where five counts may stand before a reveal.
_PUBLIC = {"hand", "discard", "unseen", "revealed", "copies", "damage", "cards"}


class ServingError(Exception):
    """A server that does not start; the message says why."""


class Connection:
    """One connection to the server, kept alive."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str) -> None:
        self._reader, self._writer, self._host = reader, writer, host

    async def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
        """Send a request; return status and JSON."""
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Length: {len(content)}\r\n"
        kind = "" if body is None else "Content-Type: application/json\r\n"
        self._writer.write(f"{head}{kind}\r\n".encode() + content)
        answer = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status, *lines = answer.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        text = await self._reader.readexactly(int(headers.get("content-length", 0)))
        return int(status.split()[1]), json.loads(text) if text else None


@asynccontextmanager
async def connected(address: str) -> AsyncIterator[Connection]:
    """A connection to an address such as ``http://127.0.0.1:8000``."""
    host = address.removeprefix("http://")
    name, _, port = host.rpartition(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    try:
        yield Connection(reader, writer, host)
    finally:
        writer.close()


@contextmanager
def server(rules: str, tables: int, database: Path) -> Iterator[tuple[str, int]]:
    """A server in a process of its own, which ends with the block: its address and the number of the process.

    Raises:
        ServingError: it does not start.
    """
    code = f"from bench.serving import serve; serve({rules!r}, {tables}, {str(database)!r})"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment(), text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise ServingError("the server did not start")
            yield line.strip(), process.pid
        finally:
            process.terminate()
            process.wait()


def serve(rules: str, tables: int, database: str) -> None:
    """Serve the page without a limit of requests, and print its address."""
    hall = Hall(
        [Model(_OPPONENT, {}, load_rules(rules))], Path(database), load_rules(rules), limits=Limits(tables, rate=None)
    )
    listening = listen("127.0.0.1", 0)
    answer(create_app(hall), listening, lambda: print(address_of(listening), flush=True))


@dataclass
class Play:
    """A game as a client played it.

    Attributes:
        number: Its number, and the seed of its choices.
        messages: All answers of the server, in order.
        actions: The choices of the client.
        faults: What went wrong.
    """

    number: int
    messages: list[dict[str, Any]] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


async def deal(connection: Connection, play: Play, opponent: str) -> None:
    """Open a table."""
    wanted = {"opponent": opponent, "name": f"player {play.number}"}
    await _ask(connection, play, "/tables", wanted)


async def play_on(connection: Connection, play: Play) -> None:
    """Play a game to its end with random choices."""
    generator = np.random.default_rng(play.number)
    while not play.faults and play.messages[-1]["is_on"]:
        last = play.messages[-1]
        action = int(generator.choice([move["action"] for move in last["legal"]]))
        play.actions.append(action)
        body = {"action": action, "n_events": last["n_events"]}
        await _ask(connection, play, f"/tables/{last['table']}/choice", body)


async def _ask(connection: Connection, play: Play, path: str, body: dict[str, Any]) -> None:
    try:
        status, answer = await connection.ask("POST", path, body)
    except (OSError, EOFError) as error:
        play.faults.append(f"the connection broke ({type(error).__name__})")
        return
    if status in (200, 201):
        play.messages.append(answer)
    else:
        play.faults.append(f"status {status}: {answer}")


def check(play: Play, model: Model) -> list[str]:
    """What is wrong with a game: errors, leaks, and differences from a session in this process."""
    if play.faults:
        return play.faults
    agent, face = model.agent(None), model.face
    session = PlaySession(PunishMatch(model.table, int(play.messages[-1]["seed"])), (Person(""), agent))
    session.begin()
    seen = 0
    for message, action in zip(play.messages, [*play.actions, None], strict=True):
        told = [face.event(event, 0, ("you", agent.name)) for event in session.events[seen:]]
        expected = [{"n": n, **event} for n, event in enumerate(told, seen)], face.view(session.view(0))
        seen = len(session.events)
        if (message["events"], message["view"]) != tuple(json.loads(json.dumps(each)) for each in expected):
            return ["another game than that of the session"]
        if action is not None:
            if leaks(message, list(session.view(1).state.hand)):
                return ["a message has the enemy's hand before the reveal"]
            session.choose(0, action)
            session.reveal()
    if (session.is_on, session.winner) != (False, play.messages[-1]["winner"]):
        return ["another winner than that of the session"]
    return []


def leaks(message: Any, hand: list[int], key: str = "") -> bool:
    """Whether five counts of a hand are anywhere in a message but where public ones stand."""
    if isinstance(message, dict):
        return any(leaks(value, hand, name) for name, value in message.items())
    if isinstance(message, list):
        return (message == hand and key not in _PUBLIC) or any(leaks(value, hand) for value in message)
    return False


async def play_all(address: str, opponent: str, n_games: int) -> tuple[list[Play], float]:
    """Play games all at once; return them, and the seconds."""
    plays = [Play(number) for number in range(n_games)]
    everybody_sits = asyncio.Barrier(n_games)

    async def one(play: Play) -> None:
        async with connected(address) as connection:
            await deal(connection, play, opponent)
            await everybody_sits.wait()
            await play_on(connection, play)

    begin = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for play in plays:
            group.create_task(one(play))
    return plays, time.perf_counter() - begin


async def look_up(address: str, paths: Sequence[str]) -> float:
    """Ask for values of states by some connections at once; return the seconds."""

    async def some(paths: Sequence[str]) -> None:
        async with connected(address) as connection:
            for path in paths:
                status, _ = await connection.ask("GET", path)
                assert status == 200

    begin = time.perf_counter()
    await asyncio.gather(*(some(paths[k::_CONNECTIONS]) for k in range(_CONNECTIONS)))
    return time.perf_counter() - begin


def processor_seconds(pid: int) -> float:
    """The processor time of a process so far; NaN where the system does not tell."""
    status = Path(f"/proc/{pid}/stat")
    if not status.exists():
        return math.nan
    user, system = status.read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


async def longest_wait(address: str, opponent: str, path: str) -> float:
    """The longest time that a look-up takes while the server solves the game for a coach."""
    async with connected(address) as busy, connected(address) as other:
        # The coach against the greedy agent is solved when the server starts.
        _, table = await busy.ask("POST", "/tables", {"opponent": opponent, "temperature": 0.1})
        solving = asyncio.create_task(busy.ask("GET", f"/tables/{table['table']}/coach"))
        waits = []
        while not solving.done():
            begin = time.perf_counter()
            await other.ask("GET", path)
            waits.append(time.perf_counter() - begin)
        status, _ = await solving
        assert status == 200
    return max(waits)


async def opponents(address: str) -> dict[str, str]:
    """The hash of each agent by name, once all are open."""
    async with connected(address) as connection:
        while True:
            _, entries = await connection.ask("GET", "/models")
            if all(entry["hash"] or entry["flaw"] for entry in entries):
                return {entry["name"]: entry["hash"] for entry in entries}
            await asyncio.sleep(0.05)


@dataclass(frozen=True)
class Load:
    """What a server bore.

    Attributes:
        games: Games at once.
        seconds: How long they took.
        faults: What went wrong in them.
        kept: Games in the database afterwards.
        moves: Requests of the games.
        look_ups: Look-ups in a second: the median of some runs.
        busy: Processor time of the server for a look-up, in seconds; NaN where it is unknown.
        wait: The longest wait of a look-up while the server solved a game, in seconds.
    """

    games: int
    seconds: float
    faults: list[str]
    kept: int
    moves: int
    look_ups: float
    busy: float
    wait: float

    @property
    def ok(self) -> bool:
        """Whether nothing went wrong."""
        return not self.faults and self.kept == self.games


def load_of(rules: str, n_games: int, n_look_ups: int, runs: int) -> Load:
    """Put load on a server.

    Raises:
        ServingError: it does not start.
    """
    model = Model(_OPPONENT, {}, load_rules(rules))
    model.open()
    rows = np.random.default_rng(1).integers(model.space.n_states, size=n_look_ups)
    with tempfile.TemporaryDirectory(prefix="punish-fast-bench-") as folder:
        database = Path(folder) / "games.db"
        # One address may have half of the tables.
        with server(rules, 2 * (n_games + _CONNECTIONS), database) as (address, pid):
            found = asyncio.run(opponents(address))
            say(f"serving: {n_games:,} games at once")
            plays, seconds = asyncio.run(play_all(address, found[_OPPONENT], n_games))
            paths = [f"/models/{found[_OPPONENT]}/q/{state}" for state in decimals_of(model.space, rows).tolist()]
            say(f"serving: {n_look_ups:,} look-ups, {runs} times")
            before = processor_seconds(pid)
            rates = [n_look_ups / asyncio.run(look_up(address, paths)) for _ in range(runs)]
            busy = (processor_seconds(pid) - before) / (runs * n_look_ups)
            wait = asyncio.run(longest_wait(address, found[_OPPONENT], paths[0]))
        say("serving: checking the games")
        faults = [f"game {play.number}: {fault}" for play in plays for fault in check(play, model)]
        # A server that has ended has kept all its games.
        kept = len(read_results(database))
    moves = sum(len(play.messages) for play in plays)
    return Load(n_games, seconds, faults, kept, moves, statistics.median(rates), busy, wait)


def _raise_limit() -> None:
    """Let this process, and the server, hold a connection for every game."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(_OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 1 if a game went wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.serving", description="Put load on the server of the page.")
    parser.add_argument("--games", type=int, default=1000, metavar="N", help="games at once (default: 1000)")
    parser.add_argument("--look-ups", type=int, default=10_000, metavar="N", help="look-ups (default: 10000)")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="repetitions of the look-ups (default: 3)")
    parser.add_argument("--rules", default="tabletop", metavar="R", help="a preset or a TOML file (default: tabletop)")
    options = parser.parse_args(arguments)
    _raise_limit()
    found = load_of(options.rules, options.games, options.look_ups, options.runs)
    for fault in found.faults[:5]:
        say(fault)
    table = [
        ["", "", "aim"],
        ["games at once", f"{found.games:,}", ""],
        ["games that went wrong or leaked a hand", f"{len(found.faults):,}", "0"],
        ["games in the database", f"{found.kept:,}", f"{found.games:,}"],
        ["moves/s", f"{found.moves / found.seconds:,.0f}", ""],
        ["look-ups/s", f"{found.look_ups:,.0f}", f"{LEAST_LOOK_UPS:,}"],
        ["processor time of a look-up", f"{1e6 * found.busy:.0f} us", ""],
        ["longest wait of a look-up while a game is solved", f"{found.wait:.2f} s", f"{MOST_WAIT:g} s"],
    ]
    print("\n".join(markdown(table)))
    return 0 if found.ok else 1


if __name__ == "__main__":
    sys.exit(main())

"""Access to the database of recorded games, and storage of finished games in the background."""

import asyncio
import logging
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from fastapi import HTTPException

from punish_fast.arena.built_in_players import person_of
from punish_fast.play.explain.review import read_game
from punish_fast.play.punish.match import Finished
from punish_fast.play.punish.puzzles import puzzle_rating
from punish_fast.punish.codes import ACTIONS, action_name
from punish_fast.punish.rules import Rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.database import LockedError, RecordsError, open_to_write
from punish_fast.records.games import Choices, GameWriter, Selection, arrays_of, puzzle_answers, read_choices
from punish_fast.records.importing import insert_logs
from punish_fast.records.logs import RecordedGame, Side, log_of
from punish_fast.records.names import clean_name
from punish_fast.records.summary import Results, list_games, player_table, read_results, summarize
from punish_fast.runtime.errors import PunishFastError, StoreError
from punish_fast.web.workers import Workers

T = TypeVar("T")
_LOGGER = logging.getLogger("punish_fast.web")
# Maximum number of attempts to store a game. Each attempt waits up to `database.BUSY_SECONDS` for other processes.
_MOST_TRIES = 6

# Callback with two arguments: the id of the stored game (None on failure), and the reason for a failure (else None).
Kept = Callable[[int | None, str | None], None]


class GameDatabaseError(PunishFastError, ValueError):
    """Raised when the database cannot answer a request. The message states the reason."""


class GameDatabase:
    """Database of recorded games. `add` must run in the writer thread. Other methods can run in any worker thread."""

    def __init__(self, path: Path | None, rules: Rules, token: str | None) -> None:
        """Store the arguments. Clients need the secret ``token`` to add games. If None, clients cannot add games."""
        self.path, self.rules = path, rules
        self._token = token
        # Modification time and size of the database file, and results cached for this version of the file.
        self._seen: tuple[int, int] = (0, 0)
        self._found: dict[Any, Any] = {}

    def must_take(self, authorization: str) -> None:
        """Raise HTTPException 401 or 403 unless ``authorization``, a request header, permits adding games."""
        if self._token is None or self.path is None:
            raise HTTPException(403, "games: cannot be added here; see: punish-fast serve --allow-writes")
        kind, _, token = authorization.partition(" ")
        if kind.lower() != "bearer" or not secrets.compare_digest(token.encode(), self._token.encode()):
            headers = {"WWW-Authenticate": "Bearer"}
            raise HTTPException(401, "authorization: must be Bearer and the token of this server", headers)

    def add(self, content: bytes) -> dict[str, Any]:
        """Add the games in a log. Return the report of ``records import`` without its ``files``."""
        try:
            log = log_of(content, "log")
        except RecordsError as error:
            raise HTTPException(422, str(error)) from None
        with self._explained():
            report = insert_logs(self.space, [log], self._path).as_mapping()
        del report["files"]
        return report

    @cached_property
    def space(self) -> StateSpace:
        """State space under the rules of the recorded games."""
        return StateSpace(self.rules)

    def games(self, player: str | None, before: int | None, most: int) -> list[dict[str, Any]]:
        """Return up to ``most`` of the latest games, optionally only one player's or only ids below ``before``."""
        if not self._is_there():
            return []
        with self._explained():
            listed = list_games(self._path, Selection(player=player, before=before), most)
        persons = ([person_of(game[side], game[f"{side}_is_bot"]) for side in ("winner", "loser")] for game in listed)
        return [game | {"persons": shown} for game, shown in zip(listed, persons, strict=True)]

    def game(self, game_id: int) -> RecordedGame:
        """Return a game. Raise HTTPException 404 if the database does not contain the game."""
        with self._explained():
            if not self._is_there() or not list_games(self._path, Selection(game=game_id), 1):
                raise HTTPException(404, f"game {game_id} is not in the database")
            return read_game(self._path, game_id)

    def game_report(self, game_id: int) -> dict[str, Any]:
        """Return a game as a JSON-like object. Raise the same errors as `game`."""
        game = self.game(game_id)
        return {"game": game_id, "played": game.second, "winner": _side(game.winner), "loser": _side(game.loser)}

    def players(self) -> list[dict[str, Any]]:
        """Return all players, sorted by number of games won."""
        return [
            {"name": entry["name"], "games": entry["games"], "won": entry["wins"], "is_bot": entry["is_bot"]}
            | {"person": person_of(entry["name"], entry["is_bot"])}
            for entry in player_table(self.results())
        ]

    def dashboard(self) -> dict[str, Any]:
        """Return the report of ``records summary`` and the available plots."""
        from punish_fast.records.plots import PLOTS

        report = self._once("summary", lambda: summarize(self.results(), self.space))
        has_plots = report["games"] and can_draw()
        plots = [{"name": name, "title": title} for name, (title, _) in PLOTS.items()] if has_plots else []
        players = [each | {"person": person_of(each["name"], each["is_bot"])} for each in report["players"]]
        return report | {"players": players, "plots": plots}

    def plot(self, name: str) -> bytes:
        """Return a plot as SVG. Raise HTTPException 404 if its name is unknown."""
        from punish_fast.records.plots import PLOTS, draw

        if name not in PLOTS:
            raise HTTPException(404, f"plot: unknown name; the plots are {', '.join(PLOTS)}")
        if not can_draw():
            raise GameDatabaseError("plots: matplotlib is not installed. Install it with: pip install matplotlib")

        def draw_into(path: Path) -> None:
            draw(name, _with_persons(self.results()), path)

        return self._once(("plot", name), lambda: drawn("plot.svg", draw_into))

    def choices(self, player: str | None = None) -> Choices | None:
        """Return the recorded choices of a player, or of all users. Return None if there are none."""
        if not self._is_there():
            return None
        is_any = player is None
        found = self._once(("choices", is_any), lambda: read_choices(self._path, humans_only=False, with_bots=is_any))
        found = found if player is None else found.of_player(player)
        return found if len(found) else None

    def answer_puzzle(self, name: str, day: str, state: int, is_right: bool) -> None:
        """Store a player's answer to the puzzle of a day, unless the database contains one. Do nothing without one."""
        if self.path is not None:
            with self._explained(), open_to_write(self.path, creates=True) as connection:
                GameWriter(connection).write_answer(name, day, state, is_right)

    def rating_for_puzzles(self, name: str) -> dict[str, float | None]:
        """Return the `puzzle_rating` of a player."""
        answers = self._once("puzzles", lambda: puzzle_answers(self._path)) if self._is_there() else {}
        return puzzle_rating(answers.get(clean_name(name), []))

    def results(self) -> Results:
        """Return the results of all games."""
        if not self._is_there():
            return Results(*arrays_of([], "int64 int64 str str bool bool int64 int64"))
        return self._once("results", lambda: read_results(self._path))

    @property
    def _path(self) -> Path:
        assert self.path is not None
        return self.path

    def _is_there(self) -> bool:
        return self.path is not None and self.path.exists() and self.path.stat().st_size > 0

    def _once(self, key: Any, make: Callable[[], T]) -> T:
        """Return ``make()``. Cache the result until the database file changes."""
        status = self._path.stat() if self._is_there() else None
        now = (0, 0) if status is None else (status.st_mtime_ns, status.st_size)
        if now != self._seen:
            self._seen, self._found = now, {}
        found = self._found
        with self._explained():
            if key not in found:
                found[key] = make()
        value: T = found[key]
        return value

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Convert database errors to `GameDatabaseError`, without the path in the message."""
        try:
            yield
        except (RecordsError, StoreError) as error:
            raise GameDatabaseError(str(error).replace(str(self.path), "database")) from None


def can_draw() -> bool:
    """Return True if matplotlib is installed."""
    return find_spec("matplotlib") is not None


def drawn(name: str, draw: Callable[[Path], None]) -> bytes:
    """Return the content of a picture that ``draw`` writes to a temporary file with a name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        draw(path)
        return path.read_bytes()


def _side(side: Side) -> dict[str, Any]:
    choices = [
        {"number": number + 1, "state": str(state), "action": action}
        | {"name": action_name(action) if action in ACTIONS else "not legal"}
        for number, state, action in zip(side.number, side.states, side.actions, strict=True)
    ]
    shown = {"name": side.name, "person": person_of(side.name, side.is_bot), "is_bot": side.is_bot}
    return {**shown, "temperature": side.temperature, "choices": choices}


def _with_persons(results: Results) -> Results:
    """Replace player names by displayed names, except for displayed names that another player already has."""
    taken = {*results.winner.tolist(), *results.loser.tolist()}
    names = {name: name if person_of(name) in taken else person_of(name) for name in taken}
    shown = (np.array([names[name] for name in each.tolist()], np.str_) for each in (results.winner, results.loser))
    return replace(results, **dict(zip(("winner", "loser"), shown, strict=True)))


class GameRecorder:
    """Stores finished games in a database in the background."""

    def __init__(self, database: GameDatabase, workers: Workers) -> None:
        self.database = database
        self._workers = workers
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, game: Finished, kept: Kept) -> None:
        """Store a game in the background. Call ``kept`` after success or failure."""
        task = asyncio.get_running_loop().create_task(self._store(game, kept))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Wait until every added game is stored or has failed."""
        await asyncio.gather(*self._tasks)

    async def _store(self, game: Finished, kept: Kept) -> None:
        try:
            kept(await self._workers.write(lambda: self._keep(game)), None)
        except Exception as error:
            _LOGGER.error("a game could not be saved: %s", error)
            kept(None, "the game could not be saved; see the server's log")

    def _keep(self, game: Finished) -> int:
        """Store a game and return its id. Retry while another process locks the database."""
        for _ in range(_MOST_TRIES - 1):
            with suppress(LockedError):
                return game.keep(self.database.space, self.database.path)
        return game.keep(self.database.space, self.database.path)

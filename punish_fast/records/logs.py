"""Logs of the original game in its two layouts, read strictly and written.

One object per player and breath::

    {"State": "18 digits", "Choice": 1-5 or 9, "Feint": bool, "Result": -1 won / -2 lost, "TurnsFromEnd": n,
     "GameID": n, "UserName": s, "EnemyName": s, "IsBot": true if known, "Played": Unix seconds unless it is GameID}

or one object per game, its breaths in the order of play::

    {"play_timestamp": Unix seconds, "winner": {"username": s, "states": [int], "actions": [int],
     "bot_parameters": {"temperature": x or null} or null}, "loser": {...}, "game_id": n unless it is play_timestamp}

``IsBot``, ``Played`` and ``game_id`` are ours. The original knows its bots by their names, and its ids are Unix
seconds. Our ids are random and below 2^53, since many programs round larger numbers in JSON. A bot without a
temperature has parameters all the same, and a person has none. A file holds a list of objects, or a single one.
Anything else is refused as a whole; a game whose objects contradict each other is left out and named.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from punish_fast.records.database import RecordsError, read_file
from punish_fast.records.schema import LAST_BREATH, LAST_ID, LAST_SECOND, LAST_STATE, MAX_TEMPERATURE
from punish_fast.runtime.json_values import brief

LAYOUTS = ("breaths", "games")

# Names that the original reserves for its bots; its logs by breath mark bots in no other way.
BOTS = ("naive", "general_parless", "champion_parless", "general_pawnn", "champion_pawnn")

_WON, _LOST = -1, -2
_MOST_CHARACTERS = 60
NAMES = f"names of 1 to {_MOST_CHARACTERS} printable characters"
_BREATH_KEYS = ("State", "Choice", "Feint", "Result", "TurnsFromEnd", "GameID", "UserName", "EnemyName")
_ADDED_KEYS = ("IsBot", "Played")
_GAME_KEYS = ("play_timestamp", "winner", "loser")
_SIDE_KEYS = ("username", "states", "actions", "bot_parameters")


@dataclass(frozen=True)
class Side:
    """One player's side of a game.

    Attributes:
        name: The player.
        number: Numbers of the recorded breaths, ascending from 0, the first breath of the game.
        states: Their decimal codes.
        actions: Two-digit action codes, as recorded, legal or not.
        temperature: The bot's softmax temperature; None if unknown.
        is_bot: None if the log does not say.
    """

    name: str
    number: tuple[int, ...]
    states: tuple[int, ...]
    actions: tuple[int, ...]
    temperature: float | None = None
    is_bot: bool | None = None


@dataclass(frozen=True)
class RecordedGame:
    """A game as it was logged: its id, both sides, and the Unix second of play, None if that is the id."""

    id: int
    winner: Side
    loser: Side
    played: int | None = None

    @property
    def second(self) -> int:
        """The Unix second of play."""
        return self.id if self.played is None else self.played


@dataclass(frozen=True)
class Refused:
    """A game that is left out because its log contradicts itself: id, names and reason."""

    id: int
    names: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class GameLog:
    """The content of a log.

    Attributes:
        path: The file.
        digest: SHA-256 of its bytes; None if the games were just played.
        layout: ``"breaths"`` or ``"games"``.
        games: Its games, in the order of their first appearance.
        refused: Games left out.
    """

    path: Path
    digest: str | None
    layout: str
    games: tuple[RecordedGame, ...]
    refused: tuple[Refused, ...]


class _LogError(Exception):
    """A fault of a log, without the file's name."""


def read_log(path: str | Path) -> GameLog:
    """Read a log.

    Raises:
        RecordsError: the file cannot be read or is no log; the message names the entry and the field.
    """
    return log_of(read_file(Path(path), "log"), path)


def log_of(content: bytes, path: str | Path) -> GameLog:
    """The log that a file of this content is; ``path`` names it in messages and in databases.

    Raises:
        RecordsError: it is no log; the message names the entry and the field.
    """
    path = Path(path)
    try:
        layout, games, refused = parse_log(content)
    except _LogError as error:
        raise RecordsError(f"{path}: {error}") from None
    return GameLog(path, hashlib.sha256(content).hexdigest(), layout, games, refused)


def parse_log(content: bytes) -> tuple[str, tuple[RecordedGame, ...], tuple[Refused, ...]]:
    """Layout, games and refused games of the bytes of a log."""
    entries = _parse_json(content)
    if isinstance(entries, dict):
        entries = [entries]
    if not isinstance(entries, list):
        raise _LogError(f"holds {brief(entries)}, allowed is a list of games or breaths")
    if entries and isinstance(entries[0], dict) and "play_timestamp" in entries[0]:
        return ("games", *_games_of_games(entries))
    return ("breaths", *_games_of_breaths(entries))


def _parse_json(content: bytes) -> Any:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _LogError(f"is not UTF-8 at byte {error.start}") from None
    if not text.strip():
        raise _LogError("is empty, allowed is a JSON list")
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise _LogError(f"is no JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise _LogError("is no log: it is nested too deeply") from None
    except ValueError:  # Python refuses to read whole numbers of thousands of digits
        raise _LogError("is no log: a number in it is too large") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entry = dict(pairs)
    if len(entry) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _LogError(f"an object names {brief(twice)} twice")
    return entry


def _refuse_constant(text: str) -> None:
    raise _LogError(f"holds {text}, which is no JSON")


def _require_keys(where: str, entry: Any, keys: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise _LogError(f"{where} is {brief(entry)}, allowed is an object of {', '.join(keys)}")
    for key in keys:
        if key not in entry and key not in optional:
            raise _LogError(f"{where} has no {key}")
    for key in entry:
        if key not in keys:
            raise _LogError(f"{where} has an unknown key {brief(key)}")
    return entry


def _whole(where: str, value: Any, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise _LogError(f"{where} is {brief(value)}, allowed are whole numbers from {low} to {high}")
    return value


def _name(where: str, value: Any) -> str:
    if not isinstance(value, str) or not is_name(value):
        raise _LogError(f"{where} is {brief(value)}, allowed are {NAMES}")
    return value


def is_name(text: str) -> bool:
    """Whether a log can hold a player of this name."""
    return 0 < len(text) <= _MOST_CHARACTERS and text.isprintable()


def _state(where: str, value: Any) -> int:
    if not isinstance(value, str) or not value.isascii() or not value.isdecimal() or len(value) > 18:
        raise _LogError(f"{where} is {brief(value)}, allowed are 18 digits")
    return int(value)


@dataclass(frozen=True)
class _Entry:
    """A checked object of the layout by breath."""

    game: int
    names: tuple[str, str]  # the winner's first
    won: bool
    turns_left: int
    choice: tuple[int, int]
    is_bot: bool
    played: int | None


def _entry(where: str, value: Any) -> _Entry:
    entry = _require_keys(where, value, (*_BREATH_KEYS, *_ADDED_KEYS), optional=_ADDED_KEYS)
    result = _whole(f"{where}: Result", entry["Result"], _LOST, _WON)
    flags = {key: _flag(f"{where}: {key}", entry.get(key, False)) for key in ("Feint", "IsBot")}
    action = 10 * _whole(f"{where}: Choice", entry["Choice"], 0, 9) + flags["Feint"]
    names = _name(f"{where}: UserName", entry["UserName"]), _name(f"{where}: EnemyName", entry["EnemyName"])
    played = _whole(f"{where}: Played", entry["Played"], 0, LAST_SECOND) if "Played" in entry else None
    return _Entry(
        game=_whole(f"{where}: GameID", entry["GameID"], 0, LAST_SECOND if played is None else LAST_ID),
        names=names if result == _WON else (names[1], names[0]),
        won=result == _WON,
        turns_left=_whole(f"{where}: TurnsFromEnd", entry["TurnsFromEnd"], 0, LAST_BREATH),
        choice=(_state(f"{where}: State", entry["State"]), action),
        is_bot=flags["IsBot"],
        played=None if played == entry["GameID"] else played,
    )


def _flag(where: str, value: Any) -> bool:
    if type(value) is not bool:
        raise _LogError(f"{where} is {brief(value)}, allowed are true and false")
    return value


def _games_of_breaths(entries: list[Any]) -> tuple[tuple[RecordedGame, ...], tuple[Refused, ...]]:
    groups: dict[tuple[int, frozenset[str]], list[_Entry]] = {}
    for k, value in enumerate(entries):
        entry = _entry(f"entry {k + 1}", value)
        groups.setdefault((entry.game, frozenset(entry.names)), []).append(entry)
    games, refused = [], []
    for (game, names), group in groups.items():
        try:
            games.append(_assemble(game, group))
        except _LogError as error:
            refused.append(Refused(game, tuple(sorted(names)), str(error)))
    return tuple(games), tuple(refused)


def _assemble(game: int, group: list[_Entry]) -> RecordedGame:
    """A game from its entries; equal entries may be repeated."""
    names = winner, loser = group[0].names
    if winner == loser:
        raise _LogError("both players have the same name")
    if any(entry.names != (winner, loser) for entry in group):
        raise _LogError("both players are said to have won")
    played = group[0].played
    if any(entry.played != played for entry in group):
        raise _LogError("its breaths have several times of play")
    longest = max(entry.turns_left for entry in group)
    if min(entry.turns_left for entry in group) > 0:
        raise _LogError("the last breath is missing")
    sides: tuple[dict[int, tuple[int, int]], ...] = ({}, {})
    for entry in group:
        number = longest - entry.turns_left
        if sides[entry.won].setdefault(number, entry.choice) != entry.choice:
            raise _LogError(f"two different breaths have {entry.turns_left} turns from the end")
    bots = {entry.won for entry in group if entry.is_bot}
    won, lost = (_side(names[not won], sides[won], won in bots) for won in (True, False))
    return RecordedGame(game, won, lost, played)


def _side(name: str, choices: dict[int, tuple[int, int]], is_bot: bool) -> Side:
    number = tuple(sorted(choices))
    states, actions = (tuple(choices[n][k] for n in number) for k in (0, 1))
    return Side(name, number, states, actions, is_bot=is_bot or None)


def _games_of_games(entries: list[Any]) -> tuple[tuple[RecordedGame, ...], tuple[Refused, ...]]:
    games: list[RecordedGame] = []
    refused = []
    for k, value in enumerate(entries):
        where = f"entry {k + 1}"
        entry = _require_keys(where, value, (*_GAME_KEYS, "game_id"), optional=("game_id",))
        second = _whole(f"{where}: play_timestamp", entry["play_timestamp"], 0, LAST_SECOND)
        game = _whole(f"{where}: game_id", entry.get("game_id", second), 0, LAST_ID)
        winner = _side_of_game(f"{where}: winner", entry["winner"])
        loser = _side_of_game(f"{where}: loser", entry["loser"])
        if winner.name == loser.name:
            refused.append(Refused(game, (winner.name,), "both players have the same name"))
        elif not winner.number and not loser.number:
            refused.append(Refused(game, (winner.name, loser.name), "no breath is recorded"))
        else:
            games.append(RecordedGame(game, winner, loser, None if second == game else second))
    return tuple(dict.fromkeys(games)), tuple(refused)


def _side_of_game(where: str, value: Any) -> Side:
    entry = _require_keys(where, value, _SIDE_KEYS, optional=("bot_parameters",))
    for key in ("states", "actions"):
        if not isinstance(entry[key], list):
            raise _LogError(f"{where}: {key} is {brief(entry[key])}, allowed is a list")
    if len(entry["states"]) != len(entry["actions"]):
        raise _LogError(f"{where}: there are {len(entry['states'])} states and {len(entry['actions'])} actions")
    states = tuple(_whole(f"{where}: states", state, 0, LAST_STATE) for state in entry["states"])
    actions = tuple(_whole(f"{where}: actions", action, 0, 99) for action in entry["actions"])
    parameters = entry.get("bot_parameters") or None
    temperature = None if parameters is None else _temperature(f"{where}: bot_parameters", parameters)
    name = _name(f"{where}: username", entry["username"])
    return Side(name, tuple(range(len(states))), states, actions, temperature, parameters is not None)


def _temperature(where: str, value: Any) -> float | None:
    temperature = _require_keys(where, value, ("temperature",))["temperature"]
    if temperature is None:
        return None
    if type(temperature) not in (int, float) or not 0 <= temperature <= MAX_TEMPERATURE:
        raise _LogError(f"{where}: temperature is {brief(temperature)}, allowed are numbers from 0, or null")
    return float(temperature)


def write_log(games: Iterable[RecordedGame], layout: str = "breaths") -> str:
    """Games as JSON, for `read_log`.

    The layout by game cannot say which breaths are missing, the one by breath loses bots' parameters.

    Raises:
        RecordsError: there is no such layout, or a log cannot hold a player's name.
    """
    if layout not in LAYOUTS:
        raise RecordsError(f"layout is {layout!r}, allowed are {' and '.join(LAYOUTS)}")
    games = list(games)
    check_names(games)
    entries: list[dict[str, Any]] = []
    for game in games:
        entries += _entries_of(game) if layout == "breaths" else [_entry_of(game)]
    return "[" + ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries) + "]\n"


def check_names(games: Iterable[RecordedGame]) -> None:
    """Check that a log can hold the names of all players.

    Raises:
        RecordsError: If it cannot.
    """
    for name in (side.name for game in games for side in (game.winner, game.loser)):
        if not is_name(name):
            raise RecordsError(f"player {brief(name)}: a log takes {NAMES}; anonymise this player first")


def _entries_of(game: RecordedGame) -> list[dict[str, Any]]:
    last = max(game.winner.number + game.loser.number)
    entries = []
    for side, other, result in ((game.winner, game.loser, _WON), (game.loser, game.winner, _LOST)):
        for number, state, action in zip(side.number, side.states, side.actions, strict=True):
            values = (str(state), action // 10, action % 10 == 1, result, last - number, game.id, side.name, other.name)
            entry = dict(zip(_BREATH_KEYS, values, strict=True))
            entry |= {"IsBot": True} if side.is_bot and side.name not in BOTS else {}
            entries.append(entry if game.played is None else entry | {"Played": game.played})
    return entries


def _entry_of(game: RecordedGame) -> dict[str, Any]:
    sides = []
    for side in (game.winner, game.loser):
        parameters = {"temperature": side.temperature} if side.is_bot else None
        sides.append(dict(zip(_SIDE_KEYS, (side.name, side.states, side.actions, parameters), strict=True)))
    entry = dict(zip(_GAME_KEYS, (game.second, *sides), strict=True))
    return entry if game.played is None else entry | {"game_id": game.id}

"""Strict reader of logs in the two layouts of the original program, and writer of the first layout.

The first layout has one object per player and breath::

    {"State": "18 digits", "Choice": 1-5 or 9, "Feint": bool, "Result": -1 won / -2 lost, "TurnsFromEnd": n,
     "GameID": n, "UserName": s, "EnemyName": s, "IsBot": true if known, "Played": Unix seconds, if not GameID}

The second layout has one object per game, with breaths in chronological order::

    {"play_timestamp": Unix seconds, "winner": {"username": s, "states": [int], "actions": [int],
     "bot_parameters": {"temperature": x or null} or null}, "loser": {...}, "game_id": n, if not play_timestamp}

``IsBot``, ``Played`` and ``game_id`` are extensions of this program. The original program identifies bots by name, and
its ids are Unix seconds. Ids of this program are random and below 2^53, because many programs round larger numbers in
JSON. In the second layout, bots have ``bot_parameters`` even if their temperature is unknown, but human players do not.

A file contains a list of objects, a single object, or one object per line. State codes are text, or numbers in any
notation with all digits. A file in which all objects are malformed is rejected. In other files, games with malformed or
contradictory objects are omitted and reported. If a file is truncated or contains an invalid object of an unknown game,
games that lack a view of a breath are also omitted and reported.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from punish_fast.records import log_fields
from punish_fast.records.database import RecordsError
from punish_fast.records.json_entries import EntryError, read_entries
from punish_fast.records.names import NAMES, is_name
from punish_fast.records.schema import LAST_BREATH, LAST_ID, LAST_SECOND
from punish_fast.runtime.errors import brief
from punish_fast.runtime.files import kind_of

# Names that the original program reserves for bots. In its logs by breath, bots can be identified only by these names.
BOTS = ("naive", "general_parless", "champion_parless", "general_pawnn", "champion_pawnn")

_WON, _LOST = -1, -2
_BREATH_KEYS = ("State", "Choice", "Feint", "Result", "TurnsFromEnd", "GameID", "UserName", "EnemyName")
_ADDED_KEYS = ("IsBot", "Played")
_GAME_KEYS = ("play_timestamp", "winner", "loser")
_SIDE_KEYS = ("username", "states", "actions", "bot_parameters")

REJECTED, WARNING = "rejected", "warning"
# Kinds of rejected games.
CONTRADICTION, MALFORMED, INCOMPLETE = "contradicts itself", "malformed", "incomplete"


@dataclass(frozen=True)
class Side:
    """Choices of one player in a game."""

    name: str  # name of the player
    number: tuple[int, ...]  # numbers of the recorded breaths in the game, from 0, ascending
    states: tuple[int, ...]  # decimal codes of the states in these breaths
    actions: tuple[int, ...]  # recorded two-digit action codes, possibly illegal
    temperature: float | None = None  # softmax temperature of a bot (None if unknown)
    is_bot: bool | None = None  # True for a bot, False for a human player (None if unknown)

    @classmethod
    def of(cls, player: Any, states: Iterable[int], actions: Iterable[int]) -> Self:
        """Return the side of a `PolicyPlayer` or `HumanPlayer` with choices in all breaths."""
        codes, chosen = tuple(states), tuple(actions)
        return cls(player.name, tuple(range(len(codes))), codes, chosen, player.temperature, not player.is_human)


@dataclass(frozen=True)
class RecordedGame:
    """Game recorded in a log."""

    id: int
    winner: Side
    loser: Side
    played: int | None = None  # Unix second of play (None if equal to the id)

    @property
    def second(self) -> int:
        """Unix second of play."""
        return self.id if self.played is None else self.played


@dataclass(frozen=True)
class Remark:
    """Rejection of a game, or warning about an imported game or a log."""

    verdict: str  # "rejected" or "warning"
    kind: str  # kind of fault
    reason: str  # description and location of the fault
    game: int | None  # id of the game in its log (None if the id is invalid or the warning concerns a log)
    players: tuple[str, ...]  # valid names of the players (winner first if known)
    file: str = ""  # path of the log


@dataclass(frozen=True)
class GameLog:
    """Content of a log."""

    path: Path
    digest: str | None  # SHA-256 of the file (None if this process recorded the games)
    layout: str  # "breaths", "games" or "database"
    games: tuple[RecordedGame, ...]  # games in the order of their first appearance
    refused: tuple[Remark, ...]  # omitted games, without the path of the log
    flaw: str = ""  # reason why reading stopped (empty if the whole file was read)
    in_numbers: bool = False  # True if any state is a number instead of text, so that a program may have rounded states


class _ContradictionError(EntryError):
    kind = CONTRADICTION


class _IncompleteError(EntryError):
    kind = INCOMPLETE


def log_of(content: bytes, path: str | Path) -> GameLog:
    """Parse the content of a log. ``path`` identifies the log in messages and databases."""
    path = Path(path)
    if kind := kind_of(content):
        raise RecordsError(f"{path}: is {kind}, not a log; a log is an unpacked JSON file")
    try:
        values, flaw = read_entries(content)
        layout = _layout_of(values)
        games, refused, in_numbers = _games_of_games(values) if layout == "games" else _games_of_breaths(values, flaw)
    except EntryError as error:
        raise RecordsError(f"{path}: {error}") from None
    return GameLog(path, hashlib.sha256(content).hexdigest(), layout, games, refused, flaw, in_numbers)


def _layout_of(values: list[Any]) -> str:
    """Return the layout of the first entry with a key of a layout, or ``"breaths"`` if the list is empty."""
    for value in values:
        for layout, keys in (("games", _GAME_KEYS), ("breaths", _BREATH_KEYS)):
            if isinstance(value, dict) and not value.keys().isdisjoint(keys):
                return layout
    if values:
        log_fields.require_keys("entry 1", values[0], _BREATH_KEYS)
    return "breaths"


@dataclass(frozen=True)
class _Entry:
    """Valid object of the layout by breath."""

    game: int
    names: tuple[str, str]  # winner first
    won: bool
    turns_left: int
    choice: tuple[int, int]
    is_bot: bool
    played: int | None


def _entry(where: str, value: Any) -> _Entry:
    entry = log_fields.require_keys(where, value, _BREATH_KEYS, optional=_ADDED_KEYS)
    result = log_fields.whole(f"{where}: Result", entry["Result"], _LOST, _WON)
    flags = {key: log_fields.flag(f"{where}: {key}", entry.get(key, False)) for key in ("Feint", "IsBot")}
    action = 10 * log_fields.whole(f"{where}: Choice", entry["Choice"], 0, 9) + flags["Feint"]
    own, other = (log_fields.name(f"{where}: {key}", entry[key]) for key in ("UserName", "EnemyName"))
    played = log_fields.seconds(f"{where}: Played", entry["Played"]) if "Played" in entry else None
    own_id = f"{where}: GameID", entry["GameID"]
    game = log_fields.seconds(*own_id) if played is None else log_fields.whole(*own_id, 0, LAST_ID)
    return _Entry(
        game=game,
        names=(own, other) if result == _WON else (other, own),
        won=result == _WON,
        turns_left=log_fields.whole(f"{where}: TurnsFromEnd", entry["TurnsFromEnd"], 0, LAST_BREATH),
        choice=(log_fields.state(f"{where}: State", entry["State"]), action),
        is_bot=flags["IsBot"],
        played=None if played == game else played,
    )


_Found = tuple[tuple[RecordedGame, ...], tuple[Remark, ...], bool]
_T = TypeVar("_T")


def _split(
    values: list[Any], check: Callable[[str, Any], _T]
) -> tuple[list[tuple[Any, _T]], list[tuple[Any, EntryError]]]:
    """Return valid entries with their checked form, and invalid entries with their error.

    Raise the first error if all entries are malformed.
    """
    valid: list[tuple[Any, _T]] = []
    invalid: list[tuple[Any, EntryError]] = []
    for k, value in enumerate(values):
        try:
            valid.append((value, check(f"entry {k + 1}", value)))
        except EntryError as error:
            invalid.append((value, error))
    if invalid and not valid and all(type(error) is EntryError for _, error in invalid):
        raise invalid[0][1]
    return valid, invalid


def _games_of_breaths(values: list[Any], flaw: str) -> _Found:
    valid, invalid = _split(values, _entry)
    groups: dict[tuple[int, frozenset[str]], list[_Entry]] = {}
    for _, entry in valid:
        groups.setdefault((entry.game, frozenset(entry.names)), []).append(entry)
    faults: dict[tuple[int, frozenset[str]], EntryError] = {}
    strays: list[Remark] = []
    gap = ""
    for value, error in invalid:
        given = value if isinstance(value, dict) else {}
        game, names = log_fields.game_and_names(*(given.get(key) for key in ("GameID", "UserName", "EnemyName")))
        if game is None or len(names) < 2:
            strays.append(_refuse(game, names, error))
        else:
            faults.setdefault((game, frozenset(names)), error)
        # An object of an unknown game, or with an id in milliseconds, can belong to any incomplete game.
        if game is None or len(names) < 2 or (game > LAST_SECOND and "Played" not in given):
            gap = gap or str(error)
    gap = gap or (flaw and f"the log {flaw}")
    games, refused = [], []
    for key in dict.fromkeys([*faults, *groups]):
        try:
            if key in faults:
                raise faults[key]
            games.append(_assemble(key[0], groups[key], gap))
        except EntryError as error:
            refused.append(_refuse(key[0], tuple(sorted(key[1])), error))
    # Invalid objects of unknown games belong to the incomplete games. If all are complete, count one refused game.
    if not any(each.kind == INCOMPLETE for each in refused):
        refused += strays[:1]
    return tuple(games), tuple(refused), any(type(value["State"]) is int for value, _ in valid)


def _refuse(game: int | None, names: tuple[str, ...], error: EntryError) -> Remark:
    return Remark(REJECTED, getattr(error, "kind", MALFORMED), str(error), game, names)


def _assemble(game: int, group: list[_Entry], gap: str) -> RecordedGame:
    """Assemble a game from its entries, which may contain duplicates.

    If the log might lack entries, ``gap`` is the reason, and an incomplete game raises an error.
    """
    names = winner, loser = group[0].names
    if winner == loser:
        raise _ContradictionError("both players have the same name")
    if any(entry.names != (winner, loser) for entry in group):
        raise _ContradictionError("both players are recorded as winners")
    played = group[0].played
    if any(entry.played != played for entry in group):
        raise _ContradictionError("its breaths have different times of play")
    longest = max(entry.turns_left for entry in group)
    if min(entry.turns_left for entry in group) > 0:
        raise _ContradictionError("the last breath is missing")
    sides: tuple[dict[int, tuple[int, int]], ...] = ({}, {})
    for entry in group:
        number = longest - entry.turns_left
        if sides[entry.won].setdefault(number, entry.choice) != entry.choice:
            raise _ContradictionError(f"two different breaths are {entry.turns_left} turns from the end")
    # In a complete game, both views contain all breaths and begin with breath 1 (the first digit of a state).
    is_whole = sides[0].keys() == sides[1].keys() == set(range(longest + 1))
    if gap and not (is_whole and all(side[0][0] // 10**17 == 1 for side in sides)):
        raise _IncompleteError(f"breaths of this game are missing: {gap}")
    bots = {entry.won for entry in group if entry.is_bot}
    # Logs of this program, which contain `Played`, mark all bots.
    others = None if played is None else False
    found = []
    for won in (True, False):
        numbers = tuple(sorted(sides[won]))
        states, actions = (tuple(sides[won][n][k] for n in numbers) for k in (0, 1))
        found.append(Side(names[not won], numbers, states, actions, is_bot=True if won in bots else others))
    return RecordedGame(game, found[0], found[1], played)


def _games_of_games(values: list[Any]) -> _Found:
    valid, invalid = _split(values, _game)
    refused = []
    for value, error in invalid:
        entry = value if isinstance(value, dict) else {}
        sides = [side for side in (entry.get("winner"), entry.get("loser")) if isinstance(side, dict)]
        game = entry.get("game_id", entry.get("play_timestamp"))
        refused.append(_refuse(*log_fields.game_and_names(game, *(side.get("username") for side in sides)), error))
    states = (state for value, _ in valid for key in ("winner", "loser") for state in value[key]["states"])
    in_numbers = any(type(state) is int for state in states)
    return tuple(dict.fromkeys(game for _, game in valid)), tuple(refused), in_numbers


def _game(where: str, value: Any) -> RecordedGame:
    entry = log_fields.require_keys(where, value, _GAME_KEYS, optional=("game_id",))
    second = log_fields.seconds(f"{where}: play_timestamp", entry["play_timestamp"])
    game = log_fields.whole(f"{where}: game_id", entry.get("game_id", second), 0, LAST_ID)
    winner, loser = (_side_of_game(f"{where}: {key}", entry[key]) for key in ("winner", "loser"))
    if winner.name == loser.name:
        raise _ContradictionError("both players have the same name")
    if not winner.number and not loser.number:
        raise _ContradictionError("no breath is recorded")
    return RecordedGame(game, winner, loser, None if second == game else second)


def _side_of_game(where: str, value: Any) -> Side:
    entry = log_fields.require_keys(where, value, _SIDE_KEYS, optional=("bot_parameters",))
    for key in ("states", "actions"):
        if not isinstance(entry[key], list):
            raise EntryError(f"{where}: {key} is {brief(entry[key])}; it must be a list")
    if len(entry["states"]) != len(entry["actions"]):
        raise EntryError(f"{where}: there are {len(entry['states'])} states and {len(entry['actions'])} actions")
    states = tuple(log_fields.state(f"{where}: states", state) for state in entry["states"])
    actions = tuple(log_fields.whole(f"{where}: actions", action, 0, 99) for action in entry["actions"])
    parameters = entry.get("bot_parameters") or None
    temperature = None if parameters is None else log_fields.temperature(f"{where}: bot_parameters", parameters)
    name = log_fields.name(f"{where}: username", entry["username"])
    return Side(name, tuple(range(len(states))), states, actions, temperature, parameters is not None)


def write_log(games: Iterable[RecordedGame]) -> str:
    """Return games as JSON in the layout by breath, without the parameters of bots. `log_of` reads this layout."""
    games = list(games)
    check_names(games)
    entries = [entry for game in games for entry in _entries_of(game)]
    return "[" + ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries) + "]\n"


def check_names(games: Iterable[RecordedGame]) -> None:
    """Raise `RecordsError` if a player's name is invalid in a log."""
    for name in (side.name for game in games for side in (game.winner, game.loser)):
        if not is_name(name):
            raise RecordsError(f"player {brief(name)}: logs allow only {NAMES}; anonymize this player first")


def _entries_of(game: RecordedGame) -> Iterator[dict[str, Any]]:
    last = max(game.winner.number + game.loser.number)
    for side, other, result in ((game.winner, game.loser, _WON), (game.loser, game.winner, _LOST)):
        for number, state, action in zip(side.number, side.states, side.actions, strict=True):
            values = (str(state), action // 10, action % 10 == 1, result, last - number, game.id, side.name, other.name)
            entry = dict(zip(_BREATH_KEYS, values, strict=True))
            entry |= {"IsBot": True} if side.is_bot and side.name not in BOTS else {}
            yield entry if game.played is None else entry | {"Played": game.played}

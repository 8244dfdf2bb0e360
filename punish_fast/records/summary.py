"""Results of recorded games, and a summary of games: number, durations, visited states and players."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.punish.codes import BREATH, STATUS, indices_of, split_digits
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.database import RecordsError, open_to_read
from punish_fast.records.games import CHOICES, GAME_ORDER, GAMES, Selection, arrays_of, require_player


@dataclass(frozen=True)
class Results:
    """Results of recorded games, sorted by time of play and id."""

    game: np.ndarray  # int64 [n], ids
    second: np.ndarray  # int64 [n], Unix seconds of play
    winner: np.ndarray  # str [n], names of the winners
    loser: np.ndarray  # str [n], names of the losers
    winner_is_bot: np.ndarray  # bool [n]
    loser_is_bot: np.ndarray  # bool [n]
    n_breaths: np.ndarray  # int64 [n], number of breaths
    decimal: np.ndarray  # int64 [m], decimal codes of the states in all recorded choices

    def __len__(self) -> int:
        return len(self.game)


def read_results(path: str | Path, selection: Selection | None = None) -> Results:
    """Read the results of the selected games (by default all games) from a database."""
    path, selection = Path(path), selection or Selection()
    games = selection.query(
        "game, second, winner, loser, winner_is_bot, loser_is_bot, n_breaths", more=f"ORDER BY {GAME_ORDER}"
    )
    with open_to_read(path) as connection:
        require_player(path, connection, selection.player)
        results = arrays_of(connection.execute(*games), "int64 int64 str str bool bool int64")
        return Results(*results, *arrays_of(connection.execute(*selection.query("state", CHOICES)), "int64"))


def list_games(path: Path, selection: Selection, most: int) -> list[dict[str, Any]]:
    """Return the latest ``most`` selected games, newest first.

    Each game has the keys ``game`` (id), ``played`` (Unix second), ``winner``, ``loser``, ``breaths`` (number),
    ``winner_is_bot`` and ``loser_is_bot``.
    """
    columns = "game, second, winner, loser, n_breaths, winner_is_bot, loser_is_bot"
    query, parameters = selection.query(columns, more="ORDER BY second DESC, game DESC LIMIT :most")
    keys = "game", "played", "winner", "loser", "breaths", "winner_is_bot", "loser_is_bot"
    with open_to_read(path) as connection:
        require_player(path, connection, selection.player)
        rows = connection.execute(query, {**parameters, "most": most}).fetchall()
    return [dict(zip(keys, (*row[:5], *map(bool, row[5:])), strict=True)) for row in rows]


def latest_game(connection: sqlite3.Connection) -> int | None:
    """Return the id of the latest game with a human player, otherwise of the latest game (None if empty)."""
    order = "ORDER BY winner_is_bot AND loser_is_bot, second DESC, game DESC LIMIT 1"
    found = connection.execute(f"SELECT game FROM {GAMES} {order}").fetchone()
    return None if found is None else int(found[0])


# Maximum share of states that are unknown under the rules. A greater share indicates different rules.
_MOST_UNKNOWN = 0.5


def summarize(results: Results, space: StateSpace) -> dict[str, Any]:
    """Return a summary of games. ``space`` must be the state space under the rules of the games.

    ``breaths`` is the number of recorded choices: two per breath if both players' choices are recorded.
    ``starting_states`` is the number of distinct recorded states in the first breath with full HP. The entries
    ``..._in_all`` are the numbers of states under the rules. ``states_in_all`` includes win and loss.
    """
    states = np.unique(results.decimal)
    digits, hp = split_digits(states), space.rules.hp
    starting = (digits[:, BREATH] == 1) & (digits[:, STATUS[:2]] == hp).all(axis=1)
    _check_rules(space, states, "states", space.n_states + 2)
    _check_rules(space, states[starting], "starting states", space.n_openings)
    players = player_table(results)
    return {
        "games": len(results),
        "breaths": len(results.decimal),
        "starting_states": int(starting.sum()),
        "starting_states_in_all": space.n_openings,
        "distinct_states": len(states),
        "states_in_all": space.n_states + 2,
        "durations": _durations(results.n_breaths),
        "players": players,
        "correlation": correlations(players),
    }


def _check_rules(space: StateSpace, states: np.ndarray, what: str, n_in_all: int) -> None:
    """Raise `RecordsError` if too many recorded states do not exist, or if there are more than ``n_in_all`` states."""
    n_known = int((indices_of(space, states) >= 0).sum())
    if n_known < (1 - _MOST_UNKNOWN) * len(states) or len(states) > n_in_all:
        raise RecordsError(f"rules: only {n_known:,} of {len(states):,} recorded {what} exist under these rules")


def player_table(results: Results) -> list[dict[str, Any]]:
    """Return ``name``, ``is_bot``, ``wins``, ``losses``, ``games`` and ``win_rate`` of all players, most wins first."""
    bots = set(results.winner[results.winner_is_bot].tolist()) | set(results.loser[results.loser_is_bot].tolist())
    table = []
    for name in sorted({*results.winner.tolist(), *results.loser.tolist()}):
        wins, losses = int((results.winner == name).sum()), int((results.loser == name).sum())
        entry = {"name": name, "is_bot": name in bots, "wins": wins, "losses": losses, "games": wins + losses}
        table.append(entry | {"win_rate": wins / (wins + losses)})
    return sorted(table, key=lambda player: -player["wins"])


def correlations(table: list[dict[str, Any]]) -> dict[str, float | None]:
    """Return the correlations between number of games and win rate: ``linear`` (Pearson) and ``rank`` (Spearman).

    Both are None if there are fewer than two players, or if all players have the same number of games or win rate.
    """
    from scipy.stats import spearmanr

    played, rates = (np.array([player[key] for player in table], dtype=np.float64) for key in ("games", "win_rate"))
    if len(table) < 2 or np.ptp(played) == 0 or np.ptp(rates) == 0:
        return {"linear": None, "rank": None}
    linear, rank = np.corrcoef(played, rates)[0, 1], spearmanr(played, rates).statistic
    return {"linear": float(linear), "rank": float(rank)}


def _durations(n_breaths: np.ndarray) -> dict[str, Any]:
    if len(n_breaths) == 0:
        return {"mean": None, "median": None, "longest": None, "counts": {}}
    values, counts = np.unique(n_breaths, return_counts=True)
    return {
        "mean": float(n_breaths.mean()),
        "median": float(np.median(n_breaths)),
        "longest": int(n_breaths.max()),
        "counts": {str(value): int(count) for value, count in zip(values, counts, strict=True)},
    }

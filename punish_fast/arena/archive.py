"""Games of a tournament in a database of recorded games, beside those that people played.

They are the very games that were counted, and go in as any others do: as a log that is checked breath by breath, all at
once or not at all. A game is called after the second in which it was played; these are called after the seconds
before now, one each.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from punish_fast.arena.match_log import digest_of
from punish_fast.arena.players import Opponent
from punish_fast.arena.recording import Player, record
from punish_fast.arena.tournament import TournamentError, pairs_of
from punish_fast.duel.graph import Graph
from punish_fast.punish.decimal_codes import check_digits
from punish_fast.punish.rules import Rules
from punish_fast.records.database import open_to_read
from punish_fast.records.importing import Report, import_logs
from punish_fast.records.logs import NAMES, is_name, write_log

# More would take minutes, and a database that nobody can look through.
_MOST_GAMES = 100_000


def check_games(n_opponents: int, games: int) -> None:
    """Insist, before any is played, that there are not too many games for a database.

    Raises:
        TournamentError: there are.
    """
    total = n_opponents * (n_opponents - 1) // 2 * games
    if total > _MOST_GAMES:
        raise TournamentError(f"games: {total:,} in all are too many to record, allowed are {_MOST_GAMES:,}")


def check_shelf(rules: Rules, names: list[str], database: Path) -> None:
    """Insist, before any game is played, that games of these players can go into the database.

    Raises:
        TournamentError: a log cannot have such a name.
        StateError: states of such a game have no decimal codes.
        RecordsError: the database is none of recorded games.
        LockedError: another process kept it locked.
    """
    wrong = [name for name in names if not is_name(name)]
    if wrong:
        raise TournamentError(f"record: player {wrong[0]!a}, allowed are {NAMES}")
    check_digits(rules)
    # An empty file becomes a database.
    if database.exists() and database.stat().st_size > 0:
        with open_to_read(database):
            pass


def archive(graph: Graph, opponents: list[Opponent], games: int, seed: int, database: Path) -> Report:
    """Enter the games of all pairs of different agents into a database, which is made if there is none.

    Args:
        graph: The game.
        opponents: Two or more.
        games: How many games each pair has played, an even number.
        seed: That of the games.
        database: The database.

    Raises:
        TournamentError: there are too many games.
        RecordsError: the database is none of recorded games.
        LockedError: another process kept it locked.
        OutputError: it may not be written to.
        WriteError: it could not be written to its end.
    """
    check_games(len(opponents), games)
    players = [Player(each.name, each.policy, each.temperature) for each in opponents]
    pairs = [pair for pair in pairs_of([digest_of(each.policy) for each in opponents]) if pair[0] != pair[1]]
    first = int(time.time()) - games * len(pairs)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "arena.json"
        recorded = [
            game
            for k, (i, j) in enumerate(pairs)
            for game in record(graph, players[i], players[j], games, first + k * games, seed)
        ]
        log.write_text(write_log(recorded, "games"), encoding="utf-8")
        return import_logs(graph.view, [log], database)

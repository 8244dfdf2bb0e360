"""Recording of simulated games in logs and databases.

Given equal arguments, `simulate` plays identical games. Databases import the games like any other log: every breath is
checked, and all games are stored in a single transaction.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from punish_fast.arena.players import PolicyPlayer
from punish_fast.arena.tournament import TournamentError, digest_of, pairs_of
from punish_fast.duel.evaluation import check_numbers, policy_in, simulator_of
from punish_fast.duel.graph import GameGraph
from punish_fast.duel.simulator import Trace
from punish_fast.punish.codes import decimals_of
from punish_fast.records.database import open_to_read
from punish_fast.records.importing import ImportReport, record_games
from punish_fast.records.logs import RecordedGame, Side
from punish_fast.records.names import PlayerNameError, checked_name
from punish_fast.records.schema import new_id

# Maximum number of recorded games. Storing more games would take minutes.
MAX_RECORDED_GAMES = 100_000


def check_recording(names: list[str], games: int, database: Path | None = None) -> None:
    """Raise an error if the games of a tournament cannot be recorded. Call this function before the first game.

    If ``database`` exists, read it and warn about invalid rows.
    """
    total = len(names) * (len(names) - 1) // 2 * games
    if total > MAX_RECORDED_GAMES:
        raise TournamentError(f"games: {total:,} are too many to record; the maximum is {MAX_RECORDED_GAMES:,}")
    try:
        known = [checked_name(name) for name in names]
    except PlayerNameError as error:
        raise TournamentError(f"record: player {error}") from None
    twice = next((name for name in known if known.count(name) > 1), None)
    if twice is not None:
        raise TournamentError(f"record: two players are called {twice!a}; their names must differ")
    if database is not None and database.exists():
        with open_to_read(database, UserWarning):
            pass


def record_tournament(
    graph: GameGraph, players: list[PolicyPlayer], games: int, seed: int, database: Path
) -> ImportReport:
    """Simulate games between every pair of different players, and store them in a new or existing database.

    ``games`` is the number of games per pair, an even number.
    """
    check_recording([player.name for player in players], games)
    pairs = [pair for pair in pairs_of([digest_of(each.policy) for each in players]) if pair[0] != pair[1]]
    recorded = [game for i, j in pairs for game in record_match(graph, (players[i], players[j]), games, seed)]
    return record_games(graph.memoryless_space, recorded, database)


def record_match(
    graph: GameGraph, players: tuple[PolicyPlayer, PolicyPlayer], n_games: int, seed: int = 0
) -> list[RecordedGame]:
    """Simulate pairs of games with the same deals and swapped seats, and return records of all breaths.

    Args:
        graph: Graph of the game under ``memoryless``.
        players: The two players.
        n_games: Number of games, an even number.
        seed: Random seed, 0 to 2^64 - 1.
    """
    for player in players:
        policy_in(graph, player.policy)
    check_numbers(n_games, seed)
    simulator = simulator_of(graph)
    played = []
    for seats in (players, players[::-1]):
        one, other = (simulator.thresholds(player.policy) for player in seats)
        trace = simulator.trace(one, other, 0, n_games // 2, seed)
        played.append(_sides_of(graph, trace, seats))
    now = int(time.time())
    return [RecordedGame(new_id(), won, lost, now) for pair in zip(*played, strict=True) for won, lost in pair]


def _sides_of(graph: GameGraph, trace: Trace, seats: tuple[PolicyPlayer, PolicyPlayer]) -> Iterator[tuple[Side, Side]]:
    space = graph.memoryless_space
    choices = [
        (decimals_of(space, trace.states[:, seat]).tolist(), space.action[trace.rows[:, seat]].tolist())
        for seat in range(2)
    ]
    for won, begin, end in zip(trace.games.won.tolist(), *(trace.ptr[k:].tolist() for k in (0, 1)), strict=False):
        one, other = (
            Side.of(player, states[begin:end], actions[begin:end])
            for player, (states, actions) in zip(seats, choices, strict=True)
        )
        yield (one, other) if won else (other, one)

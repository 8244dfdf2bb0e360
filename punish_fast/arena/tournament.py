"""Tournaments: everybody meets everybody, exactly or in simulated games.

Seats do not matter, so the chance that ``b`` beats ``a`` is 1 less that of ``a`` beating ``b``, half of the pairs
suffice, and an agent beats itself half of the time. How long a game of an agent with itself lasts has to be found out,
though. Simulated games come in pairs, the same cards with the seats swapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from punish_fast.arena.match_log import Ledger, digest_of
from punish_fast.arena.players import Opponent
from punish_fast.arena.ratings import Standing, rank
from punish_fast.duel.exact import head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.duel.sampled import Batch, added, join, simulate

# No chance to win is further than this from the exact one.
_TOLERANCE = 1e-10
# Enough for a call to pay, few enough that an interrupt loses next to nothing.
_GAMES_AT_ONCE = 1 << 18
_MOST_GAMES = 1 << 40

Progress = Callable[[str, int, int], None]


class TournamentError(ValueError):
    """A tournament that cannot be held; the message names the option."""


@dataclass(frozen=True)
class Tournament:
    """What came of a tournament.

    Attributes:
        agents: Names.
        win: float64 ``[n, n]``, how likely the agent of the row beats that of the column.
        error: float64 ``[n, n]``, standard errors of ``win``; 0 if it is exact.
        breaths: float64 ``[n, n]``, mean length of a game.
        games: Games that every pair was to play (a ledger may know of more, which count too); None if results are
            exact.
        lengths: int64 ``[longest + 1]``, simulated games of different agents by how many breaths they lasted; None if
            results are exact.
    """

    agents: list[str]
    win: np.ndarray
    error: np.ndarray
    breaths: np.ndarray
    games: int | None
    lengths: np.ndarray | None = None

    @cached_property
    def ranking(self) -> list[Standing]:
        """The agents, the best one first."""
        return rank(self.agents, self.win, self.error)


def hold(
    graph: Graph,
    opponents: list[Opponent],
    games: int | None = None,
    seed: int = 0,
    ledger: Ledger | None = None,
    progress: Progress | None = None,
) -> Tournament:
    """Let everybody meet everybody.

    Args:
        graph: The game.
        opponents: Two or more.
        games: How many games each pair plays, an even number; None for exact results.
        seed: From 0 to 2^64 - 1; the same games come out for any number of threads.
        ledger: What is known already, and where to enter what is found out.
        progress: Called as ``progress("arena", done, matches)`` after every match.

    Raises:
        TournamentError: fewer than two opponents, or no even number of games.
        DuelError: a policy is none, the seed is out of range, or a game may never end.
        WriteError: the ledger could not be written.
    """
    check_options(len(opponents), games)
    ledger = ledger or Ledger(graph.space.rules.digest)
    digests = [digest_of(opponent.policy) for opponent in opponents]
    n = len(opponents)
    win, error, breaths = np.full((n, n), 0.5), np.zeros((n, n)), np.zeros((n, n))
    n_pairs = n * (n + 1) // 2
    lengths = np.zeros(1, dtype=np.int64)
    for done, (i, j) in enumerate(pairs_of(digests), 1):
        match = _Match(graph, opponents[i].policy, opponents[j].policy, (digests[i], digests[j]), ledger)
        if games is None:
            chance, length = match.exact()
        else:
            batch = match.sampled(games, seed)
            chance, length = batch.win_probability, batch.length
            error[i, j] = error[j, i] = _standard_error(batch) if i != j else 0.0
            lengths = added(lengths, batch.lengths) if i != j else lengths
        if i != j:
            win[i, j], win[j, i] = chance, 1 - chance
        breaths[i, j] = breaths[j, i] = length
        if progress is not None:
            progress("arena", done, n_pairs)
    names = [opponent.name for opponent in opponents]
    return Tournament(names, win, error, breaths, games, None if games is None else lengths)


def check_options(n_opponents: int, games: int | None) -> None:
    """Check options of `hold` before any work is done.

    Raises:
        TournamentError: fewer than two opponents, or no even number of games.
    """
    if n_opponents < 2:
        raise TournamentError(f"agents: {n_opponents} cannot hold a tournament, allowed are 2 and more")
    if games is not None and not (games % 2 == 0 and 4 <= games <= _MOST_GAMES):
        raise TournamentError(f"games: {games}, allowed are even numbers from 4 to {_MOST_GAMES}")


def pairs_of(digests: list[str]) -> Iterator[tuple[int, int]]:
    """All pairs, each in the order of the digests, so that results depend on no other order."""
    for i, one in enumerate(digests):
        for j, other in enumerate(digests[: i + 1]):
            yield (i, j) if one < other else (j, i)


def _standard_error(batch: Batch) -> float:
    # Who has won every game may still lose one.
    return max(batch.standard_error, 1 / batch.games if batch.wins in (0, batch.games) else 0.0)


@dataclass(frozen=True)
class _Match:
    """Two policies that meet, and what is known of them."""

    graph: Graph
    own: np.ndarray
    enemy: np.ndarray
    pair: tuple[str, str]
    ledger: Ledger

    def exact(self) -> tuple[float, float]:
        """Chance to win and expected breaths."""
        known = self.ledger.exact(self.pair)
        if known is None:
            duel = head_to_head(self.graph, self.own, self.enemy, _TOLERANCE)
            known = duel.win_probability, duel.length
            self.ledger.keep_exact(self.pair, *known, duel.error_bound)
        return known

    def sampled(self, games: int, seed: int) -> Batch:
        """At least so many games, those in the ledger included."""
        batch = self.ledger.sampled(self.pair, seed)
        while batch is None or batch.games < games:
            played = 0 if batch is None else batch.games
            n_games = min(_GAMES_AT_ONCE, games - played)
            piece = simulate(self.graph, self.own, self.enemy, n_games, seed, first_game=played)
            batch = piece if batch is None else join(batch, piece)
            self.ledger.keep_sampled(self.pair, seed, batch)
        return batch

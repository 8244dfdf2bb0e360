"""Round-robin tournaments, by exact duels or by simulated games, resumable from a match log.

Seats do not matter. So ``b`` beats ``a`` with 1 minus the probability that ``a`` beats ``b``, half of the pairs
suffice, and an agent beats itself half of the time; only the length of its games with itself must be computed.
Simulated games come in pairs: the same cards with the seats swapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from punish_fast.arena.match_log import MatchLog, digest_of
from punish_fast.arena.players import Opponent
from punish_fast.arena.ratings import Standing, rank
from punish_fast.duel.exact_evaluation import head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.duel.simulated_evaluation import Batch, added, join, simulate

# Largest error of an exact win probability.
_TOLERANCE = 1e-10
# Enough games for a call to pay, few enough to lose next to nothing by an interrupt.
_GAMES_AT_ONCE = 1 << 18
MIN_GAMES, MAX_GAMES = 4, 1 << 40

Progress = Callable[[str, int, int], None]


class TournamentError(ValueError):
    """Arguments that make no tournament; the message names the argument."""


@dataclass(frozen=True)
class Tournament:
    """The results of a tournament.

    Attributes:
        agents: Names.
        win: float64 ``[n, n]``, probability that the agent of the row beats the agent of the column.
        error: float64 ``[n, n]``, standard errors of ``win``; 0 for exact results.
        breaths: float64 ``[n, n]``, mean length of a game.
        games: Games asked for of each pair (a match log may hold more, and they count); None for exact results.
        lengths: int64 ``[longest + 1]``, simulated games between different agents by their length in breaths; None
            for exact results.
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


def round_robin(
    graph: Graph,
    opponents: list[Opponent],
    games: int | None = None,
    seed: int = 0,
    log: MatchLog | None = None,
    progress: Progress | None = None,
) -> Tournament:
    """Play every pair of agents.

    Args:
        graph: The game.
        opponents: Two or more.
        games: Games of each pair, an even number; None for exact results.
        seed: Random seed of the games, 0 to 2^64 - 1; the games do not depend on the number of threads.
        log: Known matches, which are not played again, and the place for new ones.
        progress: Called as ``progress("arena", done, matches)`` after every match.

    Raises:
        TournamentError: fewer than two opponents, or a number of games that is not allowed.
        DuelError: a policy is invalid, the seed is out of range, or a game may never end.
        WriteError: the match log could not be written.
    """
    check_tournament(len(opponents), games)
    log = log or MatchLog(graph.space.rules.digest)
    digests = [digest_of(opponent.policy) for opponent in opponents]
    n = len(opponents)
    win, error, breaths = np.full((n, n), 0.5), np.zeros((n, n)), np.zeros((n, n))
    lengths = np.zeros(1, dtype=np.int64)
    for done, (i, j) in enumerate(pairs_of(digests), 1):
        match = _Match(graph, opponents[i].policy, opponents[j].policy, (digests[i], digests[j]), log)
        if games is None:
            won, breaths[i, j] = match.exact()
        else:
            batch = match.sampled(games, seed)
            won, breaths[i, j] = batch.win_probability, batch.length
            if i != j:
                error[i, j] = error[j, i] = _standard_error(batch)
                lengths = added(lengths, batch.lengths)
        breaths[j, i] = breaths[i, j]
        if i != j:
            win[i, j], win[j, i] = won, 1 - won
        if progress is not None:
            progress("arena", done, n * (n + 1) // 2)
    names = [opponent.name for opponent in opponents]
    return Tournament(names, win, error, breaths, games, None if games is None else lengths)


def check_tournament(n_opponents: int, games: int | None) -> None:
    """Check arguments of `round_robin` before any work is done.

    Raises:
        TournamentError: fewer than two opponents, or a number of games that is not allowed.
    """
    if n_opponents < 2:
        raise TournamentError(f"agents: {n_opponents} cannot play a tournament, allowed are 2 and more")
    if games is not None and not (games % 2 == 0 and MIN_GAMES <= games <= MAX_GAMES):
        raise TournamentError(f"games: {games}, allowed are even numbers from {MIN_GAMES} to {MAX_GAMES}")


def pairs_of(digests: list[str]) -> Iterator[tuple[int, int]]:
    """All pairs, each in the order of the digests, so that results do not depend on the order of the agents."""
    for i, one in enumerate(digests):
        for j, other in enumerate(digests[: i + 1]):
            yield (i, j) if one < other else (j, i)


def _standard_error(batch: Batch) -> float:
    # An agent that has won every game may still lose one.
    return max(batch.standard_error, 1 / batch.games if batch.wins in (0, batch.games) else 0.0)


@dataclass(frozen=True)
class _Match:
    """Two policies, and the log of what is known of them."""

    graph: Graph
    own: np.ndarray
    enemy: np.ndarray
    pair: tuple[str, str]
    log: MatchLog

    def exact(self) -> tuple[float, float]:
        """Win probability and expected breaths."""
        known = self.log.exact(self.pair)
        if known is None:
            duel = head_to_head(self.graph, self.own, self.enemy, _TOLERANCE)
            known = duel.win_probability, duel.length
            self.log.add_exact(self.pair, *known, duel.error_bound)
        return known

    def sampled(self, games: int, seed: int) -> Batch:
        """At least ``games`` games, those in the log included."""
        batch = self.log.sampled(self.pair, seed)
        while batch is None or batch.games < games:
            played = 0 if batch is None else batch.games
            n_games = min(_GAMES_AT_ONCE, games - played)
            new = simulate(self.graph, self.own, self.enemy, n_games, seed, first_game=played)
            batch = new if batch is None else join(batch, new)
            self.log.put_sampled(self.pair, seed, batch)
        return batch

"""Round-robin tournaments, by exact duels or by simulated games, resumable from a match log.

Seats do not matter. So ``b`` beats ``a`` with 1 minus the probability that ``a`` beats ``b``, half of the pairs
suffice, and an agent beats itself half of the time; only the length of its games with itself must be computed.
Simulated games come in pairs: the same cards with the seats swapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from punish_fast.arena.match_log import MatchLog, digest_of
from punish_fast.arena.matches import ExactResult, GameRange, GraphMatches, Matches, MatchTask
from punish_fast.arena.players import Opponent
from punish_fast.arena.ratings import Standing, rank
from punish_fast.duel.graph import Graph
from punish_fast.duel.simulated_evaluation import Batch, added, join
from punish_fast.runtime.errors import PunishFastError

# Enough games for a call to pay, few enough to lose next to nothing by an interrupt.
_GAMES_AT_ONCE = 1 << 18
MIN_GAMES, MAX_GAMES = 4, 1 << 40

Progress = Callable[[str, int, int], None]
# The digests of two policies.
Pair = tuple[str, str]


class TournamentError(PunishFastError, ValueError):
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
    graph: Graph | Matches,
    opponents: list[Opponent],
    games: int | None = None,
    seed: int = 0,
    log: MatchLog | None = None,
    progress: Progress | None = None,
) -> Tournament:
    """Play every pair of agents.

    Args:
        graph: The game, whose matches are played here, or what plays them.
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
    matches = GraphMatches(graph) if isinstance(graph, Graph) else graph
    log = log or MatchLog(matches.space.rules.digest)
    digests = [digest_of(opponent.policy) for opponent in opponents]
    policies = {digest: opponent.policy for digest, opponent in zip(digests, opponents, strict=True)}
    n, pairs = len(opponents), list(pairs_of(digests))
    results = _Results(log, games, seed)
    names = [(digests[i], digests[j]) for i, j in pairs]
    done = 0
    for pair in results.complete(matches, policies, names):
        # Policies that are equal have their matches in common.
        for _ in range(names.count(pair)):
            done += 1
            if progress is not None:
                progress("arena", done, len(pairs))
    win, error, breaths = np.full((n, n), 0.5), np.zeros((n, n)), np.zeros((n, n))
    lengths = np.zeros(1, dtype=np.int64)
    for (i, j), pair in zip(pairs, names, strict=True):
        if games is None:
            won, breaths[i, j] = results.exact(pair)
        else:
            batch = results.batches[pair]
            won, breaths[i, j] = batch.win_probability, batch.length
            if i != j:
                error[i, j] = error[j, i] = _standard_error(batch)
                lengths = added(lengths, batch.lengths)
        breaths[j, i] = breaths[i, j]
        if i != j:
            win[i, j], win[j, i] = won, 1 - won
    agents = [opponent.name for opponent in opponents]
    return Tournament(agents, win, error, breaths, games, None if games is None else lengths)


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
    # A few pairs may agree by chance, and an agent that has won every game may still lose one.
    return max(batch.standard_error, 1 / batch.games)


class _Results:
    """Results of matches, those in the log and those that come in.

    Attributes:
        batches: The games of simulated matches, by pair.
    """

    def __init__(self, log: MatchLog, games: int | None, seed: int) -> None:
        self.batches: dict[Pair, Batch] = {}
        self._log, self._games, self._seed = log, games, seed
        # Games that came in before earlier ones of their match, by the number of the first.
        self._early: dict[tuple[Pair, int], Batch] = {}

    def complete(self, matches: Matches, policies: dict[str, np.ndarray], pairs: Sequence[Pair]) -> Iterator[Pair]:
        """Play what is left of matches, and name each when it is complete."""
        tasks: list[tuple[Pair, GameRange | None]] = []
        left: dict[Pair, int] = {}
        for pair in dict.fromkeys(pairs):
            parts = self._left(pair)
            tasks += [(pair, part) for part in parts]
            left[pair] = len(parts)
            if not parts:
                yield pair
        played = matches.play([MatchTask(policies[own], policies[enemy], part) for (own, enemy), part in tasks])
        for number, result in played:
            pair, part = tasks[number]
            self._add(pair, part, result)
            left[pair] -= 1
            if not left[pair]:
                yield pair

    def exact(self, pair: Pair) -> tuple[float, float]:
        """Win probability and expected breaths of a complete match."""
        known = self._log.exact(pair)
        assert known is not None
        return known

    def _left(self, pair: Pair) -> Sequence[GameRange | None]:
        """What is left to play of a match."""
        if self._games is None:
            return [None] if self._log.exact(pair) is None else []
        known = self._log.sampled(pair, self._seed)
        if known is not None:
            self.batches[pair] = known
        first = 0 if known is None else known.games
        starts = range(first, self._games, _GAMES_AT_ONCE)
        return [GameRange(self._seed, start, min(_GAMES_AT_ONCE, self._games - start)) for start in starts]

    def _add(self, pair: Pair, part: GameRange | None, result: ExactResult | Batch) -> None:
        """Add a result, and write it to the log; games only after those before them."""
        if isinstance(result, ExactResult):
            self._log.add_exact(pair, *result)
            return
        assert part is not None
        self._early[pair, part.first] = result
        known = self.batches.get(pair)
        played = first = 0 if known is None else known.games
        while (pair, played) in self._early:
            batch = self._early.pop((pair, played))
            known = batch if known is None else join(known, batch)
            played = known.games
        if known is not None and played > first:
            self.batches[pair] = known
            self._log.put_sampled(pair, self._seed, known)

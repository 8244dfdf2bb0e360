"""Round-robin tournaments, by exact duels or by simulated games.

The game is symmetric: the probability that ``b`` beats ``a`` is 1 minus the probability that ``a`` beats ``b``, so each
pair plays only one match. An agent wins half of its games against itself, so only the lengths of these games are used.
Simulated games come in pairs with the same cards and swapped seats.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from punish_fast.arena.players import Player, PolicyPlayer
from punish_fast.arena.ratings import Standing, rank
from punish_fast.duel.evaluation import Duel, SimulationResult, added, head_to_head, simulate
from punish_fast.duel.graph import GameGraph, Policy, must_be_graph
from punish_fast.duel.public_states import PublicPolicy
from punish_fast.equilibrium.resolving import Resolver
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.results import to_frame

# Maximum error of an exact win probability.
_TOLERANCE = 1e-10
MIN_GAMES, MAX_GAMES = 4, 1 << 40

Progress = Callable[[str, int, int], None]


class TournamentError(PunishFastError, ValueError):
    """Raised when an argument of a tournament is invalid."""


@dataclass(frozen=True)
class Tournament:
    """Results of a tournament.

    Attributes:
        agents: Names of the agents.
        win: float64 ``[n, n]``, probability that the row agent beats the column agent.
        standard_error: float64 ``[n, n]``, standard errors of ``win``, or 0 for exact results.
        breaths: float64 ``[n, n]``, mean length of a game. NaN for an agent that solves measures again against itself.
        games: Games per pair, or None if results are exact.
        lengths: int64 ``[longest + 1]``, number of simulated games between different agents, by length in breaths. None
            if results are exact.
    """

    agents: list[str]
    win: np.ndarray
    standard_error: np.ndarray
    breaths: np.ndarray
    games: int | None
    lengths: np.ndarray | None = None

    @cached_property
    def ranking(self) -> list[Standing]:
        """Standings of the agents, best first."""
        return rank(self.agents, self.win, self.standard_error)

    def to_frame(self) -> Any:
        """Return a data frame with a row for each ordered pair of agents.

        Returns:
            A pandas ``DataFrame`` if pandas is installed, otherwise a polars ``DataFrame``. The columns are ``agent``,
            ``enemy``, ``win_probability``, ``standard_error`` and ``breaths``.

        Raises:
            ExtraError: If neither pandas nor polars is installed.

        Examples:
            >>> from punish_fast import GameGraph, StateSpace, load_rules, round_robin
            >>> graph = GameGraph(StateSpace(load_rules("tiny")))
            >>> list(round_robin(graph, ["naive", "random"]).to_frame().columns)  # needs pandas or polars
            ['agent', 'enemy', 'win_probability', 'standard_error', 'breaths']
        """
        n = len(self.agents)
        columns = {"agent": np.repeat(self.agents, n).tolist(), "enemy": self.agents * n}
        numbers = {"win_probability": self.win, "standard_error": self.standard_error, "breaths": self.breaths}
        return to_frame(columns | {name: matrix.ravel() for name, matrix in numbers.items()})


def round_robin(
    graph: GameGraph,
    players: Sequence[PolicyPlayer | Player | str],
    games: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    play: Callable[..., SimulationResult] = simulate,
) -> Tournament:
    """Run a round-robin tournament, including matches of each agent against itself.

    Args:
        graph: Graph of the game.
        players: At least two players: each a `PolicyPlayer`, a `Player`, or the name of a built-in player or a file.
        games: Number of games per pair, an even number from 4. By default, results are computed exactly.
        seed: Random seed of the games, 0 to 2^64 - 1. Results do not depend on the number of threads.
        progress: Called as ``progress("arena pairs", done, matches)`` after each match, with the number of completed
            matches and the total number of matches.
        play: Function that plays games, with the arguments and the result of `simulate`.

    Returns:
        Win probabilities of all pairs, and the ranking.

    Raises:
        TournamentError: If the number of players or games is invalid.
        PlayerError: If a name is unknown.
        ReadError: If a file is missing, invalid, or unsuitable for the game.
        RulesError: If a player does not support the rules.
        DuelError: If a match does not converge, because its games might never end.

    Examples:
        >>> from punish_fast import GameGraph, StateSpace, load_rules, round_robin
        >>> graph = GameGraph(StateSpace(load_rules("tiny")))
        >>> [standing.agent for standing in round_robin(graph, ["naive", "random", "careful"]).ranking]
        ['naive', 'random', 'careful']
    """
    must_be_graph(graph)
    check_tournament(len(players), games)
    named = [Player(each) if isinstance(each, str) else each for each in players]
    agents = [each.in_game(graph.space) if isinstance(each, Player) else each for each in named]
    digests = [digest_of(agent.policy) for agent in agents]
    n, pairs = len(agents), list(pairs_of(digests))
    win, error, breaths = np.full((n, n), 0.5), np.zeros((n, n)), np.zeros((n, n))
    lengths = np.zeros(1, dtype=np.int64)
    # Pairs with equal policies share results.
    known: dict[tuple[str, str], Duel | SimulationResult] = {}
    for done, (i, j) in enumerate(pairs, 1):
        key = digests[i], digests[j]
        # Games of a resolver against itself would take twice as long as all others, and do not count.
        if key not in known and (i != j or not isinstance(agents[i].policy, Resolver)):
            match = graph, agents[i].policy, agents[j].policy
            known[key] = head_to_head(*match, _TOLERANCE) if games is None else play(*match, games, seed)
        result = known.get(key)
        breaths[i, j] = breaths[j, i] = np.nan if result is None else result.length
        if result is not None and i != j:
            win[i, j], win[j, i] = result.win_probability, 1 - result.win_probability
            if isinstance(result, SimulationResult):
                # The estimated error is 0 if all pairs of games have the same result, but the next pair could differ.
                error[i, j] = error[j, i] = max(result.standard_error, 1 / result.games)
                lengths = added(lengths, result.lengths)
        if progress is not None:
            progress("arena pairs", done, len(pairs))
    return Tournament([agent.name for agent in agents], win, error, breaths, games, None if games is None else lengths)


def check_tournament(n_players: int, games: int | None) -> None:
    """Raise `TournamentError` if the number of players or games is invalid."""
    if n_players < 2:
        raise TournamentError(f"agents: a tournament needs at least 2, not {n_players}")
    if games is not None and not (games % 2 == 0 and MIN_GAMES <= games <= MAX_GAMES):
        raise TournamentError(f"games: {games} is not an even number from {MIN_GAMES} to {MAX_GAMES}")


def digest_of(policy: Policy | Resolver) -> str:
    """Return a digest of a policy, 16 hexadecimal digits."""
    digest = hashlib.sha256()
    if isinstance(policy, Resolver):
        digest.update(b"resolver")
        policy = policy.blueprint
    policies: Any = [policy]
    if isinstance(policy, PublicPolicy):
        policies = policy
        digest.update(policy.states.rows.astype("<i8").tobytes())
    for each in policies:
        digest.update(np.ascontiguousarray(each, dtype="<f8").tobytes())
    return digest.hexdigest()[:16]


def pairs_of(digests: list[str]) -> Iterator[tuple[int, int]]:
    """Yield all pairs of agents as pairs of indices. Each agent is also paired with itself.

    The agents of a pair are ordered by digest, so that results do not depend on the order of ``digests``.
    """
    for i, one in enumerate(digests):
        for j, other in enumerate(digests[: i + 1]):
            yield (i, j) if one < other else (j, i)


def lengths_of_duel(outcomes: np.ndarray) -> list[dict[str, Any]]:
    """Return the exact distribution of game lengths, by measure.

    Args:
        outcomes: Float64 array of shape (measures, breaths, 2): probabilities that the first and the second agent win
            in each breath.
    """
    entries = zip(_entries(outcomes.sum(axis=2)), outcomes.sum(axis=1).tolist(), strict=True)
    return [entry | {"wins": wins} for entry, wins in entries]


def lengths_of_games(lengths: np.ndarray, breaths: int) -> list[dict[str, Any]]:
    """Return the length distribution of simulated games, by measure.

    Args:
        lengths: Int64 array of shape (longest + 1,): number of games by length in breaths.
        breaths: Number of breaths per measure.
    """
    ended = np.pad(lengths[1:], (0, -(len(lengths) - 1) % breaths)).reshape(-1, breaths)
    return _entries(ended / lengths.sum())


def _entries(ended: np.ndarray) -> list[dict[str, Any]]:
    # Sum from the end, where probabilities are small, to keep small remainders accurate.
    total = ended.sum(axis=1)
    going_on = [*total[::-1].cumsum()[::-1][1:].tolist(), 0.0]
    return [
        {"measure": number, "ended": each, "going_on": left, "wins": None}
        for number, (each, left) in enumerate(zip(ended.tolist(), going_on, strict=True), 1)
    ]

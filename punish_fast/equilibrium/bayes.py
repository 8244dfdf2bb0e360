"""The Bayes exploiter: it knows the policy it meets, has perfect recall from the first deal on, and looks ahead.

Its belief about the enemy's hand follows by Bayes' rule from all it has seen in the game. It searches a few breaths
ahead (``_belief_tree.py``) and values the leaves by a *base*: another agent whose exact duel against the same policy is
known. A search of one breath is already at least as good as the base; deeper ones use later observations. The search
never crosses the end of a measure, so this is not the best response, but a lower bound on it. The upper one is in
``upper_bound.py``.

There are far too many histories for an exact duel, so its games are sampled. The result is the win probability of
the base, which is exact, plus the average gain over it (``_bayes.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from punish_fast.duel.dealer import cumulate_draws
from punish_fast.duel.exact_evaluation import Duel, DuelError
from punish_fast.duel.graph import Graph, must_be_graph
from punish_fast.duel.policies import policy_of
from punish_fast.duel.simulator import EndlessError, prepare_deals, prepare_thresholds
from punish_fast.equilibrium import _bayes
from punish_fast.equilibrium.belief_tree import BeliefTrees
from punish_fast.punish._codes import play_status
from punish_fast.runtime.memory import require_memory
from punish_fast.runtime.parallel import cumulated, for_each

# Breaths; a longer game counts as endless.
_MAX_BREATHS = 100_000
# Few enough that an interrupt is handled soon.
_GAMES_AT_ONCE = 1 << 10

Progress = Callable[[str, int, float], None]


@dataclass(frozen=True)
class BayesResult:
    """Results of the games of a Bayes exploiter."""

    base: float  # exact win probability of the base
    # float64 ``[n_games]``, gain over the base in each game, in win probability; with a search of one breath never
    # below 0 but for rounding.
    gain: np.ndarray
    won: np.ndarray  # uint8 ``[n_games]``, 1 for a win
    breaths: np.ndarray  # int32 ``[n_games]``, lengths

    @property
    def win_probability(self) -> float:
        """Probability that it wins, before the cards are dealt."""
        return self.base + float(self.gain.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of `win_probability`; infinite for one game."""
        n = len(self.gain)
        return float(self.gain.std(ddof=1) / np.sqrt(n)) if n > 1 else np.inf


class BeliefTrace(NamedTuple):
    """The beliefs of the exploiter in every breath of its games."""

    ptr: np.ndarray  # int64 ``[n_games + 1]``, the first breath of each game
    full: np.ndarray  # int64 ``[n]``, full states
    rows: np.ndarray  # int64 ``[n, 2]``, the rows of the own action and of the enemy's
    draws: np.ndarray  # int64 ``[n, 2]``, the kinds that feints of both drew, 5 for none
    # float64 ``[n, most_decks]``, the probability of each full state of the information state, in order.
    beliefs: np.ndarray


class BayesExploiter:
    """The Bayes exploiter of a policy.

    Attributes:
        graph: The game.
        base: The duel of the base.
        depth: Search depth in breaths.
    """

    def __init__(self, graph: Graph, policy: Any, base: Duel, depth: int = 2) -> None:
        """Tabulate the values of actions to the base.

        Args:
            graph: The game under any information model in which the policy is defined.
            policy: The policy to exploit, float64 ``[n_rows]``, or another player that `policy_of` takes.
            base: The duel of any agent against it on the same graph, best of the strongest known.
            depth: Search depth, from 1 to the breaths of a measure. Each one more takes ten to a hundred times as
                long.
        """
        must_be_graph(graph)
        policy = policy_of(policy, graph.space)
        n_breaths = graph.space.rules.breaths
        if not 1 <= depth <= n_breaths:
            raise DuelError(f"depth: {depth} is not allowed, it must be 1 to {n_breaths}")
        n_values = graph.n_values
        if len(base.v) != n_values:
            raise DuelError(f"base: a duel of {len(base.v):,} values, the graph has {n_values:,}")
        self.graph, self.base, self.depth = graph, base, depth
        self._v = np.ascontiguousarray(base.v[:, 0])
        self._tree = BeliefTrees(graph, policy).tree(self._v, range(n_breaths))
        self._threshold = prepare_thresholds(graph.space, policy)
        self._draws, self._deals = cumulate_draws(graph.draws), prepare_deals(graph)
        rules, layer = graph.space.rules, graph.space.layers[0]
        status = play_status(graph.space.layout, rules.hp, rules.hp, 0, 0, 0, 0)
        self._start = (int(layer.rank[0, status]), graph.n_full, n_breaths, _MAX_BREATHS)

    def play(self, n_games: int, seed: int = 0, first_game: int = 0, progress: Progress | None = None) -> BayesResult:
        """Play games, which follow from the seed and the number of the first for any number of threads.

        Args:
            n_games: Number of games.
            seed: Random seed, 0 to 2^64 - 1.
            first_game: Number of the first game.
            progress: Called as ``progress("bayes", games, win_probability)`` from time to time.
        """
        gain = np.zeros(n_games)
        won, breaths = np.zeros(n_games, dtype=np.uint8), np.zeros(n_games, dtype=np.int32)
        nothing = self._room_for_insights(np.zeros(1, dtype=np.int64))
        for begin in range(0, n_games, _GAMES_AT_ONCE):
            end = min(begin + _GAMES_AT_ONCE, n_games)
            games = (breaths[begin:end], won[begin:end], gain[begin:end])
            self._play(first_game + begin, seed, games, nothing)
            if progress is not None:
                progress("bayes", end, self.base.win_probability + float(gain[:end].mean()))
        return BayesResult(self.base.win_probability, gain, won, breaths)

    def belief_trace(self, n_games: int, seed: int = 0, first_game: int = 0) -> BeliefTrace:
        """Play games and record the beliefs; arguments and errors as in `play`."""
        ptr = cumulated(self.play(n_games, seed, first_game).breaths)
        room = self._room_for_insights(ptr)
        games = (np.zeros(n_games, np.int32), np.zeros(n_games, np.uint8), np.zeros(n_games))
        self._play(first_game, seed, games, room)
        _, steps, beliefs = room
        return BeliefTrace(ptr, steps[:, 0], steps[:, 1:3], steps[:, 3:], beliefs)

    def _room_for_insights(self, ptr: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n = int(ptr[-1])
        require_memory(8 * n * (5 + self.graph.most_decks), f"{n:,} breaths of games")
        return ptr, np.zeros((n, 5), dtype=np.int64), np.zeros((n, self.graph.most_decks))

    def _play(
        self, first_game: int, seed: int, games: tuple[np.ndarray, ...], room: tuple[np.ndarray, np.ndarray, np.ndarray]
    ) -> None:
        tables = self._draws, self._deals, self.graph.redeal.p, self._threshold
        args = (self._tree, tables, self._start, self._v, self.depth)
        for_each(_bayes.play_bayes_games, len(games[0]), (first_game, np.uint64(seed)), *args, games, room)
        if not games[0].all():
            raise EndlessError(f"games: one is undecided after {_MAX_BREATHS} breaths and may never end")


def bayes_response(
    graph: Graph,
    policy: Any,
    base: Duel,
    n_games: int = 10_000,
    seed: int = 0,
    depth: int = 2,
    progress: Progress | None = None,
) -> BayesResult:
    """Sample the win probability of the Bayes exploiter; arguments and errors as for `BayesExploiter`."""
    return BayesExploiter(graph, policy, base, depth).play(n_games, seed, progress=progress)

"""The strongest exploiter there is: it knows the policy it meets and forgets nothing, from the first deal on.

It holds a belief about the enemy's hand that follows, by the rule of Bayes, from all it has seen in the game
(``punish/_posterior.py``), and looks some breaths ahead before it values what may come by a *base*: another agent whose
exact duel against the same policy is known. A look ahead over one breath already makes it at least as good as the base;
the further it looks, the better it uses what it will see. It never looks past the end of a measure, so it is not the
best answer of all, but a lower bound on it. An upper one is in ``ceiling.py``.

There are far too many histories for an exact duel. So its games are sampled, and what is averaged is what it gains over
the base, whose own chance to win is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from punish_fast.duel.exact_evaluation import Duel, DuelError, check_policy
from punish_fast.duel.graph import Graph
from punish_fast.duel.simulator import EndlessError, prepare_deals, prepare_draws, prepare_thresholds
from punish_fast.equilibrium import _bayes
from punish_fast.equilibrium.belief_tree import BeliefTrees
from punish_fast.punish._codes import play_status
from punish_fast.runtime.memory import require_memory
from punish_fast.runtime.parallel import cumulated, for_each

# Breaths; a game that lasts longer is taken for endless.
_MOST_BREATHS = 100_000
# Enough for a call to pay, few enough for an interrupt not to wait.
_GAMES_AT_ONCE = 1 << 10

Progress = Callable[[str, int, float], None]


@dataclass(frozen=True)
class Bayes:
    """What the exploiter wins.

    Attributes:
        base: The exact chance to win of the base.
        gain: float64 ``[n_games]``, what the actions of each game gain over the base, in chances to win; never below 0
            but for rounding if it looks one breath ahead.
        won: uint8 ``[n_games]``, 1 for a win.
        breaths: int32 ``[n_games]``, how long each game was.
    """

    base: float
    gain: np.ndarray
    won: np.ndarray
    breaths: np.ndarray

    @property
    def win_probability(self) -> float:
        """How likely it wins a game, from before the cards are dealt."""
        return self.base + float(self.gain.mean())

    @property
    def standard_error(self) -> float:
        """How far `win_probability` is from the truth, in the root mean square; infinite for one game."""
        n = len(self.gain)
        return float(self.gain.std(ddof=1) / np.sqrt(n)) if n > 1 else np.inf


class BeliefTrace(NamedTuple):
    """What the exploiter believed in every breath of its games.

    Attributes:
        ptr: int64 ``[n_games + 1]``, where the breaths of each game begin.
        full: int64 ``[n]``, full states.
        rows: int64 ``[n, 2]``, the rows of the own action and of the enemy's.
        draws: int64 ``[n, 2]``, the kinds that feints of both drew, 5 for none.
        beliefs: float64 ``[n, most_decks]``, the probability of each full state of the information state, in order.
    """

    ptr: np.ndarray
    full: np.ndarray
    rows: np.ndarray
    draws: np.ndarray
    beliefs: np.ndarray


class BayesExploiter:
    """The exploiter of a policy.

    Attributes:
        graph: The game.
        base: The duel of the base.
        depth: How many breaths it looks ahead.
    """

    def __init__(self, graph: Graph, policy: np.ndarray, base: Duel, depth: int = 2) -> None:
        """Work out what actions are worth to the base.

        Args:
            graph: The game, with information states of any model in which the policy can be stated.
            policy: float64 ``[n_rows]``, the policy to beat.
            base: The duel of any agent against it on the same graph; best that of the best exploiter known.
            depth: How many breaths to look ahead, 1 to those of a measure. Each one more takes longer by a factor of
                ten to a hundred.

        Raises:
            DuelError: ``policy`` is no policy, ``base`` is of another graph, or ``depth`` is out of range.
            MemoryError: the values of all actions would not fit into memory.
        """
        check_policy(graph, policy)
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
        self._draws, self._deals = prepare_draws(graph), prepare_deals(graph)
        rules, layer = graph.space.rules, graph.space.layers[0]
        status = play_status(graph.space.layout, rules.hp, rules.hp, 0, 0, 0, 0)
        self._start = (int(layer.rank[0, status]), graph.n_full, n_breaths, _MOST_BREATHS)

    def play(self, n_games: int, seed: int = 0, first_game: int = 0, progress: Progress | None = None) -> Bayes:
        """Play games: always the same ones for a seed and the number of the first, whatever the threads.

        Args:
            n_games: How many.
            seed: From 0 to 2^64 - 1.
            first_game: The number of the first game.
            progress: Called as ``progress("bayes", games, win_probability)`` from time to time.

        Raises:
            EndlessError: a game does not end.
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
        return Bayes(self.base.win_probability, gain, won, breaths)

    def belief_trace(self, n_games: int, seed: int = 0, first_game: int = 0) -> BeliefTrace:
        """Play games and note what was believed; arguments and errors as in `play`."""
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
            raise EndlessError(f"games: one is not decided after {_MOST_BREATHS} breaths and may never end")


def bayes_response(
    graph: Graph,
    policy: np.ndarray,
    base: Duel,
    n_games: int = 10_000,
    seed: int = 0,
    depth: int = 2,
    progress: Progress | None = None,
) -> Bayes:
    """How often somebody who forgets nothing beats a policy; arguments and errors as for `BayesExploiter`."""
    return BayesExploiter(graph, policy, base, depth).play(n_games, seed, progress=progress)

"""Matches of two policies, exact or simulated: played here one after the other, or by workers that have the game.

A worker builds the graph of the game once and keeps it; what it is sent are policies, each once. The kernels and the
order of sums are the same, so results have the same bits wherever they are played.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import NamedTuple, Protocol

import numpy as np

from punish_fast.duel.exact_evaluation import head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.duel.simulated_evaluation import Batch, simulate
from punish_fast.learn.process_pool import TaskMap
from punish_fast.punish.rules import Rules
from punish_fast.punish.space import StateSpace

# Largest error of an exact win probability.
_TOLERANCE = 1e-10


class GameRange(NamedTuple):
    """Simulated games of a match.

    Attributes:
        seed: Random seed.
        first: The number of the first game.
        n_games: How many.
    """

    seed: int
    first: int
    n_games: int


class MatchTask(NamedTuple):
    """A match, or a part of it.

    Attributes:
        own: float64 ``[n_rows]``, a policy.
        enemy: float64 ``[n_rows]``, the other one.
        games: The games to simulate; None for an exact result.
    """

    own: np.ndarray
    enemy: np.ndarray
    games: GameRange | None


class ExactResult(NamedTuple):
    """An exact match.

    Attributes:
        win: The probability that the own policy wins.
        breaths: Expected breaths of a game.
        error_bound: Bound on the error of both.
    """

    win: float
    breaths: float
    error_bound: float


class Matches(Protocol):
    """What plays matches.

    Attributes:
        space: The states of the game.
    """

    space: StateSpace

    def play(self, tasks: Sequence[MatchTask]) -> Iterator[tuple[int, ExactResult | Batch]]:
        """The number of each task, and its result, in any order."""


class GraphMatches:
    """Matches played by the threads of this process, in order.

    Attributes:
        space: The states of the game.
        graph: The game.
    """

    def __init__(self, graph: Graph) -> None:
        self.space = graph.space
        self.graph = graph

    def play(self, tasks: Sequence[MatchTask]) -> Iterator[tuple[int, ExactResult | Batch]]:
        """The number of each task, and its result."""
        for number, task in enumerate(tasks):
            yield number, _play(self.graph, task)


class SpreadMatches:
    """Matches played by workers.

    Attributes:
        space: The states of the game.
    """

    def __init__(self, space: StateSpace, workers: TaskMap) -> None:
        self.space = space
        self._workers = workers

    def play(self, tasks: Sequence[MatchTask]) -> Iterator[tuple[int, ExactResult | Batch]]:
        """The number of each task, and its result, in any order."""
        game = self.space.rules, self.space.information.name
        yield from self._workers(play_apart, [(*game, *task) for task in tasks])


class _Kept:
    """The last game that a process has played."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._game: tuple[tuple[Rules, str], Graph] | None = None

    def graph(self, rules: Rules, information: str) -> Graph:
        """Its graph, built once."""
        with self._lock:
            if self._game is None or self._game[0] != (rules, information):
                self._game = None
                self._game = (rules, information), Graph(StateSpace(rules, information))
            return self._game[1]


_kept = _Kept()


def play_apart(
    rules: Rules, information: str, own: np.ndarray, enemy: np.ndarray, games: GameRange | None
) -> ExactResult | Batch:
    """Play a match of a game; may run in a process of its own."""
    return _play(_kept.graph(rules, information), MatchTask(own, enemy, games))


def _play(graph: Graph, task: MatchTask) -> ExactResult | Batch:
    if task.games is None:
        duel = head_to_head(graph, task.own, task.enemy, _TOLERANCE)
        return ExactResult(duel.win_probability, duel.length, duel.error_bound)
    seed, first, n_games = task.games
    return simulate(graph, task.own, task.enemy, n_games, seed, first_game=first)

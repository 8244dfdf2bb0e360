"""Games of the real game, played by two policies: by the million, and the same ones for any number of threads.

See ``_simulator.py`` for how a game is drawn. A game is known by its number and a seed: both deals and choices follow
from them, so the game that two policies play under a number can be played again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.duel import _simulator
from punish_fast.duel.graph import Graph
from punish_fast.punish._codes import play_status
from punish_fast.punish.space import StateSpace
from punish_fast.runtime.memory import require_memory
from punish_fast.runtime.parallel import cumulated, for_chunks, for_each

# Breaths; a game that lasts longer is taken for endless.
_MOST_BREATHS = 100_000
# What can be packed into 32 bits with the number of actions.
_MOST_ROWS = 2**31 // (2 * _simulator.MOST_ACTIONS)


class EndlessError(ValueError):
    """A game that does not end."""


class Games(NamedTuple):
    """How games went.

    Attributes:
        opening: int32 ``[n]``, the full state that each began with.
        breaths: int32 ``[n]``, how long it was.
        won: uint8 ``[n]``, 1 if the own side won.
    """

    opening: np.ndarray
    breaths: np.ndarray
    won: np.ndarray


class Trace(NamedTuple):
    """Every breath of games.

    Attributes:
        games: How they went.
        ptr: int64 ``[n_games + 1]``, where the breaths of each game begin.
        full: int32 ``[n]``, full states.
        states: int32 ``[n, 2]``, the information states of the own side and of the enemy.
        rows: int32 ``[n, 2]``, the rows of the state space that they played.
    """

    games: Games
    ptr: np.ndarray
    full: np.ndarray
    states: np.ndarray
    rows: np.ndarray


class Simulator:
    """Plays the games of a graph.

    Attributes:
        space: The information states.
    """

    def __init__(self, graph: Graph) -> None:
        """Prepare what a walk on ``graph`` looks up.

        Raises:
            MemoryError: there are too many state-action rows for 32-bit numbers.
        """
        self.space = graph.space
        self._full_ptr, self._enemy_row = graph.full.ptr, graph.full.enemy_row
        self._walk = _prepare_walk(graph)
        self._deals = prepare_deals(graph)
        rules, layer = graph.space.rules, graph.space.layers[0]
        status = play_status(graph.space.layout, rules.hp, rules.hp, 0, 0, 0, 0)
        self._start = (int(layer.rank[0, status]), graph.n_full, graph.n_full + graph.n_nodes)

    def thresholds(self, weight: np.ndarray) -> np.ndarray:
        """A policy as games are played by it, uint32 ``[n_rows]``, from float64 ``[n_rows]``."""
        return prepare_thresholds(self.space, weight)

    def play(self, own: np.ndarray, enemy: np.ndarray, first_game: int, n_games: int, seed: int) -> Games:
        """Play games.

        Args:
            own: uint32 ``[n_rows]``, the own policy's `thresholds`.
            enemy: uint32 ``[n_rows]``, the enemy's.
            first_game: The number of the first game.
            n_games: How many.
            seed: From 0 to 2^64 - 1.

        Raises:
            EndlessError: a game does not end.
        """
        nothing = np.zeros(0, dtype=np.int64), np.zeros((0, 3), dtype=np.int32)
        return self._play(own, enemy, (first_game, n_games), seed, nothing)

    def trace(self, own: np.ndarray, enemy: np.ndarray, first_game: int, n_games: int, seed: int) -> Trace:
        """Play games and note every breath; arguments and errors as in `play`."""
        numbers = (first_game, n_games)
        games = self.play(own, enemy, *numbers, seed)
        ptr = cumulated(games.breaths)
        require_memory(12 * int(ptr[-1]), f"{ptr[-1]:,} breaths of games")
        steps = np.zeros((ptr[-1], 3), dtype=np.int32)
        # The very same games again, now that it is known how many breaths there are.
        self._play(own, enemy, numbers, seed, (ptr, steps))
        enemy_state = self._enemy_row[steps[:, 0]]
        own_state = (np.searchsorted(self._full_ptr, steps[:, 0], side="right") - 1).astype(np.int32)
        states = np.column_stack([own_state, enemy_state])
        return Trace(games=games, ptr=ptr, full=steps[:, 0], states=states, rows=steps[:, 1:])

    def _play(
        self, own: np.ndarray, enemy: np.ndarray, numbers: tuple[int, int], seed: int, trace: tuple[np.ndarray, ...]
    ) -> Games:
        first_game, n_games = numbers
        games = Games(np.zeros(n_games, np.int32), np.zeros(n_games, np.int32), np.zeros(n_games, np.uint8))
        stop = np.zeros(1, dtype=np.uint8)
        args = (self._walk, self._deals, self._start, (own, enemy), _MOST_BREATHS, stop, games, trace)
        for_each(_simulator.play_games, n_games, (first_game, np.uint64(seed)), *args)
        if stop[0]:
            raise EndlessError(f"games: one is not decided after {_MOST_BREATHS} breaths and may never end")
        return games


def _prepare_walk(graph: Graph) -> _simulator.Walk:
    space = graph.space
    n_rows = len(space.action)
    if n_rows > _MOST_ROWS:
        raise MemoryError(f"simulator: the game has {n_rows:,} state-action rows, allowed are {_MOST_ROWS:,}")
    walk = _simulator.Walk(
        place=np.empty((graph.n_full, 4), dtype=np.int32),
        n_draws=graph.draws.n,
        draws=prepare_draws(graph),
        after=graph.full.after,
    )
    rows = (space.state_ptr, space.action)
    for_each(_simulator.fill_places, len(graph.full.ptr) - 1, graph.full, rows, graph.draws.n, walk.place)
    return walk


def prepare_thresholds(space: StateSpace, weight: np.ndarray) -> np.ndarray:
    """A policy as `_simulator.choose` takes it, uint32 ``[n_rows]``, from float64 ``[n_rows]``."""
    threshold = np.empty(len(weight), dtype=np.uint32)
    for_each(_simulator.fill_thresholds, len(space.state_ptr) - 1, space.state_ptr, weight, threshold)
    return threshold


def prepare_draws(graph: Graph) -> np.ndarray:
    """The chances of each draw of feints or an earlier one, as `_simulator.find_draw` takes them."""
    draws = graph.draws
    until = np.zeros(draws.chance.shape)
    for_each(_simulator.cumulate_draws, len(draws.n), draws.n, draws.chance, until)
    return until


def prepare_deals(graph: Graph) -> _simulator.Deals:
    """The deals of a graph, as they are drawn."""
    redeal = graph.redeal
    until, guide = np.empty(len(redeal.p)), np.empty(len(redeal.p), dtype=np.int32)
    for_chunks(_simulator.guide_deals, redeal.ptr, redeal.ptr, redeal.p, until, guide)
    return _simulator.Deals(
        node_pair=redeal.node_pair,
        node_status=redeal.node_status,
        ptr=redeal.ptr,
        until=until,
        guide=guide,
        deal=redeal.deal,
        first=redeal.first,
        stride=redeal.stride,
    )

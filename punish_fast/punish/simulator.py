"""Games of the real game, played by two policies: by the million, and the same ones for any number of threads.

See ``_simulator.py`` for how a game is drawn. A game is known by its number and a seed: both deals and choices follow
from them, so the game that two policies play under a number can be played again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.chunks import cumulated, for_chunks, for_each
from punish_fast.punish import _simulator
from punish_fast.punish._codes import play_status
from punish_fast.punish.graph import Graph

# Breaths; a game that lasts longer is taken for endless.
_MOST_BREATHS = 100_000


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


class Simulator:
    """Plays the games of a graph.

    Attributes:
        space: The information states.
    """

    def __init__(self, graph: Graph) -> None:
        """Prepare what a walk on ``graph`` looks up."""
        self.space = graph.space
        self._walk = _prepare_walk(graph)
        self._deals = _prepare_deals(graph)
        rules, layer = graph.space.rules, graph.space.layers[0]
        status = play_status(graph.space.layout, rules.hp, rules.hp, 0, 0, 0, 0)
        self._start = (int(layer.rank[0, status]), graph.n_full, graph.n_full + graph.n_nodes)

    def thresholds(self, weight: np.ndarray) -> np.ndarray:
        """A policy as games are played by it, uint32 ``[n_rows]``, from float64 ``[n_rows]``."""
        state_ptr = self.space.state_ptr
        threshold = np.empty(len(weight), dtype=np.uint32)
        for_each(_simulator.fill_thresholds, len(state_ptr) - 1, state_ptr, weight, threshold)
        return threshold

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
        games = Games(np.zeros(n_games, np.int32), np.zeros(n_games, np.int32), np.zeros(n_games, np.uint8))
        stop = np.zeros(1, dtype=np.uint8)
        args = (self._walk, self._deals, self._start, (own, enemy), _MOST_BREATHS, stop, *games)
        for_each(_simulator.play_games, n_games, first_game, np.uint64(seed), *args)
        if stop[0]:
            raise EndlessError(f"games: one is not decided after {_MOST_BREATHS} breaths and may never end")
        return games


def _prepare_walk(graph: Graph) -> _simulator.Walk:
    space = graph.space
    n_play = int(space.layer_ptr[-2])
    # Feints stand second in a state that has any.
    second = np.minimum(space.state_ptr[:-1] + 1, len(space.action) - 1)
    may_feint = (np.diff(space.state_ptr) > 1) & (space.action[second] % 2 == 1)
    actions = (2 * space.state_ptr[: n_play + 1]).astype(np.int32)
    actions[:-1] += may_feint[:n_play]
    codes = np.concatenate([decks.code for decks in graph.decks])
    _, examples, kinds = np.unique(codes, return_index=True, return_inverse=True)
    copies = np.concatenate([decks.copies for decks in graph.decks])[examples]
    walk = _simulator.Walk(
        place=np.empty((graph.n_full, 4), dtype=np.int32),
        actions=actions,
        n_draws=np.zeros((len(copies), 4), dtype=np.int64),
        draws=np.zeros((len(copies), 4, 25)),
        after=graph.full.after,
    )
    for_each(_simulator.tabulate_draws, len(copies), space.layout, copies, walk.n_draws, walk.draws)
    begin = cumulated(np.array([len(decks.code) for decks in graph.decks]))
    for layer, decks, first in zip(space.layers, graph.decks, begin, strict=False):
        args = (space.layout, layer, decks, kinds[first : first + len(decks.code)], graph.full, actions)
        for_chunks(_simulator.fill_places, layer.first, *args, walk.n_draws, walk.place)
    return walk


def _prepare_deals(graph: Graph) -> _simulator.Deals:
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

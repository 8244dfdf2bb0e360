"""Parallel simulation of the two-player game. Both policies, the game number and the random seed determine a game."""

from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np

from punish_fast.duel import _simulator
from punish_fast.duel.dealer import cumulate_draws
from punish_fast.duel.graph import DuelError, GameGraph, Policy, empty_graph
from punish_fast.duel.public_states import PublicPolicy
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import COLUMN, legal_mask
from punish_fast.runtime.compilation.kernel_files import KernelGroup
from punish_fast.runtime.limits import require_memory
from punish_fast.runtime.parallel import cumulated, for_chunks, for_each

# Maximum number of breaths in a game. Longer games raise `DuelError`.
_MAX_BREATHS = 100_000
# Maximum number of rows for which the result of `pack_shape` fits into 31 bits.
_MAX_ROWS = 2**31 // (2 * _simulator.MOST_ACTIONS)


class GameResults(NamedTuple):
    """Lengths and results of simulated games."""

    breaths: np.ndarray  # int32 ``[n]``, length of each game
    won: np.ndarray  # uint8 ``[n]``, 1 if the player won, 0 otherwise


class Trace(NamedTuple):
    """Record of every breath of simulated games."""

    games: GameResults
    ptr: np.ndarray  # int64 ``[n_games + 1]``, offset of each game's first breath
    full: np.ndarray  # int32 ``[n]``, full state of each breath
    states: np.ndarray  # int32 ``[n, 2]``, information states of the player and of the enemy
    rows: np.ndarray  # int32 ``[n, 2]``, rows played by the player and by the enemy


class Simulator:
    """Simulator of the game on a graph."""

    def __init__(self, graph: GameGraph) -> None:
        self.space = graph.space
        self._full_ptr, self._enemy_row = graph.full.ptr, graph.full.enemy_row
        self.walk = _prepare_walk(graph)
        self.deals = prepare_deals(graph)
        self._public, self._node_public = graph.public, graph.node_public
        self._start = (graph.space.first_status, graph.n_full, graph.n_full + graph.n_nodes, _MAX_BREATHS)

    @cached_property
    def column(self) -> np.ndarray:
        """Column of each row's action in a table of probabilities, uint8 ``[n_rows]``."""
        return np.asarray(COLUMN[self.space.action], dtype=np.uint8)

    @cached_property
    def choice(self) -> np.ndarray:
        """Index of each column's action among the legal actions of each state, int8 ``[n_states, 11]``, or -1."""
        mask = legal_mask(self.space)
        return np.where(mask, mask.cumsum(axis=1, dtype=np.int8) - 1, -1).astype(np.int8)

    @cached_property
    def state(self) -> np.ndarray:
        """Information state of the player in each full state, int32 ``[n_full]``."""
        return np.repeat(np.arange(len(self._full_ptr) - 1, dtype=np.int32), np.diff(self._full_ptr))

    def thresholds(self, policy: Policy) -> np.ndarray:
        """Convert a policy to cumulative integer thresholds, uint32 ``[n_rows]``, for `play` and `trace`.

        A `PublicPolicy` has thresholds for every index of the graph's public states, uint32 ``[n, n_rows]``.
        """
        if not isinstance(policy, PublicPolicy):
            return prepare_thresholds(self.space, policy)
        shape = len(self._public), len(self.space.action)
        require_memory(4 * prod(shape), f"strategies after {len(policy.states) - 1:,} public states")
        thresholds = np.empty(shape, dtype=np.uint32)
        for index, each in enumerate(policy.by_index(self._public)):
            thresholds[index] = prepare_thresholds(self.space, each)
        return thresholds

    def play(self, own: np.ndarray, enemy: np.ndarray, first_game: int, n_games: int, seed: int) -> GameResults:
        """Play ``n_games`` games, numbered from ``first_game`` onward.

        ``own`` and ``enemy`` are the `thresholds` of the policies. ``seed`` must be below 2^64. Raise `DuelError` if a
        game is undecided after 100,000 breaths.
        """
        nothing = np.zeros(0, dtype=np.int64), np.zeros((0, 3), dtype=np.int32)
        return self._play(own, enemy, (first_game, n_games), seed, nothing)

    def trace(self, own: np.ndarray, enemy: np.ndarray, first_game: int, n_games: int, seed: int) -> Trace:
        """Play games and record every breath. See `play` for arguments and errors."""
        numbers = (first_game, n_games)
        games = self.play(own, enemy, *numbers, seed)
        ptr = cumulated(games.breaths)
        require_memory(12 * int(ptr[-1]), f"{ptr[-1]:,} breaths of games")
        steps = np.zeros((ptr[-1], 3), dtype=np.int32)
        # The lengths are known, so replay the games and record every breath.
        self._play(own, enemy, numbers, seed, (ptr, steps))
        enemy_state = self._enemy_row[steps[:, 0]]
        states = np.column_stack([self.state[steps[:, 0]], enemy_state])
        return Trace(games=games, ptr=ptr, full=steps[:, 0], states=states, rows=steps[:, 1:])

    def _play(
        self, own: np.ndarray, enemy: np.ndarray, numbers: tuple[int, int], seed: int, trace: tuple[np.ndarray, ...]
    ) -> GameResults:
        first_game, n_games = numbers
        games = GameResults(np.zeros(n_games, np.int32), np.zeros(n_games, np.uint8))
        stop = np.zeros(1, dtype=np.uint8)
        # A game begins with index 0. In the measure after a node, the enemy's public state is the mirrored one.
        public = np.append(self._node_public, 0)
        players = tuple(
            (each.ravel(), index * (each.shape[1] if each.ndim == 2 else 0))
            for each, index in ((own, public), (enemy, self._public.mirror[public]))
        )
        args = (self.walk, self.deals, self._start, players, stop, games, trace)
        for_each(_simulator.play_games, n_games, (first_game, np.uint64(seed)), *args)
        if stop[0]:
            raise DuelError(f"games: a game is undecided after {_MAX_BREATHS} breaths and may never end")
        return games


def _prepare_walk(graph: GameGraph) -> _simulator.Walk:
    space = graph.space
    n_rows = len(space.action)
    if n_rows > _MAX_ROWS:
        raise MemoryError(f"simulator: the game has {n_rows:,} state-action rows; the maximum is {_MAX_ROWS:,}")
    walk = _simulator.Walk(
        place=np.empty((graph.n_full, 4), dtype=np.int32),
        n_draws=graph.draws.n,
        until=cumulate_draws(graph.draws),
        after=graph.full.after,
    )
    rows = (space.state_ptr, space.action)
    for_each(_simulator.fill_places, len(graph.full.ptr) - 1, graph.full, rows, walk.place)
    return walk


def prepare_thresholds(space: StateSpace, policy: np.ndarray) -> np.ndarray:
    """Convert a policy, float64 ``[n_rows]``, to the thresholds of `_simulator.choose`, uint32 ``[n_rows]``."""
    threshold = np.empty(len(policy), dtype=np.uint32)
    for_each(_simulator.fill_thresholds, len(space.state_ptr) - 1, space.state_ptr, policy, threshold)
    return threshold


def prepare_deals(graph: GameGraph) -> _simulator.Deals:
    """Return the deals of a graph, with guide tables for sampling."""
    redeal = graph.redeal
    until, guide = np.empty(len(redeal.p)), np.empty(len(redeal.p), dtype=np.int32)
    for_chunks(_simulator.guide_deals, redeal.ptr, redeal.ptr, redeal.p, until, guide)
    return _simulator.Deals(
        until=until,
        guide=guide,
        **{name: getattr(redeal, name) for name in ("node_pair", "node_status", "ptr", "deal", "first", "stride")},
    )


def compile_simulator() -> None:
    """Compile the kernels that simulate games."""
    simulator, policy = Simulator(empty_graph()), np.zeros(0, dtype=np.uint32)
    simulator.thresholds(np.zeros(0))
    simulator.play(policy, policy, 0, 0, 0)


_DRAWS = (_simulator.guide_deals, _simulator.fill_thresholds)
SIMULATION = KernelGroup(compile_simulator, (*_DRAWS, _simulator.fill_places, _simulator.play_games))

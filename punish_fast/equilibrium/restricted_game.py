"""Restricted games: the part of the real game that matters for learning, as a smaller graph.

Under a fine information model, chance and the enemy reach most full states less than once in a billion games, and most
actions are hardly ever played or regretted. A restricted game omits these states and actions, so its arrays fit into
the cache. It contains all full states of the first breath, because the values of nodes are computed from them. Full
states outside the game that can be reached from it are the leaves of the game. They keep their last known values
(``_restricted_game.py``).
"""

from __future__ import annotations

import numpy as np

from punish_fast.duel._graph import Full
from punish_fast.duel._passes import Parts
from punish_fast.duel.layered_graph import LayeredGraph
from punish_fast.equilibrium import _restricted_game
from punish_fast.equilibrium._restricted_game import INSIDE, LEAF, NEEDED, OUTSIDE, Marks
from punish_fast.runtime.parallel import cumulated, for_each

# Minimum reach of an information state and of a full state, and minimum probability of an action.
LEAST_STATE, LEAST_FULL, LEAST_PLAYED = 1e-7, 1e-9, 1e-4
# Maximum share of the graph's states, rows, full states or successors. Larger games save hardly any time.
MOST = 2 / 3


def all_inside(graph: LayeredGraph) -> Marks:
    """Return marks that include the whole graph."""
    sizes = (len(graph.state_ptr) - 1, int(graph.state_ptr[-1]), graph.n_full)
    return Marks(*(np.full(n, INSIDE, dtype=np.uint8) for n in sizes))


def mark(
    graph: LayeredGraph, reach: np.ndarray, strategy: np.ndarray, regret: np.ndarray, choice: np.ndarray, marks: Marks
) -> None:
    """Overwrite ``marks`` with the states, rows and full states of the next restricted game.

    Args:
        graph: The whole graph.
        reach: float64 ``[n_full, 4]``, reach of the player and of the response (``_reach.py``).
        strategy: float64 ``[n_rows]``, the strategy played.
        regret: float64 ``[n_rows]``, regrets of the last iteration.
        choice: int64 ``[n_states]``, row that the response chooses in each information state.
    """
    full, n_states = graph.full, len(graph.state_ptr) - 1
    first = int(graph.layer_ptr[1])
    for_each(_restricted_game.mark_likely, n_states, first, full.ptr, reach, LEAST_STATE, LEAST_FULL, marks)
    enemies = full.enemy_row[marks.full == INSIDE]
    marks.state[enemies[marks.state[enemies] == OUTSIDE]] = NEEDED
    wanted = (strategy >= LEAST_PLAYED) | (regret > 0)
    wanted[choice] = True
    marks.row[:] = np.where(wanted, np.repeat(marks.state, np.diff(graph.state_ptr)), OUTSIDE)


def are_consistent(graph: LayeredGraph, marks: Marks) -> bool:
    """Return True if a restricted game with these marks would contain all states that it refers to."""
    full, inside = graph.full, marks.full == INSIDE
    n_first = int(full.ptr[graph.layer_ptr[1]])
    by_row = np.repeat(marks.state, np.diff(graph.state_ptr))
    by_full = np.repeat(marks.state, np.diff(full.ptr))
    conditions = (
        inside[:n_first],
        by_full[inside] == INSIDE,
        marks.state[full.enemy_row[inside]] != OUTSIDE,
        marks.state != LEAF,
        (marks.row == by_row) | (marks.row == OUTSIDE),
    )
    return all(bool(condition.all()) for condition in conditions)


def restrict(whole: LayeredGraph, marks: Marks, must_pay: bool = True) -> RestrictedGame | None:
    """Build the restricted game of the marked states and rows, and mark the game's leaves in ``marks``.

    If ``must_pay`` is True, return None if the game is too large to save time.
    """
    # Leaves are not counted, because they are not known yet.
    kinds = (marks.row > OUTSIDE, marks.state > OUTSIDE, marks.full == INSIDE)
    if must_pay and any(np.count_nonzero(kind) > MOST * len(kind) for kind in kinds):
        return None
    n_entries = np.empty(whole.n_full, dtype=np.int32)
    args = (whole.full, whole.draws, (whole.state_ptr, whole.action), marks, n_entries)
    for number in range(whole.n_breaths):
        whole.for_states(number, _restricted_game.count_successors, *args)
    place = cumulated(n_entries)
    if must_pay and place[-1] > MOST * whole.n_successors:
        return None
    return RestrictedGame(whole, marks, place)


class RestrictedGame(LayeredGraph):
    """The marked part of a graph, as a graph."""

    def __init__(self, whole: LayeredGraph, marks: Marks, place: np.ndarray) -> None:
        """Copy the marked part of ``whole``. ``place``, int64 ``[n_full + 1]``, contains the offsets of successors."""
        self.draws, self.redeal, self._whole = whole.draws, whole.redeal, whole
        full, after = whole.full, np.empty(int(place[-1]), dtype=np.int32)
        state_rank, row_rank = _ranks(marks.state > 0), _ranks(marks.row > 0)
        inside, leaf = _ranks(marks.full == INSIDE), _ranks(marks.full == LEAF)
        # Indices of information states, rows, full states and leaves in the whole graph.
        self.states, self.rows = np.flatnonzero(marks.state), np.flatnonzero(marks.row)
        self.numbers, self.leaves = np.flatnonzero(marks.full == INSIDE), np.flatnonzero(marks.full == LEAF)
        args = (full, whole.draws, (whole.state_ptr, whole.action), marks, place)
        slot = self._slots(marks, inside, leaf)
        for number in range(whole.n_breaths):
            whole.for_states(number, _restricted_game.copy_successors, *args, slot, after)
        ptr = np.append(inside[full.ptr[self.states]], inside[-1]).astype(np.int64)
        self.full = Full(
            ptr=ptr,
            entry_ptr=np.append(place[self.numbers], place[-1])[ptr],
            entry=place[self.numbers].astype(np.uint32),
            enemy_row=state_rank[full.enemy_row[self.numbers]],
            deck=full.deck[self.numbers],
            after=after,
        )
        self._state_rank = state_rank
        self.state_ptr = np.append(row_rank[whole.state_ptr[self.states]], row_rank[-1]).astype(np.int64)
        self.action = whole.action[self.rows]
        self.layer_ptr = state_rank[whole.layer_ptr].astype(np.int64)

    @property
    def n_values(self) -> int:
        """Number of values, including leaves."""
        return super().n_values + len(self.leaves)

    def choices(self, choice: np.ndarray) -> np.ndarray:
        """Convert choices in the whole graph to choices in the restricted game, int64 ``[n_states]``."""
        return np.asarray(np.searchsorted(self.rows, choice[self.states]))

    def take_values(self, v: np.ndarray) -> np.ndarray:
        """Return the values in the restricted game, float64 ``[n_values]``, given the values in the whole graph."""
        return np.concatenate([v[self.numbers], v[self._whole.nodes], v[self.leaves], v[-2:]])

    def give_values(self, v: np.ndarray, to: np.ndarray) -> None:
        """Copy the values ``v`` of the restricted game into the values ``to`` of the whole graph."""
        to[self.numbers] = v[: self.n_full]
        to[self._whole.nodes] = v[self.nodes]

    def _slots(self, marks: Marks, inside: np.ndarray, leaf: np.ndarray) -> np.ndarray:
        """Convert indices of values in the whole graph to indices in the restricted game, int32.

        Indices of full states that are neither inside nor leaves are undefined.
        """
        n_full, whole = len(self.numbers), self._whole
        behind = n_full + whole.n_nodes
        slot = np.empty(whole.n_values, dtype=np.int32)
        slot[: whole.n_full] = np.where(marks.full == INSIDE, inside[:-1], behind + leaf[:-1])
        slot[whole.nodes] = np.arange(n_full, behind)
        slot[-2:] = behind + len(self.leaves) + np.arange(2)
        return slot

    def _cut(self, number: int) -> Parts:
        parts = self._whole.parts[number]
        return parts._replace(spans=self._state_rank[parts.spans].astype(np.int64))


def _ranks(marked: np.ndarray) -> np.ndarray:
    """Return the number of marks before each index, and the total number of marks at the end, int32 ``[n + 1]``."""
    rank = np.zeros(len(marked) + 1, dtype=np.int32)
    np.cumsum(marked, out=rank[1:])
    return rank

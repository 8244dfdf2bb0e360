"""The part of the real game that matters to who learns it: a small graph that passes go through in little time.

Chance and the enemy lead to most full states of a finer model of information less than once in a thousand million
games, and most actions are hardly played or come to nothing. An excerpt holds neither, so that what is passed on and
backed up stands close together. It holds all full states of the first breath, since nodes are worked out from them.
What leads out of it is worth what was last known (``_excerpt.py``).
"""

from __future__ import annotations

import numpy as np

from punish_fast.duel._graph import Full
from punish_fast.duel._passes import Parts
from punish_fast.duel.layered_graph import LayeredGraph
from punish_fast.equilibrium import _restricted_game
from punish_fast.equilibrium._restricted_game import INSIDE, LEAF, OUTSIDE, Marks
from punish_fast.runtime.parallel import cumulated, for_each

# How likely an information state and a full state must be, and how often an action must be played.
LEAST_STATE, LEAST_FULL, LEAST_PLAYED = 1e-7, 1e-9, 1e-4
# An excerpt with more of all states, rows, full states or plays hardly takes less time and memory than the whole.
MOST = 2 / 3


def all_inside(measure: LayeredGraph) -> Marks:
    """Marks of all that there is."""
    sizes = (len(measure.state_ptr) - 1, int(measure.state_ptr[-1]), measure.n_full)
    return Marks(*(np.full(n, INSIDE, dtype=np.uint8) for n in sizes))


def mark(
    measure: LayeredGraph, reach: np.ndarray, strategy: np.ndarray, regret: np.ndarray, choice: np.ndarray, marks: Marks
) -> None:
    """Mark what matters.

    Args:
        measure: All of a game.
        reach: float64 ``[n_full, 4]``, how likely player and answer come to each full state (``_regret.py``).
        strategy: float64 ``[n_rows]``, what is played.
        regret: float64 ``[n_rows]``, what each action would have won more.
        choice: int64 ``[n_states]``, the row that the answer takes in each information state.
        marks: What is written.
    """
    full, n_states = measure.full, len(measure.state_ptr) - 1
    first = int(measure.layer_ptr[1])
    for_each(_restricted_game.mark_likely, n_states, first, full.ptr, reach, LEAST_STATE, LEAST_FULL, marks)
    for_each(_restricted_game.mark_enemies, n_states, full.ptr, full.enemy_row, marks)
    for_each(_restricted_game.mark_rows, n_states, measure.state_ptr, strategy, regret, choice, LEAST_PLAYED, marks)


def fit(measure: LayeredGraph, marks: Marks) -> bool:
    """Whether marks are as `mark` may make them, so that all that an excerpt points to is in it."""
    full, inside = measure.full, marks.full == INSIDE
    n_first = int(full.ptr[measure.layer_ptr[1]])
    by_row = np.repeat(marks.state, np.diff(measure.state_ptr))
    by_full = np.repeat(marks.state, np.diff(full.ptr))
    is_right = (
        inside[:n_first],
        by_full[inside] == INSIDE,
        marks.state[full.enemy_row[inside]] != OUTSIDE,
        marks.state != LEAF,
        (marks.row == by_row) | (marks.row == OUTSIDE),
    )
    return all(bool(which.all()) for which in is_right)


def restrict(whole: LayeredGraph, marks: Marks, must_pay: bool = True) -> RestrictedGame | None:
    """What is marked of a measure; none if it ``must_pay`` and is too large to.

    Full states outside that it leads to are marked as leaves.
    """
    if must_pay and _is_large(marks):
        return None
    n_plays = np.empty(whole.n_full, dtype=np.int32)
    plays = (whole.full, whole.draws, (whole.state_ptr, whole.action), marks)
    for number in range(whole.n_breaths):
        whole.for_states(number, _restricted_game.count_plays, *plays, n_plays)
    place = cumulated(n_plays)
    if must_pay and place[-1] > MOST * whole.n_entries:
        return None
    return RestrictedGame(whole, marks, place)


def _is_large(marks: Marks) -> bool:
    """Whether more is marked than pays, whatever the plays; leaves, which are not known before, do not count."""
    kinds = (marks.row > OUTSIDE, marks.state > OUTSIDE, marks.full == INSIDE)
    return any(np.count_nonzero(kind) > MOST * len(kind) for kind in kinds)


class RestrictedGame(LayeredGraph):
    """What is marked of a measure.

    Attributes:
        states: int64 ``[n_states]``, the number of each information state in the whole measure.
        rows: int64 ``[n_rows]``, that of each row.
        numbers: int64 ``[n_full]``, that of each full state.
        leaves: int64 ``[n_leaves]``, that of each full state where play leaves the excerpt.
    """

    def __init__(self, whole: LayeredGraph, marks: Marks, place: np.ndarray) -> None:
        """List it.

        Args:
            whole: All of a game.
            marks: What is marked, leaves as well.
            place: int64 ``[n_full + 1]``, where the successors of each full state of the whole begin that are listed.
        """
        self.draws, self.redeal, self._whole = whole.draws, whole.redeal, whole
        full, plays = whole.full, (whole.full, whole.draws, (whole.state_ptr, whole.action), marks)
        state_rank, row_rank = _ranks(marks.state > 0), _ranks(marks.row > 0)
        inside, leaf = _ranks(marks.full == INSIDE), _ranks(marks.full == LEAF)
        self.states, self.rows = _places(state_rank), _places(row_rank)
        self.numbers, self.leaves = _places(inside), _places(leaf)
        after = np.empty(int(place[-1]), dtype=np.int32)
        slot = self._slots(marks, inside, leaf)
        for number in range(whole.n_breaths):
            whole.for_states(number, _restricted_game.fill_plays, *plays, place, slot, after)
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
        self._state_ptr: np.ndarray = np.append(row_rank[whole.state_ptr[self.states]], row_rank[-1]).astype(np.int64)
        self._action: np.ndarray = whole.action[self.rows]
        self._layer_ptr: np.ndarray = state_rank[whole.layer_ptr].astype(np.int64)

    @property
    def layer_ptr(self) -> np.ndarray:
        """See `LayeredGraph`."""
        return self._layer_ptr

    @property
    def state_ptr(self) -> np.ndarray:
        """See `LayeredGraph`."""
        return self._state_ptr

    @property
    def action(self) -> np.ndarray:
        """See `LayeredGraph`."""
        return self._action

    @property
    def n_values(self) -> int:
        """See `LayeredGraph`; what play ends with are the leaves, win and loss."""
        return super().n_values + len(self.leaves)

    def choices(self, choice: np.ndarray) -> np.ndarray:
        """Rows that are taken in each information state of the whole, int64, as those of the excerpt's states."""
        rows: np.ndarray = np.searchsorted(self.rows, choice[self.states])
        return rows

    def take_values(self, v: np.ndarray) -> np.ndarray:
        """The values of what the excerpt has numbers for, float64 ``[n_values]``, of those of the whole."""
        return np.concatenate([v[self.numbers], v[self._whole.nodes], v[self.leaves], v[-2:]])

    def give_values(self, v: np.ndarray, to: np.ndarray) -> None:
        """Write values of the excerpt among those of the whole."""
        to[self.numbers] = v[: self.n_full]
        to[self._whole.nodes] = v[self.nodes]

    def _slots(self, marks: Marks, inside: np.ndarray, leaf: np.ndarray) -> np.ndarray:
        """The new number of each number of the whole, int32; those of full states outside mean nothing."""
        n_full, whole = len(self.numbers), self._whole
        behind = n_full + whole.n_nodes
        slot = np.empty(whole.n_values, dtype=np.int32)
        slot[: whole.n_full] = np.where(marks.full == INSIDE, inside[:-1], behind + leaf[:-1])
        slot[whole.nodes] = np.arange(n_full, behind)
        slot[-2:] = behind + len(self.leaves) + np.arange(2)
        return slot

    def _cut(self, number: int) -> Parts:
        parts = self._whole.parts_of(number)
        return parts._replace(spans=self._state_rank[parts.spans].astype(np.int64))


def _ranks(marked: np.ndarray) -> np.ndarray:
    """How many are marked before each place, and in all: int32 ``[n + 1]``."""
    rank = np.zeros(len(marked) + 1, dtype=np.int32)
    np.cumsum(marked, out=rank[1:])
    return rank


def _places(rank: np.ndarray) -> np.ndarray:
    """Which places are marked, by `_ranks`."""
    return np.flatnonzero(rank[1:] != rank[:-1])

"""Restrictions of an MDP to some of its rows and states, and functions that relate rows to states."""

from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.arrays.policy import first_best
from punish_fast.mdp.graph import _graph
from punish_fast.mdp.model.mdp import MDP
from punish_fast.runtime.parallel import cumulated, for_chunks

# One thread can copy this many entries before other threads have started.
_LEAST_WORK = 100_000


def select_rows(mdp: MDP, rows: np.ndarray, column: np.ndarray) -> dict[str, Any]:
    """Copy some rows of an MDP, renumber their columns, and return all arrays of rows and entries as in `MDP`.

    ``column``, int32, contains the new index of each column. An entry of -1 in ``rows``, int64 ``[k]``, adds a row
    without reward that leads to the last entry of ``column`` with probability 1.
    """
    indptr = cumulated(np.where(rows < 0, 1, np.diff(mdp.indptr)[rows]))
    found = {"indptr": indptr, "indices": np.empty(indptr[-1], dtype=np.int32), "data": np.empty(indptr[-1])}
    args = indptr, rows, column, mdp.indptr, mdp.indices, mdp.data, *found.values()
    for_chunks(_graph.copy_rows, *args, alone=indptr[-1] < _LEAST_WORK)
    reward, action = np.where(rows < 0, 0.0, mdp.reward[rows]), mdp.action[rows] * (rows >= 0)
    return found | {"reward": reward, "action": action}


def states_of_rows(mdp: MDP) -> np.ndarray:
    """Return the state of each row, int32 ``[n_rows]``."""
    return np.repeat(np.arange(mdp.n_states, dtype=np.int32), np.diff(mdp.state_ptr))


def rows_of_states(mdp: MDP, states: np.ndarray) -> np.ndarray:
    """Return a mask of the rows, bool ``[n_rows]``, of the marked states, bool ``[n_states]``."""
    return np.repeat(states, np.diff(mdp.state_ptr))


def marks_at(n: int, places: np.ndarray) -> np.ndarray:
    """Return a mask, bool ``[n]``, that is True at the given indices."""
    marks = np.zeros(n, dtype=bool)
    marks[places] = True
    return marks


def terminals_of(mdp: MDP) -> np.ndarray:
    """Return a mask of the terminals, bool ``[n_columns]``."""
    return np.arange(mdp.n_columns) >= mdp.n_states


def count_rows(mdp: MDP, rows: np.ndarray) -> np.ndarray:
    """Return the number of rows marked in ``rows``, bool ``[n_rows]``, in each state, int32 ``[n_states]``."""
    return np.asarray(np.add.reduceat(rows, mdp.state_ptr[:-1], dtype=np.int32))


def first_marked(state_ptr: np.ndarray, marked: np.ndarray) -> np.ndarray:
    """Return the first marked row of each state, int64 ``[n_states]``. Every state must have one."""
    # Without state values, no rows tie.
    return first_best(state_ptr, marked.astype(np.float64), np.empty(0))


class Restriction(NamedTuple):
    """An MDP restricted to some of its rows."""

    mdp: MDP  # The restricted MDP, with the original layers, some of which may be empty
    states: np.ndarray  # int64 ``[n_states of the restriction]``, original states in ascending order
    rows: np.ndarray  # int64 ``[n_rows of the restriction]``, original rows


def restriction(
    mdp: MDP, rows: np.ndarray, worth: np.ndarray, terminal: np.ndarray | int = 0, reward: np.ndarray | None = None
) -> Restriction:
    """Restrict an MDP to some rows, bool ``[n_rows]``, and the states that have at least one of them.

    ``terminal``, an int or an array ``[n_columns]``, is the index of the new terminal that replaces each column outside
    the restriction. The new terminals have the rewards ``worth``. ``reward``, float64 ``[n_rows]``, replaces the
    rewards of rows.
    """
    taken = np.flatnonzero(rows)
    counts = count_rows(mdp, rows)
    states = np.flatnonzero(counts)
    column = np.full(mdp.n_columns, len(states) + terminal, dtype=np.int32)
    column[states] = np.arange(len(states), dtype=np.int32)
    arrays = select_rows(mdp, taken, column) | ({} if reward is None else {"reward": reward[taken]})
    arrays |= {"state_ptr": cumulated(counts[states]), "layer_ptr": np.searchsorted(states, mdp.layer_ptr)}
    return Restriction(MDP(terminal_reward=worth, **arrays), states, taken)


def restricted(mdp: MDP, rows: np.ndarray, ends: np.ndarray, reward: np.ndarray | None = None) -> Restriction:
    """Restrict an MDP to rows. ``ends`` are the rewards of its terminals and, last, of all states outside."""
    n = mdp.n_states
    terminal = np.concatenate([np.full(n, len(ends) - 1), np.arange(mdp.n_columns - n)])
    return restriction(mdp, rows, ends, terminal, reward)

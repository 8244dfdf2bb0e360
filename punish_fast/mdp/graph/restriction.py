"""A part of a process: some of its states and rows, with classes of other columns made into terminals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from punish_fast.mdp.graph.row_selection import count_rows, select_rows
from punish_fast.mdp.model import MDP
from punish_fast.runtime.parallel import cumulated


@dataclass(frozen=True, eq=False)
class Restriction:
    """A part of a process.

    Attributes:
        mdp: The part; its layers are those of the process, as far as they have states in it.
        states: int64 ``[n_states of the part]``, the states that it has, in order.
        rows: int64 ``[n_rows of the part]``, the rows.
    """

    mdp: MDP
    states: np.ndarray
    rows: np.ndarray


def restriction(mdp: MDP, rows: np.ndarray, terminal: np.ndarray, worth: np.ndarray, reward: np.ndarray) -> Restriction:
    """The part of a process that has certain rows, and the states that have one of them.

    Args:
        mdp: The process, not compact.
        rows: bool ``[n_rows]``.
        terminal: ``[n_columns]``, the number of the terminal that a column outside becomes; not read for states inside.
        worth: float64 ``[n_terminals of the part]``, the rewards of its terminals.
        reward: float64 ``[n_rows]``, the rewards of rows.
    """
    taken = np.flatnonzero(rows)
    counts = count_rows(mdp, rows)
    states = np.flatnonzero(counts)
    column = (len(states) + terminal).astype(np.int32)
    column[states] = np.arange(len(states), dtype=np.int32)
    selection = select_rows(mdp, taken, column)
    part = MDP(
        state_ptr=cumulated(counts[states]),
        **selection._asdict(),
        reward=reward[taken],
        terminal_reward=worth,
        layer_ptr=np.searchsorted(states, mdp.layer_ptr),
        action=mdp.action[taken],
    )
    return Restriction(part, states, taken)

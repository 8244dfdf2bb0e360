"""Processes with readable positions, for export to other programs.

This package identifies a state by an index or a mixed-radix code. Exported files describe a position by 18 fields of
one digit each. These fields form the notebook's decimal code.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from punish_fast.mdp.model.mdp import MDP
from punish_fast.punish.clash import LOSS, WIN
from punish_fast.punish.codes import ACTIONS, FIELDS, CodedStates, decimals_of, digits_of
from punish_fast.punish.rules import Rules

TERMINALS = ("win", "loss")

# Number of states to convert at a time. It limits memory usage.
_BLOCK = 1 << 17


@dataclass(frozen=True)
class LabeledProcess:
    """A process of Punish with the data for exports."""

    mdp: MDP
    states: CodedStates
    enemy: dict[str, Any]  # JSON object with a ``kind``

    @property
    def rules(self) -> Rules:
        """Rules of the game."""
        return self.states.rules

    @cached_property
    def fields(self) -> np.ndarray:
        """Fields of all positions, uint8 ``[n_states, 18]``. ``FIELDS`` contains their names."""
        return np.concatenate([digits_of(self.states, rows) for rows in self._blocks()])

    @property
    def decimals(self) -> np.ndarray:
        """Decimal codes of all positions, then of win and loss, int64 ``[n_columns]``."""
        return np.concatenate([*(decimals_of(self.states, rows) for rows in self._blocks()), [WIN, LOSS]])

    def _blocks(self) -> Iterator[np.ndarray]:
        n_states = self.mdp.n_states
        return (np.arange(begin, min(begin + _BLOCK, n_states)) for begin in range(0, n_states, _BLOCK))

    @property
    def is_initial(self) -> np.ndarray:
        """Mask of the states in which a game can begin (breath 1, full HP on both sides), bool ``[n_columns]``."""
        start = {"breath": 1, "own_hp": self.rules.hp, "enemy_hp": self.rules.hp}
        columns = [FIELDS.index(name) for name in start]
        return np.pad((self.fields[:, columns] == list(start.values())).all(axis=1), (0, len(TERMINALS)))


def process_of(states: CodedStates, mdp: MDP, enemy: dict[str, Any] | None) -> LabeledProcess:
    """Return a process with its positions. Raise ValueError if states, terminals or actions do not match."""
    if mdp.n_states != len(states.code):
        raise ValueError(f"export: the process has {mdp.n_states} states, but the space has {len(states.code)}")
    if len(mdp.terminal_reward) != len(TERMINALS):
        raise ValueError(f"export: the process has {len(mdp.terminal_reward)} terminals; they must be win and loss")
    if mdp.terminal_value is not None:
        raise ValueError("export: the process has a terminal_value; win and loss must have rewards only")
    if not np.isin(mdp.action, ACTIONS).all():
        raise ValueError(f"export: the process has actions other than {', '.join(map(str, ACTIONS))}")
    return LabeledProcess(mdp, states, enemy or {"kind": "unknown"})

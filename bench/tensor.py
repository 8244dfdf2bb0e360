"""The tensor that all peers solve, built once and saved as one NumPy file for each array.

`work` builds it in a child process and writes the folder; `load` reads it without importing anything but NumPy,
so that a peer's memory is its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

MODEL = "model.umb"
RULES = "rules.json"


class Tensor(NamedTuple):
    """The arrays of an `MDP`, with the same shapes and dtypes."""

    state_ptr: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    reward: np.ndarray
    terminal_reward: np.ndarray
    layer_ptr: np.ndarray
    action: np.ndarray

    @property
    def n_states(self) -> int:
        """States, terminals left out."""
        return len(self.state_ptr) - 1

    @property
    def n_terminals(self) -> int:
        """Absorbing states behind all others."""
        return len(self.terminal_reward)


class WithTerminals(NamedTuple):
    """A process whose terminals are ordinary states, each with one row that leads to itself.

    Attributes:
        state_ptr: int64 ``[n + 1]``, where the rows of each state begin.
        indptr: int32 ``[n_rows + 1]``, where the entries of each row begin.
        indices: int32 ``[n_entries]``, columns.
        data: float64 ``[n_entries]``, probabilities.
        reward: float64 ``[n_rows]``, expected immediate rewards.
    """

    state_ptr: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    reward: np.ndarray


def save(folder: Path, tensor: Tensor) -> None:
    """Write the arrays into ``folder``."""
    for name, array in tensor._asdict().items():
        np.save(folder / f"{name}.npy", array)


def load(folder: Path) -> Tensor:
    """Read the arrays from ``folder``."""
    return Tensor(*(np.load(folder / f"{name}.npy") for name in Tensor._fields))


def with_terminals(tensor: Tensor) -> WithTerminals:
    """Turn terminals into ordinary states, for solvers without terminals."""
    terminals = tensor.n_states + np.arange(tensor.n_terminals, dtype=np.int32)
    ones = np.arange(1, tensor.n_terminals + 1)
    return WithTerminals(
        state_ptr=np.append(tensor.state_ptr, tensor.state_ptr[-1] + ones),
        indptr=np.append(tensor.indptr, tensor.indptr[-1] + ones).astype(np.int32),
        indices=np.append(tensor.indices, terminals),
        data=np.append(tensor.data, np.ones(len(terminals))),
        reward=np.append(tensor.reward, tensor.terminal_reward),
    )


def work(request: dict[str, Any]) -> dict[str, Any]:
    """Build the game of ``rules`` into ``folder``, as NumPy arrays and in the Unified Markov Binary format."""
    from punish_fast.punish.rules import load_rules, to_json
    from punish_fast.punish.space import StateSpace
    from punish_fast.punish.tensor import build
    from punish_fast.store.formats.umb import export_umb

    folder = Path(request["folder"])
    space = StateSpace(load_rules(request["rules"]))
    (folder / RULES).write_text(to_json(space.rules), encoding="utf-8")
    mdp = build(space)
    save(folder, Tensor(*(getattr(mdp, name) for name in Tensor._fields)))
    export_umb(folder / MODEL, space, mdp, {"kind": "built-in", "name": "random"})
    return {"states": mdp.n_states, "rows": mdp.n_rows, "nonzeros": mdp.n_entries}

"""Processes as NumPy archives (``.npz``), readable with NumPy and SciPy alone.

``numpy.load`` reads them without pickle; ``scipy.sparse.load_npz``, which needs the first six names only, reads the
transitions as a CSR array::

    _is_array, format, shape     True, "csr", (n_rows, n_columns)
    data             float64 [n_entries]     probabilities
    indices          int32   [n_entries]     columns; n_columns - 2 is win, n_columns - 1 loss
    indptr           int32   [n_rows + 1]    where the entries of each row begin
    state_ptr        int64   [n_states + 1]  where the rows of each state begin
    layer_ptr        int64   [n_layers + 1]  where the states of each breath begin; breath 5 is last
    action           uint8   [n_rows]        card 1-5 and then 1 for a feint or 0; rest is 90
    reward           float64 [n_rows]        expected immediate rewards
    terminal_reward  float64 [2]             rewards of win and loss at every step
    code             int64   [n_columns]     18-digit decimal codes; win is -1 and loss -2
    is_initial       bool    [n_columns]     whether a game can begin there
    rules, enemy, package_version            texts, the first two JSON

Win and loss have no rows.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.mdp.model import MDP
from punish_fast.punish.codes import CodedStates
from punish_fast.punish.rules import to_json
from punish_fast.runtime import __version__
from punish_fast.runtime.files import replacing
from punish_fast.store.formats.labelled_process import LabelledProcess, process_of


def export_npz(path: str | Path, states: CodedStates, mdp: MDP, enemy: dict[str, Any] | None = None) -> None:
    """Write a process of Punish as a NumPy archive.

    Args:
        path: The file; no suffix is added.
        states: Its states: a ``StateSpace`` or a loaded ``Artefact``.
        mdp: The process.
        enemy: The enemy, JSON-like with a ``kind``; unknown if None.

    Raises:
        ValueError: the process has other states, terminals or actions.
        OutputError: nothing can be written there.
        WriteError: writing failed.
    """
    path = Path(path)
    arrays = _arrays(process_of(states, mdp, enemy))
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)


def _arrays(process: LabelledProcess) -> dict[str, Any]:
    mdp = process.mdp
    matrix = mdp.to_scipy()
    return {
        "_is_array": True,
        "format": b"csr",
        "shape": matrix.shape,
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "state_ptr": mdp.state_ptr,
        "layer_ptr": mdp.layer_ptr,
        "action": mdp.action,
        "reward": mdp.reward,
        "terminal_reward": mdp.terminal_reward,
        "code": process.decimals,
        "is_initial": process.is_initial,
        "rules": to_json(process.rules),
        "enemy": json.dumps(process.enemy),
        "package_version": __version__,
    }

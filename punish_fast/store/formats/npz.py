"""Processes and values as NumPy archives (``.npz``), readable by ``numpy.load`` without pickle.

The first six arrays of a process contain its transitions as a CSR array, readable by ``scipy.sparse.load_npz``::

    _is_array, format, shape     True, "csr", (n_rows, n_columns)
    data             float64 [nnz]     probabilities
    indices          int32   [nnz]     columns (n_columns - 2 is win, n_columns - 1 loss)
    indptr           int32   [n_rows + 1]    first entry of each row
    state_ptr        int64   [n_states + 1]  first row of each state
    layer_ptr        int64   [n_layers + 1]  first state of each breath, and of the time between measures
    action           uint8   [n_rows]        card (1 to 5), then 1 for a feint, otherwise 0, or 90 for rest
    reward           float64 [n_rows]        expected immediate rewards
    terminal_reward  float64 [2]             rewards of win and loss at every step (`reward` contains the first)
    code             int64   [n_columns]     18-digit decimal codes, -1 for win and -2 for loss
    is_initial       bool    [n_columns]     True for states in which a game can begin
    rules, enemy, package_version            text (rules and enemy are JSON)

Win and loss have no rows. The values of an imported model for one objective are::

    v             float64 [n_states]       values, infinite if no policy has a finite value
    choice        int64   [n_states]       index of an optimal choice, in the file's order
    action        uint32  [n_states]       index of that choice's action in action_names, or in the state without names
    action_names  text                     names of the actions
    initial       int64                    indices of the initial states
    error_bound   float64                  upper bound on the error of every finite value
    objective     text

A state without choices in the model counts as a state with one choice.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.mdp.conversion.objective_text import NamedProcess
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.solution import BoundedValues, Solution
from punish_fast.punish.codes import CodedStates
from punish_fast.punish.rules import to_json
from punish_fast.runtime import __version__
from punish_fast.runtime.files import replacing
from punish_fast.store.formats.labeled_process import process_of


def export_npz(path: str | Path, states: CodedStates, mdp: MDP, enemy: dict[str, Any] | None = None) -> None:
    """Write a process of Punish as a NumPy archive.

    Args:
        path: Output file. No suffix is added.
        states: States of the process: a memoryless `StateSpace` or a `SolutionFile`.
        mdp: Process to write.
        enemy: Description of the enemy, a JSON object with a ``kind``. By default, the enemy is recorded as unknown.

    Raises:
        ValueError: If the states, terminals or actions of the process do not match.
        OutputError: If the path is not writable.
        WriteError: If writing fails.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from scipy.sparse import load_npz
        >>> from punish_fast import StateSpace, build, export_npz, load_rules
        >>> space = StateSpace(load_rules("tiny"))
        >>> with TemporaryDirectory() as folder:
        ...     export_npz(f"{folder}/tiny.npz", space, build(space))
        ...     load_npz(f"{folder}/tiny.npz").shape
        (911, 560)
    """
    process, matrix = process_of(states, mdp, enemy), mdp.to_scipy()
    with replacing(Path(path)) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            _is_array=True,
            format=b"csr",
            shape=matrix.shape,
            **{name: getattr(matrix, name) for name in ("data", "indices", "indptr")},
            **{name: getattr(mdp, name) for name in ("state_ptr", "layer_ptr", "action", "reward", "terminal_reward")},
            code=process.decimals,
            is_initial=process.is_initial,
            rules=to_json(process.rules),
            enemy=json.dumps(process.enemy),
            package_version=__version__,
        )


def export_values(path: str | Path, process: NamedProcess, objective: str, values: BoundedValues | Solution) -> None:
    """Write the values and the policy for an objective. Do not add a suffix to ``path``."""
    with replacing(Path(path)) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            v=values.v,
            choice=values.choice,
            action=process.mdp.action[values.choice].astype(np.uint32),
            action_names=np.array(process.mdp.names.actions, dtype=str),
            initial=process.initial,
            error_bound=values.error_bound,
            objective=objective,
        )

"""Processes of Punish in the Unified Markov Binary format (``mdp/conversion/umb.py``).

Win and loss are the last two states, with the labels ``win`` and ``loss`` and one choice each (rest). All openings with
full HP on both sides are initial. In addition to the arrays of other processes, the file contains::

    valuations/states                                   19 x 8 bits

The valuation of a state has a variable for each digit of its 18-digit decimal code (``punish/codes.py``), followed by
the variable ``outcome``: 0 for positions, 1 for win and 2 for loss. The digits of win and loss are 0.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from punish_fast.mdp.arrays.names import Names
from punish_fast.mdp.conversion.umb import export_umb
from punish_fast.mdp.model.mdp import MDP
from punish_fast.punish.codes import ACTIONS, FIELDS, CodedStates, action_name
from punish_fast.punish.rules import name_of, to_mapping
from punish_fast.store.formats.labeled_process import TERMINALS, LabeledProcess, process_of

OUTCOME = "outcome"

_VARIABLES = [{"name": name, "type": {"type": "uint", "size": 8}} for name in (*FIELDS, OUTCOME)]


def export_punish_umb(path: str | Path, states: CodedStates, mdp: MDP, enemy: dict[str, Any] | None = None) -> None:
    """Write a process of Punish in the Unified Markov Binary format.

    Args:
        path: Output file.
        states: States of the process: a memoryless `StateSpace` or a `SolutionFile`.
        mdp: Process to write.
        enemy: Description of the enemy, a JSON object with a ``kind``. By default, the enemy is recorded as unknown.

    Raises:
        ValueError: If the states, terminals or actions of the process do not match.
        OutputError: If the path is not writable.
        WriteError: If writing fails.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from punish_fast import StateSpace, build, export_punish_umb, import_umb, load_rules
        >>> space = StateSpace(load_rules("tiny"))
        >>> with TemporaryDirectory() as folder:
        ...     export_punish_umb(f"{folder}/tiny.umb", space, build(space))
        ...     process = import_umb(f"{folder}/tiny.umb")
        >>> process.mdp.n_states, list(process.labels), list(process.rewards)
        (560, ['init', 'win', 'loss'], ['reward'])
    """
    process = process_of(states, mdp, enemy)
    columns, names = np.arange(mdp.n_columns), {k: action_name(k).replace(" ", "_") for k in ACTIONS}
    labels = {name: columns == mdp.n_states + k for k, name in enumerate(TERMINALS)}
    index = {
        "model-data": {
            "name": "Punish",
            "description": f"The card duel Punish under rules {name_of(process.rules)}, as one player sees it, against "
            f"a known strategy. The variables of a state are the digits of its code; {OUTCOME} is 1 for win and 2 for "
            "loss. Rewards are expected immediate rewards; win and loss pay theirs at every step.",
        },
        "file-data": {
            "parameters": {
                "rules": to_mapping(process.rules),
                "rules-digest": process.rules.digest,
                "enemy": process.enemy,
            },
        },
        "valuations": {"states": {"unique": True, "classes": [{"variables": _VARIABLES}]}},
    }
    members = {"valuations/states/valuations.bin": _valuations(process)}
    named = replace(mdp, names=Names(actions=[names.get(k, k) for k in range(max(ACTIONS) + 1)]))
    export_umb(path, named, {"init": process.is_initial, **labels}, index=index, members=members)


def _valuations(process: LabeledProcess) -> np.ndarray:
    """Return the fields and outcomes of all positions, then of win and loss, uint8 ``[n_columns, 19]``."""
    fields = np.pad(process.fields, ((0, len(TERMINALS)), (0, 1)))
    fields[-len(TERMINALS) :, -1] = np.arange(1, len(TERMINALS) + 1)
    return fields

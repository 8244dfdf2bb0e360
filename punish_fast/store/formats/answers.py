"""The values and the policy of an objective in an imported model, as a NumPy archive (``.npz``).

::

    v             float64 [n_states]       values; infinite where no policy has a finite one
    choice        int64   [n_states]       the number of the choice that an optimal policy takes, in the file's order
    action        uint32  [n_states]       and of its action; a number within the state if the model names no action
    action_names  texts                    the names of actions
    initial       int64                    the initial states
    error_bound   float64                  upper bound on the error of every finite value
    objective     text

A state without a choice counts as one with a choice.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from punish_fast.mdp.conversion.named_process import NamedProcess
from punish_fast.mdp.solution import ObjectiveValues, Solution
from punish_fast.runtime.files import replacing


def save_answer(path: str | Path, process: NamedProcess, objective: str, answer: ObjectiveValues | Solution) -> None:
    """Write values and policy.

    Args:
        path: The file; no suffix is added.
        process: The model.
        objective: What was found, as text.
        answer: Its values.
    """
    with replacing(Path(path)) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            v=answer.v,
            choice=answer.choice,
            action=process.mdp.action[answer.choice].astype(np.uint32),
            action_names=np.array(process.actions, dtype=str),
            initial=process.initial,
            error_bound=answer.error_bound,
            objective=objective,
        )

"""Values and optimal policy of an imported model for one objective, as a NumPy archive (``.npz``).

::

    v             float64 [n_states]       values; infinite if no policy has a finite value
    choice        int64   [n_states]       index of an optimal choice, in the file's order
    action        uint32  [n_states]       index of its action; index within the state if the model names no actions
    action_names  text                     names of the actions
    initial       int64                    indices of the initial states
    error_bound   float64                  upper bound on the error of every finite value
    objective     text

States without choices are counted as having one choice.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from punish_fast.mdp.conversion.named_process import NamedProcess
from punish_fast.mdp.solution import ObjectiveValues, Solution
from punish_fast.runtime.files import replacing


def save_answer(path: str | Path, process: NamedProcess, objective: str, answer: ObjectiveValues | Solution) -> None:
    """Write values and policy to ``path`` (no suffix is added); ``objective`` describes the objective as text."""
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

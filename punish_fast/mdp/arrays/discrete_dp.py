"""Arrays of MDPs from QuantEcon's ``quantecon.markov.DiscreteDP``, in both of its forms.

In the *product form*, all states have the same actions, with ``R[state, action]`` and ``Q[state, action, successor]``.
In the *state-action pair form*, pair ``r`` is action ``a_indices[r]`` in state ``s_indices[r]``, with ``R[r]`` and
``Q[r, successor]``, dense or sparse. A reward of minus infinity excludes an action.
"""

from typing import Any

import numpy as np

from punish_fast.mdp.arrays.construction import ModelArrays, entries_of, from_pairs, from_table
from punish_fast.mdp.arrays.policy import refuse_mask
from punish_fast.mdp.arrays.row_sums import ModelError


def from_quantecon(ddp: Any, normalize: bool = False) -> ModelArrays:
    """See `MDP.from_quantecon`."""
    from scipy.sparse import csr_array, issparse

    if not all(hasattr(ddp, name) for name in ("R", "Q", "s_indices", "a_indices", "num_states")):
        raise ModelError(f"ddp: {type(ddp).__name__} is not allowed; it must be a QuantEcon DiscreteDP")
    refuse_mask("ddp", [ddp.R, ddp.Q, ddp.s_indices, ddp.a_indices], ModelError)
    reward = np.asarray(ddp.R, dtype=np.float64)
    if ddp.s_indices is None:
        table = np.asarray(ddp.Q)
        return from_table([csr_array(table[:, action]) for action in range(reward.shape[1])], reward, normalize)
    allowed = np.flatnonzero(reward != -np.inf)
    # Sort by state and then by action. QuantEcon does so as well, but its arrays might have been changed.
    rows = allowed[np.lexsort((ddp.a_indices[allowed], ddp.s_indices[allowed]))]
    transitions = entries_of("Q", ddp.Q) if issparse(ddp.Q) else csr_array(ddp.Q)
    if len(rows) != len(reward) or (np.diff(rows) != 1).any():
        transitions = transitions[rows]
    pairs = ddp.s_indices[rows], ddp.a_indices[rows]
    return from_pairs(transitions, reward[rows], pairs, ddp.num_states, normalize)

"""The Markov chain of a policy: a process with one row in each state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from punish_fast.mdp.model import MDP
from punish_fast.mdp.policy import flaw_of
from punish_fast.mdp.row_selection import states_of_rows
from punish_fast.mdp.stopping_rule import SolveError


def induced_chain(mdp: MDP, weight: np.ndarray) -> MDP:
    """The chain of a policy: its row of a state is the mean of the state's rows.

    Where the policy takes one row, nothing is rounded; other probabilities are rounded once or a few times.

    Args:
        mdp: The process.
        weight: float64 ``[n_rows]``, the probability of each row in its state.

    Raises:
        SolveError: ``weight`` is no policy.
    """
    from scipy.sparse import csr_array

    weight = np.asarray(weight, dtype=np.float64)
    flaw = flaw_of(mdp.state_ptr, weight)
    if flaw is not None:
        raise SolveError(f"weight: {flaw}")
    taken = np.flatnonzero(weight)
    state_of = states_of_rows(mdp)[taken]
    mixture = csr_array((weight[taken], (state_of, taken)), shape=(mdp.n_states, mdp.n_rows))
    rows = csr_array(mixture @ mdp.to_scipy())
    rows.sum_duplicates()
    begins = mdp.state_ptr[:-1]
    return replace(
        mdp,
        state_ptr=np.arange(mdp.n_states + 1),
        indptr=rows.indptr.astype(np.int64),
        indices=rows.indices.astype(np.int32),
        data=np.minimum(rows.data, 1.0),
        reward=np.asarray(mixture @ mdp.reward),
        action=mdp.action[begins],
        data_ptr=None,
    )

"""Policies of an MDP, and the rows of the Markov chain of a policy."""

from typing import Any

import numpy as np

from punish_fast.mdp.arrays.names import state_name
from punish_fast.mdp.arrays.policy import check_policy
from punish_fast.mdp.model.limits import SolveError
from punish_fast.mdp.model.process import Process
from punish_fast.runtime.lazy_modules import sparse


def chain_arrays(mdp: Process, policy: Any, transitions: sparse.csr_array) -> dict[str, Any]:
    """Return the arrays of the chain of ``policy``, float64 ``[n_rows]``, that differ from the arrays of the MDP.

    ``transitions``, ``[n_rows, n_columns]``, contains the probabilities of the MDP. Only the probabilities and rewards
    of states in which the policy mixes rows are rounded.
    """
    policy = check_policy(mdp.state_ptr, policy, SolveError, np.float64)
    begins, lengths = mdp.state_ptr[:-1], np.diff(mdp.state_ptr)
    policy = policy / np.repeat(np.add.reduceat(policy, begins), lengths)
    taken = np.flatnonzero(policy)
    state_of = np.repeat(np.arange(mdp.n_states), lengths)[taken]
    mixture = sparse.csr_array((policy[taken], (state_of, taken)), shape=(mdp.n_states, mdp.n_rows))
    rows = sparse.csr_array(mixture @ transitions)
    rows.sum_duplicates()
    is_mixed = np.diff(mixture.indptr) > 1
    vanished = (rows.data < np.finfo(np.float64).tiny) & np.repeat(is_mixed, np.diff(rows.indptr))
    if vanished.any():
        state = int(np.searchsorted(rows.indptr, vanished.argmax(), side="right")) - 1
        name = state_name(mdp.names, state)
        told = "products of the probabilities of rows and of transitions must be above 2.3e-308"
        raise SolveError(f"policy: a probability in state {name} is too small for floating point; {told}")
    found = {"indptr": rows.indptr.astype(np.int64), "indices": rows.indices.astype(np.int32), "data": rows.data}
    found |= {"reward": np.asarray(mixture @ mdp.reward), "action": mdp.action[taken[mixture.indptr[:-1]]]}
    return found | {"state_ptr": np.arange(mdp.n_states + 1), "data_ptr": None}

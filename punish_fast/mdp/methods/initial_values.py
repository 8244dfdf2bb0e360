"""Initial values for sweeps over costs: the values of a policy that heads for the terminals.

If rewards are negative, zeros are optimistic. In a corridor of ``n`` states, sweeps from zeros then need about ``n``
passes, because a pass lowers most values by the cost of a single step. Values of a policy are lower bounds, and correct
values spread from the terminals in any sweep that updates successors first.

The policy takes the rows by which a breadth-first search from the terminals discovers the states. States are evaluated
in the order of their discovery, so one pass is exact if each row has a single successor. Otherwise, a few passes in
alternating directions approach the values. Any initial values are valid, so nothing needs to be proved.
"""

from dataclasses import replace

import numpy as np

from punish_fast.mdp.graph.qualitative import TransitionGraph
from punish_fast.mdp.graph.row_selection import select_rows, terminals_of
from punish_fast.mdp.methods import _component_brackets
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.outcomes import Payoff
from punish_fast.mdp.model.stored_process import tensor_of

# Smaller MDPs are swept from zeros.
_FEW_STATES = 1024
_MOST_PASSES = 32


def initial_values(mdp: MDP, payoff: Payoff, tolerance: float) -> np.ndarray | None:
    """Return values of a policy that heads for the terminals, float64 ``[n_states]``.

    Return None if the MDP is small, no reward is negative, or a state cannot reach a terminal.
    """
    n = mdp.n_states
    if n < _FEW_STATES or payoff.row.min() >= 0:
        return None
    row, order = TransitionGraph(mdp).search(terminals_of(mdp))
    order = order[order < n]
    if len(order) < n:
        return None
    column = np.arange(mdp.n_columns, dtype=np.int32)
    column[order] = np.arange(n, dtype=np.int32)
    rows = row[order]
    arrays = select_rows(mdp, rows, column) | {"reward": payoff.row[rows], "action": mdp.action[:n]}
    chain = replace(mdp, state_ptr=np.arange(n + 1), **arrays)
    v = np.concatenate([np.zeros(n), payoff.end])
    boundary = np.array([0, n], dtype=np.uint64)
    _component_brackets.relax_components(0, 1, boundary, tensor_of(chain), v, tolerance, _MOST_PASSES)
    return v[column[:n]]

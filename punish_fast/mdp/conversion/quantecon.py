"""Conversion to QuantEcon's ``quantecon.markov.DiscreteDP``."""

from typing import Any

import numpy as np

from punish_fast.mdp.model.limits import discount_of
from punish_fast.mdp.model.mdp import MDP, check_arrays
from punish_fast.runtime.errors import require


def to_quantecon(mdp: MDP, discount: float) -> Any:
    """Return a ``quantecon.markov.DiscreteDP`` in state-action pair form, with ``n_columns`` states.

    Terminals become the last states. Each has a single row, labeled 0, that leads back to the terminal and pays its
    reward. The discounted value of a terminal that ends the episode is added to the rewards of the rows that lead to
    it. All other rows keep the labels in ``action``.

    Args:
        mdp: The MDP.
        discount: Discount factor, from 0 to 1.

    Returns:
        The ``DiscreteDP``.

    Raises:
        ExtraError: If QuantEcon is not installed. The message contains the command that installs it.
        ModelError: If the arrays of ``mdp`` are inconsistent.
        SolveError: If the discount is out of range.

    Examples:
        >>> from punish_fast.mdp import MDP
        >>> mdp = MDP.from_dense([[[0.5, 0.5], [0.0, 1.0]]], R=np.array([1.0, 0.0]))
        >>> to_quantecon(mdp, discount=0.9).solve().v.round(4)  # needs QuantEcon
        array([1.8182, 0.    ])
    """
    from scipy.sparse import csr_array, csr_matrix, vstack

    check_arrays(mdp)
    discount = discount_of(discount)
    require("quantecon")
    from quantecon.markov import DiscreteDP

    n_terminals, reward = len(mdp.terminal_reward), mdp.reward
    if mdp.terminal_value is not None:
        # A value counts once, on entry, at any discount and number of steps.
        reward = reward + discount * (mdp.to_scipy()[:, mdp.n_states :] @ mdp.terminal_value)
    terminals = np.arange(mdp.n_states, mdp.n_columns)
    stay = csr_array((np.ones(n_terminals), (np.arange(n_terminals), terminals)), shape=(n_terminals, mdp.n_columns))
    paid, rows = np.append(reward, mdp.terminal_reward), csr_matrix(vstack([mdp.to_scipy(), stay]))
    states = np.append(np.arange(mdp.n_states).repeat(np.diff(mdp.state_ptr)), terminals)
    actions = np.append(mdp.action, np.zeros(n_terminals)).astype(np.int64)
    return DiscreteDP(paid, rows, discount, s_indices=states, a_indices=actions)

"""Policy iteration for the maximum expected worth of the terminal reached, if play might never end.

Each terminal has a worth of 0 or more, and play that never ends is worth 0. The maximum expected worth ``v*`` is the
smallest ``v >= 0`` with

    v(s)  =  max_a sum_t P(t | s, a) v(t),         v(terminal) = its worth

[Puterman 1994, ch. 7.2]. There may be other solutions. In a loop that some policy never leaves, every sufficiently
large constant solves the equations, so sweeps from above may converge to a wrong solution, and no contraction bounds
their error. (``solver.py`` brackets win probabilities in MDPs of any size after ``end_components.py`` has collapsed
such loops.) Policy iteration works for two reasons.

* *The values of a policy are unique.* States from which no terminal of positive worth can be reached are worth 0. The
  other states form a transient chain, whose equations have a unique solution; sparse linear algebra finds it up to
  rounding.
* *Values never decrease.* Let ``v`` be the values of a policy, which is then changed only in states with a strictly
  better action. In every step of the new policy, the expectation of ``v`` does not decrease, and it increases in states
  whose action changed. In a loop that the new policy never leaves, the expectation cannot increase. Hence no action
  changed in the loop, the old policy did not leave the loop either, and ``v`` is 0 in its states. Policy iteration
  therefore terminates, with ``T v <= v``. Since ``v*`` is the smallest ``v >= 0`` with this property, ``v`` is an upper
  bound on ``v*``, and the last policy attains it.
"""

from typing import Any

import numpy as np

from punish_fast.mdp.bounds.stopping_rule import SolveError
from punish_fast.mdp.model import MDP
from punish_fast.mdp.policy import first_best

# Improvements up to this size might be rounding errors.
_MARGIN = 1e-13
_MOST_ROUNDS = 1000
# Chains with more states are swept first, because the factors of a large chain that mixes fast are dense.
_MOST_DIRECT = 2000
_MOST_SWEEPS = 5000
_STILL_GOING = 1e-16


def reach(mdp: MDP, worth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the maximum expected worth of the terminal reached; the rewards of ``mdp`` are ignored.

    ``worth``, float64 ``[n_terminals]``, must not be negative; if it contains only 0 and 1, values are probabilities.
    Return the values, float64 ``[n_states]``, and the rows of an optimal policy, int64 ``[n_states]``.
    """
    transitions = mdp.to_scipy()
    begins = mdp.state_ptr[:-1]
    choice = begins.copy()
    for _ in range(_MOST_ROUNDS):
        v = absorption_values(transitions[choice], worth)
        q = transitions @ np.concatenate([v, worth])
        best = first_best(mdp.state_ptr, q)
        better = q[best] - v > _MARGIN
        if not better.any():
            return v, choice
        choice = np.where(better, best, choice)
    raise SolveError(f"policy iteration: not converged after {_MOST_ROUNDS} rounds")


def absorption_values(chain: Any, worth: np.ndarray) -> np.ndarray:
    """Return the expected ``worth`` of the terminal that a chain reaches from each state, float64 ``[n_states]``."""
    from scipy.sparse import csr_array

    chain = csr_array(chain)
    n_states = chain.shape[0]
    within, out = chain[:, :n_states], chain[:, n_states:] @ worth
    alive = np.flatnonzero(_can_reach(within, out > 0))
    v = np.zeros(n_states)
    if len(alive):
        within, out = within[alive][:, alive], out[alive]
        found = _swept(within, out) if len(out) > _MOST_DIRECT else None
        v[alive] = _factorised(within, out) if found is None else found
    return v


def _swept(within: Any, out: np.ndarray) -> np.ndarray | None:
    """Solve by sweeps from 0; return None if play continues with a probability above 1e-16 after 5,000 sweeps."""
    both = np.column_stack([np.zeros(len(out)), np.ones(len(out))])
    absorbed = np.column_stack([out, np.zeros(len(out))])
    for _ in range(_MOST_SWEEPS):
        both = within @ both + absorbed
        if both[:, 1].max() <= _STILL_GOING:
            return np.asarray(both[:, 0])
    return None


def _factorised(within: Any, out: np.ndarray) -> np.ndarray:
    """Solve ``x = within @ x + out`` by sparse LU factorization."""
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import splu

    matrix = csc_array(eye_array(len(out)) - within)
    factors = splu(matrix)
    found = factors.solve(out)
    # Refine the solution once, because the equations of long chains are ill-conditioned.
    return np.asarray(found + factors.solve(out - matrix @ found))


def _can_reach(within: Any, marked: np.ndarray) -> np.ndarray:
    """Return a mask of the states from which a marked state can be reached, bool ``[n_states]``."""
    reached = marked
    while True:
        more = reached | (within @ reached.astype(np.float64) > 0)
        if np.array_equal(more, reached):
            return reached
        reached = more

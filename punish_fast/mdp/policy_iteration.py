"""How likely a goal is reached where play may go on for ever.

Each terminal is worth something, none less than nothing, and play that never ends is worth nothing. The largest
expected worth ``v*`` is then the least of all ``v >= 0`` with

    v(s)  =  max_a sum_t P(t | s, a) v(t),         v(terminal) = its worth

[Puterman 1994, ch. 7.2]. There may be others: on a loop that can be kept up for ever any constant solves its
equations, so sweeps from above end anywhere, and no contraction bounds their error. (Where all play ends,
``reachability.py`` brackets the same chances, in processes of any size.) Two facts settle it.

* *Under one policy*, states from which nothing of worth can be reached are worth 0. From all others something is
  reached with some chance, so among them the chain is transient, and its equations have one solution, which sparse
  linear algebra finds up to rounding.
* *Over policies*: let a policy with values ``v`` be changed only where another action is worth strictly more. On a loop
  that the new policy never leaves, ``v`` cannot grow from one state to the next without coming back to itself, so it is
  constant there and nothing was changed; and then it was 0. Hence values never fall, and policy iteration ends. It ends
  with ``T v <= v``, and ``v*`` is the least such ``v``; so ``v`` is both what a policy achieves and an upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from punish_fast.mdp.contraction import SolveError
from punish_fast.mdp.model import MDP, check_arrays
from punish_fast.mdp.policy import first_best

# An action must be better by more than rounding can make it look.
_MARGIN = 1e-13
_MOST_ROUNDS = 1000
# Factors of a large chain that mixes well fill up. So it is swept first, in vain if it goes on for long.
_MOST_DIRECT = 2000
_MOST_SWEEPS = 5000
_STILL_GOING = 1e-16


@dataclass(frozen=True, eq=False)
class Reached:
    """What the best policy reaches.

    Attributes:
        v: float64 ``[n_states]``, values.
        choice: int64 ``[n_states]``, the row that is taken in each state.
        excess: By how much another action looks better anywhere: the certificate, 0 but for rounding.
        rounds: Policies evaluated.
    """

    v: np.ndarray
    choice: np.ndarray
    excess: float
    rounds: int


def reach(mdp: MDP, worth: np.ndarray) -> Reached:
    """The largest expected worth of the terminal that is reached.

    Args:
        mdp: The process; its rewards and their discount play no part.
        worth: float64 ``[n_terminals]``, 0 or more; with 1 and 0, values are chances.

    Raises:
        SolveError: ``worth`` is not of that kind, or no policy is found to be the best.
        ModelError: the arrays of ``mdp`` do not fit together.
    """
    check_arrays(mdp)
    worth = _checked(worth, len(mdp.terminal_reward))
    transitions = mdp.to_scipy()
    begins = mdp.state_ptr[:-1]
    choice = begins.copy()
    for rounds in range(1, _MOST_ROUNDS + 1):
        v = chances(transitions[choice], worth)
        q = transitions @ np.concatenate([v, worth])
        best = first_best(mdp.state_ptr, q)
        gain = q[best] - v
        better = gain > _MARGIN
        if not better.any():
            return Reached(v, choice, max(float(gain.max(initial=0)), 0.0), rounds)
        choice = np.where(better, best, choice)
    raise SolveError(f"policies: none is the best after {_MOST_ROUNDS} rounds")


def chances(chain: Any, worth: np.ndarray) -> np.ndarray:
    """The expected worth of the terminal that a chain ends in, float64 ``[n_states]``.

    Args:
        chain: A sparse or dense matrix ``[n_states, n_states + n_terminals]`` of probabilities.
        worth: float64 ``[n_terminals]``, 0 or more.

    Raises:
        SolveError: ``worth`` is not of that kind.
    """
    from scipy.sparse import csr_array

    chain = csr_array(chain)
    n_states, n_columns = chain.shape
    worth = _checked(worth, n_columns - n_states)
    within, out = chain[:, :n_states], chain[:, n_states:] @ worth
    alive = np.flatnonzero(_can_reach(within, out > 0))
    v = np.zeros(n_states)
    if len(alive):
        v[alive] = _solved(within[alive][:, alive], out[alive])
    return v


def _solved(within: Any, out: np.ndarray) -> np.ndarray:
    """The solution of ``v = within @ v + out``, for a transient chain."""
    found = _swept(within, out) if len(out) > _MOST_DIRECT else None
    return _factorised(within, out) if found is None else found


def _swept(within: Any, out: np.ndarray) -> np.ndarray | None:
    """The solution by sweeps from 0; None if that takes too many.

    What is missing after some sweeps is no more than the largest chance that the chain still goes on.
    """
    both = np.column_stack([np.zeros(len(out)), np.ones(len(out))])
    come_out = np.column_stack([out, np.zeros(len(out))])
    for _ in range(_MOST_SWEEPS):
        both = within @ both + come_out
        if both[:, 1].max() <= _STILL_GOING:
            return np.asarray(both[:, 0])
    return None


def _factorised(within: Any, out: np.ndarray) -> np.ndarray:
    """The solution by a sparse factorisation."""
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import splu

    matrix = csc_array(eye_array(len(out)) - within)
    factors = splu(matrix)
    found = factors.solve(out)
    # One step of refinement: long chains are badly conditioned.
    return np.asarray(found + factors.solve(out - matrix @ found))


def _can_reach(within: Any, at_once: np.ndarray) -> np.ndarray:
    """From which states those marked can be reached, bool ``[n_states]``."""
    reached = at_once
    while True:
        more = reached | (within @ reached.astype(np.float64) > 0)
        if np.array_equal(more, reached):
            return reached
        reached = more


def _checked(worth: np.ndarray, n_terminals: int) -> np.ndarray:
    worth = np.asarray(worth, dtype=np.float64)
    if worth.shape != (n_terminals,) or not (np.isfinite(worth) & (worth >= 0)).all():
        raise SolveError(f"worth: must be {n_terminals} finite numbers, none negative")
    return worth

"""Policy iteration for the largest average reward of a process whose states can all reach each other.

Sweeps take the longer, the more slowly play forgets its first state; an elimination (``elimination.py``) takes the same
time for all chains. A policy with several recurrent classes is changed to lead all states to the best class. Let ``k``
be a state of this class, and ``x(s)`` and ``t(s)`` the expected reward and the expected number of steps until play next
reaches ``k``. The gain and the bias of the policy are

    g = x(k) / t(k),        h = x - g t        (0 at k)

and a row with ``r(s, a) + sum_t P(t | s, a) (h(t) - h(s)) > g`` improves it [Howard 1960; Puterman 1994, sec. 8.6 and
9.5]. ``h`` is a sum of two floats, of which only differences are used (``exact_iteration.py``), so rounding errors
depend only on the terms of each row. The certificate is in ``average_reward.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from punish_fast.mdp.elimination import Elimination, closed_classes
from punish_fast.mdp.exact_iteration import Double, Rows
from punish_fast.mdp.graph import TransitionGraph
from punish_fast.mdp.model import MDP
from punish_fast.mdp.rounding import UNIT_ROUNDOFF

_MOST_ROUNDS = 100
_MOST_REFINEMENTS = 8
_GOES_ON = 1 - 1e-11


def bias_of_best(mdp: MDP, choice: np.ndarray, tolerance: float) -> Double:
    """Find the bias of a policy whose gain no other policy exceeds by more than the tolerance, or rounding.

    Args:
        mdp: The process, not compact and without terminals; all states can reach each other.
        choice: int64 ``[n_states]``, the rows of the first policy.
        tolerance: Largest distance of the bounds on the gain that follow from the bias.

    Returns:
        The bias, ``[n_states]``; not finite if the elimination overflows.
    """
    rows = Rows.of(mdp, mdp.reward)
    graph = TransitionGraph(mdp, np.zeros(mdp.n_states, dtype=bool))
    h = Double(np.zeros(mdp.n_states), np.zeros(mdp.n_states))
    for _ in range(_MOST_ROUNDS):
        choice, end = _with_one_class(rows, graph, choice, h)
        h = _evaluated(rows, choice, np.array([end]), h)[0]
        gain, error = rows.gains(h)
        best = rows.best(gain - error)
        # In states that play seldom leaves, the bias may be off by more than the gains show.
        better = (gain - error)[best] > (gain + error)[choice] + UNIT_ROUNDOFF * np.abs(h.high).max(initial=0)
        if not better.any() or (gain + error).max() - (gain - error)[best].min() <= tolerance:
            break
        choice = np.where(better, best, choice)
    return h


def _with_one_class(rows: Rows, graph: TransitionGraph, choice: np.ndarray, h: Double) -> tuple[np.ndarray, int]:
    """Lead all states to the recurrent class that has the largest gain; return the policy, and a state of the class."""
    chain = rows.matrix[choice]
    classes = closed_classes(chain)
    ends = np.array([_central_state(chain, states) for states in classes])
    if len(ends) == 1:
        return choice, int(ends[0])
    gains = np.nan_to_num(_evaluated(rows, choice, ends, h)[1][ends], nan=-np.inf)
    into = np.zeros(len(choice), dtype=bool)
    into[classes[int(gains.argmax())]] = True
    return np.where(into, choice, graph.may_reach(into).row), int(ends[gains.argmax()])


def _central_state(chain: Any, states: np.ndarray) -> int:
    """Return a state of a recurrent class that is visited often, so that play comes back to it soon.

    The state has the largest number of visits if play begins in every state and stops with a small probability. The
    digits of these numbers do not matter.
    """
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import splu

    inside = chain[states][:, states]
    try:
        factors: Any = splu(csc_array(eye_array(len(states)) - _GOES_ON * inside))
        visits = factors.solve(np.ones(len(states)), "T")
    except RuntimeError:
        return int(states[0])
    return int(states[np.nan_to_num(np.abs(visits)).argmax()])


def _evaluated(rows: Rows, choice: np.ndarray, ends: np.ndarray, h: Double) -> tuple[Double, np.ndarray]:
    """Return the bias of a policy, which is 0 in the states ``ends``, one of each recurrent class; and its gain.

    With several classes, only the gains of the states ``ends`` are meaningful.
    """
    from scipy.sparse import csr_array, hstack

    taken = rows.taken(choice)
    chain = csr_array(taken.matrix)
    kept = np.ones(len(choice))
    kept[ends] = 0.0
    arrives = csr_array((chain @ (1 - kept))[:, None])
    elimination = Elimination(hstack([csr_array(chain.multiply(kept[None, :])), arrives], format="csr"))
    steps = elimination.solve(np.ones(len(choice)))
    gain = np.zeros(len(choice))
    h = Double(h.high - h.high[ends[0]], h.low - h.low[ends[0]]) if len(ends) == 1 else Double(0 * h.high, 0 * h.low)
    for _ in range(_MOST_REFINEMENTS):
        local, error = taken.gains(h)
        missing = local - gain
        if (np.abs(missing) <= error).all():
            break
        x = elimination.solve(missing)
        if len(ends) > 1:
            return h, x / steps
        change = x[ends[0]] / steps[ends[0]]
        moved = x - change * steps
        moved[ends] = 0.0
        if not np.isfinite(moved).all():
            break
        gain, h = gain + change, h.plus(moved)
    return h, gain

"""Policy iteration for the maximum average rewards of all end components simultaneously.

Slowly mixing chains need many sweeps, whereas an elimination (``elimination.py``) takes the same time for fast and slow
chains. A policy with several recurrent classes in a component is changed so that all states of the component lead to
the best class. Let ``k`` be a state of this class, and let ``x(s)`` and ``t(s)`` be the expected reward and the
expected number of steps from state ``s`` until the chain next reaches ``k``. The gain and the bias of the policy are

    g = x(k) / t(k),        h = x - g t        (0 at k)

and a row with ``r(s, a) + sum_t P(t | s, a) (h(t) - h(s)) > g`` improves the policy [Howard 1960; Puterman 1994, sec.
8.6 and 9.5].

If the chain leaves a set of states only once in ``10^40`` steps, ``h`` is so large that its differences have no correct
digit. In a first pass, the chain therefore restarts in a fixed state of its component with probability ``10^-11`` per
step. Then ``t`` is at most ``10^11``, and every policy has one recurrent class in each component. The best policy of
this pass is nearly optimal, and its evaluation without restarts is well conditioned unless this policy also leaves a
set of states so rarely.

``h`` is stored as a sum of two floats, and only differences of its elements are used (``exact_iteration.py``), so the
rounding error of a row depends only on the terms of the row. ``component_gains.py`` computes bounds on the gains.
"""

from typing import Any

import numpy as np

from punish_fast.mdp.chain.elimination import Elimination, closed_classes
from punish_fast.mdp.graph.qualitative import TransitionGraph
from punish_fast.mdp.graph.row_selection import marks_at
from punish_fast.mdp.methods.exact_iteration import LARGEST_DISCOUNT, Double, Rows
from punish_fast.mdp.model.limits import SolverOptions
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.process import UNIT_ROUNDOFF
from punish_fast.runtime.lazy_modules import sparse

# For each pass: the probability of continuing without a restart in each step, and the maximum number of policies.
_PASSES = ((LARGEST_DISCOUNT, 500), (1.0, 100))


def bias_of_best(mdp: MDP, component: np.ndarray, choice: np.ndarray, limits: SolverOptions) -> Double:
    """Return the bias, ``[n_states]``, of a policy whose gain is optimal up to the tolerance or rounding errors.

    Args:
        mdp: MDP without terminals, not compact.
        component: int64 ``[n_states]``, index of each state's component, from 0. No row leaves its component, and all
            states of a component can reach each other.
        choice: int64 ``[n_states]``, rows of the initial policy.
        limits: The tolerance is the maximum distance between the bounds on a gain that follow from the bias.
    """
    graph = TransitionGraph(mdp)
    begins, order = groups(component)
    for goes_on, most_rounds in _PASSES:
        rows, ends = Rows.of(mdp, mdp.reward, goes_on), order[begins]
        for _ in range(most_rounds):
            if goes_on == 1:
                choice, ends = _with_one_class(rows, graph, component, choice, limits)
            h = _evaluated(rows.taken(choice), component, ends, limits)
            gain, error = rows.gains(h)
            best = rows.best(gain - error)
            # In states that the chain rarely leaves, errors of the bias may exceed the error bounds of the gains.
            size = np.maximum.reduceat(np.abs(h.high)[order], begins)
            upper = np.maximum.reduceat(np.maximum.reduceat(gain + error, mdp.state_ptr[:-1])[order], begins)
            is_wide = ~(upper - np.minimum.reduceat((gain - error)[best][order], begins) <= limits.tolerance)
            better = (gain - error)[best] > (gain + error)[choice] + UNIT_ROUNDOFF * size[component]
            better &= is_wide[component]
            if not better.any() or limits.is_over:
                break
            choice = np.where(better, best, choice)
    return h


def groups(component: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort the states by component, and return the offset of each component and the sorted states."""
    order = np.argsort(component, kind="stable")
    return np.searchsorted(component[order], np.arange(component.max(initial=-1) + 1)), order


def _with_one_class(
    rows: Rows, graph: TransitionGraph, component: np.ndarray, choice: np.ndarray, limits: SolverOptions
) -> tuple[np.ndarray, np.ndarray]:
    """Change a policy so that all states lead to the best recurrent class of their component.

    Also return one state of the best class of each component.
    """
    chain = rows.matrix[choice]
    classes = closed_classes(chain)
    ends = np.array([states[0] for states in classes])
    is_single = np.bincount(component[ends]) == 1
    if is_single.all():
        return choice, ends[np.argsort(component[ends])]
    elimination = _until(chain, ends, limits)
    gains = elimination.solve(rows.reward[choice])[ends] / elimination.solve(np.ones(len(choice)))[ends]
    best_first = np.lexsort((-np.nan_to_num(gains, nan=-np.inf), component[ends]))
    best = best_first[np.unique(component[ends][best_first], return_index=True)[1]]
    into = is_single[component]
    into[np.concatenate([classes[k] for k in best])] = True
    return np.where(into, choice, graph.may_reach(into).row), ends[best]


def _until(chain: Any, ends: np.ndarray, limits: SolverOptions) -> Elimination:
    """Eliminate a chain that stops when it next reaches a state of ``ends`` or restarts."""
    n, n_columns = chain.shape
    indices = np.where(marks_at(n_columns, ends)[chain.indices], n, chain.indices)
    chain = sparse.csr_array((chain.data, indices, chain.indptr), shape=(n, max(n_columns, n + 1)))
    return Elimination(chain, limits=limits)


def _evaluated(taken: Rows, component: np.ndarray, ends: np.ndarray, limits: SolverOptions) -> Double:
    """Return the bias of a policy with one recurrent class per component. It is 0 in ``ends``, one state per class."""
    elimination = _until(taken.matrix, ends, limits)
    steps = elimination.solve(np.ones(len(component)))
    # Start from zero, because the bias of another policy can be so large that corrections to it have no correct digit.
    gain, h = np.zeros(len(component)), Double(*np.zeros((2, taken.matrix.shape[1])))
    for _ in range(h.refinements):
        local, error = taken.gains(h)
        missing = local - gain
        if (np.abs(missing) <= error).all():
            break
        x = elimination.solve(missing)
        change = (x[ends] / steps[ends])[component]
        moved = x - change * steps
        moved[ends] = 0.0
        # An overflow in one component must not affect the others.
        is_lost = np.bincount(component, ~np.isfinite(moved)) > 0
        if is_lost.all():
            break
        change[is_lost[component]] = moved[is_lost[component]] = 0.0
        gain, h = gain + change, h.plus(moved)
    return h

"""Policy iteration for small discounted MDPs, on one thread, with an error bound proved in higher precision.

Policy iteration [Howard 1960] evaluates each policy by state reduction, in which no probability is subtracted
(``elimination.py``). The elimination follows the order of the states or its reverse, whichever takes fewer
multiplications, so computing the order takes little time. Rows are stored from their first nonzero position on, and
states whose successors have known values are left out. Before each evaluation, sweeps improve the policy for about as
long as the elimination takes. They update all states in place, alternately in ascending and descending order, so that
values propagate through a whole corridor in one sweep. Between two sweeps over all rows, several sweeps over the
policy's rows read a similar number of entries. This saves eliminations if the chain mixes fast.

**Error bound.** Let ``g`` be the discount, and let

    G(a)  =  r(s, a) + g sum_t P(t | s, a) (v(t) - v(s)) - (1 - g) v(s)

be the *gain* of a row. Rows sum to 1, so ``v + G`` is a backup of ``v``. Backups are monotone. If all gains are at most
``high >= 0``, and the gains of a policy's rows are at least ``low <= 0``, repeated backups therefore give

    v* <= v + high / (1 - g)        v of the policy  >=  v + low / (1 - g).

Gains are computed from differences of values. Their rounding errors are therefore proportional to the rewards,
although values can be ``1 / (1 - g)`` times larger. For a row of ``n`` entries and unit roundoff ``u``, the error is at
most ``(n + 16) u`` times the sum of the absolute terms. To preserve this accuracy, values are stored as sums of two
floats. If the bound exceeds the tolerance, the policy is evaluated again with its gains as rewards, and the result is
added to the values.
"""

import time

import numpy as np

from punish_fast.mdp.methods._direct_iteration import iterate_policies
from punish_fast.mdp.methods.totals import Total
from punish_fast.mdp.model.solution import Exact, Log, Unsolved
from punish_fast.mdp.model.stored_process import tensor_of

# Limits on the MDP, and on the number of policies.
_MOST_STATES, _MOST_READ, _MOST_POLICIES = 100_000, 4_000_000, 100
# Share of the tolerance that gains may use. Rounding values to one float uses the rest.
_SHARE = 0.9


def solve_directly(problem: Total) -> Exact | Unsolved:
    """Find optimal discounted values, with an error bound within the tolerance."""
    mdp, discount, limits, begin = problem.mdp, problem.discount, problem.limits, time.perf_counter()
    if mdp.n_states > _MOST_STATES or mdp.nnz > _MOST_READ:
        return Unsolved(f"more than {_MOST_STATES:,} states or {_MOST_READ:,} entries")
    v, choice = np.zeros(mdp.n_columns), np.empty(mdp.n_states, dtype=np.int64)
    v[mdp.n_states :], q = problem.payoff.end, np.empty(mdp.n_rows)
    most, change = min(_MOST_POLICIES, limits.max_sweeps), _SHARE * limits.tolerance * (1 - discount)
    n, bound = iterate_policies(tensor_of(mdp), discount, most, change, v, choice, q)
    if n < 0:
        return Unsolved("the matrix of a policy is too large")
    limits.progress(n, bound)
    if not bound <= limits.tolerance:
        return Unsolved(f"error bound {bound:.1e} after policy {n}")
    return Exact(v[: mdp.n_states], choice, bound, n, n, q, log=Log([bound], [time.perf_counter() - begin]))

"""Undiscounted total rewards of MDPs without layers, solved component by component.

If a run might never end, end components are collapsed first (``end_components.py``). The ladder (``ladder.py``) then
solves the MDP. Finally, the policy takes the first of tied rows if its values are still proved (see also
``policy.py``).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from punish_fast.mdp.arrays.policy import TIE
from punish_fast.mdp.graph.end_components import collapsed
from punish_fast.mdp.graph.qualitative import TransitionGraph, endless_error, endless_states
from punish_fast.mdp.graph.row_selection import select_rows, states_of_rows
from punish_fast.mdp.ladder import climb
from punish_fast.mdp.methods.exact_iteration import values_of_rows
from punish_fast.mdp.methods.totals import Total
from punish_fast.mdp.model.limits import SolveError, SolverLimits, keep_quiet
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.outcomes import Exact, Payoff, Unsolved


def largest_total(mdp: MDP, payoff: Payoff, limits: SolverLimits, may_not_end: bool = False) -> Exact:
    """Find the maximum total reward and a policy that attains it up to the error bound (see `Total`)."""
    problem = Total(mdp, payoff, limits, may_not_end=may_not_end)
    found = climb(problem)
    if isinstance(found, Exact):
        return found
    bound = np.inf if problem.eliminated is None else problem.eliminated.error_bound
    proved = "no error bound" if bound == np.inf else f"only an error bound of {bound:.1e}"
    raise SolveError(
        f"tolerance: not reached after {limits.max_sweeps:,} sweeps, and policy iteration proves {proved}; use a "
        "larger tolerance, a discount or more sweeps"
    )


def solve_by_component(mdp: MDP, endless: np.ndarray, payoff: Payoff, limits: SolverLimits) -> Exact:
    """Solve an MDP without a discount, component by component, and compute row values.

    Args:
        mdp: MDP with a single layer, not compact. Its rewards are ignored.
        endless: bool ``[n_states]``, mask of the states from which some policy might never end play.
        payoff: Rewards of rows and terminals.
    """
    found = _optimum(mdp, endless, payoff, replace(limits, tolerance=limits.tolerance / 2))
    found = first_of_ties(mdp, payoff, found, limits)
    limits.progress(found.rounds, found.error_bound)
    return found


def _optimum(mdp: MDP, endless: np.ndarray, payoff: Payoff, limits: SolverLimits) -> Exact:
    """Find the maximum total reward and a policy that attains it. Runs that never end pay nothing."""
    if not endless.any():
        return largest_total(mdp, payoff, limits)
    paid = replace(mdp, reward=payoff.row, terminal_reward=payoff.end)
    quotient = collapsed(paid, endless, pays=bool(payoff.row.any()))
    if (still := endless_states(quotient.mdp)).any():
        raise endless_error(still[quotient.number])
    initial_values = None if limits.initial_values is None else limits.initial_values[quotient.first]
    payoff = payoff._replace(row=quotient.mdp.reward, end=quotient.mdp.terminal_reward)
    return quotient.lifted(largest_total(quotient.mdp, payoff, replace(limits, initial_values=initial_values)))


def first_of_ties(mdp: MDP, payoff: Payoff, found: Exact, limits: SolverLimits, must_end: bool = False) -> Exact:
    """Change the policy to the first of tied rows if play still ends and the proved loss is small (see `settle_ties`).

    The values in ``found`` must be optimal up to half the tolerance. If ``must_end`` is True, play must end even from
    states of value 0. Row values are added.
    """
    goal = np.ones(mdp.n_columns, dtype=bool)
    # Play need not end from states of value 0, unless rows pay or it must end everywhere.
    goal[: mdp.n_states] = (found.v == 0) & (not (must_end or payoff.row.any()))
    graph = TransitionGraph(mdp, np.zeros(mdp.n_columns, dtype=bool))

    def evaluate(chain: MDP) -> Exact | Unsolved:
        collected, endless = payoff._replace(row=chain.reward), endless_states(chain)
        # If the values needed policy iteration, sweeps would not be sufficient here either.
        most = limits.max_sweeps if found.policies == 0 else 1
        inner = replace(
            limits, tolerance=limits.tolerance / 2, max_sweeps=most, initial_values=found.v, progress=keep_quiet
        )
        if must_end and endless.any():
            return Unsolved("the policy might not end")
        return _optimum(chain, endless, collected, inner)

    q = values_of_rows(mdp, payoff, found)
    paid = replace(mdp, reward=payoff.row)
    first = partial(graph.first_rows, goal)
    return replace(settle_ties(paid, q, found, limits.tolerance, first, evaluate, payoff.scale), q=q)


# Largest difference that rounding causes between equal values, as a share of the largest value.
_ROUNDING = 1e-15
# Permitted loss from taking tied rows, in multiples of the error bound. Rational arithmetic bounds the optimal values,
# but not always the values of the policy.
_MOST_BOUNDS = 4


def settle_ties(
    mdp: MDP,
    q: np.ndarray,
    found: Exact,
    tolerance: float,
    first_of: Callable[[np.ndarray], np.ndarray],
    evaluate: Callable[[MDP], Exact | Unsolved],
    scale: float = 0.0,
) -> Exact:
    """Take the first of tied rows if the proved loss is within the tolerance or four times the error bound.

    Rows tie as in ``policy.py`` or, if the policy then loses too much, if they are within 1e-15 of the largest value.

    Args:
        q: Row values, float64 ``[n_rows]``.
        tolerance: Allowed difference between the values and those earned by the policy.
        first_of: Returns a policy, int64 ``[n_states]``, that takes tied rows, given their mask, bool ``[n_rows]``.
        evaluate: Returns the values of a chain. It might raise `SolveError`.
        scale: Lower bound on the largest absolute value.
    """
    least, n = found.v[states_of_rows(mdp)], mdp.n_states
    largest = max(float(np.abs(found.v).max(initial=0)), scale, np.finfo(np.float64).tiny)
    for tie in (TIE * largest, _ROUNDING * largest):
        first = first_of(q >= least - tie)
        if np.array_equal(first, found.choice):
            break
        rows = select_rows(mdp, first, np.arange(mdp.n_columns, dtype=np.int32))
        rows |= {"state_ptr": np.arange(n + 1), "reward": mdp.reward[first], "action": mdp.action[first]}
        try:
            earned = evaluate(replace(mdp, **rows))
        except SolveError:
            continue
        if isinstance(earned, Exact):
            loss = float(np.nextafter((found.v - earned.v).max(initial=0) + earned.error_bound, np.inf))
            if loss <= max(tolerance, _MOST_BOUNDS * found.error_bound):
                found = replace(found, choice=first, error_bound=max(found.error_bound, loss))
                break
    return found

"""Undiscounted total rewards of MDPs without layers, solved component by component.

If a run might never end, end components are collapsed first (``end_components.py``). The ladder (``ladder.py``) then
solves the MDP. Finally, the policy is changed to the first of tied rows (``policy.py``) if the values of the new policy
are proved.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from punish_fast.mdp.arrays.names import Names
from punish_fast.mdp.arrays.policy import TIE
from punish_fast.mdp.graph.end_components import collapsed, end_components
from punish_fast.mdp.graph.qualitative import TransitionGraph, endless_error, endless_states
from punish_fast.mdp.graph.row_selection import restricted, rows_of_states, select_rows, states_of_rows, terminals_of
from punish_fast.mdp.ladder import climb
from punish_fast.mdp.methods.component_gains import Gains
from punish_fast.mdp.methods.exact_iteration import values_of_rows
from punish_fast.mdp.methods.totals import Total
from punish_fast.mdp.model.limits import MAX_SWEEPS, SolveError, SolverOptions, quiet
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.solution import Exact, Payoff, Unsolved

# Precisions as fractions of the largest reward, tried in this order until the sign of a component's gain is known.
_PRECISIONS = (1e-2, 1e-5, 1e-9, 0.0)


def largest_total(mdp: MDP, payoff: Payoff, limits: SolverOptions, may_not_end: bool = False) -> Exact:
    """Find the maximum total reward and a policy that attains it up to the error bound (see `Total`)."""
    problem = Total(mdp, payoff, limits, may_not_end=may_not_end)
    found = climb(problem)
    if isinstance(found, Exact):
        return found
    bound = problem.eliminated.error_bound
    proved = "no error bound" if bound == np.inf else f"only an error bound of {bound:.1e}"
    told = f"not reached after {limits.max_sweeps:,} sweeps, and policy iteration proves {proved}"
    raise SolveError(f"tolerance: {told}; use a larger tolerance, a discount or more sweeps")


def solve_by_component(mdp: MDP, endless: np.ndarray, payoff: Payoff, limits: SolverOptions) -> Exact:
    """Solve an MDP without a discount, component by component, and compute row values.

    Args:
        mdp: MDP with a single layer, not compact. Its rewards are ignored.
        endless: bool ``[n_states]``, mask of the states from which some policy might never terminate.
        payoff: Rewards of rows and terminals.
    """
    found = _optimum(mdp, endless, payoff, replace(limits, tolerance=limits.tolerance / 2))
    is_finite = np.isfinite(found.v).all()
    q = None if is_finite else values_of_rows(mdp, payoff, found)
    found = first_of_ties(mdp, payoff, found, limits) if is_finite else replace(found, q=q)
    limits.progress(found.rounds, found.error_bound)
    return found


def _optimum(mdp: MDP, endless: np.ndarray, payoff: Payoff, limits: SolverOptions) -> Exact:
    """Find the maximum total reward and an optimal policy. Endless runs must have unbounded costs or no rewards."""
    if not endless.any():
        return largest_total(mdp, payoff, limits)
    paid = replace(mdp, reward=payoff.row, terminal_reward=payoff.end)
    quotient = collapsed(paid, endless, pays=bool(payoff.row.any()))
    if (still := endless_states(quotient.mdp)).any():
        return quotient.lifted(_optimum_with_costs(quotient.mdp, still[quotient.number], mdp.names, limits))
    initial_values = None if limits.initial_values is None else limits.initial_values[quotient.first]
    payoff = payoff._replace(row=quotient.mdp.reward, end=quotient.mdp.terminal_reward)
    return quotient.lifted(largest_total(quotient.mdp, payoff, replace(limits, initial_values=initial_values)))


def _optimum_with_costs(mdp: MDP, endless: np.ndarray, names: Names, limits: SolverOptions) -> Exact:
    """Find the maximum total reward if runs that never end have unbounded costs, which policies avoid if they can.

    The value of a state from which no policy almost surely terminates is minus infinity. ``endless``, bool, and
    ``names`` describe the original states whose runs might not end, for the message if their rewards are not costs.
    """
    number, _, inside = end_components(mdp)
    earning = earning_rows(mdp, number, inside)
    if len(earning) and (signed_gains(mdp, number, earning, limits)[0].bracket.upper >= 0).any():
        raise endless_error(endless, names)
    ends = terminals_of(mdp)
    graph = TransitionGraph(mdp)
    sure = graph.surely_reach(ends).found
    v, choice = np.full(mdp.n_states, -np.inf), mdp.state_ptr[:-1].copy()
    found = Exact(v, choice, 0.0, 0)
    if (is_sure := sure[: mdp.n_states]).any():
        rows = graph.stays(sure) & rows_of_states(mdp, is_sure)
        part = restricted(mdp, rows, np.append(mdp.terminal_reward, 0.0))
        payoff = Payoff(part.mdp.reward, part.mdp.terminal_reward)
        found = largest_total(part.mdp, payoff, replace(limits, initial_values=None), may_not_end=True)
        v[part.states], choice[part.states] = found.v, part.rows[found.choice]
    return replace(found, v=v, choice=choice)


def earning_rows(mdp: MDP, number: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return those rows of end components (see `end_components`) whose component has a row with a positive reward."""
    component = number[states_of_rows(mdp)[inside]]
    return np.asarray(inside[np.isin(component, component[mdp.reward[inside] > 0])])


def signed_gains(mdp: MDP, number: np.ndarray, rows: np.ndarray, limits: SolverOptions) -> tuple[Gains, np.ndarray]:
    """Bracket the maximum average reward of end components until its sign is known or precision is exhausted.

    ``rows``, int64 ``[k]``, contains the rows of the components. Also return a mask of the components whose sign is not
    known.
    """
    largest = float(np.abs(mdp.reward[rows]).max())
    for precision in _PRECISIONS:
        climb(gains := Gains(mdp, number, rows, quiet(limits, precision * largest, MAX_SWEEPS)))
        is_open = (gains.bracket.lower <= 0) & (gains.bracket.upper >= 0)
        if not is_open.any():
            break
    return gains, is_open


def first_of_ties(mdp: MDP, payoff: Payoff, found: Exact, limits: SolverOptions, must_end: bool = False) -> Exact:
    """Change the policy to the first of tied rows if runs still end and the proved loss is small (see `settle_ties`).

    The values in ``found`` must be optimal up to half the tolerance. If ``must_end`` is True, runs must end even from
    states of value 0. The result includes row values.
    """
    goal = np.ones(mdp.n_columns, dtype=bool)
    # Runs need not end from states of value 0, unless rows have rewards or `must_end` is True.
    goal[: mdp.n_states] = (found.v == 0) & (not (must_end or payoff.row.any()))
    graph = TransitionGraph(mdp)

    def evaluate(chain: MDP) -> Exact | Unsolved:
        collected, endless = payoff._replace(row=chain.reward), endless_states(chain)
        # If the values needed policy iteration, sweeps would not be sufficient here either.
        most = limits.max_sweeps if found.policies == 0 else 1
        inner = replace(quiet(limits, limits.tolerance / 2, most), initial_values=found.v)
        if must_end and endless.any():
            return Unsolved("the policy might not end")
        return _optimum(chain, endless, collected, inner)

    q = values_of_rows(mdp, payoff, found)
    paid = replace(mdp, reward=payoff.row)
    first = partial(graph.first_rows, goal)
    return replace(settle_ties(paid, q, found, limits.tolerance, first, evaluate, payoff.scale), q=q)


# Largest difference that rounding causes between equal values, as a share of the largest value.
_ROUNDING = 1e-15
# Accepted loss from taking tied rows, in multiples of the error bound. The loss includes the error bound of the new
# policy's values, so even exact ties can appear to lose several error bounds.
_MOST_BOUNDS = 4


@np.errstate(all="ignore")
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

    Rows first tie as described in ``policy.py``. If the policy then loses too much, the threshold is 1e-15 times the
    largest value.

    Args:
        q: Row values, float64 ``[n_rows]``.
        tolerance: Accepted loss: the values minus the values of the new policy.
        first_of: Returns a policy, int64 ``[n_states]``, that takes tied rows, given their mask, bool ``[n_rows]``.
        evaluate: Returns the values of a chain. It might raise `SolveError`.
        scale: Ties are relative to this number if all absolute values are smaller.
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

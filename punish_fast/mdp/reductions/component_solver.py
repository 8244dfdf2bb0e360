"""MDPs without layers: discounted rewards, and undiscounted total rewards, solved component by component.

If an undiscounted run might never end, end components are collapsed first (``end_components.py``). The ladder
(``ladder.py``) then solves the MDP. Finally, the policy is changed to the first of tied rows (``policy.py``) if the
values of the new policy are proved.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from punish_fast.mdp.arrays.policy import TIE
from punish_fast.mdp.graph.end_components import collapsed
from punish_fast.mdp.graph.qualitative import EVALUATED, TransitionGraph, endless_error, endless_states
from punish_fast.mdp.graph.row_selection import first_marked, select_rows, states_of_rows, terminals_of
from punish_fast.mdp.methods.exact_iteration import values_of_rows
from punish_fast.mdp.methods.layered_sweeps import Layers
from punish_fast.mdp.methods.totals import Probability, RewardUntil, Total, Undiscounted
from punish_fast.mdp.model.limits import GENERAL_METHODS, SolveError, quiet
from punish_fast.mdp.model.mdp import MDP, normalized
from punish_fast.mdp.model.solution import Climb, Exact, Log


def solve_in_one_layer(climb: Climb, problem: Layers) -> Exact:
    """Solve an MDP without its layers. Add the statistics of sweeps over layers, if any."""
    begin, policy, swept = time.perf_counter(), problem.policy, problem.found
    if not isinstance(problem.mdp, MDP) or problem.goal is None:
        told = f"{swept.rounds:,} sweeps leave an error bound of {swept.error_bound:.1e}"
        raise SolveError(f"max_sweeps: {told}; use more, or a discount")
    mdp = problem.mdp if policy is None else problem.mdp.under(policy)
    mdp, limits = normalized(mdp.expanded()).in_one_layer(), problem.limits
    payoff = problem.payoff_of(mdp)
    if problem.discount < 1:
        methods = (problem.method,) if problem.method in GENERAL_METHODS else GENERAL_METHODS
        if problem.is_flat and problem.initial_values is not None:
            limits = replace(limits, initial_values=problem.initial_values)
        found = _discounted(climb, Total(mdp, payoff, limits, problem.discount, methods))
    elif problem.objective == "reach-probability":
        goal = np.append(np.zeros(mdp.n_states, dtype=bool), payoff.end > 0)
        found = climb(Probability(mdp, goal, np.zeros_like(goal), limits))
        found = replace(found, q=values_of_rows(mdp, payoff, found))
    else:
        endless = endless_states(mdp)
        if policy is not None and endless.any():
            raise endless_error(endless, mdp.names, EVALUATED)
        found = climb(Undiscounted(mdp, endless, payoff, limits))
    if problem.discount == 1:
        found = replace(found, log=Log([found.error_bound], [time.perf_counter() - begin]))
    if swept is None:
        return found
    log = swept.log
    log.residual.append(found.log.residual[-1])
    log.seconds.append(sum(found.log.seconds))
    return replace(found, log=log, rounds=len(log.residual))


def _discounted(climb: Climb, problem: Total) -> Exact:
    """Find discounted rewards. After an elimination, the policy takes the first of tied rows if possible."""
    mdp, limits, discount, begin = problem.mdp, problem.limits, problem.discount, time.perf_counter()
    found: Exact = climb(problem)
    if found.q is not None:
        return found

    def evaluate(chain: MDP) -> Exact:
        payoff = problem.payoff._replace(row=chain.reward)
        return climb(Total(chain, payoff, limits, discount, skips_sweeps=True))

    found = replace(found, q=values_of_rows(mdp, problem.payoff, found, discount))
    found = settle_ties(mdp, found, limits.tolerance, partial(first_marked, mdp.state_ptr), evaluate)
    log = problem.found.log
    log.residual.append(found.error_bound)
    log.seconds.append(time.perf_counter() - begin)
    return replace(found, rounds=len(log.residual), log=log)


def solve_by_component(climb: Climb, problem: Undiscounted) -> Exact:
    """Solve an MDP without a discount, component by component, and compute row values.

    The policy takes the first of tied rows if runs still end and the proved loss is small (see `settle_ties`).
    """
    mdp, _, payoff, limits, must_end = problem
    found = _optimum(climb, problem._replace(limits=replace(limits, tolerance=limits.tolerance / 2)))
    found = replace(found, q=values_of_rows(mdp, payoff, found))
    if np.isfinite(found.v).all():
        goal = np.ones(mdp.n_columns, dtype=bool)
        # Runs need not end from states of value 0, unless rows have rewards or `must_end` is True.
        goal[: mdp.n_states] = (found.v == 0) & (not (must_end or payoff.row.any()))
        # If the values needed policy iteration, sweeps would not be sufficient for the new policy either.
        most = limits.max_sweeps if found.policies == 0 else 1
        inner = replace(quiet(limits, limits.tolerance / 2, most), initial_values=found.v)

        def evaluate(chain: MDP) -> Exact:
            if (endless := endless_states(chain)).any() and must_end:
                raise SolveError("policy: it might not end")
            return _optimum(climb, Undiscounted(chain, endless, payoff._replace(row=chain.reward), inner))

        first = partial(TransitionGraph(mdp).first_rows, goal)
        found = settle_ties(replace(mdp, reward=payoff.row), found, limits.tolerance, first, evaluate, payoff.scale)
    limits.progress(found.rounds, found.error_bound)
    return found


def _optimum(climb: Climb, problem: Undiscounted) -> Exact:
    """Find the maximum total reward and an optimal policy. Endless runs must have unbounded costs or no rewards."""
    mdp, endless, payoff, limits, must_end = problem
    may_not_end = bool(endless.any())
    if not may_not_end or (must_end and payoff.row.all()):
        return climb(Total(mdp, payoff, limits, may_not_end=may_not_end))
    paid = replace(mdp, reward=payoff.row, terminal_reward=payoff.end)
    quotient = collapsed(paid, endless, pays=bool(payoff.row.any()), stays=not must_end)
    inner, ends = quotient.mdp, quotient.mdp.terminal_reward
    if not must_end and endless_states(inner).any():
        # Policies avoid endless runs if possible, because these have unbounded costs.
        inner, limits = replace(inner, terminal_value=ends), replace(limits, initial_values=None)
        found = climb(RewardUntil(inner, terminals_of(inner), limits))
        if (infinite := np.isposinf(found.v)).any():
            raise endless_error(infinite[quotient.number], mdp.names)
        return quotient.lifted(found)
    initial_values = None if limits.initial_values is None else limits.initial_values[quotient.first]
    payoff, limits = payoff._replace(row=inner.reward, end=ends), replace(limits, initial_values=initial_values)
    return quotient.lifted(climb(Total(inner, payoff, limits, may_not_end=must_end)))


# Returns a policy, int64 [n_states], given a mask of tied rows, bool [n_rows].
Choose = Callable[[np.ndarray], np.ndarray]
# Largest difference that rounding causes between equal values, as a share of the largest value.
_ROUNDING = 1e-15
# Accepted loss from taking tied rows, in multiples of the error bound. The loss includes the error bound of the new
# policy's values, so even exact ties can appear to lose several error bounds.
_MOST_BOUNDS = 4


def settle_ties(
    mdp: MDP, found: Exact, tolerance: float, first_of: Choose, evaluate: Climb, scale: float = 0.0
) -> Exact:
    """Take the first of tied rows if the proved loss is within the tolerance or four times the error bound.

    Rows first tie as described in ``policy.py``. If the policy then loses too much, the threshold is 1e-15 times the
    largest value.

    Args:
        found: Values of states and rows, and a policy.
        tolerance: Accepted loss: the values minus the values of the new policy.
        first_of: Returns a policy, int64 ``[n_states]``, that takes tied rows, given their mask, bool ``[n_rows]``.
        evaluate: Returns the values of a chain, or raises `SolveError`.
        scale: Ties are relative to this number if all absolute values are smaller.
    """
    least, n = found.v[states_of_rows(mdp)], mdp.n_states
    largest = max(float(np.abs(found.v).max(initial=0)), scale, np.finfo(np.float64).tiny)
    for tie in (TIE * largest, _ROUNDING * largest):
        first = first_of(found.q >= least - tie)
        if np.array_equal(first, found.choice):
            break
        arrays = select_rows(mdp, first, np.arange(mdp.n_columns, dtype=np.int32))
        try:
            earned = evaluate(replace(mdp, state_ptr=np.arange(n + 1), **arrays))
        except SolveError:
            continue
        loss = float(np.nextafter((found.v - earned.v).max(initial=0) + earned.error_bound, np.inf))
        if loss <= max(tolerance, _MOST_BOUNDS * found.error_bound):
            found = replace(found, choice=first, error_bound=max(found.error_bound, loss))
            break
    return found

"""Undiscounted total rewards of MDPs without layers, solved component by component.

If a run might never end, end components are collapsed first (``end_components.py``). Each strongly connected component
is then solved and bracketed by sweeps (``component_brackets.py``). If 50 to 1,000 sweeps, depending on the cost of an
elimination, do not reach the tolerance, policy iteration follows (``exact_iteration.py``, ``rational.py``). If its
error bound is too large, sweeps are tried again, up to the maximum number allowed. Finally, the policy takes the first
of tied rows if its values are still proved (see also ``policy.py``).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from punish_fast.mdp.arrays.policy import TIE
from punish_fast.mdp.chain.elimination import patience
from punish_fast.mdp.graph.end_components import collapsed
from punish_fast.mdp.graph.qualitative import TransitionGraph, ending_choice, endless_states
from punish_fast.mdp.graph.row_selection import select_rows, states_of_rows
from punish_fast.mdp.methods.component_brackets import bracketed
from punish_fast.mdp.methods.exact_iteration import Exact, Payoff, values_of_rows
from punish_fast.mdp.methods.rational import is_small, solve_certified
from punish_fast.mdp.model.limits import PRECISION, SolveError, SolverLimits
from punish_fast.mdp.model.mdp import MDP

# As a last resort, accept an error bound of policy iteration up to this fraction of the largest value.
_LEAST_PRECISION = 1e-3


def largest_total(mdp: MDP, payoff: Payoff, limits: SolverLimits, may_not_end: bool = False) -> Exact:
    """Find the maximum total reward and a policy that attains it up to the error bound.

    ``mdp`` must not be compact, and its rewards are ignored. Set ``may_not_end`` if some policies might not terminate.
    All these policies must have unbounded cost. If policy iteration does not reach the tolerance, its error bound is
    accepted if it is at most 1e-9 of the largest value, or at most 1e-3 of it once the maximum number of sweeps has
    been made. If the MDP is small enough for rational arithmetic, any error bound is accepted, because it reflects only
    the rounding of probabilities when the MDP was built.
    """
    with np.errstate(all="ignore"):
        few = min(limits.max_sweeps, patience(mdp))
        found = bracketed(mdp, payoff, replace(limits, max_sweeps=few, is_patient=False))
        if found.error_bound <= limits.tolerance:
            return found
        choice = ending_choice(mdp, found.choice) if may_not_end else found.choice
        n = found.rounds
        after = replace(limits, progress=lambda policies, bound: limits.progress(n + policies, bound))
        exact = solve_certified(mdp, payoff, choice, after)
        if exact is not None:
            exact = replace(exact, v=np.clip(exact.v, *payoff.value_range), rounds=n + exact.rounds)
            least = max(limits.tolerance, PRECISION * float(np.abs(exact.v).max(initial=0)))
            # Sweeps cannot prove a smaller bound than rational arithmetic.
            if exact.error_bound <= least or is_small(mdp):
                return exact
        found = bracketed(mdp, payoff, limits)
    if found.error_bound <= limits.tolerance:
        return found
    if exact is not None and exact.error_bound <= _LEAST_PRECISION * float(np.abs(exact.v).max(initial=0)):
        return exact
    proved = "no error bound" if exact is None else f"only an error bound of {exact.error_bound:.1e}"
    raise SolveError(
        f"tolerance: not reached after {limits.max_sweeps:,} sweeps, and policy iteration proves {proved}; use a "
        "larger tolerance, a discount or more sweeps"
    )


def solve_by_component(mdp: MDP, endless: np.ndarray, payoff: Payoff, limits: SolverLimits) -> tuple[Exact, np.ndarray]:
    """Solve an MDP without a discount, component by component; also return row values, float64 ``[n_rows]``.

    Args:
        mdp: MDP with a single layer, not compact. Its rewards are ignored.
        endless: bool ``[n_states]``, mask of the states from which some policy might never end play.
        payoff: Rewards of rows and terminals.
    """
    found = _optimum(mdp, endless, payoff, replace(limits, tolerance=limits.tolerance / 2))
    found, q = first_of_ties(mdp, payoff, found, limits)
    limits.progress(found.rounds, found.error_bound)
    return found, q


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
    found = largest_total(quotient.mdp, payoff, replace(limits, initial_values=initial_values))
    return replace(found, v=found.v[quotient.number], choice=quotient.lifted_choice(found.choice))


def first_of_ties(
    mdp: MDP, payoff: Payoff, found: Exact, limits: SolverLimits, must_end: bool = False
) -> tuple[Exact, np.ndarray]:
    """Change the policy to the first of tied rows if play still ends and the proved loss is small (see `settle_ties`).

    The values in ``found`` must be optimal up to half the tolerance. If ``must_end`` is True, play must end even from
    states of value 0. Also return row values, float64 ``[n_rows]``.
    """
    goal = np.ones(mdp.n_columns, dtype=bool)
    # Play need not end from states of value 0, unless rows pay or it must end everywhere.
    goal[: mdp.n_states] = (found.v == 0) & (not (must_end or payoff.row.any()))
    graph = TransitionGraph(mdp, np.zeros(mdp.n_columns, dtype=bool))

    def evaluate(chain: MDP) -> Exact | None:
        collected, endless = payoff._replace(row=chain.reward), endless_states(chain)
        # If the values needed policy iteration, sweeps would not be sufficient here either.
        most = limits.max_sweeps if found.policies == 0 else 1
        inner = SolverLimits(limits.tolerance / 2, most, initial_values=found.v)
        return None if must_end and endless.any() else _optimum(chain, endless, collected, inner)

    q = values_of_rows(mdp, payoff, found)
    paid = replace(mdp, reward=payoff.row)
    first = partial(graph.first_rows, goal)
    return settle_ties(paid, q, found, limits.tolerance, first, evaluate, payoff.scale), q


def endless_error(endless: np.ndarray, of_policy: bool = False) -> SolveError:
    """Return the error if a run can collect rewards forever from the ``endless`` states, bool ``[n_states]``.

    If ``of_policy`` is True, a policy is evaluated, under which runs must end even without rewards.
    """
    allowed, told = "play ends or continues without reward", "can collect rewards forever, so values may be infinite"
    if of_policy:
        allowed, told = "play ends", "never ends under this policy"
    return SolveError(
        f"discount: 1 is allowed only if {allowed}, but from {endless.sum()} states (the first is number "
        f"{endless.argmax()}) it {told}; use a discount below 1, total_reward (costs until a goal) or average_reward "
        "(reward per step)"
    )


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
    evaluate: Callable[[MDP], Exact | None],
    scale: float = 0.0,
) -> Exact:
    """Take the first of tied rows if the proved loss is within the tolerance or four times the error bound.

    Rows tie as in ``policy.py`` or, if the policy then loses too much, if they are within 1e-15 of the largest value.

    Args:
        q: Row values, float64 ``[n_rows]``.
        tolerance: Allowed difference between the values and those earned by the policy.
        first_of: Returns a policy, int64 ``[n_states]``, that takes tied rows, given their mask, bool ``[n_rows]``.
        evaluate: Returns the values of a chain. Returns None or raises `SolveError` if none are proved.
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
        if earned is not None:
            loss = float(np.nextafter((found.v - earned.v).max(initial=0) + earned.error_bound, np.inf))
            if loss <= max(tolerance, _MOST_BOUNDS * found.error_bound):
                found = replace(found, choice=first, error_bound=max(found.error_bound, loss))
                break
    return found

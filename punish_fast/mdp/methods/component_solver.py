"""Total rewards of MDPs without a discount and without layers, solved component by component.

Components are first swept between bounds (``component_brackets.py``). After 50 to 1,000 sweeps, depending on the cost
of an elimination, policy iteration follows (``exact_iteration.py``, ``rational.py``). If its error bound is too large,
sweeps continue up to their maximum number. If play might never end, end components are collapsed before the sweeps
(``end_components.py``). Finally, the policy takes the first of tied rows if its guarantee allows (``tie_break.py``).
"""

from dataclasses import replace

import numpy as np

from punish_fast.mdp.bounds.component_brackets import bracketed
from punish_fast.mdp.bounds.stopping_rule import SolveError
from punish_fast.mdp.bounds.tie_break import TieBreak, settle_ties
from punish_fast.mdp.chain.elimination import patience
from punish_fast.mdp.chain.rational import PRECISION, is_small, solve_certified
from punish_fast.mdp.graph.end_components import collapsed
from punish_fast.mdp.graph.qualitative import TransitionGraph, ending_choice, endless_states
from punish_fast.mdp.methods.exact_iteration import Exact, Payoff, values_of_rows
from punish_fast.mdp.model import MDP
from punish_fast.mdp.solve_options import Effort

# Largest error bound of policy iteration, as a fraction of the largest value, that is accepted as a last resort.
_LEAST_PRECISION = 1e-3


def largest_total(mdp: MDP, payoff: Payoff, effort: Effort, may_not_end: bool = False) -> Exact:
    """Find the maximum total reward and a policy that earns it up to the error bound.

    The rewards of ``mdp``, which is not compact, are ignored. With ``may_not_end``, play does not end under some
    policies, all of which lose without limit. The error bound exceeds the tolerance by at most 1e-9 of the largest
    value, or 1e-3 if the MDP is too large for rational arithmetic, or by the rounding of probabilities when the MDP was
    built.
    """
    with np.errstate(all="ignore"):
        few = min(effort.max_sweeps, patience(mdp))
        found = bracketed(mdp, payoff, replace(effort, max_sweeps=few, is_patient=False))
        if found.error_bound <= effort.tolerance:
            return found
        choice = ending_choice(mdp, found.choice) if may_not_end else found.choice
        n = found.rounds
        exact = solve_certified(
            mdp, payoff, choice, effort.tolerance, progress=lambda k: effort.progress(n + k, np.inf)
        )
        if exact is not None:
            exact = replace(exact, v=np.clip(exact.v, *payoff.limits), rounds=n + exact.rounds)
            least = max(effort.tolerance, PRECISION * float(np.abs(exact.v).max(initial=0)))
            # Sweeps cannot prove more than rational arithmetic.
            if exact.error_bound <= least or is_small(mdp):
                return exact
        found = bracketed(mdp, payoff, effort)
    if found.error_bound <= effort.tolerance:
        return found
    if exact is not None and exact.error_bound <= _LEAST_PRECISION * float(np.abs(exact.v).max(initial=0)):
        return exact
    proved = "nothing" if exact is None else f"only {exact.error_bound:.1e}"
    raise SolveError(
        f"tolerance: {effort.max_sweeps:,} sweeps do not reach it, and policy iteration proves {proved}; a "
        "larger tolerance, a discount or more sweeps help"
    )


def solve_by_component(mdp: MDP, endless: np.ndarray, payoff: Payoff, effort: Effort) -> tuple[Exact, np.ndarray]:
    """Solve an MDP without a discount, component by component; also return row values, float64 ``[n_rows]``.

    Args:
        mdp: Not compact and with a single layer; its rewards are ignored.
        endless: bool ``[n_states]``, states from which play does not end under some policy.
        payoff: Rewards of rows and terminals; either all rows or all terminals must pay 0.
    """
    found = _optimum(mdp, endless, payoff, replace(effort, tolerance=effort.tolerance / 2))
    found, q = first_of_ties(mdp, payoff, found, effort)
    effort.progress(found.rounds, found.error_bound)
    return found, q


def _optimum(mdp: MDP, endless: np.ndarray, payoff: Payoff, effort: Effort) -> Exact:
    """Find the maximum total reward and a policy, given that play that never ends pays nothing."""
    if not endless.any():
        return largest_total(mdp, payoff, effort)
    paid = replace(mdp, reward=payoff.row, terminal_reward=payoff.end)
    quotient = collapsed(paid, endless, pays=bool(payoff.row.any()))
    if (still := endless_states(quotient.mdp)).any():
        raise SolveError(explain_endless(still[quotient.number]))
    start = None if effort.start is None else effort.start[quotient.first]
    payoff = payoff._replace(row=quotient.mdp.reward, end=quotient.mdp.terminal_reward)
    found = largest_total(quotient.mdp, payoff, replace(effort, start=start))
    return replace(found, v=found.v[quotient.number], choice=quotient.lifted_choice(found.choice))


def first_of_ties(
    mdp: MDP, payoff: Payoff, found: Exact, effort: Effort, must_end: bool = False
) -> tuple[Exact, np.ndarray]:
    """Take the first of tied rows if play still ends and the policy provably earns the values up to the tolerance.

    ``found`` contains optimal values within half the tolerance. With ``must_end``, endless play of the same value is
    not accepted. Also return row values, float64 ``[n_rows]``, whose first best rows are those of the policy.
    """
    goal = np.ones(mdp.n_columns, dtype=bool)
    # Play need not end in states with value 0.
    goal[: mdp.n_states] = (found.v == 0) & (not (must_end or payoff.row.any()))
    graph = TransitionGraph(mdp, np.zeros(mdp.n_columns, dtype=bool))

    def evaluate(chain: MDP) -> Exact | None:
        collected, endless = payoff._replace(row=chain.reward), endless_states(chain)
        # If the values needed policy iteration, sweeps would not be sufficient here, either.
        most = effort.max_sweeps if found.policies == 0 else 1
        inner = Effort(effort.tolerance / 2, most, start=found.v)
        return None if must_end and endless.any() else _optimum(chain, endless, collected, inner)

    q = values_of_rows(mdp, payoff, found)
    paid = replace(mdp, reward=payoff.row)
    ties = TieBreak(lambda tied: graph.first_rows(goal, tied), evaluate)
    return settle_ties(paid, q, found, effort.tolerance, ties, payoff.scale)


def explain_endless(endless: np.ndarray) -> str:
    """Return the error message for states, bool ``[n_states]``, from which play can be paid forever."""
    return (
        f"discount: 1 is allowed only if play ends or continues without reward, but from {endless.sum()} states (the "
        f"first is number {endless.argmax()}) it can be paid forever, so values may be infinite; use a discount below "
        "1, total_reward (costs until a goal) or average_reward (reward per step)"
    )

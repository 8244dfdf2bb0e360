"""The maximum average reward per step, in MDPs of any structure.

The *gain* ``g`` of a policy is its expected reward per step in the long run. Differences in its *bias* ``h`` are the
advantages of one initial state over another. For an optimal policy,

    g(s)  =  max_a sum_t P(t | s, a) g(t),        g(s) + h(s)  =  r(s, a) + sum_t P(t | s, a) h(t)

[Puterman 1994, ch. 8 and 9]. Terminals are absorbing and pay their reward at every step.

**Within components.** Under every policy, trajectories eventually stay in an end component. All states of a maximal end
component can reach each other, so they have the same maximum gain. ``component_gains.py`` brackets it.

**Between components.** In the quotient, each component is collapsed into one state (``end_components.py``), and staying
in a component pays its gain once and ends the episode. Under every policy, all episodes of the quotient end. The
maximum total reward from a state is its gain [de Alfaro 1997]. If staying and leaving are tied, or differ by less than
half the width of the bracket, the policy takes the first of these rows, provided that its gain is proved.

**Error bound.** The error bound is the quotient's error bound plus half the width of the widest relevant bracket,
rounded up. A bracket is irrelevant if the value of leaving its component is at least the bracket's upper bound. If the
policy takes tied rows, the error bound is at least the proved loss.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.graph.end_components import Quotient, collapsed
from punish_fast.mdp.graph.row_selection import first_marked, marks_at, restriction, rows_of_states, states_of_rows
from punish_fast.mdp.methods.component_gains import Gains
from punish_fast.mdp.methods.layered_sweeps import Layers
from punish_fast.mdp.methods.totals import Undiscounted
from punish_fast.mdp.model.limits import DEFAULT_TOLERANCE, SolveError, SolverOptions, quiet
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.solution import Climb, Exact, Payoff
from punish_fast.mdp.reductions.component_solver import settle_ties

# Maximum number of sweeps for the bias of transient states, in addition to policy iteration.
_SWEEPS_OF_BIAS = 1000


class Averages(NamedTuple):
    """Problem for the ladder (``ladder.py``): maximum average reward per step."""

    mdp: MDP  # not compact, without stored zeros
    limits: SolverOptions  # limits of solvers within end components
    between: SolverOptions  # limits of solvers between end components


@dataclass(eq=False)
class GainsAndBias(Exact):
    """Maximum average rewards as values, and the bias of the policy."""

    bias: Any = None  # float64 [n_states]
    bias_residual: float = np.inf  # bound on the difference between the sides of the equation for gain and bias


def find_averages(climb: Climb, problem: Averages) -> GainsAndBias:
    """Find the maximum average reward of each state, and a policy that attains it."""
    mdp, tolerance = problem.mdp, problem.limits.tolerance
    if not (mdp.reward.any() or mdp.terminal_reward.any()):
        return GainsAndBias(v := np.zeros(mdp.n_states), mdp.state_ptr[:-1].copy(), 0.0, 0, bias=+v, bias_residual=0.0)
    within, between = (replace(limits, tolerance=tolerance / 2) for limits in (problem.limits, problem.between))
    quotient = collapsed(mdp, np.ones(mdp.n_states, dtype=bool), pays=False)
    climb(gains := Gains(mdp, quotient.number, quotient.inside, within))
    wide = gains.is_wide(tolerance / 2)
    if wide.any() and not (within.is_over and np.isfinite(gains.error_bound)):
        k = int(np.where(wide, gains.bracket.half_width, -1.0).argmax())
        told = f"{within.max_sweeps:,} sweeps, and policy iteration unless there are too many states, prove only that"
        told += f" a component of {int((gains.component == k).sum()):,} states has an average reward from"
        cure = "use a larger tolerance or more sweeps"
        raise SolveError(f"tolerance: {told} {gains.bracket.lower[k]:.9g} to {gains.bracket.upper[k]:.9g}; {cure}")
    paying, staying = quotient.mdp, np.flatnonzero(quotient.row < 0)
    endless, reward = np.zeros(paying.n_states, dtype=bool), np.zeros(paying.n_rows)
    reward[staying] = gains.gain
    found = climb(Undiscounted(paying.in_one_layer(), endless, Payoff(reward, paying.terminal_reward), between))
    # A bracket is irrelevant if the value of leaving is at least the bracket's upper bound.
    matters = gains.bracket.upper > found.v[states_of_rows(paying)[staying]]
    width = float(gains.bracket.half_width[matters].max(initial=0))
    bound = float(np.nextafter(found.error_bound + width, np.inf))
    choice, inside = quotient.lifted_choice(found.choice), gains.part.states
    settled = (quotient.row[found.choice] < 0)[quotient.number[inside]]
    choice[inside[settled]] = gains.rows[settled]
    found = replace(found, v=found.v[quotient.number], choice=choice, error_bound=bound)
    between = replace(between, tolerance=tolerance)
    if (better := _first_of_ties(climb, quotient, gains, found, between)) is not None:
        return better
    bias = np.zeros(mdp.n_states)
    bias[inside[settled]] = gains.bracket.h[settled]
    result = GainsAndBias(found.v, choice, found.error_bound, 0, bias=bias)
    return _with_bias(climb, mdp, result, inside[settled], between)


def _first_of_ties(
    climb: Climb, quotient: Quotient, gains: Gains, found: Exact, limits: SolverOptions
) -> GainsAndBias | None:
    """Change the policy to the first of tied rows, whether they stay in a component or leave, if its gain is proved.

    Return None if the policy is unchanged.
    """
    mdp, inside, is_staying, q = quotient.original, gains.part.states, quotient.row < 0, found.q
    values = np.full(mdp.n_rows, -np.inf)
    # Differences below half the width of a component's bracket count as ties.
    doubt = np.zeros(len(quotient.first))
    doubt[states_of_rows(quotient.mdp)[is_staying]] = gains.bracket.half_width
    values[quotient.row[~is_staying]] = (q + doubt[states_of_rows(quotient.mdp)])[~is_staying]
    values[gains.rows] = (q[is_staying] + gains.bracket.half_width)[gains.component]
    earned: Any = []

    def first_tied(tied: np.ndarray) -> np.ndarray:
        may_stay = marks_at(mdp.n_states, inside[tied[gains.rows]])
        marked = tied & rows_of_states(mdp, may_stay)
        marked[found.choice[~may_stay]] = True
        return first_marked(mdp.state_ptr, marked)

    def evaluate(chain: MDP) -> Exact:
        inner = quiet(limits, limits.tolerance / 2)
        earned.append(found := climb(Averages(chain, inner, inner)))
        return found

    given = replace(found, q=values)
    best = settle_ties(mdp, given, limits.tolerance, first_tied, evaluate)
    if best is given:
        return None
    own: GainsAndBias = earned[-1]
    residual = own.bias_residual + float(np.abs(best.v - own.v).max())
    return replace(own, v=best.v, choice=best.choice, error_bound=best.error_bound, bias_residual=residual)


def _with_bias(climb: Climb, mdp: MDP, found: GainsAndBias, settled: np.ndarray, limits: SolverOptions) -> GainsAndBias:
    """Extend the bias of a policy from the ``settled`` states to all states. Also find the largest residual."""
    bias, choice = found.bias, found.choice
    rows = mdp.to_scipy()[choice]
    is_passing = ~marks_at(mdp.n_states, settled)
    earned = mdp.reward[choice] - found.v
    if is_passing.any():
        # Reaching a settled state pays the bias of that state.
        reward = np.zeros(mdp.n_rows)
        reward[choice] = earned + rows[:, : mdp.n_states] @ bias
        part = restriction(mdp, marks_at(mdp.n_rows, choice[is_passing]), np.zeros(1), reward=reward)
        scale = max(1.0, float(np.abs(reward).max(initial=0)))
        try:
            inner = quiet(limits, DEFAULT_TOLERANCE * scale, _SWEEPS_OF_BIAS)
            bias[part.states] = climb(Layers(part.mdp, 1.0, inner)).v
        except SolveError:
            bias[part.states] = np.nan
    residual = np.abs(earned + rows[:, : mdp.n_states] @ bias - bias).max(initial=0)
    return replace(found, bias_residual=float(np.nan_to_num(residual, nan=np.inf)))

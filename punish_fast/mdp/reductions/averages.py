"""The maximum average reward per step, in MDPs of any structure.

The *gain* ``g`` of a policy is its expected reward per step in the long run. Differences in its *bias* ``h`` are the
advantages of one initial state over another. For an optimal policy,

    g(s)  =  max_a sum_t P(t | s, a) g(t),        g(s) + h(s)  =  r(s, a) + sum_t P(t | s, a) h(t)

[Puterman 1994, ch. 8 and 9]. Terminals are absorbing and pay their reward at every step.

**Within components.** Under every policy, trajectories eventually stay in an end component. All states of a maximal end
component can reach each other, so they have the same maximum gain. ``component_gains.py`` brackets it.

**Between components.** In the quotient, each component is collapsed into one state (``end_components.py``), and staying
in a component pays its gain once and ends the episode. Under every policy, all episodes of the quotient end. The
maximum total reward from a state is its gain [de Alfaro 1997].

**Bias.** Many policies can have the maximum gain, for example if every policy ends up in the same states. Policy
iteration improves the bias by rows whose gains are tied until the second equation holds for their maximum [Howard 1960;
Puterman 1994, sec. 9.2]. The first policy stays in every component where staying is tied. A better bias never decreases
the gain, so trajectories stay only in sets of states where the first policy stays, and there the bias remains the same.
In other states, ``h`` is the maximum total of ``r - g`` on the way to these sets. Rows outside end components cannot be
repeated forever, so they are optimized together. A row within a component, or one that leaves a set where trajectories
stay, is taken if it improves the bias by more than the error bounds.

Gains that differ by at most twice the error bound are ties. If the policy then loses more than the tolerance, only
gains that are equal up to rounding are ties. If the gain is still not proved, the bias is not improved.

**Error bound.** The error bound is the quotient's error bound plus half the width of the widest relevant bracket,
rounded up. A bracket is irrelevant if the value of leaving its component is at least the bracket's upper bound. If the
policy takes tied rows, the error bound is at least the proved loss: the width of the brackets where the policy stays,
plus the expected total of all decreases of the gain in single steps.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from punish_fast.mdp.arrays.policy import TIE, best_values
from punish_fast.mdp.graph.end_components import Quotient, collapsed
from punish_fast.mdp.graph.qualitative import TransitionGraph
from punish_fast.mdp.graph.row_selection import marks_at, restriction, states_of_rows
from punish_fast.mdp.methods.component_gains import Gains
from punish_fast.mdp.methods.exact_iteration import Double, Rows
from punish_fast.mdp.methods.layered_sweeps import Layers
from punish_fast.mdp.methods.totals import Undiscounted
from punish_fast.mdp.model.limits import DEFAULT_TOLERANCE, SolveError, SolverOptions, quiet
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.solution import Climb, Exact, Payoff

# Maximum number of sweeps for the bias of transient states, in addition to policy iteration.
_SWEEPS_OF_BIAS = 1000
# Maximum number of policies whose bias is improved.
_MOST_POLICIES = 100


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
    return _with_bias(climb, quotient, gains, found, settled, replace(between, tolerance=tolerance))


class _Bias(NamedTuple):
    """A policy and its bias."""

    choice: np.ndarray  # int64 [n_states]
    h: np.ndarray  # float64 [n_states], bias
    settled: np.ndarray  # bool [n_states], states in which ``h`` is given. The policy never leaves these states
    residual: float = np.inf  # bound on the difference of both sides of the equation, and on the excess of tied rows


def _with_bias(
    climb: Climb, quotient: Quotient, gains: Gains, found: Exact, settled: np.ndarray, limits: SolverOptions
) -> GainsAndBias:
    """Improve the bias of a policy by rows with tied gains, and find the bias.

    ``settled``, bool ``[n_states of gains.part]``, marks the components in which the policy stays.
    """
    mdp, inside, is_staying = quotient.original, gains.part.states, quotient.row < 0
    values, h, least = np.full(mdp.n_rows, -np.inf), np.zeros(mdp.n_states), np.full(mdp.n_states, np.inf)
    values[quotient.row[~is_staying]] = found.q[~is_staying]
    values[gains.rows] = found.q[is_staying][gains.component]
    h[inside], least[inside] = gains.bracket.h, gains.bracket.lower[gains.component]
    within = marks_at(mdp.n_rows, quotient.inside)
    # Ties are first gains that might be equal, then gains that are equal up to rounding, and finally none.
    for slack in (2 * found.error_bound, TIE * float(np.abs(found.v).max()), -np.inf):
        tied = values >= found.v[states_of_rows(mdp)] - slack
        stays, choice = tied[gains.rows] | settled, found.choice.copy()
        choice[inside[stays]] = gains.rows[stays]
        now = _Bias(choice, h, marks_at(mdp.n_states, inside[stays]))
        now = _best_bias(climb, mdp, found, now, tied | within & (slack >= 0), within, limits)
        is_same = np.array_equal(now.choice, found.choice)
        loss = found.error_bound if is_same else _loss(climb, mdp, found.v, now, least, limits)
        if loss <= max(limits.tolerance, found.error_bound):
            break
    return GainsAndBias(found.v, now.choice, max(found.error_bound, loss), 0, bias=now.h, bias_residual=now.residual)


def _loss(climb: Climb, mdp: MDP, v: np.ndarray, policy: _Bias, least: np.ndarray, limits: SolverOptions) -> float:
    """Bound the difference between gains ``v`` and a policy's gains, which are at least ``least`` in settled states."""
    loss, is_passing = float((v - least)[policy.settled].max(initial=0)), ~policy.settled
    if is_passing.any():
        v = np.append(v, mdp.terminal_reward)
        change, error = Rows.of(mdp, np.zeros(mdp.n_rows)).gains(Double(v, np.zeros(len(v))))
        passed = marks_at(mdp.n_rows, policy.choice[is_passing])
        part = restriction(mdp, passed, np.zeros(1), reward=np.maximum(error - change, 0))
        try:
            further = climb(Layers(part.mdp, 1.0, quiet(limits, limits.tolerance / 2)))
        except SolveError:
            return np.inf
        loss += float(further.v.max()) + further.error_bound
    return float(np.nextafter(loss, np.inf))


def _best_bias(
    climb: Climb, mdp: MDP, found: Exact, start: _Bias, tied: np.ndarray, within: np.ndarray, limits: SolverOptions
) -> _Bias:
    """Improve the bias of a policy by ``tied`` rows until no row improves it, and find the bias.

    ``within`` marks the rows of end components. Both masks are bool ``[n_rows]``.
    """
    rows, ends, now = Rows.of(mdp, mdp.reward), np.zeros(len(mdp.terminal_reward)), start
    for n_left in reversed(range(_MOST_POLICIES)):
        choice, h, settled, _ = now
        taken, bound, attempts = marks_at(mdp.n_rows, choice), 0.0, list[np.ndarray]()
        if not settled.all():
            # Reaching a settled state pays the bias of that state.
            reward = mdp.reward - found.v[rows.state] + rows.matrix @ np.append(np.where(settled, h, 0.0), ends)
            # Rows outside end components cannot be repeated forever. If their rewards are too large, keep the policy.
            attempts, h = [taken | tied & ~within, taken], np.where(settled, h, np.nan)
        for allowed in attempts:
            part = restriction(mdp, allowed & ~settled[rows.state], np.zeros(1), reward=reward)
            scale = max(1.0, float(np.abs(best_values(part.mdp.state_ptr, part.mdp.reward)).max()))
            try:
                solved = climb(Layers(part.mdp, 1.0, quiet(limits, DEFAULT_TOLERANCE * scale, _SWEEPS_OF_BIAS)))
            except SolveError:
                continue
            choice = choice.copy()
            h[part.states], choice[part.states], bound = solved.v, part.rows[solved.choice], solved.error_bound
            break
        gain, error = rows.gains(Double(np.append(h, ends), np.zeros(mdp.n_columns)))
        excess = gain - found.v[rows.state]
        residual = max((np.abs(excess) + error)[choice].max(), (excess + error)[tied].max(initial=-np.inf))
        now = _Bias(choice, h, settled, float(np.nan_to_num(residual, nan=np.inf)))
        least = np.where(tied, excess - error, -np.inf)
        best = rows.best(least)
        better = least[best] > (excess + error)[choice] + 2 * (bound + found.error_bound)
        if not better.any() or limits.is_over or n_left == 0:
            break
        choice = np.where(better, best, choice)
        chain = TransitionGraph(restriction(mdp, marks_at(mdp.n_rows, choice), np.zeros(1)).mdp)
        settled = settled & ~chain.may_reach(np.append(better, False)).found[:-1]
        # Because of rounding errors, trajectories might stay in other states.
        if not chain.may_reach(np.append(settled, True)).found.all():
            break
        now = now._replace(choice=choice, settled=settled)
    return now

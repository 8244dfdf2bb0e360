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
from typing import Any, Unpack

import numpy as np

from punish_fast.mdp.chain.induced_chain import evaluated
from punish_fast.mdp.graph.end_components import Quotient, collapsed
from punish_fast.mdp.graph.row_selection import first_marked, marks_at, restriction, rows_of_states, states_of_rows
from punish_fast.mdp.ladder import climb
from punish_fast.mdp.methods.component_gains import Gains
from punish_fast.mdp.methods.layered_sweeps import Layers
from punish_fast.mdp.model.limits import DEFAULT_TOLERANCE, SolveError, SolverLimits, SolverOptions, limits_of, quiet
from punish_fast.mdp.model.mdp import MDP, check_arrays, negated, normalized
from punish_fast.mdp.model.results import ModelRows, StateValues, bracketed_by, rows_of
from punish_fast.mdp.model.solution import Exact, Payoff
from punish_fast.mdp.objectives.component_solver import settle_ties, solve_by_component
from punish_fast.mdp.objectives.solver import solved

# Maximum number of sweeps for the bias of transient states, in addition to policy iteration.
_SWEEPS_OF_BIAS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class AverageReward(StateValues):
    """Result of `average_reward`: average rewards per step, and a policy that attains them.

    `StateValues` describes the policy and access by name. The value of a state is its gain.

    The *gain* of a policy is its expected reward per step in the long run. Differences in its *bias* are the advantages
    of one initial state over another. Gain ``g`` and bias ``h`` of the policy solve ``g(s) + h(s) = r(s) + E[h(t)]``,
    where ``r(s)`` is the policy's reward in ``s``, and ``t`` is the next state.

    Attributes:
        gain: float64 ``[n_states]``, average reward per step from each state: the maximum, the minimum, or the gain of
            a given policy.
        bias: float64 ``[n_states]``, relative values of the policy, in the unit of the rewards. They are 0 in one state
            of each component in which trajectories stay. Values that cannot be computed are infinite or NaN.
        error_bound: Upper bound on the error of ``gain``, and on the difference between ``gain`` and the policy's gain.
        bias_residual: Bound on the absolute difference between the two sides of the equation for gain and bias. It is
            infinite if ``bias`` is not finite.
        choice: int64 ``[n_states]``, row that the policy takes in each state.
        rows: Rows of the MDP.
    """

    gain: np.ndarray
    bias: np.ndarray
    error_bound: float
    bias_residual: float
    choice: np.ndarray
    rows: ModelRows

    def _columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return bracketed_by(self.gain, self.error_bound)


def average_reward(
    mdp: MDP,
    tolerance: float = DEFAULT_TOLERANCE,
    policy: Any = None,
    maximize: bool = True,
    **limits: Unpack[SolverLimits],
) -> AverageReward:
    """Find the maximum or minimum average reward per step, or the average reward of a policy.

    Args:
        mdp: The MDP, unichain or multichain. Use `validate` to check an MDP of unknown origin.
        tolerance: Stop at this error bound of the gains, in the unit of the rewards, by default 1e-10.
        policy: Policy to evaluate, in a form that `MDP.under` accepts. If given, ``choice[s]`` is ``s``, the only row
            of state ``s`` in the chain of the policy.
        maximize: If False, find the minimum, for example of costs.
        **limits: Maximum number of sweeps within and between end components, maximum duration and progress (see
            `SolverLimits`).

    Returns:
        Gain and bias of each state, and an optimal policy.

    Raises:
        SolveError: If an option is out of range, a value is too large for floating point, no solver reaches the
            tolerance or 1e-9 of the gain (the message contains the proved bracket), or ``policy`` is invalid or mixes
            actions into a transition probability below 2.23e-308.
        ModelError: If the arrays of ``mdp`` are inconsistent.

    Examples:
        A machine pays 1 per step while it runs, and breaks down with probability 0.5 after each step. A repair takes
        one step and costs 0.5:

        >>> from punish_fast.mdp import from_rows
        >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})], [(0, {1: 1.0}), (-0.5, {0: 1.0})]])
        >>> found = average_reward(mdp)
        >>> found.gain.round(6), found.choice
        (array([0.5, 0.5]), array([0, 2]))
        >>> (found.bias[0] - found.bias[1]).round(6)  # advantage of a running machine
        np.float64(1.0)
    """
    check_arrays(mdp, maximize)
    within, between = (limits_of(tolerance, limits, stage) for stage in ("gain", "solve"))
    if policy is not None:
        found, error = evaluated(mdp, policy, lambda chain: _average_reward(chain, within, between))
        return replace(found, error_bound=found.error_bound + error)
    if maximize:
        return _average_reward(mdp, within, between)
    found = _average_reward(negated(mdp), within, between)
    return replace(found, gain=0.0 - found.gain, bias=0.0 - found.bias)


def _average_reward(mdp: MDP, within: SolverOptions, between: SolverOptions) -> AverageReward:
    """Find the maximum average reward. The limits apply to solvers within end components and between them."""
    tolerance = within.tolerance
    within, between = (replace(limits, tolerance=tolerance / 2) for limits in (within, between))
    mdp = normalized(mdp.expanded()).without_zeros()
    quotient = collapsed(mdp, np.ones(mdp.n_states, dtype=bool), pays=False)
    climb(gains := Gains(mdp, quotient.number, quotient.inside, within))
    wide = gains.is_wide(tolerance / 2)
    if wide.any() and not (within.is_over and np.isfinite(gains.error_bound)):
        k = int(np.where(wide, gains.bracket.half_width, -1.0).argmax())
        told = f"{within.max_sweeps:,} sweeps, and policy iteration unless there are too many states, prove only that"
        told += f" a component of {int((gains.component == k).sum()):,} states has an average reward from"
        cure = "use a larger tolerance or more sweeps"
        raise SolveError(f"tolerance: {told} {gains.bracket.lower[k]:.9g} to {gains.bracket.upper[k]:.9g}; {cure}")
    paying, terminals = quotient.mdp, quotient.mdp.terminal_reward
    reward, staying = np.zeros(paying.n_rows), np.flatnonzero(quotient.row < 0)
    reward[staying] = gains.gain
    ends = np.zeros(paying.n_states, dtype=bool)
    found = solve_by_component(paying.in_one_layer(), ends, Payoff(reward, terminals), between)
    # A bracket is irrelevant if the value of leaving is at least the bracket's upper bound.
    matters = gains.bracket.upper > found.v[states_of_rows(paying)[staying]]
    width = float(gains.bracket.half_width[matters].max(initial=0))
    bound = float(np.nextafter(found.error_bound + width, np.inf))
    choice, inside = quotient.lifted_choice(found.choice), gains.part.states
    settled = (quotient.row[found.choice] < 0)[quotient.number[inside]]
    choice[inside[settled]] = gains.rows[settled]
    found = replace(found, v=found.v[quotient.number], choice=choice, error_bound=bound)
    found, earned = _first_of_ties(quotient, gains, found, replace(between, tolerance=tolerance))
    gain = found.v
    if earned is not None:
        residual = earned.bias_residual + float(np.abs(gain - earned.gain).max())
        return replace(earned, gain=gain, error_bound=found.error_bound, bias_residual=residual, choice=found.choice)
    bias = np.zeros(mdp.n_states)
    bias[inside[settled]] = gains.bracket.h[settled]
    bias, residual = _bias(mdp, gain, bias, choice, inside[settled], between)
    return AverageReward(gain, bias, found.error_bound, residual, choice, rows_of(mdp))


def _first_of_ties(
    quotient: Quotient, gains: Gains, found: Exact, limits: SolverOptions
) -> tuple[Exact, AverageReward | None]:
    """Change the policy to the first of tied rows, whether they stay in a component or leave, if its gain is proved.

    Also return the evaluation of the new policy, or None if the policy is unchanged.
    """
    q = found.q
    assert q is not None
    mdp, inside, is_staying = quotient.original, gains.part.states, quotient.row < 0
    values = np.full(mdp.n_rows, -np.inf)
    # Differences below half the width of a component's bracket count as ties.
    doubt = np.zeros(len(quotient.first))
    doubt[states_of_rows(quotient.mdp)[is_staying]] = gains.bracket.half_width
    values[quotient.row[~is_staying]] = (q + doubt[states_of_rows(quotient.mdp)])[~is_staying]
    values[gains.rows] = (q[is_staying] + gains.bracket.half_width)[gains.component]
    earned: list[AverageReward] = []

    def first(tied: np.ndarray) -> np.ndarray:
        may_stay = marks_at(mdp.n_states, inside[tied[gains.rows]])
        marked = tied & rows_of_states(mdp, may_stay)
        marked[found.choice[~may_stay]] = True
        return first_marked(mdp.state_ptr, marked)

    def evaluate(chain: MDP) -> Exact:
        inner = quiet(limits, limits.tolerance / 2)
        earned.append(_average_reward(chain, inner, inner))
        return Exact(earned[-1].gain, earned[-1].choice, earned[-1].error_bound, 0)

    best = settle_ties(mdp, values, found, limits.tolerance, first, evaluate)
    return best, None if best is found else earned[-1]


def _bias(
    mdp: MDP, gain: np.ndarray, bias: np.ndarray, choice: np.ndarray, settled: np.ndarray, limits: SolverOptions
) -> tuple[np.ndarray, float]:
    """Extend the bias of a policy from the ``settled`` states to all states. Also return the largest residual."""
    rows = mdp.to_scipy()[choice]
    is_passing = ~marks_at(mdp.n_states, settled)
    earned = mdp.reward[choice] - gain
    if is_passing.any():
        # Reaching a settled state pays the bias of that state.
        reward = np.zeros(mdp.n_rows)
        reward[choice] = earned + rows[:, : mdp.n_states] @ bias
        part = restriction(mdp, marks_at(mdp.n_rows, choice[is_passing]), np.zeros(1), reward=reward)
        scale = max(1.0, float(np.abs(reward).max(initial=0)))
        bias = bias.copy()
        try:
            inner = quiet(limits, DEFAULT_TOLERANCE * scale, _SWEEPS_OF_BIAS)
            bias[part.states] = solved(Layers(part.mdp, 1.0, inner)).v
        except SolveError:
            bias[part.states] = np.nan
    with np.errstate(all="ignore"):
        earned = earned + rows[:, : mdp.n_states] @ bias - bias
    residual = np.nan_to_num(np.abs(earned), nan=np.inf).max(initial=0)
    return bias, float(residual)

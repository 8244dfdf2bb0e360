"""The largest average reward per step, in processes of any structure.

The *gain* of a policy is its expected reward per step in the long run, and a *bias* ``h`` tells how much better one
state is than another to begin with: for a best policy

    g(s)  =  max_a sum_t P(t | s, a) g(t),        g(s) + h(s)  =  r(s, a) + sum_t P(t | s, a) h(t)

[Puterman 1994, ch. 8 and 9]. Terminals are absorbing and pay their reward for ever.

**Components.** Whatever policy is played, in the end play stays in an end component. Within a maximal one every state
can reach every other, so all its states have one largest gain ``g``. Let ``T`` back up its rows; then for any ``h``

    min_s (T h - h)(s)  <=  g  <=  max_s (T h - h)(s)

[Puterman 1994, theorem 8.5.5; Odoni 1969], and a policy that is greedy for ``h`` has at least the lower gain. Sweeps
``h <- h + 3/4 (T h - h)`` close this bracket: a quarter of the old values takes the period out of cycles.

**Which component.** Collapse the components (``end_components.py``) and let staying in one pay its gain, once. Play in
this quotient ends under every policy, and its largest total reward is the gain of every state [de Alfaro 1997].

**Error bound.** That of the quotient's values, and half the width of the widest bracket, with all rounding included.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from punish_fast.mdp.end_components import Quotient, collapsed
from punish_fast.mdp.induced_chain import induced_chain
from punish_fast.mdp.model import MDP, check_arrays, check_finite
from punish_fast.mdp.policy import first_best
from punish_fast.mdp.process import Payment
from punish_fast.mdp.restriction import Restriction, restriction
from punish_fast.mdp.solve_options import DEFAULT_TOLERANCE, check_options
from punish_fast.mdp.solver import Progress, solve
from punish_fast.mdp.stopping_rule import SolveError

_UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2
# Terms of a backup besides the entries of its row, and roundings of a stored probability.
_FURTHER_TERMS = 10
# Share of a sweep's change that is made; less than 1, or cycles would swing for ever.
_STEP = 0.75
_MOST_SWEEPS = 100_000


@dataclass(frozen=True, eq=False)
class AverageReward:
    """Average rewards per step, and the policy that earns them.

    Attributes:
        gain: float64 ``[n_states]``, the largest average reward from each state.
        bias: float64 ``[n_states]``, relative values of the policy: they solve the second equation, and are 0 in the
            first state of each component that it stays in.
        error_bound: Upper bound on the error of ``gain``.
        bias_residual: By how much ``bias`` and ``gain`` miss the second equation under the policy at most.
        choice: int64 ``[n_states]``, the row that the policy takes in each state.
    """

    gain: np.ndarray
    bias: np.ndarray
    error_bound: float
    bias_residual: float
    choice: np.ndarray

    def __repr__(self) -> str:
        return f"AverageReward({len(self.gain):,} states, error bound {self.error_bound:.1e})"


@dataclass(frozen=True, eq=False)
class ComponentGains:
    """The largest gains within the end components of a process.

    Attributes:
        part: The rows of end components, and their states.
        component: int64 ``[n_states of the part]``, the number of each state's component, from 0.
        lower: float64 ``[n_components]``, lower bounds of the largest gain of each.
        upper: float64 ``[n_components]``, upper bounds.
        h: float64 ``[n_states of the part]``, relative values, 0 in the first state of each component.
        choice: int64 ``[n_states of the part]``, rows of the process; a policy that earns the lower bound, up to a tie.
    """

    part: Restriction
    component: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    h: np.ndarray
    choice: np.ndarray

    @property
    def gain(self) -> np.ndarray:
        """float64 ``[n_components]``, the middle of the bounds."""
        return np.asarray((self.lower + self.upper) / 2)

    @property
    def half_width(self) -> float:
        """Upper bound on the error of `gain`."""
        return float((self.upper - self.lower).max(initial=0)) / 2 * (1 + 4 * _UNIT_ROUNDOFF)


def average_reward(mdp: MDP, tolerance: float = DEFAULT_TOLERANCE, progress: Progress | None = None) -> AverageReward:
    """Find the largest average reward per step.

    Args:
        mdp: The process, unichain or multichain. `check` validates one of unknown origin.
        tolerance: Stop at this error bound of gains.
        progress: Called as ``progress("gain", sweeps, error_bound)`` after every sweep in end components, and as
            ``progress("solve", sweeps, error_bound)`` after those between them.

    Raises:
        SolveError: an option is out of range, or sweeps do not reach the tolerance.
        ModelError: the arrays of ``mdp`` do not fit together.

    Examples:
        A machine earns 1 as long as it runs, and breaks down half the time; a repair takes one step and costs 0.5:

        >>> from punish_fast.mdp.model import from_rows
        >>> mdp = from_rows([[(1, {0: 0.5, 1: 0.5})], [(0, {1: 1.0}), (-0.5, {0: 1.0})]])
        >>> found = average_reward(mdp)
        >>> found.gain.round(6), found.choice
        (array([0.5, 0.5]), array([0, 2]))
    """
    check_options(tolerance=tolerance)
    check_arrays(mdp)
    check_finite(mdp.data)
    mdp = mdp.expanded()
    quotient = collapsed(mdp, np.ones(mdp.n_states, dtype=bool), pays=False)
    gains = component_gains(mdp, quotient.number, quotient.inside, tolerance / 2, progress)
    paying, rounding = _paying(quotient, gains)
    solution = solve(paying, 1.0, tolerance=tolerance / 2, progress=progress)
    bound = solution.error_bound + gains.half_width + rounding
    gain = solution.v[quotient.number]
    stays = quotient.row[solution.choice] < 0
    choice = quotient.lifted_choice(solution.choice)
    settled = stays[quotient.number[gains.part.states]]
    choice[gains.part.states[settled]] = gains.choice[settled]
    bias = np.zeros(mdp.n_states)
    bias[gains.part.states[settled]] = gains.h[settled]
    bias, residual = _bias(mdp, gain, bias, choice, gains.part.states[settled])
    return AverageReward(gain, bias, bound, residual, choice)


def evaluate_average_reward(mdp: MDP, weight: np.ndarray, tolerance: float = DEFAULT_TOLERANCE) -> AverageReward:
    """Find the average reward of a policy, and its bias.

    Args:
        mdp: The process.
        weight: float64 ``[n_rows]``, the probability of each row in its state.
        tolerance: As in `average_reward`, like the errors.

    Returns:
        The rewards; ``choice`` has the only row of each state of the chain, its number.
    """
    check_arrays(mdp)
    return average_reward(induced_chain(mdp, weight), tolerance)


def component_gains(
    mdp: MDP, number: np.ndarray, inside: np.ndarray, tolerance: float, progress: Progress | None = None
) -> ComponentGains:
    """Bracket the largest gain within each maximal end component, as ``end_components`` finds them.

    Args:
        mdp: The process, not compact.
        number: int64 ``[n_states]``, the component of each state.
        inside: int64 ``[k]``, the rows of all components.
        tolerance: Half the width of a bracket at which to stop.
        progress: As in `average_reward`.

    Raises:
        SolveError: sweeps do not reach the tolerance.
    """
    rows = np.zeros(mdp.n_rows, dtype=bool)
    rows[inside] = True
    part = restriction(mdp, rows, np.zeros(mdp.n_columns, dtype=np.int64), np.empty(0), mdp.reward)
    _, component = np.unique(number[part.states], return_inverse=True)
    order = np.argsort(component, kind="stable")
    begins = np.searchsorted(component[order], np.arange(component.max(initial=-1) + 1))
    payment, inner = Payment(part.mdp.reward, 1.0), part.mdp
    largest_reward = float(np.abs(inner.reward).max(initial=0))
    h, lower, upper = np.zeros(inner.n_states), np.empty(0), np.empty(0)
    half_width = np.inf if len(h) else 0.0
    for sweeps in range(1, _MOST_SWEEPS + 1):
        if half_width <= tolerance:
            break
        out = h.copy()
        for layer in range(inner.n_layers):
            inner.backups.sweep(layer, payment, h, out)
        rounding = (inner.longest_row + _FURTHER_TERMS) * _UNIT_ROUNDOFF
        rounding *= float(np.abs(h).max()) + largest_reward
        change = out - h
        lower = np.minimum.reduceat(change[order], begins) - rounding
        upper = np.maximum.reduceat(change[order], begins) + rounding
        half_width = float((upper - lower).max()) / 2
        # What all states of a component have in common says nothing, and would grow.
        h += _STEP * change
        h -= h[order[begins]][component]
        if progress is not None:
            progress("gain", sweeps, half_width)
        if half_width <= 2 * rounding:
            break
    else:
        raise SolveError(f"tolerance: {_MOST_SWEEPS:,} sweeps leave gains an error bound of {half_width:.1e}")
    choice = part.rows[first_best(inner.state_ptr, inner.reward + inner.to_scipy() @ h)]
    return ComponentGains(part, component, lower, upper, h, choice)


def _paying(quotient: Quotient, gains: ComponentGains) -> tuple[MDP, float]:
    """The quotient in which staying in a component pays its gain, and the largest rounding error of what it pays."""
    mdp, n = quotient.mdp, quotient.mdp.n_states
    worth = mdp.terminal_reward
    reward = np.asarray(mdp.to_scipy()[:, n:] @ worth)
    staying = np.flatnonzero(quotient.row < 0)
    reward[staying] = gains.gain
    rounding = (mdp.longest_row + 2) * _UNIT_ROUNDOFF * float(np.abs(worth).max(initial=0))
    return replace(mdp, reward=reward, terminal_reward=np.zeros(len(worth))), rounding


def _bias(
    mdp: MDP, gain: np.ndarray, bias: np.ndarray, choice: np.ndarray, settled: np.ndarray
) -> tuple[np.ndarray, float]:
    """Relative values of a policy in all states, from those where it has settled, and their residual."""
    rows = mdp.to_scipy()[choice]
    is_passing = np.ones(mdp.n_states, dtype=bool)
    is_passing[settled] = False
    earned = mdp.reward[choice] - gain
    if is_passing.any():
        # What is paid on arrival at a settled state is its bias.
        taken = np.zeros(mdp.n_rows, dtype=bool)
        taken[choice[is_passing]] = True
        reward = np.zeros(mdp.n_rows)
        reward[choice] = earned + rows[:, : mdp.n_states] @ bias
        terminal = np.zeros(mdp.n_columns, dtype=np.int64)
        part = restriction(mdp, taken, terminal, np.zeros(1), reward)
        scale = max(1.0, float(np.abs(reward).max(initial=0)))
        bias = bias.copy()
        bias[part.states] = solve(part.mdp, 1.0, tolerance=DEFAULT_TOLERANCE * scale).v
    residual = np.abs(earned + rows[:, : mdp.n_states] @ bias - bias).max(initial=0)
    return bias, float(residual)

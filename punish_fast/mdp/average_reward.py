"""The largest average reward per step, in processes of any structure.

The *gain* of a policy is its expected reward per step in the long run, and the differences of a *bias* ``h`` are the
advantages of one initial state over another. For an optimal policy

    g(s)  =  max_a sum_t P(t | s, a) g(t),        g(s) + h(s)  =  r(s, a) + sum_t P(t | s, a) h(t)

[Puterman 1994, ch. 8 and 9]. Terminals are absorbing and pay their reward at every step.

**Components.** Under every policy, play finally stays in an end component. Within a maximal one, all states can reach
each other, so they have the same largest gain ``g``. Let ``T`` back up its rows; then for any ``h``

    min_s (T h - h)(s)  <=  g  <=  max_s (T h - h)(s)

[Puterman 1994, theorem 8.5.5; Odoni 1969], and a policy whose rows all have ``(T_a h - h)(s) >= l`` has at least the
gain ``l``. Sweeps ``h <- h + 3/4 (T h - h)`` close this bracket: a quarter of the old values takes the period out of
cycles. If 1,000 sweeps are not enough, policy iteration finds ``h`` (``gain_iteration.py``), whose differences have the
digits of two floats. If the bracket is still too wide, small components are solved in rational arithmetic
(``rational.py``), and larger ones by more sweeps; the narrowest bracket counts. The policy takes the first of tied rows
(``policy.py``) that keep ``l`` within the tolerance of ``g``.

**Which component.** Collapse the components (``end_components.py``) and let staying in one pay its gain, once. Play in
this quotient ends under every policy, and its largest total reward is the gain of every state [de Alfaro 1997]. If
staying and leaving are tied, or the bracket cannot tell, the policy takes the first row for which the gain is proved.

**Error bound.** The error bound of the quotient's values, plus half the width of the widest bracket that matters,
rounding included. A bracket does not matter if leaving its component is better than staying at the upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from punish_fast.mdp.component_solver import solve_by_component
from punish_fast.mdp.construction import normalized
from punish_fast.mdp.elimination import is_affordable
from punish_fast.mdp.end_components import Quotient, collapsed
from punish_fast.mdp.exact_iteration import Double, Exact, Payoff, Rows
from punish_fast.mdp.gain_iteration import bias_of_best
from punish_fast.mdp.induced_chain import induced_chain, reward_rounding
from punish_fast.mdp.model import MDP, check_arrays
from punish_fast.mdp.policy import TIE
from punish_fast.mdp.process import Payment
from punish_fast.mdp.rational import PRECISION, best_gain, is_small
from punish_fast.mdp.restriction import Restriction, restriction
from punish_fast.mdp.row_selection import first_marked, rows_of_states, states_of_rows
from punish_fast.mdp.solve_options import DEFAULT_TOLERANCE, MAX_SWEEPS, Effort, Progress, check_options, keep_quiet
from punish_fast.mdp.solver import solve
from punish_fast.mdp.stopping_rule import SolveError
from punish_fast.mdp.tie_break import TieBreak, settle_ties

_UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2
# Share of a sweep's change that is made; with 1, values of cycles might oscillate.
_STEP = 0.75
# Sweeps before policy iteration is tried.
_FEW_SWEEPS = 1000
# States of components that are not evaluated together with others.
_LARGE = 1000
# Goal for half the width of brackets without rounding errors, as a share of the tolerance.
_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class AverageReward:
    """Average rewards per step, and the policy that earns them.

    Attributes:
        gain: float64 ``[n_states]``, the largest average reward from each state.
        bias: float64 ``[n_states]``, relative values of the policy: they solve the second equation, and are 0 in a
            state of each component that it stays in.
        error_bound: Upper bound on the error of ``gain``, and on ``gain`` less the gain of the policy.
        bias_residual: By how much ``bias`` and ``gain`` miss the second equation under the policy at most; infinite if
            ``bias`` has values too large for floating point, which are infinite or not a number.
        choice: int64 ``[n_states]``, the row that the policy takes in each state.
    """

    gain: np.ndarray
    bias: np.ndarray
    error_bound: float
    bias_residual: float
    choice: np.ndarray

    def __repr__(self) -> str:
        return f"AverageReward({len(self.gain):,} states, error bound {self.error_bound:.1e})"


@dataclass
class _Bracket:
    """Bounds of the largest gains of components, and policies that earn the lower ones.

    Attributes:
        lower: float64 ``[n_components]``.
        upper: float64 ``[n_components]``.
        h: float64 ``[n_states]``, relative values, 0 in the first state of each component.
        choice: int64 ``[n_states]``, rows.
    """

    lower: np.ndarray
    upper: np.ndarray
    h: np.ndarray
    choice: np.ndarray

    @property
    def half_width(self) -> np.ndarray:
        """float64 ``[n_components]``, infinite if nothing is proved."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.nan_to_num(self.upper / 2 - self.lower / 2, nan=np.inf))

    def is_wide(self, tolerance: float, precision: float = 0.0) -> np.ndarray:
        """Return True for brackets half of whose width exceeds a tolerance and a share of the gain."""
        largest = np.maximum(np.abs(self.lower), np.abs(self.upper))
        return np.asarray(~(self.half_width <= np.maximum(tolerance, precision * largest)))


@dataclass
class ComponentGains(_Bracket):
    """The largest gains within the end components of a process.

    Attributes:
        part: The rows of end components, and their states.
        component: int64 ``[n_states of the part]``, the number of each state's component, from 0.
        lower: float64 ``[n_components]``, lower bounds of the largest gain of each.
        upper: float64 ``[n_components]``, upper bounds.
        h: float64 ``[n_states of the part]``, relative values, 0 in the first state of each component.
        choice: int64 ``[n_states of the part]``, rows of the part; a policy that earns the lower bound.
    """

    part: Restriction
    component: np.ndarray

    @property
    def gain(self) -> np.ndarray:
        """float64 ``[n_components]``, the middle of the bounds."""
        return np.asarray(self.lower / 2 + self.upper / 2)

    @property
    def rows(self) -> np.ndarray:
        """int64 ``[n_states of the part]``, the policy as rows of the process."""
        return np.asarray(self.part.rows[self.choice])

    def of(self, marked: np.ndarray) -> tuple[Restriction, np.ndarray]:
        """Return the part of some components, bool ``[n_components]``, and the component of each of its states."""
        states, mdp = marked[self.component], self.part.mdp
        terminal = np.zeros(len(states), dtype=np.int64)
        part = restriction(mdp, rows_of_states(mdp, states), terminal, np.empty(0), mdp.reward)
        return part, (np.cumsum(marked) - 1)[self.component[states]]

    def take(self, marked: np.ndarray, part: Restriction, found: _Bracket) -> None:
        """Replace the brackets of some components by those of their part that are narrower."""
        closer = found.half_width < self.half_width[marked]
        numbers = np.flatnonzero(marked)[closer]
        self.lower[numbers], self.upper[numbers] = found.lower[closer], found.upper[closer]
        changed = np.isin(self.component[part.states], numbers)
        states = part.states[changed]
        self.h[states], self.choice[states] = found.h[changed], part.rows[found.choice[changed]]


def average_reward(
    mdp: MDP, tolerance: float = DEFAULT_TOLERANCE, progress: Progress | None = None, max_sweeps: int = MAX_SWEEPS
) -> AverageReward:
    """Find the largest average reward per step.

    Args:
        mdp: The process, unichain or multichain. `check` validates one of unknown origin.
        tolerance: Stop at this error bound of gains.
        progress: Called as ``progress("gain", sweeps, error_bound)`` after every sweep in end components, and as
            ``progress("solve", sweeps, error_bound)`` after those between them.
        max_sweeps: Maximum number of sweeps in end components, and between them. Policy iteration also evaluates up to
            100 policies of each component for which 1,000 sweeps are not enough.

    Raises:
        SolveError: an option is out of range, a value is too large for floating point, or neither ``max_sweeps`` nor
            policy iteration reach the tolerance or 1e-9 of the gain; the message has the bracket that was proved.
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
    mdp = normalized(mdp.expanded())
    quotient = collapsed(mdp, np.ones(mdp.n_states, dtype=bool), pays=False)
    report = keep_quiet if progress is None else partial(progress, "gain")
    gains = component_gains(mdp, quotient.number, quotient.inside, Effort(tolerance / 2, max_sweeps, report))
    wide = gains.is_wide(tolerance / 2, PRECISION)
    if wide.any():
        k = int(np.where(wide, gains.half_width, -1.0).argmax())
        raise SolveError(
            f"tolerance: {max_sweeps:,} sweeps, and policy iteration unless there are too many states, prove only that "
            f"a component of {int((gains.component == k).sum()):,} states has an average reward from "
            f"{gains.lower[k]:.9g} to {gains.upper[k]:.9g}; a larger tolerance or more sweeps help"
        )
    paying, terminals = quotient.mdp, quotient.mdp.terminal_reward
    reward, staying = np.zeros(paying.n_rows), np.flatnonzero(quotient.row < 0)
    reward[staying] = gains.gain
    between = Effort.of(tolerance / 2, max_sweeps, progress)
    found, q = solve_by_component(
        replace(paying, layer_ptr=np.array([0, paying.n_states], dtype=np.int64)),
        np.zeros(paying.n_states, dtype=bool),
        Payoff(reward, terminals),
        between,
    )
    # The bracket does not matter if staying is worse than the value even at its upper bound.
    matters = gains.upper > found.v[states_of_rows(paying)[staying]]
    width = float(gains.half_width[matters].max(initial=0))
    bound = float(np.nextafter(found.error_bound + width, np.inf))
    choice, inside = quotient.lifted_choice(found.choice), gains.part.states
    settled = (quotient.row[found.choice] < 0)[quotient.number[inside]]
    choice[inside[settled]] = gains.rows[settled]
    found = replace(found, v=found.v[quotient.number], choice=choice, error_bound=bound)
    found, earned = _first_of_ties(quotient, gains, found, q, replace(between, tolerance=tolerance))
    gain = found.v
    if earned is not None:
        residual = earned.bias_residual + float(np.abs(gain - earned.gain).max())
        return replace(earned, gain=gain, error_bound=found.error_bound, bias_residual=residual, choice=found.choice)
    bias = np.zeros(mdp.n_states)
    bias[inside[settled]] = gains.h[settled]
    bias, residual = _bias(mdp, gain, bias, choice, inside[settled])
    return AverageReward(gain, bias, found.error_bound, residual, choice)


def _first_of_ties(
    quotient: Quotient, gains: ComponentGains, found: Exact, q: np.ndarray, effort: Effort
) -> tuple[Exact, AverageReward | None]:
    """Take the first of the rows that stay in a component or leave it, if these are tied and the gain is proved.

    Args:
        quotient: The process, with its end components collapsed.
        gains: The gains of staying in components, and policies that stay.
        found: Gains and policy of the process.
        q: float64 ``[n_rows of the quotient]``, values of rows.
        effort: The error bound allowed, and the work to prove it.

    Returns:
        Gains and policy; and what the policy earns, None if it has not changed.
    """
    mdp, inside, is_staying = quotient.original, gains.part.states, quotient.row < 0
    values = np.full(mdp.n_rows, -np.inf)
    # Rows are tied if the bracket of their component cannot tell them apart.
    doubt = np.zeros(len(quotient.first))
    doubt[states_of_rows(quotient.mdp)[is_staying]] = gains.half_width
    values[quotient.row[~is_staying]] = (q + doubt[states_of_rows(quotient.mdp)])[~is_staying]
    values[gains.rows] = (q[is_staying] + gains.half_width)[gains.component]
    earned: list[AverageReward] = []

    def first(tied: np.ndarray) -> np.ndarray:
        may_stay = np.zeros(mdp.n_states, dtype=bool)
        may_stay[inside] = tied[gains.rows]
        marked = tied & rows_of_states(mdp, may_stay)
        marked[found.choice[~may_stay]] = True
        return first_marked(mdp.state_ptr, marked)

    def evaluate(chain: MDP) -> Exact:
        earned.append(average_reward(chain, effort.tolerance / 2, max_sweeps=effort.max_sweeps))
        return Exact(earned[-1].gain, earned[-1].choice, earned[-1].error_bound, 0)

    best, _ = settle_ties(mdp, values, found, effort.tolerance, TieBreak(first, evaluate))
    return best, None if best is found else earned[-1]


def evaluate_average_reward(mdp: MDP, weight: np.ndarray, tolerance: float = DEFAULT_TOLERANCE) -> AverageReward:
    """Find the average reward of a policy, and its bias.

    Args:
        mdp: The process.
        weight: float64 ``[n_rows]``, the probability of each row in its state.
        tolerance: Stop at this error bound of gains.

    Returns:
        The rewards; ``choice[s]`` is ``s``, the only row of state ``s`` of the chain.

    Raises:
        SolveError: ``weight`` is not a policy, a probability of a mixed state is below 2.3e-308, or as in
            `average_reward`.
        ModelError: the arrays of ``mdp`` do not fit together.
    """
    check_arrays(mdp)
    chain, rounding = induced_chain(mdp, weight), reward_rounding(mdp, weight)
    found = average_reward(chain, tolerance)
    if not rounding.any():
        return found
    more = average_reward(replace(chain, reward=rounding, terminal_reward=0 * chain.terminal_reward), tolerance)
    return replace(found, error_bound=found.error_bound + float(more.gain.max(initial=0)) + more.error_bound)


def component_gains(mdp: MDP, number: np.ndarray, inside: np.ndarray, effort: Effort) -> ComponentGains:
    """Bracket the largest gain within each maximal end component, as ``end_components`` finds them.

    Args:
        mdp: The process, not compact.
        number: int64 ``[n_states]``, the component of each state.
        inside: int64 ``[k]``, the rows of all components.
        effort: The error bound to reach, half the width of a bracket, and the work allowed. If neither it nor 1e-9 of
            the gain is reached, brackets are wider.
    """
    rows = np.zeros(mdp.n_rows, dtype=bool)
    rows[inside] = True
    part = restriction(mdp, rows, np.zeros(mdp.n_columns, dtype=np.int64), np.empty(0), mdp.reward)
    _, component = np.unique(number[part.states], return_inverse=True)
    few = replace(effort, max_sweeps=min(effort.max_sweeps, _FEW_SWEEPS))
    found = ComponentGains(**vars(_swept(part.mdp, component, few)), part=part, component=component)
    _improve(found, effort.tolerance)
    wide = found.is_wide(effort.tolerance, PRECISION)
    if wide.any() and effort.max_sweeps > _FEW_SWEEPS:
        inner, component = found.of(wide)
        found.take(wide, inner, _swept(inner.mdp, component, effort))
    return found


def _swept(mdp: MDP, component: np.ndarray, effort: Effort) -> _Bracket:
    """Sweep until the brackets of all components seem closed."""
    order = np.argsort(component, kind="stable")
    begins = np.searchsorted(component[order], np.arange(component.max(initial=-1) + 1))
    payment, h = Payment(mdp.reward, 1.0), np.zeros(mdp.n_states)
    for sweeps in range(1, effort.max_sweeps * bool(len(h)) + 1):
        out = h.copy()
        for layer in range(mdp.n_layers):
            mdp.backups.sweep(layer, payment, h, out)
        change = out - h
        width = np.maximum.reduceat(change[order], begins) - np.minimum.reduceat(change[order], begins)
        # A change that all states of a component share has no meaning, and would grow.
        h += _STEP * change
        h -= h[order[begins]][component]
        half_width = float(width.max()) / 2
        effort.progress(sweeps, half_width)
        if not half_width > max(_SHARE * effort.tolerance, 4 * _UNIT_ROUNDOFF * float(np.abs(out).max())):
            break
    return _bracket(mdp, component, Double(h, np.zeros(len(h))), effort.tolerance)


def _bracket(mdp: MDP, component: np.ndarray, h: Double, tolerance: float) -> _Bracket:
    """Bracket the largest gain of each component by a backup of relative values."""
    begins, rows, n_components = mdp.state_ptr[:-1], Rows.of(mdp, mdp.reward), int(component.max(initial=-1)) + 1
    with np.errstate(all="ignore"):
        gain, error = rows.gains(h)
    lower, upper = np.full(n_components, np.inf), np.full(n_components, -np.inf)
    np.minimum.at(lower, component, np.maximum.reduceat(gain - error, begins) if len(gain) else gain)
    np.maximum.at(upper, component, np.maximum.reduceat(gain + error, begins) if len(gain) else gain)
    with np.errstate(invalid="ignore"):
        tie = TIE * np.maximum(np.abs(lower), np.abs(upper))
        least = lower - np.clip(tolerance - (upper / 2 - lower / 2), 0.0, tie)
        best = np.maximum.reduceat(gain - error, begins) - tie[component] if len(gain) else gain
    # Rows that might be as good as the best one of their state, and keep the lower bound.
    least, best = np.nan_to_num(least, nan=-np.inf)[component], np.nan_to_num(best, nan=-np.inf)
    choice = first_marked(mdp.state_ptr, (gain - error >= least[rows.state]) & (gain + error >= best[rows.state]))
    earned = np.full(n_components, np.inf)
    np.minimum.at(earned, component, (gain - error)[choice])
    first = np.unique(component, return_index=True)[1]
    with np.errstate(invalid="ignore"):
        relative = h.high - h.high[first][component]
    return _Bracket(earned, upper, relative, choice)


def _improve(found: ComponentGains, tolerance: float) -> None:
    """Narrow the brackets of components by policy iteration, and in rational arithmetic if that is not enough."""
    wide, sizes = found.is_wide(tolerance), np.bincount(found.component)
    large = np.flatnonzero(wide & (sizes > _LARGE))
    for marked in (wide & (sizes <= _LARGE), *(np.arange(len(sizes)) == k for k in large)):
        if not marked.any():
            continue
        part, component = found.of(marked)
        if is_affordable(part.mdp):
            choice = np.searchsorted(part.rows, found.choice[part.states])
            with np.errstate(all="ignore"):
                bias = bias_of_best(part.mdp, component, choice, tolerance)
            found.take(marked, part, _bracket(part.mdp, component, bias, tolerance))
    for k in np.flatnonzero(found.is_wide(tolerance, PRECISION)):
        part, _ = found.of(marked := np.arange(len(sizes)) == k)
        if is_small(part.mdp):
            best = best_gain(part.mdp, np.searchsorted(part.rows, found.choice[part.states]))
            lower, upper = np.array([best.lower]), np.array([best.upper])
            found.take(marked, part, _Bracket(lower, upper, best.bias, best.choice))


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
        try:
            bias[part.states] = solve(part.mdp, 1.0, tolerance=DEFAULT_TOLERANCE * scale).v
        except SolveError:
            bias[part.states] = np.nan
    with np.errstate(all="ignore"):
        earned = earned + rows[:, : mdp.n_states] @ bias - bias
    residual = np.nan_to_num(np.abs(earned), nan=np.inf).max(initial=0)
    return bias, float(residual)

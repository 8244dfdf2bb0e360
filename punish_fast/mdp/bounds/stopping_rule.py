"""Error bounds that stop value iteration, derived from the contraction of a sweep.

With a discount ``g`` below 1, a backup of all states is a contraction with modulus ``g`` in the sup norm, and a sweep
over a cycle of ``L`` layers is a contraction with modulus ``g^L``. Undiscounted sweeps contract because episodes end.
Let ``U`` be the operator ``(U w)(s) = max_a sum_t P(t | s, a) w(t)``, where ``t`` runs over the states but not the
terminals. Any weights ``w > 0`` with ``U w <= m w`` make the undiscounted Bellman operator a contraction with modulus
``m`` in the norm ``max_s |x(s)| / w(s)`` [Bertsekas and Tsitsiklis 1996, ch. 2]. Hence, if the last change is at
most ``d`` and the rounding error of a sweep is at most ``e``,

    |v - v*|  <=  k (m d + e) / (1 - m)          k = max w / min w

Suitable weights are found by sweeping ``w <- 1 + U w``, up to the maximum expected time to termination.
Once no weight grows by more than ``h < 1``, ``m = max (U w) / w`` is below 1, and no expected time to
termination exceeds ``max w / (1 - h)``. In a cycle of layers, time is counted in whole cycles. If episodes are too long
to find such weights soon, the contraction is unknown.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from punish_fast.mdp.arrays.policy import best_values
from punish_fast.mdp.model.limits import SolveError
from punish_fast.mdp.model.process import Process
from punish_fast.mdp.model.solution import Payoff

# Growth of weights at which sweeps stop. A smaller limit would reduce the modulus slightly, but require more sweeps.
_GROWTH = 0.5
_MOST_SWEEPS = 1000
# Index of the sweep after which to check for endless episodes if a weight still grows by nearly 1.
_DOUBT = 10
_HARDLY_ENDS = 1 - 1e-6
# Number added to the modulus, far larger than the rounding error of the modulus.
_ALLOWANCE = 1e-9
# The smallest reward may be a penalty if its absolute value exceeds the largest reward by this factor.
_PENALTY = 10.0
# Larger penalties might give values above `LARGEST_VALUE`.
_LARGE_REWARD = 1e150
# Sums of a few values of this size and of their rounding errors are finite.
LARGEST_VALUE = 1e305

BackUp = Callable[[np.ndarray, np.ndarray], np.ndarray]


class LargeValueError(SolveError):
    """Raised if values may be too large for sweeps."""


class Contraction(NamedTuple):
    """Contraction of a sweep. *Carried* values are passed on to the next sweep."""

    modulus: float  # Largest ratio of the errors in carried values after and before a sweep
    spread: float  # Ratio of the largest to the smallest weight of the norm
    # Upper bound on the absolute value of any state, and on the terms of any row that may be optimal
    largest_value: float

    @property
    def is_known(self) -> bool:
        """True if a bound on values is known."""
        return self.largest_value < np.inf

    def error_bound(self, change: float, rounding: float) -> float:
        """Return an upper bound on the error of carried values whose last change was at most ``change``."""
        if self.modulus >= 1:
            return np.inf
        return self.spread * (self.modulus * change + rounding) / (1 - self.modulus)

    def is_at_floor(self, change: float, rounding: float) -> bool:
        """Return True if rounding could cause a change this small, so that more sweeps would gain nothing."""
        return self.modulus * change <= 2 * rounding


# Used if episodes may be too long for sweeps.
_UNKNOWN = Contraction(modulus=1.0, spread=1.0, largest_value=np.inf)


def terminal_values(mdp: Process, discount: float) -> np.ndarray:
    """Return the value of each terminal, float64 ``[n_terminals]``.

    With a discount, a terminal pays its reward at every step. Without a discount, it pays once, on entry. A terminal
    that ends the episode has the same value at any discount.

    Raises:
        SolveError: If a value is too large for floating point.
    """
    values = np.zeros(len(mdp.terminal_reward)) if mdp.rows_pay_ends else mdp.terminal_reward
    if discount < 1 and len(values):
        with np.errstate(over="ignore"):
            values = mdp.terminal_reward / (1 - discount)
    if len(values) and len(large := np.flatnonzero(np.isinf(values))):
        told = f"terminal {large[0]} pays {mdp.terminal_reward[large[0]]:g} at every step, too large for floating point"
        raise SolveError(f"terminal_reward: {told} at discount {discount!r}")
    return values if mdp.terminal_value is None else values + mdp.terminal_value


def terminals_one_step_earlier(mdp: Process, discount: float, values: np.ndarray) -> np.ndarray:
    """Return the values of terminals one step earlier, float64 ``[n_terminals]``, given their current ``values``."""
    earlier: np.ndarray = mdp.terminal_reward + discount * values
    return earlier if mdp.terminal_value is None else np.where(mdp.terminal_value != 0, mdp.terminal_value, earlier)


def positive_terminals(mdp: Process) -> np.ndarray:
    """Return a mask of the terminals with a positive reward or value, bool ``[n_terminals]``."""
    is_positive: np.ndarray = mdp.terminal_reward > 0
    return is_positive if mdp.terminal_value is None else is_positive | (mdp.terminal_value > 0)


def discounted(mdp: Process, discount: float, n_steps: int, policy: np.ndarray | None = None) -> Contraction:
    """Return the contraction of sweeps that look ``n_steps`` ahead, with a discount below 1.

    Optimal values lie between ``low / (1 - g)`` and ``high / (1 - g)``, where ``low`` and ``high`` are the smallest and
    the largest of the states' largest rewards, ``1 - g`` times the values of terminals, and 0. A row with
    a reward below ``-2 L`` is never optimal, where ``L`` is the larger absolute value of these limits, so large
    penalties are ignored. If no reward is a large penalty, ``low`` and ``high`` are the extremes of all rewards.

    Args:
        policy: float64 ``[n_rows]``, policy to evaluate, or None for optimal values.
    """
    reward = mdp.reward if policy is None else mdp.reward[policy > 0]
    low, high = _extremes(reward)
    penalty = 0.0 if policy is not None else -low
    if policy is None and (-low > _PENALTY * high or -low > _LARGE_REWARD):
        low, high = _extremes(best_values(mdp.state_ptr, mdp.reward))
    largest_value = max(max(-low, high) / (1 - discount), _largest(terminal_values(mdp, discount)))
    penalty = min(penalty, 2 * largest_value)
    return Contraction(discount**n_steps, 1.0, max(largest_value, penalty + discount * largest_value))


def _extremes(reward: np.ndarray) -> tuple[float, float]:
    """Return the smallest and the largest reward, extended to include 0."""
    return float(reward.min(initial=0)), float(reward.max(initial=0))


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0))


def undiscounted(
    mdp: Process, payoff: Payoff, n_carried: int, back_up: BackUp, is_endless: Callable[[], bool]
) -> Contraction:
    """Return the contraction of undiscounted sweeps. Its modulus is 1 if episodes may be too long to bound it.

    Args:
        payoff: Rewards of rows, and values of terminals.
        n_carried: Number of leading states whose values are carried from sweep to sweep.
        back_up: Function that performs one sweep. ``back_up(reward, v)`` returns the new values.
        is_endless: Function that returns True if an episode can continue forever. It is called only once, after 11
            sweeps, if a weight still grows by nearly 1.
    """
    counted = np.zeros(mdp.n_rows)
    counted[: mdp.state_ptr[n_carried]] = 1.0
    v = np.zeros(mdp.n_columns)
    v[:n_carried] = 1.0
    for sweep in range(_MOST_SWEEPS):
        weight = v[:n_carried].copy()
        v = back_up(counted, v)
        growth = float((v[:n_carried] - weight).max(initial=0))
        if growth <= _GROWTH:
            break
        if sweep == _DOUBT and growth > _HARDLY_ENDS and is_endless():
            return _UNKNOWN
    else:
        return _UNKNOWN
    modulus = float(((v[:n_carried] - 1) / weight).max(initial=0)) + _ALLOWANCE
    reward_of_a_sweep = float(back_up(np.abs(payoff.row), np.zeros(mdp.n_columns)).max(initial=0))
    longest = float(weight.max(initial=1)) / (1 - growth)
    largest_value = reward_of_a_sweep * (1 + longest) + _largest(payoff.end)
    return Contraction(modulus, float(weight.max(initial=1) / weight.min(initial=1)), largest_value)

"""Policies, float64 ``[n_rows]``: the probability of each row in its state.

**Ties.** Symmetric actions have equal values, whose last digits rounding changes, depending on the order of sums. So a
greedy choice is the *first* row whose value falls short of the best one by no more than 1e-12 of the largest absolute
value of a state, its best row. (Values of rows do not count, because a penalty of -1e9 would make
all rows tied.) Every program that follows this rule makes the same choices, as long as its errors are smaller and no
true difference is that small; in the solved games of Punish none is below 1e-10.

**The policy of a solution.** A policy loses the difference of tied values each time that it takes the row. A solver
takes the first of tied rows only if the policy provably earns its values up to the error bound, and otherwise the rows
of a policy for which this is proved (``tie_break.py``).
"""

from __future__ import annotations

import numpy as np

from punish_fast.mdp import _policy
from punish_fast.runtime.errors import PunishFastError
from punish_fast.runtime.parallel import for_chunks

# Of the sum of probabilities.
SUM_TOLERANCE = 1e-9
# Share of the largest absolute value up to which a difference is a tie.
TIE = 1e-12


class PolicyError(PunishFastError, ValueError):
    """A policy that cannot be made; the message names the option."""


def flaw_of(state_ptr: np.ndarray, weight: np.ndarray) -> str | None:
    """The first flaw of a policy, as text, or None if it is a distribution in every state.

    Args:
        weight: float64 ``[n_rows]``, the policy.
    """
    shape = (int(state_ptr[-1]),)
    if weight.shape != shape or weight.dtype != np.float64:
        return f"{weight.dtype} {weight.shape}, allowed is float64 {shape}"
    if not (weight >= 0).all():
        return "a probability is below 0 or not a number"
    if np.abs(np.add.reduceat(weight, state_ptr[:-1]) - 1).max(initial=0) > SUM_TOLERANCE:
        return "the probabilities of a state do not add up to 1"
    return None


def check_policy(state_ptr: np.ndarray, policy: np.ndarray) -> np.ndarray:
    """Return ``policy`` if it is one."""
    policy = np.asarray(policy)
    flaw = flaw_of(state_ptr, policy)
    if flaw is not None:
        raise PolicyError(f"policy: {flaw}")
    return policy


def tie_of(v: np.ndarray) -> float:
    """The largest difference that is a tie between rows of states with values ``v``."""
    return TIE * max(float(v.max(initial=0)), -float(v.min(initial=0)))


def best_values(state_ptr: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The largest value of the rows of each state, float64 ``[n_states]``."""
    best: np.ndarray = np.maximum.reduceat(q, state_ptr[:-1]) if len(q) else np.zeros(0)
    return best


def first_best(
    state_ptr: np.ndarray, q: np.ndarray, v: np.ndarray | None = None, largest_tie: float = np.inf
) -> np.ndarray:
    """The best row of each state, the first one of ties, int64 ``[n_states]``.

    Args:
        v: float64 ``[n_states]``, the largest ``q`` of each state if it is known.
        largest_tie: Rows whose values differ by more are not tied.
    """
    q = np.ascontiguousarray(q, dtype=np.float64)
    choice = np.empty(len(state_ptr) - 1, dtype=np.int64)
    tie = tie_of(best_values(state_ptr, q) if v is None else v)
    for_chunks(_policy.choose_first, state_ptr, state_ptr, q, min(tie, largest_tie), choice)
    return choice


def preferring(
    state_ptr: np.ndarray, q: np.ndarray, choice: np.ndarray, v: np.ndarray, out: np.ndarray | None = None
) -> np.ndarray:
    """Values of rows among which a choice has no ties.

    Args:
        choice: int64 ``[n_states]``, a row of each state.
        v: float64 ``[n_states]``, the largest ``q`` of each state.
        out: The array for the result, may be ``q``; a new one if None.

    Returns:
        float64 ``[n_rows]``: the largest value of a state for the row chosen, and values at least two ties below it,
        but not below 0 if no value is, for the rows before it.
    """
    least = 0.0 if q.min(initial=0) >= 0 else -np.inf
    preferred = np.empty(len(q)) if out is None else out
    for_chunks(_policy.prefer, state_ptr, state_ptr, q, choice, 2 * tie_of(v), least, preferred)
    return preferred


def _check_arrays(state_ptr: np.ndarray, q: np.ndarray) -> None:
    for name, array in {"state_ptr": state_ptr, "q": q}.items():
        if not isinstance(array, np.ndarray):
            raise PolicyError(f"{name}: is a {type(array).__name__}, allowed is an array")
    if q.shape != (state_ptr[-1],):
        raise PolicyError(f"q: has the shape {q.shape}, allowed is ({state_ptr[-1]},), a value for each row")


def greedy(state_ptr: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The policy that takes the best row of each state, the first one of ties.

    Returns:
        float64 ``[n_rows]``, 1 for the rows taken and 0 for the others.

    Examples:
        >>> greedy(np.array([0, 2, 3]), np.array([0.25, 0.75, 0.5]))
        array([0., 1., 1.])

    Raises:
        PolicyError: an argument is no array, such as a solution, whose values are its ``q``, or has another shape.
    """
    _check_arrays(state_ptr, q)
    weight = np.zeros(len(q))
    weight[first_best(state_ptr, q)] = 1.0
    return weight


def policy_of_values(state_ptr: np.ndarray, q: np.ndarray, temperature: float | None) -> np.ndarray:
    """The policy of an agent: `softmax` at a temperature, `greedy` without one."""
    return greedy(state_ptr, q) if temperature is None else softmax(state_ptr, q, temperature)


def softmax(state_ptr: np.ndarray, q: np.ndarray, temperature: float) -> np.ndarray:
    """The policy that takes row ``r`` with probability proportional to ``exp(q[r] / temperature)``.

    Args:
        state_ptr: int64 ``[n_states + 1]``, where the rows of each state begin.
        q: float64 ``[n_rows]``, values of rows.
        temperature: Above 0, in the unit of ``q``; lower is closer to greedy.

    Returns:
        float64 ``[n_rows]``, adding up to 1 in each state.

    Raises:
        PolicyError: the temperature is not a number above 0, or another argument is no array of its shape.
    """
    _check_arrays(state_ptr, q)
    check_temperature(temperature)
    begins = state_ptr[:-1]
    lengths = np.diff(state_ptr)
    with np.errstate(over="ignore"):  # minus infinity is right at very low temperatures
        exponent = (q - np.repeat(np.maximum.reduceat(q, begins), lengths)) / temperature
    weight: np.ndarray = np.exp(exponent)
    weight /= np.repeat(np.add.reduceat(weight, begins), lengths)
    return weight


def check_temperature(temperature: float) -> None:
    """Check a temperature before any work is done."""
    if not 0 < temperature < np.inf:
        raise PolicyError(f"temperature: {temperature} is not allowed, it must be above 0")

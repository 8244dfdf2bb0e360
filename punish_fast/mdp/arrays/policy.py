"""Policies as arrays of row probabilities, float64 ``[n_rows]``, that add up to 1 in each state.

**Ties.** Symmetric actions have equal values, but rounding changes the last digits, depending on the order of
summation. The greedy choice, or *best row*, is therefore the *first* row whose value is below the maximum of its state
by at most 1e-12 times the largest absolute state value. (Row values are not used for this scale, because a penalty of
-1e9 would raise the tolerance to 1e-3.) All programs that follow this rule make the same choices, provided that their
errors are much smaller than the tolerance and that unequal row values differ by much more than the tolerance. In the
solved games of Punish, unequal values differ by at least 1e-10.

**The policy of a solution.** A policy loses the difference between tied values each time it takes the row with the
lower value. A solver therefore takes the first of tied rows only if the resulting policy provably attains the computed
values up to the error bound. Otherwise it takes the rows of a policy whose values are proved (``component_solver.py``).
Exceptions are listed in ``solver.py``.
"""

from typing import Any

import numpy as np

from punish_fast.mdp.arrays import _policy
from punish_fast.mdp.arrays.names import UNNAMED, Names, state_name
from punish_fast.runtime.errors import PunishFastError, as_float, shown
from punish_fast.runtime.parallel import for_chunks

# Tolerance for the sum of the probabilities in a state.
SUM_TOLERANCE = 1e-9
# Differences up to this fraction of the largest absolute state value count as ties.
TIE = 1e-12
# Number of rows that one thread can compare while other threads start.
_LEAST_WORK = 100_000


# Error message for masked arrays, which are refused because NumPy would use the masked numbers.
MASKED = "has masked entries; pass an array without a mask, such as array.filled(value)"


class PolicyError(PunishFastError, ValueError):
    """Raised for an invalid policy, temperature or array. The message begins with the name of the argument."""


def refuse_mask(name: str, given: Any, error: type[PunishFastError] = PolicyError) -> None:
    """Raise an error if an array, or an item of a list at any depth, has masked entries."""
    for item in given if isinstance(given, list | tuple) else ():
        refuse_mask(name, item, error)
    if type(given) is not np.ndarray and np.ma.is_masked(given):
        raise error(f"{name}: {MASKED}")


def check_policy(
    state_ptr: np.ndarray, policy: Any, error: type[PunishFastError] = PolicyError, names: Names = UNNAMED
) -> np.ndarray:
    """Return a policy as an array, after checking that it is a distribution in every state."""
    refuse_mask("policy", policy, error)
    given, shape = np.asarray(policy), (int(state_ptr[-1]),)
    if given.shape != shape or given.dtype != np.float64:
        raise error(f"policy: {given.dtype} {given.shape}; it must be float64 {shape}")
    if not (given >= 0).all():
        raise error("policy: a probability is below 0 or not a number")
    if (wrong := np.abs(np.add.reduceat(given, state_ptr[:-1]) - 1) > SUM_TOLERANCE).any():
        raise error(f"policy: the probabilities of state {state_name(names, wrong.argmax())} do not add up to 1")
    return given


def best_values(state_ptr: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the largest row value of each state, float64 ``[n_states]``."""
    return np.asarray(np.maximum.reduceat(q, state_ptr[:-1]))


def first_best(
    state_ptr: np.ndarray, q: np.ndarray, v: np.ndarray | None = None, largest_tie: float = np.inf
) -> np.ndarray:
    """Return the best row of each state, int64 ``[n_states]``.

    The tie tolerance is computed from the state values ``v``, by default the maxima of ``q``, and is at most
    ``largest_tie``.
    """
    q = np.ascontiguousarray(q, dtype=np.float64)
    choice = np.empty(len(state_ptr) - 1, dtype=np.int64)
    v = best_values(state_ptr, q) if v is None else v
    tie = min(TIE * max(float(v.max(initial=0)), -float(v.min(initial=0))), largest_tie)
    for_chunks(_policy.choose_first, state_ptr, state_ptr, q, tie, choice, alone=len(q) < _LEAST_WORK)
    return choice


def taking(n_rows: int, choice: np.ndarray) -> np.ndarray:
    """Return the policy that takes the rows ``choice``, int64 ``[n_states]``, as float64 ``[n_rows]``."""
    policy = np.zeros(n_rows)
    policy[choice] = 1.0
    return policy


def _check_arrays(state_ptr: np.ndarray, q: np.ndarray) -> None:
    for name, array in {"state_ptr": state_ptr, "q": q}.items():
        if not isinstance(array, np.ndarray):
            raise PolicyError(f"{name}: is a {type(array).__name__}; it must be an array")
        refuse_mask(name, array)
    if q.shape != (state_ptr[-1],):
        raise PolicyError(f"q: has the shape {q.shape}; it must be ({state_ptr[-1]},), a value for each row")


def greedy(state_ptr: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the policy that takes the best row of each state, or the first best row if several tie.

    Args:
        state_ptr: int64 ``[n_states + 1]``, row offsets of the states.
        q: float64 ``[n_rows]``, row values, such as `Solution.q`. A row whose value is below the maximum of its state
            by at most 1e-12 times the largest absolute maximum is tied with the best row.

    Returns:
        float64 ``[n_rows]``, 1 for rows that are taken and 0 for other rows.

    Raises:
        PolicyError: If an argument is not an array or has masked entries, or ``q`` has the wrong shape.

    Examples:
        >>> greedy(np.array([0, 2, 3]), np.array([0.25, 0.75, 0.5]))
        array([0., 1., 1.])
    """
    _check_arrays(state_ptr, q)
    return taking(len(q), first_best(state_ptr, q))


def softmax(state_ptr: np.ndarray, q: np.ndarray, temperature: float) -> np.ndarray:
    """Return the policy that takes row ``r`` with probability proportional to ``exp(q[r] / temperature)``.

    Args:
        state_ptr: int64 ``[n_states + 1]``, row offsets of the states.
        q: float64 ``[n_rows]``, row values.
        temperature: Positive number in the unit of ``q``. At lower temperatures, the policy is closer to greedy.

    Returns:
        float64 ``[n_rows]``, probabilities that add up to 1 in each state.

    Raises:
        PolicyError: If the temperature is not positive and finite, another argument is not an array or has masked
            entries, or ``q`` has the wrong shape.

    Examples:
        >>> softmax(np.array([0, 2, 3]), np.array([0.25, 0.75, 0.5]), temperature=0.5).round(3)
        array([0.269, 0.731, 1.   ])
    """
    _check_arrays(state_ptr, q)
    temperature = check_temperature(temperature)
    begins, lengths = state_ptr[:-1], np.diff(state_ptr)
    with np.errstate(over="ignore"):  # at very low temperatures, overflow to minus infinity is correct
        exponent = (q - np.repeat(np.maximum.reduceat(q, begins), lengths)) / temperature
    policy: np.ndarray = np.exp(exponent)
    policy /= np.repeat(np.add.reduceat(policy, begins), lengths)
    return policy


def check_temperature(temperature: Any) -> float:
    """Return a temperature, a real number of any type, as a float, after checking that it is positive and finite."""
    if not 0 < (number := as_float(temperature)) < np.inf:
        raise PolicyError(f"temperature: {shown(temperature)} is not allowed; it must be a finite number above 0")
    return number

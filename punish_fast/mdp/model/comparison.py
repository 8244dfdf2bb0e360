"""Differences between two solutions of MDPs with the same states and actions.

Let ``q`` and ``q'`` be the row values, and let ``a`` and ``a'`` be the choices in a state, with the values ``v = q(a)``
and ``v' = q'(a')``. If the choices differ, each solution assigns a *regret* to the other's choice: ``v - q(a')`` and
``v' - q'(a)``. The sum of their absolute values is the *disagreement* in the state. It is 0 if the choices are equal,
and tiny if rounding broke a tie.
"""

from dataclasses import dataclass

import numpy as np

from punish_fast.mdp.arrays.policy import first_best
from punish_fast.runtime.errors import ArgumentError

# Disagreements up to this fraction of the largest absolute row value count as ties.
_TIE = 1e-9


@dataclass(frozen=True)
class Differences:
    """Statistics of the differences ``second - first`` between two arrays of values, in the unit of the values.

    Attributes:
        largest: Largest absolute difference.
        mean: Mean absolute difference.
        rms: Root mean square of the differences.
        bias: Mean difference.
    """

    largest: float
    mean: float
    rms: float
    bias: float


@dataclass(frozen=True)
class Comparison:
    """Result of `compare_solutions`: differences between two solutions.

    If the choices of the solutions differ in a state, each solution assigns a *regret* to the other's choice: the
    difference between the values of its own choice and of the other's. The *disagreement* is the sum of both absolute
    regrets, and 0 if the choices are equal.

    Attributes:
        q: Differences of row values.
        v: Differences of state values, each the value of the solution's own choice.
        choices: int64 ``[2, n_states]``, row that each solution takes in each state.
        disagreement: float64 ``[n_states]``, sum of both absolute regrets.
        n_states: int64 ``[n_layers]``, number of states in each layer.
        n_changed: int64 ``[n_layers]``, number of states in each layer whose choices differ.
        n_clear: int64 ``[n_layers]``, number of states in each layer whose choices differ and are not tied.
    """

    q: Differences
    v: Differences
    choices: np.ndarray
    disagreement: np.ndarray
    n_states: np.ndarray
    n_changed: np.ndarray
    n_clear: np.ndarray

    def largest(self, count: int) -> np.ndarray:
        """Return the states with the largest disagreement, excluding ties.

        Args:
            count: Maximum number of states.

        Returns:
            States in descending order of disagreement, int64 ``[k]`` with ``k <= count``.

        Examples:
            >>> ptr, layers = np.array([0, 2, 4]), np.array([0, 2])
            >>> first, second = np.array([0.0, 1.0, 3.0, 2.0]), np.array([1.5, 1.0, 2.0, 4.0])
            >>> compare_solutions(ptr, layers, first, second).largest(1)
            array([1])
        """
        order = np.argsort(-self.disagreement, kind="stable")[: min(count, int(self.n_clear.sum()))]
        return np.asarray(order)


def compare_solutions(
    state_ptr: np.ndarray,
    layer_ptr: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    choices: np.ndarray | None = None,
) -> Comparison:
    """Compare two solutions of MDPs with the same states and actions.

    Args:
        state_ptr: int64 ``[n_states + 1]``, row offsets of the states.
        layer_ptr: int64 ``[n_layers + 1]``, state offsets of the layers.
        first: float64 ``[n_rows]``, row values of the first solution.
        second: float64 ``[n_rows]``, row values of the second solution.
        choices: int64 ``[2, n_states]``, row that each solution takes in each state, by default its greedy rows.

    Returns:
        The differences.

    Raises:
        ArgumentError: If ``first`` or ``second`` does not contain one finite value per row.

    Examples:
        Each of two states has two rows. The solutions choose different rows only in state 1:

        >>> ptr, layers = np.array([0, 2, 4]), np.array([0, 2])
        >>> found = compare_solutions(ptr, layers, np.array([0.0, 1.0, 3.0, 2.0]), np.array([0.0, 1.5, 2.0, 4.0]))
        >>> found.choices
        array([[1, 2],
               [1, 3]])
        >>> found.disagreement, found.v.largest
        (array([0., 3.]), 1.0)
    """
    for values in (first, second):
        if values.shape != (int(state_ptr[-1]),) or not np.isfinite(values).all():
            raise ArgumentError(f"first, second: values of shape {values.shape}; pass {state_ptr[-1]} finite numbers")
    if choices is None:
        choices = np.stack([first_best(state_ptr, values) for values in (first, second)])
    own, others = choices
    disagreement = np.abs(first[own] - first[others]) + np.abs(second[own] - second[others])
    changed = own != others
    clear = changed & (disagreement > _TIE * max(np.abs(first).max(initial=0), np.abs(second).max(initial=0)))
    # Numbers of all states, and of those whose choices differ, or differ and are not tied, in each layer.
    counts = (np.diff(np.append(0, np.cumsum(marks))[layer_ptr]) for marks in (np.ones_like(own), changed, clear))
    q, v = _differences(first, second), _differences(first[own], second[others])
    return Comparison(q, v, choices, disagreement, *counts)


def _differences(first: np.ndarray, second: np.ndarray) -> Differences:
    difference = second - first if len(first) else np.zeros(1)
    absolute, squares = np.abs(difference), np.mean(difference**2)
    return Differences(*map(float, (absolute.max(), absolute.mean(), np.sqrt(squares), difference.mean())))

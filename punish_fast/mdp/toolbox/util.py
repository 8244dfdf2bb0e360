"""Checks of transition probabilities and rewards, with the names of pymdptoolbox."""

from typing import Any

import numpy as np

from punish_fast.mdp.arrays.row_sums import SUM_TOLERANCE, ModelError
from punish_fast.mdp.model import mdp
from punish_fast.runtime.lazy_modules import sparse


def process_of(P: Any, R: Any) -> mdp.MDP:
    """Build an MDP from transitions and rewards in the forms that pymdptoolbox documents."""
    return mdp.MDP.from_dense(*(list(x) if isinstance(x, np.ndarray) and x.dtype.kind == "O" else x for x in (P, R)))


def check(P: Any, R: Any) -> None:
    """Raise an error if transitions and rewards do not form an MDP.

    Args:
        P: Transition probabilities, an array ``[A, S, S]`` or a matrix ``[S, S]``, dense or sparse, for each action.
        R: Rewards ``[S]``, ``[S, A]`` or ``[A, S, S]``.

    Raises:
        ModelError: If the arrays do not form an MDP. For an invalid reward or probability, the message contains the
            state.

    Examples:
        >>> check([[[0.5, 0.5], [0, 0.9]]], [1, 2])
        Traceback (most recent call last):
        punish_fast.mdp.arrays.row_sums.ModelError: transitions: the probabilities of action 0 of state 1 add up to ...
    """
    process_of(P, R)


def checkSquareStochastic(matrix: Any) -> None:
    """Raise an error if a matrix is not a square matrix of transition probabilities.

    Args:
        matrix: Dense or sparse matrix.

    Raises:
        ModelError: If the matrix is not square, an entry is negative, or a row does not add up to 1.

    Examples:
        >>> checkSquareStochastic([[0.5, 0.5], [0, 1]])
    """
    for is_valid, told in ((isSquare, "square"), (isStochastic, "stochastic"), (isNonNegative, "without negatives")):
        if not is_valid(matrix):
            raise ModelError(f"matrix: must be {told}")


def isSquare(matrix: Any) -> bool:
    """Return True if a dense or sparse matrix is square.

    Args:
        matrix: Dense or sparse matrix.

    Examples:
        >>> isSquare([[0.5, 0.5]])
        False
    """
    return len(shape := _array(matrix).shape) == 2 and shape[0] == shape[1]


def isStochastic(matrix: Any) -> bool:
    """Return True if each row of a dense or sparse matrix adds up to 1 with an error of at most 1e-12.

    Args:
        matrix: Dense or sparse matrix.

    Examples:
        >>> isStochastic([[0.5, 0.5], [0, 1]])
        True
    """
    return bool((np.abs(_array(matrix).sum(axis=1) - 1) <= SUM_TOLERANCE).all())


def isNonNegative(matrix: Any) -> bool:
    """Return True if a dense or sparse matrix has no negative entry.

    Args:
        matrix: Dense or sparse matrix.

    Examples:
        >>> isNonNegative([[0.5, 0.5], [-0.5, 1.5]])
        False
    """
    return bool(_array(matrix).min() >= 0)


def getSpan(W: np.ndarray) -> float:
    """Return the difference between the largest and the smallest entry of an array.

    Args:
        W: Array of numbers.

    Examples:
        >>> getSpan(np.array([1.0, 5.0, 3.0]))
        4.0
    """
    return float(np.ptp(W))


def _array(matrix: Any) -> Any:
    return matrix if sparse.issparse(matrix) else np.asarray(matrix, dtype=np.float64)

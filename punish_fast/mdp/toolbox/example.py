"""Example processes of pymdptoolbox."""

from typing import Any

import numpy as np

from punish_fast.runtime.errors import ArgumentError, check_allowed
from punish_fast.runtime.lazy_modules import sparse
from punish_fast.runtime.parallel import cumulated


def small() -> tuple[np.ndarray, np.ndarray]:
    """Return an example with two states and two actions.

    Returns:
        Transition probabilities, float64 ``[A, S, S]``, and rewards, int64 ``[S, A]``.

    Examples:
        >>> P, R = small()
        >>> P.shape, R.tolist()
        ((2, 2, 2), [[5, 10], [-1, 2]])
    """
    return np.array([[[0.5, 0.5], [0.8, 0.2]], [[0.0, 1.0], [0.1, 0.9]]]), np.array([[5, 10], [-1, 2]])


def forest(S: int = 3, r1: float = 4, r2: float = 2, p: float = 0.1, is_sparse: bool = False) -> tuple[Any, np.ndarray]:
    """Return a model of a forest that grows each year unless it burns down or is cut.

    The state is the age of the forest in years, up to ``S - 1``. Action 0 waits, and action 1 cuts. Cutting pays 0 at
    age 0, ``r2`` at the last age, and 1 at other ages.

    Args:
        S: Number of states, at least 2.
        r1: Reward for waiting at the last age.
        r2: Reward for cutting at the last age.
        p: Probability of a fire in each year, from 0 to 1.
        is_sparse: True to return a SciPy CSR matrix for each action.

    Returns:
        Transition probabilities, float64 ``[A, S, S]`` or a tuple of CSR matrices, and rewards, float64 ``[S, A]``.

    Raises:
        ArgumentError: If an argument is out of range.

    Examples:
        >>> P, R = forest()
        >>> P[0]
        array([[0.1, 0.9, 0. ],
               [0.1, 0. , 0.9],
               [0.1, 0. , 0.9]])
        >>> R
        array([[0., 0.],
               [0., 1.],
               [4., 2.]])
    """
    check_allowed(S > 1, ArgumentError, "S", S, "at least 2")
    check_allowed(0 <= p <= 1, ArgumentError, "p", p, "from 0 to 1")
    age, youngest = np.arange(S), np.zeros(S, dtype=np.int64)
    older = np.minimum(age + 1, S - 1)
    burns = np.concatenate([np.full(S, p), np.full(S, 1 - p)]), (np.tile(age, 2), np.concatenate([youngest, older]))
    matrices = [sparse.csr_matrix(entries, shape=(S, S)) for entries in (burns, (np.ones(S), (age, youngest)))]
    R = np.zeros((S, 2))
    R[1:, 1] = 1
    R[-1] = r1, r2
    return _stacked(matrices, is_sparse), R


def rand(S: int, A: int, is_sparse: bool = False, mask: np.ndarray | None = None) -> tuple[Any, Any]:
    """Return a random example. NumPy's global generator draws the same numbers as in pymdptoolbox.

    Args:
        S: Number of states, at least 2.
        A: Number of actions, at least 2.
        is_sparse: True to return a SciPy CSR matrix for each action.
        mask: Array ``[S, S]`` or ``[A, S, S]`` that is 0 for impossible transitions. Random by default.

    Returns:
        Transition probabilities and rewards from -1 to 1, float64 ``[A, S, S]`` or tuples of CSR matrices.

    Raises:
        ArgumentError: If there are too few states or actions, or the mask has the wrong shape.

    Examples:
        >>> np.random.seed(0)
        >>> P, R = rand(4, 3)
        >>> P[0, 0].round(3), R[0, 0].round(3)
        (array([0.22 , 0.149, 0.303, 0.328]), array([-0.233,  0.583,  0.058,  0.136]))
    """
    check_allowed(min(S, A) > 1, ArgumentError, "S or A", min(S, A), "at least 2")
    if mask is not None:
        check_allowed(np.shape(mask) in ((S, S), (A, S, S)), ArgumentError, "mask", np.shape(mask), f"{(A, S, S)}")
        mask = np.broadcast_to(mask, (A, S, S))
    found: tuple[list[Any], list[Any]] = [], []
    for action in range(A):
        rows = [_draw_row(S, is_sparse, None if mask is None else mask[action, state]) for state in range(S)]
        columns, p, r = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        indptr = cumulated(np.array([len(row[0]) for row in rows]))
        for matrices, data in zip(found, (p, r), strict=True):
            matrices.append(sparse.csr_matrix((data, columns, indptr), shape=(S, S)))
    return _stacked(found[0], is_sparse), _stacked(found[1], is_sparse)


def _draw_row(S: int, is_sparse: bool, mask: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw the successors of a row, their probabilities and their rewards, in the order of pymdptoolbox."""
    draw = np.random.random
    possible = draw(S) > (2 / 3 if is_sparse else draw()) if mask is None else mask != 0
    if not possible.any():
        possible[np.random.randint(0, S)] = True
    columns = np.flatnonzero(possible) if is_sparse else np.arange(S)
    p = draw(len(columns)) * possible[columns]
    r = (2 * draw(len(columns)) - 1) * possible[columns]
    return columns, p / p.sum(), r


def _stacked(matrices: list[Any], is_sparse: bool) -> Any:
    return tuple(matrices) if is_sparse else np.stack([matrix.toarray() for matrix in matrices])

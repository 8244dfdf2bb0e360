"""Anderson acceleration of a fixed-point iteration ``x -> g(x)``.

Near the fixed point, the step ``f = g(x) - x`` is nearly linear in ``x``, so the combination of past points with the
smallest combined step is usually a better approximation than the last point. The columns of ``dF`` and ``dG`` are the
differences between successive steps ``f`` and between successive images ``g(x)``. The next point is

    x' = g(x) - dG c,        c = argmin | f - dF c |

[Anderson 1965; Walker and Ni 2011, SIAM J. Numer. Anal. 49]. A contraction converges from every point, so the error
bound computed from a step is valid no matter how ``x`` was found. If the step grows three times without a new minimum
in between, ``x' = g(x)`` is used until the step reaches a new minimum.
"""

import numpy as np

_WINDOW = 4
_PATIENCE = 3
# A step below this fraction of the smallest step so far is a new minimum and resets the failure count.
_PROGRESS = 0.9


class Anderson:
    """Anderson acceleration of one fixed-point iteration, with its history."""

    def __init__(self) -> None:
        self._last: tuple[np.ndarray, np.ndarray] | None = None
        self._n_changes = 0
        # Number of times the step has grown since the last minimum.
        self._failures = 0
        self._least = np.inf

    def next(self, x: np.ndarray, image: np.ndarray) -> np.ndarray:
        """Return the next point, given ``x`` and ``image = g(x)``, ``[n]`` each. Do not modify ``image`` afterwards."""
        step = image - x
        size = np.abs(step).max(initial=0)
        if size < _PROGRESS * self._least:
            self._failures, self._least = 0, size
        if self._last is not None and size > np.abs(self._last[0]).max(initial=0):
            self._failures += 1
            self._last = None
            self._n_changes = 0
        if self._failures >= _PATIENCE:
            return image
        if self._last is not None:
            self._remember(step - self._last[0], image - self._last[1])
        self._last = step, image
        if self._n_changes == 0 or not step.any():
            return image
        n = min(self._n_changes, _WINDOW)
        towards = np.einsum("in,n->i", self._steps[:n], step)
        if not (np.isfinite(towards).all() and np.isfinite(self._gram[:n, :n]).all()):
            # Squares of very large values overflow.
            return image
        weights = _least_squares(self._gram[:n, :n], towards)
        accelerated: np.ndarray = image - np.einsum("i,in->n", weights, self._images[:n])
        return accelerated if np.isfinite(accelerated).all() else image

    def _remember(self, step_change: np.ndarray, image_change: np.ndarray) -> None:
        """Store the latest differences, overwriting the oldest ones if the window is full."""
        if self._n_changes == 0:
            self._steps = np.zeros((_WINDOW, len(step_change)))
            self._images = np.zeros((_WINDOW, len(step_change)))
            self._gram = np.zeros((_WINDOW, _WINDOW))
        place = self._n_changes % _WINDOW
        self._steps[place] = step_change
        self._images[place] = image_change
        # `numpy.einsum` does not call BLAS, whose threads would compete with ours and change the last bits.
        products = np.einsum("in,n->i", self._steps, step_change)
        self._gram[place] = products
        self._gram[:, place] = products
        self._n_changes += 1


def _least_squares(gram: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """Return the weights, ``[k]``, of the linear combination of ``k`` vectors that is closest to a target vector.

    ``gram``, ``[k, k]``, contains the inner products of the vectors. ``towards``, ``[k]``, contains their inner
    products with the target.
    """
    lengths = np.sqrt(gram.diagonal())
    lengths = np.where(lengths > 0, lengths, 1)
    weights = np.linalg.lstsq(gram / np.outer(lengths, lengths), towards / lengths, rcond=1e-13)[0]
    return np.asarray(weights / lengths)

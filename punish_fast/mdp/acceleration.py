"""Anderson acceleration of a fixed-point iteration ``x -> g(x)``.

Near the fixed point the steps ``f = g(x) - x`` are nearly linear in ``x``, so the combination of past points whose
combined step is smallest is a better guess than the last point alone. With ``dF`` and ``dG`` the differences of
successive steps and images, the next point is

    x' = g - dG c,        c = argmin | f - dF c |

[Anderson 1965; Walker and Ni 2011, SIAM J. Numer. Anal. 49]. Any point may be handed to a contraction, so nothing
that is proved of a plain step is lost; if accelerated steps grow again and again, acceleration is given up, which
leaves the plain iteration and its convergence.
"""

from __future__ import annotations

import numpy as np

_WINDOW = 5
_PATIENCE = 3


class Anderson:
    """The memory of an accelerated iteration."""

    def __init__(self) -> None:
        self._images: list[np.ndarray] = []
        self._steps: list[np.ndarray] = []
        self._failures = 0

    def next(self, x: np.ndarray, image: np.ndarray) -> np.ndarray:
        """The next point, after ``image = g(x)``; arrays ``[n]``."""
        step = image - x
        if self._steps and np.abs(step).max(initial=0) > np.abs(self._steps[-1]).max(initial=0):
            self._failures += 1
            self._images.clear()
            self._steps.clear()
        if self._failures >= _PATIENCE:
            return image
        self._images = [*self._images[1 - _WINDOW :], image]
        self._steps = [*self._steps[1 - _WINDOW :], step]
        if len(self._steps) < 2 or not step.any():
            return image
        weights = _least_squares(np.diff(np.array(self._steps), axis=0), step)
        image_changes = np.diff(np.array(self._images), axis=0)
        accelerated: np.ndarray = image - np.einsum("i,in->n", weights, image_changes)
        return accelerated if np.isfinite(accelerated).all() else image


def _least_squares(vectors: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The weights ``[k]`` by which ``vectors`` (``[k, n]``, k small) come nearest to ``target``, by normal equations.

    Long sums are left to `numpy.einsum`: a BLAS would wake threads of its own, which compete with ours and whose number
    would change the last bits.
    """
    lengths = np.sqrt(np.einsum("in,in->i", vectors, vectors))
    unit = vectors / np.where(lengths > 0, lengths, 1)[:, np.newaxis]
    gram = np.einsum("in,jn->ij", unit, unit)
    weights = np.linalg.lstsq(gram, np.einsum("in,n->i", unit, target), rcond=1e-13)[0]
    scaled: np.ndarray = weights / np.where(lengths > 0, lengths, 1)
    return scaled

"""The largest probability to win, without a discount, by the package's own layered sweeps.

Winning pays 1 and nothing else pays anything, so the values are the smallest fixed point of

    v(s) = max_a sum_t P(t | s, a) v(t),        v(win) = 1,  v(loss) = 0.

Without a discount the Bellman operator is no contraction in the sup norm. Let ``S`` be the sweep through all layers of
a cycle, as a map of the carried values (those of the first layer), and ``W`` the same with zeros at both terminals:
``W u`` is the largest expectation, over all policies, of ``u`` where the game stands when it comes back to the first
layer, 0 if it has ended. Then ``|S x - S y| <= W |x - y|``, so a ``u >= 1`` with ``W u <= b u`` makes ``S`` a
contraction with modulus ``b`` in the weighted norm ``|x|_u = max |x| / u`` [Bertsekas and Tsitsiklis 1996, sec. 2.2].
Such a ``u`` is found by the iteration ``u <- 1 + W u``, which counts the measures that a game can be made to last; a
single measure (``u = 1``) does not do, because some hands can keep a game alive through one for sure. The first ``u``
with a good modulus is taken, or the one from which on the modulus hardly improves.

With ``d = |S x - x|_u`` and ``e`` a bound on the rounding errors of a sweep, the error of the carried values ``S x`` is
at most ``(b d + e) / (1 - b) max u``, and that of all others, which were computed from ``x``, at most ``max |S x - x|``
more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from punish_fast.chunks import for_chunks
from punish_fast.mdp import _bellman
from punish_fast.mdp.acceleration import Anderson
from punish_fast.mdp.model import MDP

_MOST_SWEEPS = 10_000
_MOST_WEIGHINGS = 200
_GOOD_MODULUS = 0.9
_LEAST_GAIN = 0.1
_UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2


class WinProbability(NamedTuple):
    """What was found.

    Attributes:
        values: float64 ``[n_states]``, the largest probability to win from each state.
        error_bound: No value is further than this from the true one.
        modulus: By what a sweep contracts the error, in the weighted norm.
        sweeps: Sweeps made, those for the modulus included.
    """

    values: np.ndarray
    error_bound: float
    modulus: float
    sweeps: int


class _Sweeper:
    """Sweeps of ``v`` through the layers from the last to the first, in place."""

    def __init__(self, mdp: MDP) -> None:
        self._mdp = mdp
        self._tensor = _bellman.Tensor(
            mdp.state_ptr.view(np.uint64),
            mdp.indptr.view(np.uint64),
            mdp.indices.view(np.uint32),
            mdp.data,
            np.zeros(mdp.n_rows),
        )

    @property
    def n_carried(self) -> int:
        """States of the first layer."""
        return int(self._mdp.layer_ptr[1])

    def terminals(self, win: float) -> np.ndarray:
        """Zeros for all states and loss, and ``win`` for a win."""
        v = np.zeros(self._mdp.n_columns)
        v[self._mdp.n_states] = win
        return v

    def sweep(self, v: np.ndarray) -> None:
        for layer in reversed(range(self._mdp.n_layers)):
            chunks = self._mdp.chunks(layer)
            residual = np.zeros(len(chunks) - 1)
            args = (chunks.view(np.uint64), self._tensor, 1.0, v, v, residual)
            for_chunks(_bellman.sweep, np.arange(len(chunks)), *args)


def win_probability(mdp: MDP, tolerance: float) -> WinProbability:
    """The largest probability to win from each state of ``mdp``, whose terminals are win and loss.

    Args:
        mdp: The process; its layers must be a cycle.
        tolerance: Stop when no value is further than this from the true one.

    Raises:
        ValueError: the layers are no cycle, a policy can keep games from ever ending, or rounding errors are too large
            for the tolerance.
    """
    if not mdp.is_cycle or len(mdp.terminal_reward) != 2:
        raise ValueError("a game whose layers are a cycle, with win and loss, is needed")
    sweeper = _Sweeper(mdp)
    rounding = float((mdp.longest_rows + 8).sum()) * _UNIT_ROUNDOFF
    weight, modulus, n_weighed = _weigh(sweeper, rounding)
    heaviest = float(weight.max())
    v = sweeper.terminals(1.0)
    carried = v[: sweeper.n_carried]
    anderson = Anderson()
    for sweeps in range(n_weighed + 1, _MOST_SWEEPS):
        before = carried.copy()
        sweeper.sweep(v)
        change = np.abs(carried - before)
        error = float((modulus * (change / weight).max() + rounding) / (1 - modulus) * heaviest + change.max())
        if error <= tolerance:
            return WinProbability(v[: mdp.n_states].copy(), error, modulus, sweeps)
        carried[:] = np.clip(anderson.next(before, carried.copy()), 0, 1)
    raise ValueError(f"{tolerance} is not reached after {_MOST_SWEEPS} sweeps")


def _weigh(sweeper: _Sweeper, rounding: float) -> tuple[np.ndarray, float, int]:
    """Weights of the carried values, the modulus in their norm, and how many sweeps it took to find them."""
    weight = np.ones(sweeper.n_carried)
    before = np.inf
    for sweeps in range(1, _MOST_WEIGHINGS):
        v = sweeper.terminals(0.0)
        v[: sweeper.n_carried] = weight
        sweeper.sweep(v)
        image = v[: sweeper.n_carried] + rounding * weight.max()
        modulus = float((image / weight).max())
        hardly_improves = modulus < 1 and before - modulus < _LEAST_GAIN * (1 - modulus)
        if modulus <= _GOOD_MODULUS or hardly_improves:
            return weight, modulus, sweeps
        weight, before = 1 + image, modulus
    raise ValueError("no end of the games is in sight: a policy may keep them going for ever")

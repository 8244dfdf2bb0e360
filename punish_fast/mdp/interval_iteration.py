"""The chance to reach a win, bracketed from below and above (interval iteration).

A terminal that pays more than nothing is a *win*. The largest chance to reach one is a fixed point of

    (T v)(s) = max_a sum_t P(t | s, a) v(t),        v = 1 in a win, v = 0 in every other terminal

that is, of total rewards where only the arrival at a win pays, once. ``T`` never lowers anything when ``v`` rises.

**Play must end.** In a set of states that some policy never leaves (an *end component*) nothing tells a value from a
larger one, and the best action there may be to stay for ever. So such processes are refused. They are found by sweeps:
of the set of all states, keep those with an action that stays in the set for sure, until no state is left or none
drops out [the *always* of de Alfaro 1997]. If none is left, play ends under every policy, and whatever sweeps begin
with, they converge to the one fixed point ``v*`` [Bertsekas and Tsitsiklis 1991].

**Brackets.** Let ``F`` be a sweep, on the values it carries. Then for any ``u`` and any number of sweeps ``k``

    F^k(u) <= u   =>   v* <= F^k(u),        F^k(l) >= l   =>   v* >= F^k(l)

because applying ``F^k`` again and again to both sides leads from ``u`` down to ``v*``, and from ``l`` up to it. The
bounds 0 and 1 fulfil this at once: iterating from them is interval iteration [Haddad and Monmege 2018, Theor. Comput.
Sci. 735]. It gains as much in a sweep as plain value iteration, for twice the work. So accelerated sweeps come first,
from below alone, and prove nothing. The bracket is then begun at a small distance on both sides of where they lead,
within 0 and 1, and swept from below and above until both conditions hold; a bracket that does not get there is
begun again, sixteen times as wide, for twice as long. At the latest, it is that of 0 and 1.

**Rounding.** A sweep in floating point is off by at most ``e`` (see ``sweeps.py``), so ``e`` is added to every upper
value and taken from every lower one. What remains is exact up to stored probabilities, as told there.
"""

from __future__ import annotations

import numpy as np

from punish_fast.mdp.contraction import Contraction, SolveError
from punish_fast.mdp.model import Process
from punish_fast.mdp.policy import first_best
from punish_fast.mdp.value_iteration import Layered

# A bracket begins so many times as wide as the last change, since errors are larger than changes.
_MARGIN = 16.0
_PATIENCE = 8
_WIDENING = 16.0


class Reachability(Layered):
    """Sweeps towards the largest chances to win, then brackets around them; a round from both sides is one sweep."""

    def __init__(self, mdp: Process, goal: float | None, start: np.ndarray | None = None) -> None:
        """Begin with chances ``start`` (float64 ``[n_states]``), or with zeros.

        Args:
            mdp: The process.
            goal: The error that is aimed at; if None, the bracket begins with 0 and 1.
            start: Chances to begin with.

        Raises:
            SolveError: play may go on for ever.
        """
        super().__init__(mdp, 1.0, start)
        self._nothing = np.zeros(mdp.n_rows)
        self._tensor = self._tensor._replace(reward=self._nothing)
        self._settings = (self._tensor, self._data_ptr, 1.0)
        np.clip(self.v, 0.0, 1.0, out=self.v)
        self.v[mdp.n_states :] = mdp.terminal_reward > 0
        self._goal = goal
        self._change = np.inf
        self._bracket: Bracket | None = None
        if goal is None:
            self._begin_bracket(1.0, _PATIENCE)

    @property
    def _n_carried(self) -> int:
        return int(self.mdp.layer_ptr[1]) if self.mdp.is_cycle else self.mdp.n_states

    def _find_contraction(self) -> Contraction:
        """No single sweep need contract, but after some all do; no chance is above 1."""
        self.contraction = Contraction(modulus=1.0, spread=1.0, largest_value=1.0)
        self._must_end()
        return self.contraction

    def _must_end(self) -> None:
        n = self._n_carried
        nothing = np.zeros(self.mdp.n_rows)
        stays = np.ones(n, dtype=bool)
        while stays.any():
            v = np.zeros(self.mdp.n_columns)
            v[:n] = stays
            still = stays & (self._sweep_with(nothing, v)[:n] >= 1 - self._error)
            if np.array_equal(still, stays):
                raise SolveError(
                    f"objective: win-probability needs play that ends, but from {stays.sum()} states (the first is "
                    f"number {stays.argmax()}) it can go on for ever, which only a discount below 1 allows"
                )
            stays = still

    @property
    def _error(self) -> float:
        """How far rounding can put a sweep off."""
        return float(self._rounding().sum())

    def sweep(self) -> float:
        """Sweep once, from both sides if there is a bracket; return the error bound after `close`."""
        if self._bracket is not None:
            return self._narrow(self._bracket)
        super().sweep()
        assert self._goal is not None
        if self._change <= max(self._goal / (2 * _MARGIN), 2 * self._error):
            self._begin_bracket(max(self._goal / 2, 2 * _MARGIN * self._error), _PATIENCE)
        return 1.0

    def close(self) -> None:
        """Back up every state once more; what rounding put above 1 becomes 1."""
        super().close()
        if self.q.max(initial=0) > 1:
            np.minimum(self.q, 1.0, out=self.q)
            np.minimum(self.v, 1.0, out=self.v)
            self.choice = first_best(self.mdp.state_ptr, self.q)

    def _bound(self, residuals: list[float]) -> float:
        self._change = residuals[-1] if self.mdp.is_cycle else max(residuals)
        return 1.0

    def _begin_bracket(self, distance: float, patience: int) -> None:
        """Begin a bracket at a distance on both sides of ``v``."""
        n = self.mdp.n_states
        lower, upper = self.v.copy(), self.v.copy()
        lower[:n] = np.clip(self.v[:n] - distance, 0.0, 1.0)
        upper[:n] = np.clip(self.v[:n] + distance, 0.0, 1.0)
        self._bracket = Bracket(lower, upper, self._n_carried, patience)

    def _narrow(self, bracket: Bracket) -> float:
        """One round from below and above; ``v`` becomes the middle."""
        n = self.mdp.n_states
        lower, upper = bracket.lower.copy(), bracket.upper.copy()
        lower = self._sweep_with(self._nothing, lower)
        upper = self._sweep_with(self._nothing, upper)
        lower[:n] = np.clip(lower[:n] - self._error, 0.0, 1.0)
        upper[:n] = np.clip(upper[:n] + self._error, 0.0, 1.0)
        change = bracket.replace(lower, upper)
        self.log.residual.append(change)
        self.v = (lower + upper) / 2
        if bracket.is_proved:
            self.is_at_floor = change <= 2 * self._error
            return self._closed(bracket.half_width)
        if bracket.n_rounds == bracket.patience:
            self._begin_bracket(_WIDENING * max(bracket.distance, bracket.half_width), 2 * bracket.patience)
        return 1.0


class Bracket:
    """Bounds from below and above, and whether they are proved.

    Attributes:
        lower: float64 ``[n_columns]``, lower bounds of all values.
        upper: float64 ``[n_columns]``, upper bounds.
        patience: After so many rounds, an unproved bracket is given up.
        n_rounds: Rounds made.
        distance: Half the width that the bracket began with.
        is_proved: Whether the values are known to lie between the bounds.
    """

    def __init__(self, lower: np.ndarray, upper: np.ndarray, n_carried: int, patience: int) -> None:
        self.lower = lower
        self.upper = upper
        self.patience = patience
        self.n_rounds = 0
        self.is_proved = False
        self._first = lower[:n_carried].copy(), upper[:n_carried].copy()
        self.distance = self.half_width

    @property
    def half_width(self) -> float:
        """Half the largest distance between the bounds, rounded up."""
        width = float((self.upper - self.lower).max(initial=0))
        return float(np.nextafter(width / 2, np.inf)) + float(np.finfo(np.float64).eps)

    def replace(self, lower: np.ndarray, upper: np.ndarray) -> float:
        """Take the bounds of the next round; return the largest change."""
        change = max(_largest_change(self.lower, lower), _largest_change(self.upper, upper))
        self.lower, self.upper = lower, upper
        self.n_rounds += 1
        first_lower, first_upper = self._first
        n = len(first_lower)
        if not self.is_proved:
            self.is_proved = bool((lower[:n] >= first_lower).all() and (upper[:n] <= first_upper).all())
        return change


def _largest_change(before: np.ndarray, after: np.ndarray) -> float:
    return float(np.abs(after - before).max(initial=0))

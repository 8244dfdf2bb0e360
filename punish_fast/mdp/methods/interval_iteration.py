"""Interval iteration: lower and upper bounds on win probabilities.

A terminal with a positive reward or value is a *win*. The maximum probability of reaching a win is a fixed point of

    (T v)(s) = max_a sum_t P(t | s, a) v(t),        v = 1 in a win, v = 0 in every other terminal

This probability is the total reward if arrival at a win pays 1 and nothing else pays. ``T`` is monotone.

**Runs must end.** An *end component* is a set of states that some policy never leaves. In an end component, every
sufficiently large constant solves the equations, and a greedy policy might stay forever. Sweeps detect end components:
start with all states, and repeatedly remove states without an action that surely stays in the set, until the set is
empty or stops changing [the *always* operator of de Alfaro 1997]. If the set becomes empty, runs end under every
policy, and sweeps from any start converge to the unique fixed point ``v*`` [Bertsekas and Tsitsiklis 1991]. Otherwise,
``end_components.py`` builds an MDP whose runs end.

**Brackets.** Let ``F`` map the carried values (``value_iteration.py``) before a sweep to those after it. For any ``u``
and ``l`` and any number of sweeps ``k``,

    F^k(u) <= u   =>   v* <= F^k(u),        F^k(l) >= l   =>   v* >= F^k(l)

because repeated application of ``F^k`` leads from ``u`` down to ``v*``, and from ``l`` up to ``v*``. The bounds 0 and 1
always satisfy these conditions. Interval iteration starts from these bounds and needs twice the time of plain value
iteration [Haddad and Monmege 2018, Theor. Comput. Sci. 735]. Sweeps of a single array of values therefore come first,
although they prove nothing. The first bracket has bounds a small distance below and above their result, clipped to [0,
1], and is swept until both conditions hold. If they do not hold within eight sweeps, a new bracket begins, at least
sixteen times as wide and with twice as many sweeps. Eventually, the bracket is [0, 1].

**Rounding.** The rounding error of a sweep is at most ``e`` (see ``value_iteration.py``), so ``e`` is added to every
upper bound and subtracted from every lower bound.
"""

from __future__ import annotations

import numpy as np

from punish_fast.mdp.bounds.stopping_rule import Contraction, positive_terminals
from punish_fast.mdp.methods.value_iteration import Layered
from punish_fast.mdp.model.process import Payment, Process

# Minimum ratio of a bracket's initial half-width to the last change, because errors are larger than changes.
_MARGIN = 16.0
_PATIENCE = 8
_WIDENING = 16.0


class Reachability(Layered):
    """Sweeps for maximum win probabilities, then sweeps of brackets. Updating both bounds counts as one sweep."""

    _least = 0.0

    def __init__(self, mdp: Process, goal: float | None, initial_values: np.ndarray | None = None) -> None:
        """Start with sweeps of ``initial_values``, float64 ``[n_states]``, or with a bracket.

        If ``goal``, the error bound to reach, is None, sweeps start with the bracket [0, 1].
        """
        super().__init__(mdp, 1.0, initial_values)
        self._goal = goal
        self._change = np.inf
        self._bracket: Bracket | None = None
        self._payment = Payment(np.zeros(mdp.n_rows), 1.0)
        np.clip(self.v, 0.0, 1.0, out=self.v)
        self.v[mdp.n_states :] = positive_terminals(mdp)
        if goal is None:
            self._begin_bracket(1.0, _PATIENCE)

    @property
    def _error(self) -> float:
        """Upper bound on the rounding error of a sweep."""
        return float(self._rounding().sum())

    def sweep(self) -> float:
        """Sweep once, over both bounds if there is a bracket, and return the error bound that holds after `close`."""
        if self._bracket is not None:
            return self._narrow(self._bracket)
        super().sweep()
        assert self._goal is not None
        if self._change <= max(self._goal / (2 * _MARGIN), 2 * self._error):
            self._begin_bracket(max(self._goal / 2, 2 * _MARGIN * self._error), _PATIENCE)
        return 1.0

    def _bound(self, change: float) -> float:
        self._change = change
        return 1.0

    def _begin_bracket(self, distance: float, patience: int) -> None:
        """Start a bracket whose bounds are ``distance`` below and above `v`, clipped to the possible range."""
        n = self.mdp.n_states
        lower, upper = self.v.copy(), self.v.copy()
        lower[:n] = np.clip(self.v[:n] - distance, 0.0, 1.0)
        upper[:n] = np.clip(self.v[:n] + distance, 0.0, 1.0)
        self._bracket = Bracket(lower, upper, self._n_carried, patience)

    def _narrow(self, bracket: Bracket) -> float:
        """Sweep both bounds and set `v` to their mean.

        Return the error bound that holds after a call of `close`, or 1 if no bound is proved yet.
        """
        n = self.mdp.n_states
        lower, upper = (
            self._sweep_with(self._payment.reward, values.copy()) for values in (bracket.lower, bracket.upper)
        )
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

    def _find_contraction(self) -> Contraction:
        # The modulus is 1 because a single sweep need not contract, although several do. No probability exceeds 1.
        self._find_endless()
        return Contraction(modulus=1.0, spread=1.0, largest_value=1.0)

    def close(self) -> None:
        """Back up every state once more, and clip values that rounding raised above 1."""
        super().close()
        if self.q.max(initial=0) > 1:
            np.minimum(self.q, 1.0, out=self.q)
            np.minimum(self.v, 1.0, out=self.v)


class Bracket:
    """Lower and upper bounds on all values, float64 ``[n_columns]`` each."""

    def __init__(self, lower: np.ndarray, upper: np.ndarray, n_carried: int, patience: int) -> None:
        self.lower = lower
        self.upper = upper
        self.patience = patience  # number of sweeps after which an unproved bracket is replaced
        self.n_rounds = 0
        self.is_proved = False  # True if the values provably lie between the bounds
        self._first = lower[:n_carried].copy(), upper[:n_carried].copy()
        self.distance = self.half_width  # half the initial width

    @property
    def half_width(self) -> float:
        """Half the largest distance between the bounds, rounded up."""
        width = float((self.upper - self.lower).max(initial=0))
        return float(np.nextafter(width / 2, np.inf)) + float(np.finfo(np.float64).eps)

    def replace(self, lower: np.ndarray, upper: np.ndarray) -> float:
        """Replace the bounds after a sweep, check whether they are proved, and return the largest change."""
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

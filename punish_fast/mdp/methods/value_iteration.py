"""Value iteration: sweeps, each with a certified bound on the remaining error.

The optimal values are the fixed point of the Bellman operator ``(T v)(s) = max_a r(s, a) + g sum_t P(t | s, a) v(t)``,
a contraction with modulus ``g``, the discount [Puterman 1994, ch. 6]. With discount 1, values are total rewards until
a terminal is reached, terminals are worth nothing, and ``stopping_rule.py`` finds the modulus.

**Schedules.** ``jacobi`` applies ``T`` to all states at once. ``layered`` goes through the layers from the last to
the first and uses each new value at once. If every layer leads only to the next and the last back to the first (a
*cycle* of ``L`` layers), one such sweep depends on the first layer's values alone and contracts them with modulus
``g^L``. Only these values are *carried* from sweep to sweep, so Anderson acceleration applies to them alone.

**Error bound.** Let ``d`` be the largest change of a carried value in the last sweep (in a cycle those of the first
layer, otherwise all), ``b`` the modulus, and ``e`` a bound on the rounding error of one sweep. By the contraction,

    |v - v*| on carried values  <=  k (b d + e) / (1 - b),

(``k`` is 1 unless the discount is) and on all others at most ``g`` times the carried error before the sweep, plus
``e``. A row of ``n`` entries computed in floating point with unit roundoff ``u`` is off by at most ``(n + 8) u`` times
the largest value that can occur [Higham 2002, ch. 3]. This allows for stored probabilities that are off by up to four
roundings; the bound holds for the process whose rows add up to exactly one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise, starmap

import numpy as np

from punish_fast.mdp.bounds.attainment import Aim, attaining_choice, attains
from punish_fast.mdp.bounds.rounding import SMALLEST, UNIT_ROUNDOFF
from punish_fast.mdp.bounds.stopping_rule import LARGEST_VALUE, Contraction, LargeValueError, discounted, undiscounted
from punish_fast.mdp.methods.anderson import Anderson
from punish_fast.mdp.model import MDP
from punish_fast.mdp.policy import first_best, preferring
from punish_fast.mdp.process import Payment, Process, RowChoices


@dataclass
class Log:
    """Statistics of each sweep.

    Attributes:
        residual: Largest change of a state's value.
        seconds: Duration.
        rmse: Square root of the sum of the squared changes of Q, terminals included (``jacobi`` only).
        choice_changes: States whose greedy action changed (``jacobi`` only).
    """

    residual: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    rmse: list[float] = field(default_factory=list)
    choice_changes: list[int] = field(default_factory=list)


class Iteration:
    """The common part of all schedules.

    Attributes:
        v: float64 ``[n_columns]``, values of states and terminals.
        q: float64 ``[n_rows]``, values of state-action pairs; consistent with `v` only after `close`.
        choice: int64 ``[n_states]``, the best row of each state, the first one of equal values; likewise.
        contraction: The contraction of every sweep.
        endless: bool ``[n_states]``, the states from which play can go on for ever; None if there are none. Without a
            discount, sweeps find no values then.
        is_at_floor: Whether the last changes were no larger than rounding can make them.
        bound: The error bound after the last sweep.
        log: One entry for each sweep.
        rows_taken: int64 ``[n_states]``, the policy that `settle` found; if None, the first best rows of `q`.
    """

    # Probabilities of the rows of a policy to be evaluated.
    _weight: np.ndarray | None = None

    def __init__(self, mdp: Process, discount: float) -> None:
        self.mdp = mdp
        self.discount = discount
        self.endless: np.ndarray | None = None
        self.is_at_floor = False
        self.bound = np.inf
        self.rows_taken: np.ndarray | None = None
        self.log = Log()
        self.v = np.zeros(mdp.n_columns)
        self.q = np.zeros(mdp.n_rows)
        self.choice = np.zeros(mdp.n_states, dtype=np.int64)
        # Terms of a backup besides the entries of its row, and roundings of a stored probability.
        self._further_terms = 8
        self._backups = mdp.backups
        self._payment = Payment(mdp.reward, discount)
        # The values that the last backup of rows began with.
        self._before_close = self.v
        self.contraction = self._find_contraction()
        if discount < 1 and self.contraction.largest_value > LARGEST_VALUE:
            raise LargeValueError(
                f"reward: values can reach {self.contraction.largest_value:g} at discount {discount!r}, allowed is "
                f"{LARGEST_VALUE:g}"
            )

    def _find_contraction(self) -> Contraction:
        if self.discount < 1:
            return discounted(self.mdp, self.discount, 1, self._weight)
        return self._undiscounted(self.mdp.n_states)

    def _undiscounted(self, n_carried: int) -> Contraction:
        def is_endless() -> bool:
            self.endless = self._find_endless(n_carried)
            return self.endless is not None

        contraction = undiscounted(self.mdp, n_carried, self._sweep_with, is_endless)
        if contraction.modulus >= 1 and self.endless is None:
            is_endless()
        return contraction

    def _find_endless(self, n_carried: int) -> np.ndarray | None:
        """The states from which play can go on for ever: those that have a row that leads to these states alone."""
        stays, unpaid = np.ones(n_carried, dtype=bool), np.zeros(self.mdp.n_rows)
        while stays.any():
            # Minus the probability of leaving, which is 0 only if no successor is outside.
            v = np.full(self.mdp.n_columns, -1.0)
            v[:n_carried] = np.where(stays, 0.0, -1.0)
            for layer, states in reversed(list(enumerate(starmap(slice, pairwise(self.mdp.layer_ptr.tolist()))))):
                v, _ = self._back_up_layer(layer, Payment(unpaid, 1.0), v)
                # Products of small probabilities would underflow.
                v[states] = np.sign(v[states])
            still = stays & (v[:n_carried] == 0)
            if np.array_equal(still, stays):
                return np.asarray(v[: self.mdp.n_states] == 0)
            stays = still
        return None

    def _sweep_with(self, reward: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Sweep over ``v`` with other rewards, undiscounted and in place."""
        for layer in reversed(range(self.mdp.n_layers)):
            v, _ = self._back_up_layer(layer, Payment(reward, 1.0), v)
        return v

    def _back_up_layer(self, layer: int, payment: Payment, v: np.ndarray) -> tuple[np.ndarray, float]:
        """Back up one layer; return the new values, in place of the old ones if possible, and the largest change."""
        out = v if self.mdp.is_independent(layer) else v.copy()
        return out, self._backups.sweep(layer, payment, v, out)

    def _rounding(self) -> np.ndarray:
        """float64 ``[n_layers]``, the largest rounding error of a backup."""
        rounding: np.ndarray = (self.mdp.longest_rows + self._further_terms) * (
            UNIT_ROUNDOFF * self.contraction.largest_value + SMALLEST
        )
        return rounding

    def _carried_error(self, change: float, rounding: float) -> float:
        """Upper bound on the error of carried values after they changed by ``change`` at most."""
        self.is_at_floor = self.contraction.is_at_floor(change, rounding)
        return self.contraction.error_bound(change, rounding)

    def _back_up_rows(self) -> np.ndarray:
        """Back up all states from one ``v``; return residual, sum of squared changes of ``q``, and changed choices."""
        out = self.v.copy()
        totals = np.zeros(3)
        for layer in range(self.mdp.n_layers):
            largest, *sums = self._backups.close(layer, self._payment, RowChoices(self.q, self.choice), self.v, out)
            totals[0] = max(totals[0], largest)
            totals[1:] += sums
        self._before_close, self.v = self.v, out
        return totals

    def settle(self, bounds: Sequence[float]) -> float:
        """Choose the policy; return how much less than `v` it may earn.

        Args:
            bounds: Allowed losses, in ascending order.
        """
        if self.discount == 1:
            return 0.0
        n = self.mdp.n_states
        first = first_best(self.mdp.state_ptr, self.q, self.v[:n])
        without_ties = self._loss(np.zeros(self.mdp.n_layers))
        tie = self.v[:n] - self.q[first]
        loss = self._loss(np.array([tie[i:j].max(initial=0) for i, j in pairwise(self.mdp.layer_ptr.tolist())]))
        if loss <= max(bounds[-1], 2 * without_ties):
            return loss
        self.prefer(self.choice.copy())
        return without_ties

    def _loss(self, ties: np.ndarray) -> float:
        """How much less than `v` a policy can earn with a discount, by the backup of `close`.

        Its rows are worse than the best ones of their states by up to ``ties``, float64 ``[n_layers]``, and a backup of
        the new values is lower than one of the old values by their largest fall, discounted. In a cycle of layers both
        add up from layer to layer.
        """
        g, losses, falls = self.discount, ties + self._rounding(), self._falls()
        if not self.mdp.is_cycle:
            return float(losses.max() + g * falls.max()) / (1 - g)
        losses += g * np.roll(falls, -1)
        factors = g ** np.arange(len(losses))
        every = [float((np.roll(losses, -k) * factors).sum()) for k in range(len(losses))]
        return max(every) / (1 - g ** len(losses))

    def _falls(self) -> np.ndarray:
        """float64 ``[n_layers]``, by how much values of states fell at most in the last backup."""
        fall = (self._before_close - self.v)[: self.mdp.n_states]
        return np.array([fall[i:j].max(initial=0) for i, j in pairwise(self.mdp.layer_ptr.tolist())])

    def prefer(self, choice: np.ndarray) -> None:
        """Lower the values of rows before ``choice``, which might lose more in the long run than rounding shows."""
        v = self.v[: self.mdp.n_states]
        self.q, self.rows_taken = preferring(self.mdp.state_ptr, self.q, choice, v), choice


class Layered(Iteration):
    """The layers from the last to the first, in place."""

    # No value is below it.
    _least = -np.inf

    def __init__(self, mdp: Process, discount: float, start: np.ndarray | None = None) -> None:
        """Start with the values ``start`` (float64 ``[n_states]``), or with zeros."""
        super().__init__(mdp, discount)
        if start is not None:
            largest = self.contraction.largest_value
            self.v[: mdp.n_states] = np.clip(start, -largest, largest)
        if discount < 1:
            self.v[mdp.n_states :] = mdp.terminal_reward / (1 - discount)
        self._acceleration = Anderson()
        self._before: np.ndarray | None = None

    def _find_contraction(self) -> Contraction:
        if not self.mdp.is_cycle:
            return super()._find_contraction()
        if self.discount < 1:
            return discounted(self.mdp, self.discount, self.mdp.n_layers, self._weight)
        return self._undiscounted(self._n_carried)

    @property
    def _n_carried(self) -> int:
        return int(self.mdp.layer_ptr[1]) if self.mdp.is_cycle else self.mdp.n_states

    def sweep(self) -> float:
        """Sweep once over all states; return the error bound of ``v`` after `close`."""
        if self.mdp.is_cycle:
            self._accelerate()
        residuals = []
        for layer in reversed(range(self.mdp.n_layers)):
            self.v, residual = self._back_up_layer(layer, self._payment, self.v)
            residuals.append(residual)
        self.log.residual.append(max(residuals))
        return self._closed(self._bound(residuals))

    def close(self) -> None:
        """Back up every state once more, for ``q``, ``choice`` and a consistent ``v``."""
        self._back_up_rows()

    def settle(self, bounds: Sequence[float]) -> float:
        """Choose the policy; see `Iteration.settle`.

        If the discount is 1, sweeps under the policy prove its values; a process without stored transitions is not
        checked, since a policy would take as much memory as its values. If no policy is found, the loss is infinite.
        """
        rounding, n = float(self._rounding().sum()), self.mdp.n_states
        if self.discount < 1:
            return super().settle(bounds)
        if not isinstance(self.mdp, MDP) or not np.isfinite(rounding):
            return 0.0
        first = first_best(self.mdp.state_ptr, self.q, self.v[:n])
        for distance in bounds:
            lower = self.v.copy()
            lower[:n] = np.maximum(lower[:n] - distance / 2, self._least)
            aim = Aim(self._payment.reward, lower, self._least, rounding, distance / 2)
            if attains(self.mdp, aim, first, len(self.log.residual)):
                return distance
        choice = attaining_choice(self.mdp, aim)
        if choice is None:
            return np.inf
        self.prefer(choice)
        return distance

    def _closed(self, bound: float) -> float:
        """The error bound after `close`, from the one before."""
        return self.discount * bound + float(self._rounding().max(initial=0))

    def _accelerate(self) -> None:
        """Extrapolate the carried values of the next sweep."""
        carried = self.v[: self._n_carried]
        if self._before is not None:
            accelerated = self._acceleration.next(self._before, carried.copy())
            largest = self.contraction.largest_value
            carried[:] = np.clip(accelerated, -largest, largest)
        self._before = carried.copy()

    def _bound(self, residuals: list[float]) -> float:
        rounding = float(self._rounding().sum())
        change = residuals[-1] if self.mdp.is_cycle else max(residuals)
        carried = self._carried_error(change, rounding)
        if not self.mdp.is_cycle:
            return carried
        return max(carried, self.discount * (change + carried) + rounding)


class Evaluation(Layered):
    """The layers from the last to the first, under a policy that takes row ``r`` with probability ``weight[r]``."""

    def __init__(self, mdp: Process, discount: float, weight: np.ndarray) -> None:
        """Start with zeros."""
        self._weight = weight
        super().__init__(mdp, discount)
        self._further_terms += int(np.diff(mdp.state_ptr).max(initial=0)) + 1

    def _back_up_layer(self, layer: int, payment: Payment, v: np.ndarray) -> tuple[np.ndarray, float]:
        out = v if self.mdp.is_independent(layer) else v.copy()
        assert self._weight is not None
        return out, self._backups.evaluate(layer, payment, self._weight, v, out)

    def _closed(self, bound: float) -> float:
        return bound


class Jacobi(Iteration):
    """All states at once, starting with ``q = r``, as in the published runs."""

    def __init__(self, mdp: Process, discount: float) -> None:
        """Start with immediate rewards for ``q`` and their maximum for ``v``."""
        super().__init__(mdp, discount)
        self.q[:] = mdp.reward
        self.v[: mdp.n_states] = np.maximum.reduceat(mdp.reward, mdp.state_ptr[:-1])
        if discount < 1:
            self.v[mdp.n_states :] = mdp.terminal_reward
        self.choice = first_best(mdp.state_ptr, mdp.reward)

    def sweep(self) -> float:
        """Sweep once over all states; return the error bound of ``v``."""
        n_states = self.mdp.n_states
        terminals = self.v[n_states:].copy()
        residual, squares, changes = self._back_up_rows()
        if self.discount < 1:
            self.v[n_states:] = self.mdp.terminal_reward + self.discount * terminals
        terminal_changes = self.v[n_states:] - terminals
        residual = max(float(residual), float(np.abs(terminal_changes).max(initial=0)))
        self.log.residual.append(residual)
        self.log.rmse.append(float(np.sqrt(squares + (terminal_changes**2).sum())))
        self.log.choice_changes.append(int(changes))
        rounding = float(self._rounding().max(initial=0))
        return self._carried_error(residual, rounding)

    def _falls(self) -> np.ndarray:
        """Return a bound for all layers, float64 ``[n_layers]``: the last residual."""
        return np.full(self.mdp.n_layers, self.log.residual[-1])

    def close(self) -> None:
        """Do nothing: every sweep backs up ``q``."""

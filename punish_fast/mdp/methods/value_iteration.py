"""Value iteration by sweeps with certified error bounds.

The optimal values are the fixed point of the Bellman operator ``(T v)(s) = max_a r(s, a) + g sum_t P(t | s, a) v(t)``,
a contraction whose modulus is the discount ``g`` [Puterman 1994, ch. 6]. With discount 1, values are total rewards,
including the reward of the terminal reached, and ``stopping_rule.py`` determines the modulus.

**Methods.** ``jacobi`` applies ``T`` to all states simultaneously. ``layered`` updates the layers from last to first
and uses new values immediately. If each of ``L`` layers leads only to the next one, and the last layer only to the
first (a *cycle*), the values of terminals and of the first layer determine the result of a layered sweep. The sweep
contracts the values of the first layer with modulus ``g^L``. Only these values are *carried* from sweep to sweep, and
only they are extrapolated (``anderson.py``). Without a cycle, all values are carried and none are extrapolated.

A win probability is a total reward: arrival at a terminal with a positive reward or value pays 1, and nothing else
pays.

**Error bound.** Let ``d`` be the largest change of a carried value in the last sweep, ``b`` the modulus, and ``e`` a
bound on the rounding error of a sweep. Since sweeps contract,

    |v - v*| on carried values  <=  k (b d + e) / (1 - b),

where ``k`` is 1 if the discount is below 1. Otherwise, ``stopping_rule.py`` determines ``k``. The error of any other
value is at most ``g`` times the error of the carried values before the sweep, plus ``e``. The rounding error of a row
of ``n`` entries is at most ``(n + 8) u`` times the largest possible value, where ``u`` is the unit roundoff [Higham
2002, ch. 3]. This includes up to four roundings of each stored probability. The bound holds for the MDP whose rows add
up to exactly 1.

**Policies without a discount.** Even if the errors of values are at most ``a``, their greedy policy might be poor:
without a discount, a row that loses less than ``a`` can be taken many times. In an MDP in which every policy
terminates, let ``F`` be a sweep under one policy, and let ``e`` bound the rounding error of a sweep. Backups are
monotone, so for any values ``l``,

    F^k(l) - k e >= l   =>   the values of the policy are at least l

so a policy is verified by sweeps from ``l = v - a / 2``. If the layers form a cycle, the condition is required only in
the first layer. Elsewhere the values of the policy are at least ``F^k(l) - k e``, which must be at least ``v - a``.

If the verification fails, the ladder solves the MDP by other methods.
"""

from collections.abc import Sequence
from itertools import pairwise, starmap
from typing import NamedTuple

import numpy as np

from punish_fast.mdp.arrays.policy import first_best, taking
from punish_fast.mdp.bounds import stopping_rule
from punish_fast.mdp.methods.anderson import Anderson
from punish_fast.mdp.model.mdp import MDP
from punish_fast.mdp.model.process import FURTHER_TERMS, SMALLEST, UNIT_ROUNDOFF, Payment, Process, RowChoices
from punish_fast.mdp.model.results import ANY
from punish_fast.mdp.model.solution import Log, Payoff


class Aim(NamedTuple):
    """Values that a policy must attain."""

    reward: np.ndarray  # float64 ``[n_rows]``, immediate rewards
    lower: np.ndarray  # float64 ``[n_columns]``, required value of each state, and values of terminals
    floor: float  # Lower bound on all values of all policies, or -inf if unknown
    rounding: float  # Bound on the rounding error of a sweep
    allowance: float = 0.0  # Permitted shortfall in all layers of a cycle except the first


def attains(mdp: MDP, aim: Aim, choice: np.ndarray, sweeps: int) -> bool:
    """Return True if up to ``sweeps`` sweeps prove that the policy ``choice``, int64 ``[n_states]``, attains the aim.

    Every policy of the process must terminate.
    """
    n, payment, policy = mdp.n_states, Payment(aim.reward, 1.0), taking(mdp.n_rows, choice)
    n_carried = int(mdp.layer_ptr[1]) if mdp.is_cycle else n
    lower = aim.lower.copy()
    for _ in range(sweeps):
        before = lower[:n_carried].copy()
        for layer in reversed(range(mdp.n_layers)):
            out = lower if mdp.backups.is_independent(layer) else lower.copy()
            mdp.backups.sweep(layer, payment, lower, out, policy)
            lower = out
        np.maximum(lower[:n] - aim.rounding, aim.floor, out=lower[:n])
        if (lower[:n_carried] >= aim.lower[:n_carried]).all():
            return bool((lower[n_carried:n] >= aim.lower[n_carried:n] - aim.allowance).all())
        if (lower[:n_carried] <= before).all():
            return False
    return False


class Iteration:
    """Base class of the methods that sweep through layers or states."""

    def __init__(
        self, mdp: Process, discount: float, payoff: Payoff, policy: np.ndarray | None = None, is_cycle: bool = False
    ) -> None:
        # `policy`: row probabilities of the policy to evaluate, float64 [n_rows], or None to find optimal values.
        # `is_cycle`: True if only values of the first layer are carried from sweep to sweep.
        self.mdp, self.discount, self._payoff, self._policy = mdp, discount, payoff, policy
        self._n_carried = int(mdp.layer_ptr[1]) if is_cycle else mdp.n_states  # number of leading carried states
        self._n_steps = mdp.n_layers if is_cycle else 1  # number of steps that a sweep looks ahead
        # Mask of the states from which a run can last forever, bool [n_states], or None if no state can or the discount
        # is below 1. With such states, undiscounted sweeps might not find the optimal values.
        self.endless: np.ndarray | None = None
        self.is_at_floor = False  # True if rounding can explain the changes in the last sweep
        # Policy chosen by `settle`. If None, the first best rows of `q`.
        self.proved_choice: np.ndarray | None = None
        self.log = Log()
        self.v = np.concatenate([np.zeros(mdp.n_states), payoff.end])
        # Row values, and the first row of each state with the largest value. Consistent with `v` only after `close`.
        self.q = np.zeros(mdp.n_rows)
        self.choice = np.zeros(mdp.n_states, dtype=np.int64)
        # Number of roundings in a row in addition to one per entry, including roundings of stored probabilities.
        self._further_terms = FURTHER_TERMS
        if policy is not None:
            self._further_terms += int(np.diff(mdp.state_ptr).max(initial=0)) + 1
        self._backups = mdp.backups
        self._payment = Payment(payoff.row, discount)
        # Values before the last call to `_back_up_rows`.
        self._before_close = self.v
        self.contraction = self._find_contraction()
        if discount < 1 and self.contraction.largest_value > stopping_rule.LARGEST_VALUE:
            told = f"{self.contraction.largest_value:g} at discount {discount!r}; the maximum is"
            raise stopping_rule.LargeValueError(f"reward: values can reach {told} {stopping_rule.LARGEST_VALUE:g}")

    def _find_contraction(self) -> stopping_rule.Contraction:
        if self.discount < 1:
            return stopping_rule.discounted(self.mdp, self.discount, self._n_steps, self._policy)
        args = self._n_carried, self._sweep_with, self._find_endless
        contraction = stopping_rule.undiscounted(self.mdp, self._payoff, *args)
        if contraction.modulus >= 1 and self.endless is None:
            self._find_endless()
        return contraction

    def _find_endless(self) -> bool:
        """Find the states from which a run can last forever. Set `endless` and return True if any exist.

        This is the *always* operator of de Alfaro [1997].
        """
        n_carried = self._n_carried
        stays, unpaid = np.ones(n_carried, dtype=bool), np.zeros(self.mdp.n_rows)
        # Remove states whose rows may all lead to removed states or terminals, until no more states are removed.
        while stays.any():
            # The value of a state is minus its minimum probability of leaving. It is 0 only if some row surely stays.
            v = np.full(self.mdp.n_columns, -1.0)
            v[:n_carried] = np.where(stays, 0.0, -1.0)
            for layer, states in reversed(list(enumerate(starmap(slice, pairwise(self.mdp.layer_ptr.tolist()))))):
                v, _ = self._back_up_layer(layer, Payment(unpaid, 1.0), v)
                # Store only signs, because products of small probabilities would underflow.
                v[states] = np.sign(v[states])
            still = stays & (v[:n_carried] == 0)
            if np.array_equal(still, stays):
                self.endless = np.asarray(v[: self.mdp.n_states] == 0)
                return True
            stays = still
        return False

    def _sweep_with(self, reward: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Sweep over ``v`` with the given rewards and no discount, in place if possible, and return the new values."""
        for layer in reversed(range(self.mdp.n_layers)):
            v, _ = self._back_up_layer(layer, Payment(reward, 1.0), v)
        return v

    def _back_up_layer(self, layer: int, payment: Payment, v: np.ndarray) -> tuple[np.ndarray, float]:
        """Back up one layer, in place if possible, and return the new values and the largest change."""
        out = v if self._backups.is_independent(layer) else v.copy()
        return out, self._backups.sweep(layer, payment, v, out, self._policy)

    def _rounding(self) -> np.ndarray:
        """Return bounds on the rounding error of a backup in each layer, float64 ``[n_layers]``."""
        of_one_term = UNIT_ROUNDOFF * self.contraction.largest_value + SMALLEST
        return np.asarray((self.mdp.longest_rows + self._further_terms) * of_one_term)

    def _carried_error(self, change: float, rounding: float) -> float:
        """Bound the error of carried values that changed by at most ``change`` in a sweep. Set `is_at_floor`."""
        self.is_at_floor = self.contraction.is_at_floor(change, rounding)
        return self.contraction.error_bound(change, rounding)

    def _back_up_rows(self) -> np.ndarray:
        """Back up all states simultaneously, and return the statistics of `Backups.close`, combined over the layers."""
        out = self.v.copy()
        totals = np.zeros(3)
        for layer in range(self.mdp.n_layers):
            largest, *sums = self._backups.close(layer, self._payment, RowChoices(self.q, self.choice), self.v, out)
            totals[0] = max(totals[0], largest)
            totals[1:] += sums
        self._before_close, self.v = self.v, out
        return totals

    def settle(self, bounds: Sequence[float]) -> float:
        """Choose the policy, and return a bound on its loss: `v` minus the values of the policy.

        ``bounds`` contains the allowed losses, in ascending order. If the discount is 1, the loss is not checked, and
        the result is 0.
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
        self.proved_choice = self.choice.copy()
        return without_ties

    def _loss(self, ties: np.ndarray) -> float:
        """Return a bound on `v` minus the values of a policy with a discount.

        The rows of the policy are worse than the best rows in `q` by up to ``ties``, float64 ``[n_layers]``. `close`
        computed `q` from the previous state values. If state values have decreased since then, row values decrease by
        at most the discount times the largest decrease. In a cycle of layers, both losses add up from layer to layer.
        """
        g, losses, falls = self.discount, ties + self._rounding(), self._falls()
        if not self.mdp.is_cycle:
            return float(losses.max() + g * falls.max()) / (1 - g)
        losses += g * np.roll(falls, -1)
        factors = g ** np.arange(len(losses))
        every = [float((np.roll(losses, -k) * factors).sum()) for k in range(len(losses))]
        return max(every) / (1 - g ** len(losses))

    def _falls(self) -> np.ndarray:
        """Return the largest decrease of a state value in each layer during the last backup, float64 ``[n_layers]``."""
        fall = (self._before_close - self.v)[: self.mdp.n_states]
        return np.array([fall[i:j].max(initial=0) for i, j in pairwise(self.mdp.layer_ptr.tolist())])


class Layered(Iteration):
    """Sweeps through the layers from last to first, in place.

    If a policy is given, the sweeps evaluate it: they take row ``r`` with probability ``policy[r]``.
    """

    def __init__(
        self,
        mdp: Process,
        discount: float,
        payoff: Payoff,
        initial_values: np.ndarray | None = None,
        policy: np.ndarray | None = None,
    ) -> None:
        """Start with ``initial_values``, float64 ``[n_states]``, or with zeros if None."""
        super().__init__(mdp, discount, payoff, policy, mdp.is_cycle)
        self._largest = self.contraction.largest_value
        if initial_values is not None:
            self.v[: mdp.n_states] = np.clip(initial_values, -self._largest, self._largest)
        self._acceleration = Anderson()
        self._before: np.ndarray | None = None

    def sweep(self) -> float:
        """Sweep once over all states, and return the error bound that `v` will have after `close`."""
        mdp, residuals = self.mdp, []
        if mdp.is_cycle:
            carried = self.v[: self._n_carried]
            if self._before is not None:
                accelerated = self._acceleration.next(self._before, carried.copy())
                carried[:] = np.clip(accelerated, -self._largest, self._largest)
            self._before = carried.copy()
        for layer in reversed(range(mdp.n_layers)):
            self.v, residual = self._back_up_layer(layer, self._payment, self.v)
            residuals.append(residual)
        self.log.residual.append(max(residuals))
        change, rounding = residuals[-1] if mdp.is_cycle else max(residuals), self._rounding()
        bound, total = self._carried_error(change, float(rounding.sum())), float(rounding.sum())
        if mdp.is_cycle:
            bound = max(bound, self.discount * (change + bound) + total)
        return bound if self._policy is not None else self.discount * bound + float(rounding.max(initial=0))

    def close(self) -> None:
        """Back up every state once more to make `q`, `choice` and `v` consistent. Clip values to their range.

        If a policy is given, state values are also row values, because each state has one row in the policy's chain.
        """
        if self._policy is not None:
            self.q = self.v[: self.mdp.n_states].copy()
            return
        self._back_up_rows()
        if self._payoff.value_range != ANY:
            for values in (self.q, self.v):
                np.clip(values, *self._payoff.value_range, out=values)

    def settle(self, bounds: Sequence[float]) -> float:
        """Choose the policy (see `Iteration.settle`).

        Without a discount, sweeps under the policy prove its values. The loss is infinite if the sweeps prove nothing,
        and 0 if the policy is given. If the process computes its transitions, the policy is not checked, because the
        row probabilities would take as much memory as the row values. The returned loss is then 0.
        """
        rounding, n = float(self._rounding().sum()), self.mdp.n_states
        if self._policy is None and self.discount < 1:
            return super().settle(bounds)
        if self._policy is not None or not isinstance(self.mdp, MDP) or not np.isfinite(rounding):
            return 0.0
        first, least = first_best(self.mdp.state_ptr, self.q, self.v[:n]), self._payoff.value_range.least
        for distance in bounds:
            lower = self.v.copy()
            lower[:n] = np.maximum(lower[:n] - distance / 2, least)
            aim = Aim(self._payment.reward, lower, least, rounding, distance / 2)
            if attains(self.mdp, aim, first, len(self.log.residual)):
                return distance
        return np.inf


class Jacobi(Iteration):
    """Sweeps that update all states simultaneously, starting with ``q = r`` like the published notebook."""

    def __init__(self, mdp: Process, discount: float, payoff: Payoff) -> None:
        super().__init__(mdp, discount, payoff)
        self.q[:] = mdp.reward
        self.v[: mdp.n_states] = np.maximum.reduceat(mdp.reward, mdp.state_ptr[:-1])
        if discount < 1:
            n = mdp.n_states
            self.v[n:] = stopping_rule.terminals_one_step_earlier(mdp, discount, np.zeros(len(mdp.terminal_reward)))
        self.choice = first_best(mdp.state_ptr, mdp.reward)

    def sweep(self) -> float:
        """Sweep once over all states, and return the error bound of `v`."""
        n_states = self.mdp.n_states
        terminals = self.v[n_states:].copy()
        residual, squares, changes = self._back_up_rows()
        if self.discount < 1:
            self.v[n_states:] = stopping_rule.terminals_one_step_earlier(self.mdp, self.discount, terminals)
        terminal_changes = self.v[n_states:] - terminals
        residual = max(float(residual), float(np.abs(terminal_changes).max(initial=0)))
        self.log.residual.append(residual)
        self.log.rmse.append(float(np.sqrt(squares + (terminal_changes**2).sum())))
        self.log.choice_changes.append(int(changes))
        rounding = float(self._rounding().max(initial=0))
        return self._carried_error(residual, rounding)

    def _falls(self) -> np.ndarray:
        """Return the last residual, which bounds the decrease in every layer, float64 ``[n_layers]``."""
        return np.full(self.mdp.n_layers, self.log.residual[-1])

    def close(self) -> None:
        """Do nothing, because every sweep updates `q` and `choice`."""

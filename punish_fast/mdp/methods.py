"""Methods for processes without layers, and the choice between them.

All of them alternate an advance and a certified backup (``improvement.py``), so they differ only in how they advance:

=================================  =====================================================================================
``value-iteration``                not at all: the backup alone, shifted to the middle of its bounds
``anderson``                       to an extrapolation of the last backups (``anderson.py``)
``modified-policy-iteration``      by sweeps over the rows of the greedy policy
``policy-iteration``               to the values of the greedy policy, by a Krylov method
``gauss-seidel``                   by sweeps that use new values at once, in both directions
``prioritized-sweeping``           by sweeps over the blocks of states whose values change most
``topological``                    by solving strongly connected components one after the other
=================================  =====================================================================================

**The choice.** ``auto`` starts with modified policy iteration, and goes on with it as long as each step gains a quarter
of a digit for as many entries read as the process has. Otherwise it tries Gauss-Seidel sweeps and the Krylov method for
a step each, and then makes every step by the method that gains most for each entry read, as far as is known: what a
method gained is trusted less with every step of another one, so each gets its turn. If a dozen sweeps' worth of entries
did not reach the goal and the process falls into many components, these are solved in topological order. Only counts of
entries decide, never a clock, so every run and every number of threads does the same.

**Methods that fail.** An advance may take values further away. After 32 steps without a smaller bound than ever before,
as many plain backups follow, and both numbers double. Since plain backups converge, so does every method.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from punish_fast.mdp.anderson import Anderson
from punish_fast.mdp.gauss_seidel import GaussSeidel
from punish_fast.mdp.improvement import Improvement
from punish_fast.mdp.krylov_policy_iteration import KrylovPolicyIteration
from punish_fast.mdp.model import MDP
from punish_fast.mdp.modified_policy_iteration import ModifiedPolicyIteration
from punish_fast.mdp.prioritized_sweeping import PrioritizedSweeping
from punish_fast.mdp.topological_order import Topological
from punish_fast.mdp.value_iteration import Log

GENERAL_METHODS = (
    "value-iteration",
    "anderson",
    "modified-policy-iteration",
    "policy-iteration",
    "gauss-seidel",
    "prioritized-sweeping",
    "topological",
)
_PATIENCE = 32
# Digits gained for as many entries as the process has, with which auto is content.
_CONTENT = 0.25
# What no step gains less than, and by how much hope grows with every step of another method.
_LEAST_RATE = 0.01
_HOPE = 1.2
# Entries of a step, as a multiple of those of the process, below which its length says little.
_SHORTEST = 0.1
# What auto tries, in this order.
_TRIED = ("modified-policy-iteration", "gauss-seidel", "policy-iteration")
# Entries, as a multiple of those of the process, that are read before components are sought.
_BEFORE_COMPONENTS = 12
# Components are worth it if the largest one has at most this share of the states.
_LARGEST_SHARE = 0.5


class Method(Protocol):
    """A way to bring values nearer to the optimal ones."""

    def advance(self, point: Improvement) -> None:
        """Change the values of ``point``, which were just backed up."""


class ValueIteration:
    """Backups alone."""

    def advance(self, point: Improvement) -> None:
        """Leave the values as they are."""


class Extrapolation:
    """Anderson acceleration of backups."""

    def __init__(self) -> None:
        self._acceleration = Anderson()
        self._before: np.ndarray | None = None

    def advance(self, point: Improvement) -> None:
        """Extrapolate from the last backups."""
        values = point.v[: point.mdp.n_states]
        if self._before is not None:
            values[:] = self._acceleration.next(self._before, values.copy())
        self._before = values.copy()


class Automatic:
    """The method that gains most for each entry read.

    Attributes:
        used: The steps made by each method.
    """

    def __init__(self, mdp: MDP, may_split: bool = True) -> None:
        """Begin with nothing known.

        Args:
            mdp: The process.
            may_split: Whether to look for components.
        """
        self._mdp, self._may_split = mdp, may_split
        self._methods: dict[str, Method] = {name: _METHOD_OF[name]() for name in _TRIED}
        # Digits for as many entries as the process has.
        self._rate: dict[str, float] = {}
        self._last: tuple[str, float, int] | None = None
        self.used: dict[str, int] = {}

    def advance(self, point: Improvement) -> None:
        """Make a step by the best method."""
        self._learn(point)
        name = self._pick(point)
        self.used[name] = self.used.get(name, 0) + 1
        self._last = name, point.error, point.work
        self._methods[name].advance(point)

    @property
    def reason(self) -> str:
        """What was used, and how often."""
        steps = ", ".join(f"{name} ({n} {'step' if n == 1 else 'steps'})" for name, n in self.used.items())
        return steps or "value-iteration"

    def _learn(self, point: Improvement) -> None:
        """Note what the last step gained; what others would gain now is less and less known."""
        if self._last is None:
            return
        name, error, work = self._last
        sweeps = max((point.work - work) / self._mdp.n_entries, _SHORTEST)
        gain = float(np.log10(error / point.error)) if point.error > 0 else np.inf
        for other in self._rate:
            self._rate[other] *= _HOPE
        if name in _TRIED:
            self._rate[name] = max(gain / sweeps, _LEAST_RATE)

    def _pick(self, point: Improvement) -> str:
        best = max(self._rate, key=self._rate.__getitem__, default=None)
        if best is not None and self._rate[best] >= _CONTENT:
            return best
        if self._may_split and point.work > _BEFORE_COMPONENTS * self._mdp.n_entries:
            self._may_split = False
            found = Topological(self._mdp, solve_part(point.discount))
            if found.sizes.max() <= _LARGEST_SHARE * self._mdp.n_states:
                self._methods["topological"] = found
                return "topological"
        untried = [name for name in _TRIED if name not in self._rate]
        return untried[0] if untried or best is None else best


_METHOD_OF: dict[str, Callable[[], Method]] = {
    "value-iteration": ValueIteration,
    "anderson": Extrapolation,
    "modified-policy-iteration": ModifiedPolicyIteration,
    "policy-iteration": KrylovPolicyIteration,
    "gauss-seidel": GaussSeidel,
    "prioritized-sweeping": PrioritizedSweeping,
}


@dataclass
class Steps:
    """The result of `iterate`.

    Attributes:
        point: The last point; its values are within its error bound.
        log: One entry for each backup.
        reason: What was done.
    """

    point: Improvement
    log: Log
    reason: str


def method_of(name: str, mdp: MDP, discount: float) -> Method:
    """The method of a name, ``auto`` included."""
    if name == "auto":
        return Automatic(mdp)
    if name == "topological":
        return Topological(mdp, solve_part(discount))
    return _METHOD_OF[name]()


def solve_part(discount: float) -> Callable[[MDP, float, np.ndarray], np.ndarray]:
    """How a large component is solved: as a process of its own, but for its components."""

    def solve(mdp: MDP, tolerance: float, start: np.ndarray) -> np.ndarray:
        point = Improvement(mdp, discount, tolerance, start)
        return iterate(point, Automatic(mdp, may_split=False)).point.v[: mdp.n_states]

    return solve


def iterate(
    point: Improvement,
    method: Method,
    progress: Callable[[int, float], None] | None = None,
) -> Steps:
    """Advance and improve until the goal is reached, or rounding keeps it out of reach."""
    log, least, n_stalled, patience = Log(), np.inf, 0, _PATIENCE
    while True:
        begin = time.perf_counter()
        if point.bound is not None and n_stalled < patience:
            method.advance(point)
            point.clip()
        point.improve()
        n_stalled = 0 if point.error < least else n_stalled + 1
        least = min(least, point.error)
        if n_stalled == 2 * patience:
            n_stalled, patience = 0, 2 * patience
        assert point.bound is not None
        log.residual.append(max(abs(point.bound.low), abs(point.bound.high)))
        log.seconds.append(time.perf_counter() - begin)
        if progress is not None:
            progress(len(log.seconds), point.error)
        if point.is_done:
            point.centre()
            return Steps(point, log, method.reason if isinstance(method, Automatic) else "")

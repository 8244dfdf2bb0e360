"""Methods for processes without layers, and the choice between them.

All of them alternate an advance and a certified backup (``improvement.py``). ``modified-policy-iteration`` advances by
sweeps over the rows of the greedy policy, ``policy-iteration`` by a Krylov method for its values
(``policy_evaluation.py``).

**The choice.** ``auto`` begins with sweeps, and continues with them as long as residuals lose a digit for as many
entries read as the process has. Otherwise it tries the Krylov method, and then takes the method that recently gained
more for each entry read; the gain of a method is trusted less with every step of the other one, so each gets its turn.
The choice depends on counts of entries, not on time, so every run and every number of threads makes the same one.

**Methods that fail.** An advance may take values further away. After 32 steps without a smaller bound than ever before,
as many plain backups follow, and both numbers double. Since plain backups converge, so does every method.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from punish_fast.mdp.bounds.improvement import Improvement
from punish_fast.mdp.methods.policy_evaluation import KrylovPolicyIteration, ModifiedPolicyIteration
from punish_fast.mdp.methods.value_iteration import Log

GENERAL_METHODS = MODIFIED, KRYLOV = "modified-policy-iteration", "policy-iteration"
_PATIENCE = 32
# Digits that residuals lose for as many entries as the process has, with which auto is content.
_CONTENT = 1.0
# The least gain of a step, and the factor by which a recorded gain grows with every step of the other method.
_LEAST_RATE = 0.001
_HOPE = 1.1


class Method(Protocol):
    """A way to bring values nearer to the optimal ones."""

    def advance(self, point: Improvement) -> object:
        """Change the values of ``point``, which were just backed up."""


class Automatic:
    """Policies, each evaluated by the method that lately gained most for each entry read.

    Attributes:
        used: The steps made by each method.
    """

    def __init__(self) -> None:
        self._evaluations: dict[str, ModifiedPolicyIteration | KrylovPolicyIteration] = {
            MODIFIED: ModifiedPolicyIteration(),
            KRYLOV: KrylovPolicyIteration(),
        }
        # Digits that residuals lost for as many entries as the process has.
        self._rate: dict[str, float] = {}
        self.used: dict[str, int] = {}

    def advance(self, point: Improvement) -> None:
        """Evaluate the greedy policy."""
        name, work = self._pick(), point.work
        self.used[name] = self.used.get(name, 0) + 1
        digits = self._evaluations[name].advance(point)
        for other in self._rate:
            self._rate[other] *= _HOPE
        self._rate[name] = max(digits * point.mdp.n_entries / max(point.work - work, 1), _LEAST_RATE)

    @property
    def reason(self) -> str:
        """What was used, and how often."""
        steps = ", ".join(f"{name} ({n} {'step' if n == 1 else 'steps'})" for name, n in self.used.items())
        return steps or "value-iteration"

    def _pick(self) -> str:
        sweeps, krylov = self._evaluations
        if sweeps not in self._rate or self._rate[sweeps] >= _CONTENT:
            return sweeps
        return krylov if krylov not in self._rate else max(self._rate, key=self._rate.__getitem__)


class StepLimits(NamedTuple):
    """When to stop before the goal is reached.

    Attributes:
        steps: Largest number of steps, those in the log included.
        sweeps: Largest number of entries read, in sweeps over the process.
    """

    steps: int
    sweeps: float = math.inf


def method_of(name: str) -> Method:
    """The method of a name, ``auto`` included."""
    if name == "auto":
        return Automatic()
    return ModifiedPolicyIteration() if name == MODIFIED else KrylovPolicyIteration()


def iterate(
    point: Improvement,
    method: Method,
    log: Log,
    limits: StepLimits,
    progress: Callable[[int, float], None] | None = None,
) -> None:
    """Advance and improve until the goal is reached, rounding keeps it out of reach, or a limit is reached.

    Args:
        point: Initial values; afterwards, the values of the last backup.
        method: How to advance.
        log: Gets one entry for each backup.
        limits: When to stop.
        progress: Called with the number of backups and the error bound.
    """
    least, n_stalled, patience = np.inf, 0, _PATIENCE
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
        is_over = len(log.seconds) >= limits.steps or point.work > limits.sweeps * point.mdp.n_entries
        if point.is_done or is_over:
            return
